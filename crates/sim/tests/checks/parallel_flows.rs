//! Flows open and end while a trial runs in parts, at hosts of different parts: sockets, ports and
//! paths are those of one thread.

use crate::common::*;
use crate::parallel::{
    any_division_is_one_thread, assert_same, in_parts, tree, without_processors,
};
use tailrace_plan::*;
use tailrace_sim::{Control, Cores, Partition, Refusal, run, run_on, run_parted};

/// Random plans of the property; each runs in one to four parts.
const CASES: u32 = 48;
/// Of the long one, which has a thousand divisions.
const CASES_OF_LONG: u32 = 250;

fn names(plan: &RawPlan) -> Vec<String> {
    plan.hosts.iter().map(|host| host.name.clone()).collect()
}

/// Flows between all hosts, and others that all end at the last. A third of the plans has no end of
/// them.
pub fn flows_of(plan: &RawPlan) -> [RawWorkload; 2] {
    let names = names(plan);
    let mean = |mean| RawDistribution::Exponential { mean };
    let count = if plan.seed.is_multiple_of(3) { 0 } else { 150 };
    let all =
        flows_between("all", [names.clone(), names.clone()], mean(9_000), mean(20 * US), count);
    let last = names[names.len() - 1..].to_vec();
    let incast = flows_between(
        "incast",
        [names[..names.len() - 1].to_vec(), last],
        mean(4_000),
        mean(50 * US),
        count / 2,
    );
    [all, incast].map(RawWorkload::from)
}

fn with_flows(mut plan: RawPlan) -> RawPlan {
    without_processors(&mut plan);
    let flows = flows_of(&plan);
    plan.workloads.extend(flows);
    // A third ends with its flows.
    if plan.seed % 3 == 1 {
        plan.workloads.retain(|workload| matches!(workload.body, RawBody::Flows(_)));
    }
    plan.stop_at_ps = 6 * MS;
    plan
}

#[test]
fn flows_are_those_of_one_thread_in_any_division() {
    any_division_is_one_thread(cases(CASES), with_flows);
}

#[test]
#[ignore = "minutes: cargo test --release -p tailrace-sim --test checks -- --ignored thousand_divisions_of_flows"]
fn a_thousand_divisions_of_flows_have_the_outcome_of_one_thread() {
    any_division_is_one_thread(CASES_OF_LONG, with_flows);
}

/// A fat tree with flows between its hosts, and others that all go to one; all workloads end.
fn busy_tree() -> RawPlan {
    let mut plan = tree();
    let names = names(&plan);
    let (size, gap) = (
        RawDistribution::Exponential { mean: 30_000 },
        RawDistribution::Exponential { mean: 2 * US },
    );
    let all = flows_between("all", [names.clone(), names.clone()], size.clone(), gap.clone(), 400);
    let to_one =
        flows_between("to-one", [names[1..].to_vec(), names[..1].to_vec()], size, gap, 100);
    plan.workloads = [all, to_one].map(RawWorkload::from).into();
    plan.stop_at_ps = S;
    plan
}

#[test]
fn a_trial_that_ends_with_its_flows_is_run_once() {
    let plan = Plan::from_raw(busy_tree()).expect("a sound plan");
    let alone = run(&plan, &Control::default());
    assert!(alone.summary()["end_ps"].as_u64() < Some(S), "it ends when the flows are done");
    for parts in 1..=4 {
        let (outcome, course) = in_parts(&plan, parts, |group| group);
        assert_same(&alone, &outcome, &format!("{course:?}"));
        assert!(!course.was_repeated, "{course:?}");
    }
}

/// All parts stop for every flow: whether several threads pay is not known before.
#[test]
fn flows_are_left_on_one_thread_unless_several_are_asked_for() {
    let mut plan = busy_tree();
    plan.workloads = plan.workloads.drain(..1).collect();
    if let RawBody::Flows(flows) = &mut plan.workloads[0].body {
        flows.flows = 40_000;
    }
    plan.links.iter_mut().for_each(|link| link.delay_ps = 200 * US);
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let until_a_tenth = || Control::listened_by(|progress| progress > 0.1);
    let (_, course) =
        run_on(&plan, Cores::UpTo(2, |_| true), &until_a_tenth()).expect("it can be divided");
    assert!(course.is_none(), "{course:?}");
    let (_, course) =
        run_on(&plan, Cores::Exactly(2), &until_a_tenth()).expect("it can be divided");
    assert_eq!(course.expect("they were asked for").events.len(), 2);
}

/// The parts meet twice for each flow that opens, and check the control nevertheless.
#[test]
fn a_trial_with_flows_can_be_cancelled_in_parts() {
    let mut plan = tree();
    plan.stop_at_ps = 100 * S;
    plan.workloads = flows_of(&RawPlan { seed: 3, ..plan.clone() }).into();
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let partition = Partition::balanced(&plan, 2).expect("it can be divided");
    let (outcome, _) =
        run_parted(&plan, &partition, &Control::listened_by(|progress| progress > 0.0001));
    assert_eq!(outcome.summary()["cancelled"], true);
    assert!(outcome.summary()["end_ps"].as_u64() < Some(S), "{}", outcome.summary()["end_ps"]);
}

#[test]
fn flows_to_a_host_with_a_processor_are_refused() {
    let mut plan = busy_tree();
    plan.hosts[3].cpu.processor = Some(Box::new(crate::processor::processor(2)));
    let refusal = Partition::balanced(&Plan::from_raw(plan).expect("a sound plan"), 2)
        .expect_err("it cannot be divided");
    assert_eq!(refusal, Refusal::Receiver { name: "all".into(), host: "h3".into() });
}

#[test]
fn flows_to_a_host_whose_link_has_no_delay_are_refused() {
    let mut plan = busy_tree();
    plan.links
        .iter_mut()
        .filter(|link| link.a == "h0" || link.b == "h0")
        .for_each(|link| link.delay_ps = 0);
    let refusal = Partition::balanced(&Plan::from_raw(plan).expect("a sound plan"), 2)
        .expect_err("it cannot be divided");
    assert!(
        matches!(&refusal, Refusal::NoDelay { ends } if ends.contains(&"h0".to_owned())),
        "{refusal}"
    );
}
