//! From a switch in the plan to the data plane.

use super::network::pace_of;
use crate::world::SwitchNode;
use tailrace_dataplane::{
    Aqm, Codel, DppPolicy, DppReset, Forwarding, Limit, PortPolicy, QueuePolicy, Red, Service, Step, Switch, WhenFull,
};
use tailrace_plan::{Plan, RawAqm, RawDpp, RawDppReset, RawLimit, RawPolicy, RawQueue, RawService, RawSwitch, RawTableFull};
use tailrace_units::{Pace, Span, Stream, mix64};

/// The policy of the port towards a neighbour.
pub(crate) fn policy_towards<'a>(switch: &'a RawSwitch, neighbour: &str) -> &'a RawPolicy {
    let own = switch.port_policies.iter().find(|port| port.towards == neighbour);
    own.map_or(&switch.policy, |port| &port.policy)
}

/// Whether such a port has anything to choose at dequeue.
pub(super) fn chooses_late(policy: &RawPolicy) -> bool {
    policy.queues.len() > 1 || policy.dpp.is_some() || matches!(policy.queues[0].aqm, RawAqm::Codel { .. })
}

pub(super) fn build_switch(plan: &Plan, index: usize, wire_of: &[Vec<u32>]) -> SwitchNode {
    let graph = &plan.graph;
    let node = graph.hosts + index;
    let raw = &plan.raw.switches[index];
    let salt = mix64(node as u64);
    let mut switch = Switch::new(Forwarding::new(salt), raw.buffer_bytes);
    let mut ports = Vec::new();
    for (port, end) in graph.ports[node].iter().enumerate() {
        let policy = policy_towards(raw, &graph.names[end.peer]);
        let pace = pace_of(plan, node, port);
        let place = format!("{}/{}", raw.name, graph.names[end.peer]);
        switch.add_port(pace, plan.raw.framing.overhead_bytes, port_policy(policy, pace, plan.raw.seed, &place), false);
        let record = plan.observed.iter().position(|&seen| seen == (node, port));
        if record.is_some() {
            switch.observe(port);
        }
        ports.push((wire_of[node][port], record.map(|record| record as u32)));
    }
    SwitchNode { switch, ports }
}

/// Fills in the forwarding tables of all switches.
pub(super) fn fill_routes(plan: &Plan, switches: &mut [SwitchNode]) {
    for (node, table) in switches.iter_mut().zip(plan.graph.routes()) {
        table.iter().for_each(|ports| node.switch.forwarding_mut().push_destination(ports));
    }
}

fn port_policy(raw: &RawPolicy, pace: Pace, seed: u64, place: &str) -> PortPolicy {
    PortPolicy {
        queues: raw.queues.iter().map(|queue| queue_policy(queue, pace, seed, place)).collect(),
        queue_of_priority: raw.queue_of_priority,
        dpp: raw.dpp.as_ref().map(dpp_policy),
    }
}

fn queue_policy(raw: &RawQueue, pace: Pace, seed: u64, place: &str) -> QueuePolicy {
    QueuePolicy {
        service: match raw.service {
            RawService::Strict(level) => Service::Strict(level),
            RawService::Dwrr(weight) => Service::Dwrr(weight),
        },
        limit: match raw.limit {
            RawLimit::Bytes(bytes) => Limit::Bytes(bytes),
            RawLimit::Frames(frames) => Limit::Frames(frames),
            RawLimit::AlphaMilli(milli) => Limit::Alpha(milli),
        },
        aqm: aqm(raw, pace, seed, place),
    }
}

fn aqm(raw: &RawQueue, pace: Pace, seed: u64, place: &str) -> Aqm {
    match raw.aqm {
        RawAqm::None => Aqm::None,
        RawAqm::Step { threshold_bytes } => Aqm::Step(Step { threshold_bytes }),
        RawAqm::Red { minimum_bytes, maximum_bytes, probability_milli, weight_exponent, ecn } => {
            let luck = Stream::new(seed, &format!("{place}/{}/red", raw.name));
            let thresholds = (minimum_bytes, maximum_bytes);
            Aqm::Red(Box::new(Red::new(thresholds, probability_milli, weight_exponent, ecn, luck, pace)))
        }
        RawAqm::Codel { target_ps, interval_ps, ecn, ce_threshold_ps } => {
            let (target, interval) = (Span::from_ps(target_ps), Span::from_ps(interval_ps));
            Aqm::Codel(Box::new(Codel::new(target, interval, ecn, Span::from_ps(ce_threshold_ps))))
        }
    }
}

fn dpp_policy(raw: &RawDpp) -> DppPolicy {
    DppPolicy {
        max_packets: raw.max_packets,
        age: Span::from_ps(raw.age_ps),
        express: usize::from(raw.express_queue),
        reset: match raw.reset {
            RawDppReset::OrderSafe => DppReset::OrderSafe,
            RawDppReset::Naive => DppReset::Naive,
        },
        table_entries: raw.table_entries,
        when_full: match raw.when_full {
            RawTableFull::EvictOldest => WhenFull::EvictOldest,
            RawTableFull::Untracked => WhenFull::Untracked,
        },
    }
}
