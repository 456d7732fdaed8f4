//! Threads of a trial that are delayed at random before each barrier: the outcome is that of one
//! thread in any schedule.

#[expect(dead_code, reason = "plans of other tests too")]
#[path = "../../tests/checks/plans.rs"]
mod plans;

use super::{Partition, run_parted};
use crate::control::Control;
use crate::run;
use plans::*;
use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};
use tailrace_plan::*;
use tailrace_units::mix64;

/// Schedules of the usual test, and of the long one.
const SCHEDULES: u64 = 100;
const SCHEDULES_OF_LONG: u64 = 10_000;
/// Longest delay: some windows of the others.
const DELAY_MAX: Duration = Duration::from_micros(20);

/// Runs the schedule of this number alone: delays are the same again, though the timing of threads
/// still depends on other load of the machine.
const ONLY: &str = "TAILRACE_SCHEDULE";

thread_local! {
    static OF_THIS_THREAD: Cell<u64> = const { Cell::new(0) };
}

/// The delays of a trial, by number; none with 0, as in all other tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule(u64);

impl Schedule {
    pub(super) fn of_this_thread() -> Schedule {
        Schedule(OF_THIS_THREAD.get())
    }

    /// Waits for a random time, or not at all: in this part, before or after a barrier.
    pub(super) fn delay(self, part: usize, (window, is_after): (usize, bool)) {
        if self.0 == 0 {
            return;
        }
        let random = [part as u64, 2 * window as u64 + u64::from(is_after)]
            .into_iter()
            .fold(self.0, |state, next| mix64(state) ^ next);
        let random = mix64(random);
        match random % 8 {
            0 => thread::yield_now(),
            1 => {
                let until =
                    Instant::now() + DELAY_MAX.mul_f64((random >> 32) as f64 / f64::from(u32::MAX));
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
            }
            _ => {}
        }
    }
}

/// Three switches in a row with a host each, and work of all kinds over both links.
fn row() -> RawPlan {
    let mut plan = star(3, 1_500, GBPS, 5 * US, switch("s0", 100_000, prioritised([30_000; 3])));
    plan.switches.extend(["s1", "s2"].map(|name| switch(name, 100_000, fifo(30_000))));
    plan.links =
        (0..3).map(|at| link(&format!("h{at}"), &format!("s{at}"), GBPS, 5 * US)).collect();
    plan.links.extend([("s0", "s1"), ("s1", "s2")].map(|(a, b)| link(a, b, GBPS / 2, 5 * US)));
    let asked = requests("asked", "h2", "h0", 2);
    plan.workloads = vec![
        RawWorkload::from(stream("bulk", "h0", "h2", 2, 0)),
        RawWorkload::from(oltp("shop", "h2", "h1", 2, 0, 8_000)),
        RawWorkload::from(flows_between(
            "flows",
            [vec!["h1".into()], vec!["h0".into(), "h2".into()]],
            RawDistribution::Exponential { mean: 9_000 },
            RawDistribution::Exponential { mean: 100 * US },
            0,
        )),
        RawWorkload::from(Drawn { body: RawRequests { is_kept: false, ..asked.body }, ..asked }),
    ];
    (plan.stop_at_ps, plan.observe.ports) = (2 * MS, vec![("s0".into(), "s1".into())]);
    plan
}

fn are_one_thread(schedules: u64) {
    let plan = Plan::from_raw(row()).expect("a sound plan");
    let results = |outcome: &crate::Outcome| {
        let mut summary = outcome.summary().clone();
        summary.as_object_mut().expect("it is an object").remove("wall_s");
        (summary, outcome.tables().to_vec())
    };
    let alone = results(&run(&plan, &Control::default()));
    let partition = Partition::by_group(&plan, 3, |group| group).expect("it can be divided");
    let only = std::env::var(ONLY)
        .ok()
        .map(|number| number.parse::<u64>().expect("the number of a schedule"));
    for schedule in only.map_or(1..=schedules, |only| only..=only) {
        OF_THIS_THREAD.set(schedule);
        let (outcome, course) = run_parted(&plan, &partition, &Control::default());
        OF_THIS_THREAD.set(0);
        assert!(course.windows > 100, "{course:?}");
        assert!(results(&outcome) == alone, "{ONLY}={schedule}: {course:?}");
    }
}

#[test]
fn any_schedule_has_the_outcome_of_one_thread() {
    are_one_thread(SCHEDULES);
}

#[test]
#[ignore = "minutes: cargo test --release -p tailrace-sim --lib -- --ignored ten_thousand_schedules"]
fn ten_thousand_schedules_have_the_outcome_of_one_thread() {
    are_one_thread(SCHEDULES_OF_LONG);
}
