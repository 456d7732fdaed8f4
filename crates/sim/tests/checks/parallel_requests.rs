//! Programs open connections at hosts of different parts while a trial runs: the outcome is that of
//! one thread.

use crate::common::*;
use crate::parallel::{any_division_is_one_thread, tree};
use tailrace_plan::*;
use tailrace_sim::{Partition, Refusal};

/// Random plans of the property; each runs in one to four parts.
const CASES: u32 = 48;
/// Of the long one, which has a thousand divisions.
const CASES_OF_LONG: u32 = 250;

fn queue_of(plan: &mut RawPlan) -> impl Iterator<Item = &mut RawQueue> {
    plan.switches.iter_mut().flat_map(|switch| &mut switch.policy.queues)
}

pub fn varied(name: &str, ends: (&str, &str), seed: u64) -> Drawn<RawRequests> {
    let mut work = requests(name, ends.0, ends.1, (seed % 3) as u32);
    let body = &mut work.body;
    (body.is_kept, body.pipeline) = (seed % 4 != 1, if seed % 8 == 2 { 3 } else { 1 });
    (body.is_random, body.connections) = (seed.is_multiple_of(2), 2);
    (body.gap, body.response) = (
        RawDistribution::Exponential { mean: 200 * US },
        RawDistribution::Exponential { mean: 9_000 },
    );
    body.arrivals = (body.users == 0).then_some(RawDistribution::Exponential { mean: 150 * US });
    body.requests = if seed % 5 < 2 { 30 } else { 0 };
    (body.timeout_ps, body.retries) = if seed % 7 < 3 { (2 * MS, 1) } else { (0, 0) };
    work
}

/// Requests of the first host to all others, which ask each other; and queries as datagrams.
pub fn with_requests(mut plan: RawPlan) -> RawPlan {
    queue_of(&mut plan).for_each(|queue| queue.qcn = None);
    plan.workloads.retain(|workload| !matches!(workload.body, RawBody::Flows(_)));
    let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    let (first, last) = (&names[0], &names[names.len() - 1]);
    let mut asked = varied("asked", (first, last), plan.seed);
    asked.body.servers = names[1..].to_vec();
    if plan.seed.is_multiple_of(3) && names.len() > 2 {
        // The last is asked by all others, and asks nothing.
        asked.body.servers.pop();
        let stage = stage(&[last], RawDistribution::Constant(20 * US));
        asked.body.stages =
            vec![RawStage { request: RawDistribution::Exponential { mean: 900 }, ..stage }];
    }
    let mut named = varied("named", (last, first), plan.seed / 2);
    (named.body.is_udp, named.body.is_kept, named.body.pipeline) = (true, true, 1);
    (named.body.timeout_ps, named.body.retries, named.body.response) =
        (MS, 2, RawDistribution::Constant(300));
    plan.workloads.extend([RawWorkload::from(asked), RawWorkload::from(named)]);
    if plan.seed % 4 == 3 {
        plan.workloads.retain(|workload| matches!(workload.body, RawBody::Requests(_)));
    }
    plan.stop_at_ps = 9 * MS;
    plan
}

#[test]
fn requests_are_those_of_one_thread_in_any_division() {
    any_division_is_one_thread(cases(CASES), with_requests);
}

#[test]
#[ignore = "minutes: cargo test --release -p tailrace-sim --test checks -- --ignored thousand_divisions_of_requests"]
fn a_thousand_divisions_of_requests_have_the_outcome_of_one_thread() {
    any_division_is_one_thread(CASES_OF_LONG, with_requests);
}

#[test]
fn requests_are_refused_beside_congestion_notification() {
    let refused = |change: &dyn Fn(&mut RawPlan)| {
        let mut plan = tree();
        plan.workloads.push(RawWorkload::from(requests("asked", "h0", "h9", 2)));
        change(&mut plan);
        Partition::balanced(&Plan::from_raw(plan).expect("a sound plan"), 2).err()
    };
    let notifying = |plan: &mut RawPlan| {
        let qcn = RawQcn { set_point_bytes: 30_000, weight: 2 };
        queue_of(plan).for_each(|queue| queue.qcn = Some(qcn));
    };
    assert_eq!(refused(&notifying), Some(Refusal::Opening { name: "asked".into() }));
    let as_datagrams = |plan: &mut RawPlan| {
        notifying(plan);
        if let Some(RawBody::Requests(requests)) =
            plan.workloads.last_mut().map(|workload| &mut workload.body)
        {
            (requests.is_udp, requests.is_kept, requests.timeout_ps) = (true, true, MS);
        }
    };
    assert_eq!([refused(&as_datagrams), refused(&|_| {})], [None, None]);
}
