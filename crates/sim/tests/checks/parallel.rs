//! A trial on several threads has the outcome of one thread, whatever the division of its network.

use crate::common::*;
use crate::paths::fat_tree;
use crate::random_plan::plans;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::{
    Control, Cores, Course, Outcome, Partition, Refusal, Table, run, run_on, run_parted,
};

/// Random plans of the property; each runs in one to four parts.
const CASES: u32 = 128;
/// Of the long one, which has ten thousand divisions.
const CASES_OF_LONG: u32 = 2_500;

/// Everything but the time that it took.
fn without_wall_time(outcome: &Outcome) -> (Value, &[Table]) {
    let mut summary = outcome.summary().clone();
    summary.as_object_mut().expect("it is an object").remove("wall_s");
    (summary, outcome.tables())
}

/// Names the first thing that differs.
pub fn assert_same(alone: &Outcome, outcome: &Outcome, what: &str) {
    let ((one, tables), (other, others)) = (without_wall_time(alone), without_wall_time(outcome));
    for (key, value) in one.as_object().expect("it is an object") {
        assert_eq!(value, &other[key], "{key}: {what}");
    }
    assert_eq!(tables, others, "{what}");
}

pub fn in_parts(
    plan: &Plan,
    parts: usize,
    part_of: impl FnMut(usize) -> usize,
) -> (Outcome, Course) {
    let partition = Partition::by_group(plan, parts, part_of).expect("it can be divided");
    run_parted(plan, &partition, &Control::default())
}

/// Flows that end at hosts with one are refused.
pub fn without_processors(plan: &mut RawPlan) {
    plan.hosts.iter_mut().for_each(|host| host.cpu.processor = None);
}

/// With everything that is sampled while a trial runs.
fn divisible(mut plan: RawPlan) -> RawPlan {
    if plan.workloads.iter().any(|workload| matches!(workload.body, RawBody::Flows(_))) {
        without_processors(&mut plan);
    }
    (plan.stop_at_ps, plan.observe.digest) = (12 * MS, true);
    (plan.observe.series_bins, plan.observe.transactions_max) = (16, 40);
    if plan.seed % 3 == 1 {
        plan.observe.warm_up_ps = 3 * MS;
    }
    if plan.seed % 3 == 2 {
        (plan.observe.windows_ps, plan.observe.interfaces_ps) = (2 * MS, 5 * MS);
    }
    plan
}

/// So many random plans with this change, each in one to four parts and divided at random.
pub fn any_division_is_one_thread(cases: u32, change: fn(RawPlan) -> RawPlan) {
    let divided = (
        plans().prop_map(divisible).prop_map(change),
        proptest::collection::vec(any::<[u8; 4]>(), 4),
    );
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&divided, has_the_outcome_of_one_thread)
        .unwrap_or_else(|failed| panic!("{failed}"));
}

fn has_the_outcome_of_one_thread(
    (plan, divisions): (RawPlan, Vec<[u8; 4]>),
) -> Result<(), TestCaseError> {
    prop_assume!(plan.switches.len() > 1);
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let alone = run(&plan, &Control::default());
    for (parts, division) in (1..=4).zip(divisions) {
        let (outcome, course) = in_parts(&plan, parts, |group| usize::from(division[group % 4]));
        assert_same(&alone, &outcome, &format!("{parts} parts, {division:?}, {course:?}"));
    }
    Ok(())
}

#[test]
fn any_division_has_the_outcome_of_one_thread() {
    any_division_is_one_thread(cases(CASES), |plan| plan);
}

#[test]
#[ignore = "minutes: cargo test --release -p tailrace-sim --test checks -- --ignored ten_thousand"]
fn ten_thousand_divisions_have_the_outcome_of_one_thread() {
    any_division_is_one_thread(CASES_OF_LONG, |plan| plan);
}

/// A fat tree of 16 hosts with work of both kinds over its core.
pub fn tree() -> RawPlan {
    let mut plan = fat_tree(4);
    plan.stop_at_ps = 5 * MS;
    plan.observe.digest = true;
    let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    plan.workloads = (0..names.len())
        .map(|at| {
            let (own, other) = (&names[at], &names[(at + 5) % names.len()]);
            match at % 2 {
                0 => RawWorkload::from(stream(&format!("bulk{at}"), own, other, 1, 0)),
                _ => RawWorkload::from(oltp(&format!("shop{at}"), own, other, 2, 0, 8_000)),
            }
        })
        .collect();
    plan
}

#[test]
fn parts_of_equal_load_do_equal_work() {
    let plan = Plan::from_raw(tree()).expect("a sound plan");
    let alone = run(&plan, &Control::default());
    for cores in 1..=8 {
        let partition = Partition::balanced(&plan, cores).expect("it can be divided");
        let (outcome, course) = run_parted(&plan, &partition, &Control::default());
        assert_same(&alone, &outcome, &format!("{cores} cores"));
        assert_eq!(course.events.len(), cores);
        let (most, all) = (
            course.events.iter().max().expect("there are parts"),
            course.events.iter().sum::<u64>(),
        );
        assert!(*most as f64 * (cores as f64) < 1.8 * all as f64, "{cores} cores: {course:?}");
    }
}

#[test]
fn the_last_event_of_a_trial_is_that_of_one_thread() {
    let mut plan = tree();
    plan.stop_at_ps = S;
    let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    plan.workloads.push(RawWorkload::from(oltp("jobs", &names[0], &names[9], 3, 10, 20_000)));
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let alone = run(&plan, &Control::default());
    let (outcome, course) = in_parts(&plan, 3, |group| group);
    assert!(alone.summary()["end_ps"].as_u64() < Some(S), "it ends when the jobs are done");
    assert_same(&alone, &outcome, &format!("{course:?}"));
    assert!(course.was_repeated, "other parts had gone on");
}

/// After its last event a port of another part sends a frame that waits: it has not when the trial
/// ends.
#[test]
fn a_port_does_not_decide_after_the_last_event_of_a_trial() {
    // Nothing else happens for a while: what follows the last event needs longer to a switch than
    // the window is long.
    let (within, between) = (500 * US, 200 * US);
    let ends = [
        ("h0", "one", GBPS, within),
        ("h1", "one", GBPS, within),
        ("h2", "one", GBPS, within),
        ("one", "two", GBPS / 100, between),
    ];
    let mut raw = star(4, 1_500, GBPS, within, switch("one", 500_000, prioritised([100_000; 3])));
    raw.switches.push(switch("two", 500_000, fifo(100_000)));
    raw.links = ends.map(|(a, b, rate_bps, delay_ps)| link(a, b, rate_bps, delay_ps)).into();
    raw.links.push(link("h3", "two", GBPS, within));
    raw.hosts.iter_mut().for_each(prompt);
    (raw.stop_at_ps, raw.observe.ports) = (S, vec![("one".into(), "two".into())]);
    // Each is 14 frames, which the link between the switches carries in 17 ms.
    let datagrams = datagrams("datagrams", "h2", "h3", 20_000, RawDistribution::Constant(20 * MS));
    for at in 0..8 {
        let mut job = oltp("job", "h0", "h1", 1, 1, 100);
        job.body.start = RawDistribution::Constant(25 * MS + at * between * 3 / 4);
        raw.workloads = vec![RawWorkload::from(datagrams.clone()), RawWorkload::from(job)];
        let plan = Plan::from_raw(raw.clone()).expect("a sound plan");
        let alone = run(&plan, &Control::default());
        assert!(alone.summary()["end_ps"].as_u64() < Some(S), "it ends when the job is done");
        let (outcome, course) = in_parts(&plan, 2, |group| group);
        assert_same(&alone, &outcome, &format!("{at}: {course:?}"));
    }
}

#[test]
fn what_cannot_be_divided_is_refused_in_words() {
    let refused = |change: &dyn Fn(&mut RawPlan)| {
        let mut plan = tree();
        change(&mut plan);
        Partition::balanced(&Plan::from_raw(plan).expect("a sound plan"), 2)
            .expect_err("it cannot be divided")
    };
    let frames = |plan: &mut RawPlan| {
        plan.workloads.push(RawWorkload::from(frames("asked", "h0", "h9", 1_000, 1, US)))
    };
    assert_eq!(refused(&frames), Refusal::Workload { name: "asked".into() });
    assert!(refused(&frames).to_string().contains("workload asked: only streams"));
    let instant = |plan: &mut RawPlan| plan.links.iter_mut().for_each(|link| link.delay_ps = 0);
    assert!(matches!(refused(&instant), Refusal::NoDelay { .. }));
    let mut star = star(3, 1500, GBPS, US, switch("sw", 100_000, fifo(50_000)));
    star.workloads.push(RawWorkload::from(stream("only", "h0", "h1", 1, 0)));
    let star = Plan::from_raw(star).expect("a sound plan");
    assert_eq!(Partition::balanced(&star, 2).expect_err("one switch"), Refusal::OneGroup);
}

#[test]
fn a_trial_in_parts_can_be_cancelled() {
    let plan = Plan::from_raw(tree()).expect("a sound plan");
    let control = Control::default();
    control.cancel();
    let (outcome, _) =
        run_parted(&plan, &Partition::balanced(&plan, 2).expect("it can be divided"), &control);
    assert_eq!(outcome.summary()["cancelled"], true);
}

#[test]
fn a_trial_is_cancelled_within_a_window() {
    let mut plan = tree();
    plan.stop_at_ps = 10 * S;
    let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    // Neighbours send to each other, and nothing leaves a switch for another: one window has tens
    // of millions of events.
    plan.workloads = names
        .chunks(2)
        .map(|two| RawWorkload::from(stream(&two[0], &two[0], &two[1], 1, 0)))
        .collect();
    plan.links
        .iter_mut()
        .filter(|link| !link.a.starts_with('h'))
        .for_each(|link| link.delay_ps = S);
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let partition = Partition::balanced(&plan, 2).expect("it can be divided");
    let (outcome, course) =
        run_parted(&plan, &partition, &Control::listened_by(|progress| progress > 0.001));
    assert_eq!((outcome.summary()["cancelled"].as_bool(), course.look_ahead_ps), (Some(true), S));
    assert!(outcome.summary()["end_ps"].as_u64() < Some(S / 2), "{course:?}");
}

#[test]
fn many_events_in_a_window_of_a_long_trial_get_more_threads() {
    let mut plan = tree();
    plan.stop_at_ps = S;
    plan.links.iter_mut().for_each(|link| link.delay_ps = 200 * US);
    let mut sparse = plan.clone();
    // So few events are in a window that threads would wait for each other most of the time.
    sparse.links.iter_mut().for_each(|link| link.delay_ps = 1_000);
    let long = Plan::from_raw(plan).expect("a sound plan");
    let control = || Control::listened_by(|progress| progress > 0.9);
    let (_, course) =
        run_on(&long, Cores::UpTo(2, |_| true), &control()).expect("it can be divided");
    assert_eq!(course.expect("several threads pay").events.len(), 2);
    let (_, course) =
        run_on(&long, Cores::UpTo(2, |_| false), &Control::listened_by(|progress| progress > 0.2))
            .expect("one will do");
    assert!(course.is_none(), "there is no memory for two");
    let sparse = Plan::from_raw(sparse).expect("a sound plan");
    let (_, course) =
        run_on(&sparse, Cores::UpTo(2, |_| true), &Control::listened_by(|progress| progress > 0.2))
            .expect("one will do");
    assert!(course.is_none(), "two would be slower");
}

#[test]
fn measured_load_divides_uneven_work_evenly() {
    let mut plan = tree();
    let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    // All work is within the first of four pods.
    plan.workloads = (0..4)
        .map(|at| {
            RawWorkload::from(stream(&format!("bulk{at}"), &names[at], &names[(at + 2) % 4], 1, 0))
        })
        .collect();
    // More than the first stretch, in which the load is measured.
    plan.stop_at_ps = 160 * MS;
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let alone = run(&plan, &Control::default());
    let busiest = |course: &Course| {
        *course.events.iter().max().expect("there are parts") as f64
            / course.events.iter().sum::<u64>() as f64
    };
    let by_rates = run_parted(
        &plan,
        &Partition::balanced(&plan, 2).expect("it can be divided"),
        &Control::default(),
    );
    let (outcome, course) =
        run_on(&plan, Cores::Exactly(2), &Control::default()).expect("it can be divided");
    assert_same(&alone, &outcome, "by measured load");
    let course = course.expect("it was asked for");
    assert!(busiest(&by_rates.1) > 0.8, "{:?}", by_rates.1);
    assert!(busiest(&course) < 0.6, "{course:?}");
}
