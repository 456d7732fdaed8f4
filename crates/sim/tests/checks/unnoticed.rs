//! Acts of a processor without an event of their own: ends of work that have no consequences, and
//! frames that wait in the ring while the interrupt is off. Both are left out where something else
//! could follow, so that a plan with such a thing that is of no use is the reference: everything
//! must be the same.

use crate::common::*;
use crate::processor::processor;
use serde_json::Value;
use tailrace_plan::*;

/// Many streams into one host and short transactions beside them, more than one core can receive.
/// Frames are seen as they come.
fn plan(cores: u32, change: impl Fn(&mut RawPlan)) -> RawPlan {
    let mut plan = star(6, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(400_000)));
    plan.stop_at_ps = 60 * MS;
    plan.observe.warm_up_ps = 20 * MS;
    plan.observe.windows_ps = 7 * MS;
    for host in &mut plan.hosts {
        prompt(host);
        host.cpu.per_packet_ps = 600_000;
        host.cpu.processor = Some(Box::new(processor(cores)));
    }
    for source in ["h1", "h2", "h3"] {
        plan.workloads.push(RawWorkload::from(stream(source, source, "h0", 2, 0)));
    }
    let mut users = oltp("shop", "h4", "h0", 4, 0, 30_000);
    users.gap = RawDistribution::Uniform { low: 0, high: MS };
    plan.workloads.push(RawWorkload::from(users));
    change(&mut plan);
    plan
}

/// Everything that was counted, but for the number of events and `without` in each host's
/// processor.
fn counted(plan: RawPlan, without: &str) -> (Value, u64) {
    let mut summary = simulate(plan).summary().clone();
    let events = count(&summary, "events");
    for key in ["events", "wall_s"] {
        summary.as_object_mut().expect("an object").remove(key);
    }
    for host in summary["hosts"].as_array_mut().expect("there are hosts") {
        host["processor"].as_object_mut().expect("it has one").remove(without);
    }
    (summary, events)
}

#[test]
fn work_that_ends_without_consequences_needs_no_event_and_changes_nothing() {
    for cores in [1, 2, 4] {
        let (silent, events) = counted(plan(cores, |_| {}), "groups");
        let unused = RawControlGroup {
            name: "unused".into(),
            workloads: vec!["none".into()],
            cores: vec![0],
            nice: 0,
            quota_ps: Some(MS),
            period_ps: Some(10 * MS),
        };
        let with_quota = plan(cores, |plan| {
            for host in &mut plan.hosts {
                host.cpu.processor.as_mut().expect("it has one").groups.push(unused.clone());
            }
        });
        let (loud, all_events) = counted(with_quota, "groups");
        assert_eq!(silent, loud, "{cores} cores");
        assert!(events < all_events, "{events} and {all_events} events with {cores} cores");
    }
}

/// Where moderation draws, frames are polled one by one, even if what is drawn is zero.
#[test]
fn frames_that_wait_while_the_interrupt_is_off_need_no_event_and_change_nothing() {
    for cores in [1, 2] {
        let (left, events) = counted(plan(cores, |_| {}), "");
        let drawing = |plan: &mut RawPlan| {
            plan.hosts
                .iter_mut()
                .for_each(|host| host.nic.rx_jitter = RawDistribution::Uniform { low: 0, high: 0 });
        };
        let (polled, all_events) = counted(plan(cores, drawing), "");
        assert_eq!(left, polled, "{cores} cores");
        assert!(events < all_events, "{events} and {all_events} events with {cores} cores");
    }
}
