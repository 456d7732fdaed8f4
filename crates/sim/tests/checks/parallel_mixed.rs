//! Workloads that open connections at the same hosts while a trial runs in parts: they share ports,
//! numbers of sockets and observed queues.

use crate::common::*;
use crate::parallel::{any_division_is_one_thread, without_processors};
use crate::parallel_flows::flows_of;
use crate::parallel_requests::{varied, with_requests};
use tailrace_plan::*;

/// Random plans of each property; each runs in one to four parts.
const CASES: u32 = 48;
/// Of the long one, which has a thousand divisions.
const CASES_OF_LONG: u32 = 250;

/// Two workloads of requests over TCP that ask the same hosts; observed ports tell them apart.
fn with_two_kinds_of_requests(plan: RawPlan) -> RawPlan {
    let mut plan = with_requests(plan);
    let (first, last) = (&plan.hosts[0].name, &plan.hosts[plan.hosts.len() - 1].name);
    let mut again = varied("again", (last, first), plan.seed / 3);
    again.body.servers =
        plan.hosts[..plan.hosts.len() - 1].iter().map(|host| host.name.clone()).collect();
    plan.workloads.push(RawWorkload::from(again));
    plan
}

/// The same beside flows between all hosts.
fn with_requests_and_flows(plan: RawPlan) -> RawPlan {
    let mut plan = with_two_kinds_of_requests(plan);
    without_processors(&mut plan);
    let flows = flows_of(&plan);
    plan.workloads.extend(flows);
    plan.stop_at_ps = 6 * MS;
    plan
}

#[test]
fn requests_of_two_workloads_are_those_of_one_thread_in_any_division() {
    any_division_is_one_thread(cases(CASES), with_two_kinds_of_requests);
}

#[test]
fn requests_beside_flows_are_those_of_one_thread_in_any_division() {
    any_division_is_one_thread(cases(CASES), with_requests_and_flows);
}

#[test]
#[ignore = "minutes: cargo test --release -p tailrace-sim --test checks -- --ignored thousand_divisions_of_mixes"]
fn a_thousand_divisions_of_mixes_have_the_outcome_of_one_thread() {
    any_division_is_one_thread(CASES_OF_LONG, with_two_kinds_of_requests);
    any_division_is_one_thread(CASES_OF_LONG, with_requests_and_flows);
}
