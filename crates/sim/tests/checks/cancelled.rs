//! A cancelled trial returns soon, whatever it was doing: it says that it is no result, and lists nothing.

use crate::common::*;
use tailrace_plan::Plan;
use tailrace_sim::{Control, Outcome, explain, run};

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
fn a_trial_that_is_looked_at_often_can_be_cancelled_between_two_looks() {
    let mut plan = small().raw.clone();
    plan.observe.interfaces_ps = MS / 10;
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let outcome = run(&plan, &Control::listened_by(|share| share >= 0.5));
    assert_lists_nothing(&outcome);
    assert_eq!(outcome.summary()["end_ps"], 5 * MS / 2);
}
