//! A cancelled trial returns soon, whatever it was doing: it says that it is no result, and lists
//! nothing.

use crate::common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tailrace_plan::Plan;
use tailrace_programs::{HostCalls, Program};
use tailrace_sim::{Control, HostedProgram, Outcome, explain, run, run_with};
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};

fn small() -> Plan {
    let mut plan = star(3, 1500, GBPS, US, switch("sw", 100_000, fifo(50_000)));
    plan.workloads.push(stream("only", "h0", "h1", 1, 0).into());
    plan.stop_at_ps = 5 * MS;
    Plan::from_raw(plan).expect("a sound plan")
}

fn assert_lists_nothing(outcome: &Outcome) {
    let summary = outcome.summary();
    assert_eq!((&summary["cancelled"], &summary["finished"]), (&true.into(), &false.into()));
    for list in ["ports", "hosts", "netstat", "workloads", "switches"] {
        assert!(summary.get(list).is_none(), "{list} takes time for each of thousands");
    }
    assert!(outcome.tables().is_empty());
}

#[test]
fn a_trial_that_is_cancelled_while_it_runs_is_not_gathered() {
    let control = Control::default();
    control.cancel();
    assert_lists_nothing(&run(&small(), &control));
    assert_lists_nothing(&explain(&small(), &control).outcome);
}

#[test]
fn a_trial_that_is_cancelled_while_it_is_gathered_is_no_result() {
    // The share is 1 when the simulation has ended, and not before.
    let outcome = run(&small(), &Control::listened_by(|share| share >= 1.0));
    assert_eq!(outcome.summary()["end_ps"], 5 * MS, "it ran to its end");
    assert_lists_nothing(&outcome);
}

#[test]
fn a_trial_that_is_gathered_shows_that_its_simulation_has_ended() {
    let control = Control::default();
    let outcome = run(&small(), &control);
    assert_eq!(outcome.summary()["cancelled"], false);
    assert!((control.progress() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_trial_sampled_often_can_be_cancelled_between_two_samples() {
    let mut plan = small().raw.clone();
    plan.observe.interfaces_ps = MS / 10;
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let outcome = run(&plan, &Control::listened_by(|share| share >= 0.5));
    assert_lists_nothing(&outcome);
    assert_eq!(outcome.summary()["end_ps"], 5 * MS / 2);
}

/// A program that is due every picosecond, and asks the trial to end when it has been called so
/// often.
struct Ticking {
    next: Time,
    calls: Arc<AtomicU64>,
    control: Arc<Control>,
}

const CALLS: u64 = 1_000;

impl Program for Ticking {
    fn poll_timeout(&self) -> Time {
        self.next
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, now: Time, _: &mut dyn HostCalls) {
        self.next = now + Span::from_ps(1);
        if self.calls.fetch_add(1, Ordering::Relaxed) + 1 == CALLS {
            self.control.cancel();
        }
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {}
    fn handle_readable(&mut self, _: Time, _: u32, _: u64, _: &mut dyn HostCalls) {}
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_failed(&mut self, _: Time, _: u32, _: Failure, _: &mut dyn HostCalls) {}
}

#[test]
fn no_event_is_handled_after_a_request_to_end() {
    let (calls, control) = (Arc::<AtomicU64>::default(), Arc::<Control>::default());
    let program =
        Ticking { next: Time::ZERO, calls: Arc::clone(&calls), control: Arc::clone(&control) };
    let hosted =
        HostedProgram { host: 0, workload: 0, program: Box::new(program), counts_goodput: false };
    assert_lists_nothing(&run_with(&small(), vec![hosted], &control));
    assert_eq!(
        calls.load(Ordering::Relaxed),
        CALLS,
        "events can be long: the rest of a count of them is not waited for"
    );
}
