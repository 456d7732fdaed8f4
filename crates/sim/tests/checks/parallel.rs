//! A trial on several threads has the outcome of one thread, whatever the division of its network.

use crate::common::*;
use crate::paths::fat_tree;
use crate::random_plan::plans;
use proptest::prelude::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::{Control, Course, Outcome, Partition, Refusal, Table, run, run_parted};

/// Random plans of the property; each runs in one to four parts.
const CASES: u32 = 128;

/// Everything but the time that it took.
fn told(outcome: &Outcome) -> (Value, &[Table]) {
    let mut summary = outcome.summary().clone();
    summary.as_object_mut().expect("it is an object").remove("wall_s");
    (summary, outcome.tables())
}

/// Names the first thing that differs.
fn assert_same(alone: &Outcome, outcome: &Outcome, what: &str) {
    let ((one, tables), (other, others)) = (told(alone), told(outcome));
    for (key, value) in one.as_object().expect("it is an object") {
        assert_eq!(value, &other[key], "{key}: {what}");
    }
    assert_eq!(tables, others, "{what}");
}

fn in_parts(plan: &Plan, parts: usize, part_of: impl FnMut(usize) -> usize) -> (Outcome, Course) {
    let partition = Partition::by_group(plan, parts, part_of).expect("it can be divided");
    run_parted(plan, &partition, &Control::default())
}

/// Without what is refused, and with all that is looked at while a trial runs.
fn divisible(mut plan: RawPlan) -> RawPlan {
    plan.workloads.retain(|workload| !matches!(workload.body, RawBody::Flows(_)));
    if plan.workloads.is_empty() {
        let (first, last) = (plan.hosts[0].name.clone(), plan.hosts[plan.hosts.len() - 1].name.clone());
        plan.workloads.push(RawWorkload::from(stream("only", &first, &last, 2, 0)));
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

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_division_has_the_outcome_of_one_thread(plan in plans(), divisions in proptest::collection::vec(any::<[u8; 4]>(), 4)) {
        prop_assume!(plan.switches.len() > 1);
        let plan = Plan::from_raw(divisible(plan)).expect("a sound plan");
        let alone = run(&plan, &Control::default());
        for (parts, division) in (1..=4).zip(divisions) {
            let (outcome, course) = in_parts(&plan, parts, |group| usize::from(division[group % 4]));
            assert_same(&alone, &outcome, &format!("{parts} parts, {division:?}, {course:?}"));
        }
    }
}

/// A fat tree of 16 hosts with work of both kinds over its core.
fn tree() -> RawPlan {
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
        let (most, all) = (course.events.iter().max().expect("there are parts"), course.events.iter().sum::<u64>());
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

#[test]
fn what_cannot_be_divided_is_refused_in_words() {
    let refused = |change: &dyn Fn(&mut RawPlan)| {
        let mut plan = tree();
        change(&mut plan);
        Partition::balanced(&Plan::from_raw(plan).expect("a sound plan"), 2).expect_err("it cannot be divided")
    };
    let names = || (0..4).map(|host| format!("h{host}")).collect::<Vec<_>>();
    let flows = |plan: &mut RawPlan| {
        let (size, gap) = (RawDistribution::Constant(1_000), RawDistribution::Constant(MS));
        plan.workloads.push(RawWorkload::from(flows_between("web", [names(), names()], size, gap, 10)));
    };
    assert_eq!(refused(&flows), Refusal::Workload { name: "web".into() });
    assert!(refused(&flows).to_string().contains("workload web: only streams"));
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
    let (outcome, _) = run_parted(&plan, &Partition::balanced(&plan, 2).expect("it can be divided"), &control);
    assert_eq!(outcome.summary()["cancelled"], true);
}
