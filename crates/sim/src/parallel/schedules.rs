//! Threads of a trial that are delayed at random before each meeting: the outcome is that of one thread in any schedule.

#[expect(dead_code, reason = "plans of other tests too")]
#[path = "../../tests/checks/plans.rs"]
mod plans;

use super::{Partition, run_parted};
use crate::control::Control;
use crate::run;
use plans::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tailrace_plan::*;

/// Schedules of the usual test, and of the long one.
const SCHEDULES: u64 = 100;
const SCHEDULES_OF_LONG: u64 = 10_000;
/// Longest delay: some windows of the others.
const DELAY_MAX: Duration = Duration::from_micros(20);

/// Threads of this number of a schedule are delayed; none with 0, as in all other tests.
static SCHEDULE: AtomicU64 = AtomicU64::new(0);
/// Gives each thread of a schedule random numbers of its own.
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Waits for a random time, or not at all.
pub(super) fn delay() {
    let schedule = SCHEDULE.load(Ordering::Relaxed);
    if schedule == 0 {
        return;
    }
    let mut state = STATE.get();
    if state == 0 {
        state = (schedule << 16) + THREADS.fetch_add(1, Ordering::Relaxed) + 1;
    }
    // SplitMix64.
    STATE.set(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    match mixed % 8 {
        0 => thread::yield_now(),
        1 => {
            let until = std::time::Instant::now() + DELAY_MAX.mul_f64((mixed >> 32) as f64 / (u32::MAX as f64));
            while std::time::Instant::now() < until {
                std::hint::spin_loop();
            }
        }
        _ => {}
    }
}

/// Three switches in a row with a host each, and streams over both links.
fn row() -> RawPlan {
    let mut plan = star(3, 1_500, GBPS, 5 * US, switch("s0", 100_000, prioritised([30_000; 3])));
    plan.switches.extend(["s1", "s2"].map(|name| switch(name, 100_000, fifo(30_000))));
    plan.links = (0..3).map(|at| link(&format!("h{at}"), &format!("s{at}"), GBPS, 5 * US)).collect();
    plan.links.extend([("s0", "s1"), ("s1", "s2")].map(|(a, b)| link(a, b, GBPS / 2, 5 * US)));
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
    ];
    (plan.stop_at_ps, plan.observe.ports) = (2 * MS, vec![("s0".into(), "s1".into())]);
    plan
}

fn are_one_thread(schedules: u64) {
    let plan = Plan::from_raw(row()).expect("a sound plan");
    let told = |outcome: &crate::Outcome| {
        let mut summary = outcome.summary().clone();
        summary.as_object_mut().expect("it is an object").remove("wall_s");
        (summary, outcome.tables().to_vec())
    };
    let alone = told(&run(&plan, &Control::default()));
    let partition = Partition::by_group(&plan, 3, |group| group).expect("it can be divided");
    for schedule in 1..=schedules {
        SCHEDULE.store(schedule, Ordering::Relaxed);
        let (outcome, course) = run_parted(&plan, &partition, &Control::default());
        SCHEDULE.store(0, Ordering::Relaxed);
        assert!(course.windows > 100, "{course:?}");
        assert!(told(&outcome) == alone, "schedule {schedule}: {course:?}");
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
