//! The outcome of a network: counters of its ports.

use super::Network;
use tailrace_network::{Counted, port_series, ports, queue_depth, switch_summaries};
use tailrace_outcome::{Conservation, NetworkOutcome, Tables};
use tailrace_plan::Plan;
use tailrace_units::Time;

/// Counters of the measured interval, which ends `now`; its beginning was set at the network. The
/// network must be settled.
pub fn outcome(plan: &Plan, network: &Network, now: Time) -> NetworkOutcome {
    let frames = network.links.frames;
    let nodes = network.switches();
    let counted =
        Counted { sources: network.links.sources.workloads(), now, run: network.counted(now) };
    NetworkOutcome {
        name: plan.raw.name.clone(),
        seed: plan.raw.seed,
        digest: Some(network.digest()),
        end_ps: network.measured(now).ps(),
        counted_from_ps: Some(network.measured(network.counted_from()).ps()),
        conservation: Some(Conservation {
            sent: frames.sent,
            delivered: frames.delivered,
            dropped: frames.dropped,
            in_network: network.in_network(),
        }),
        ports: ports(plan, nodes, counted).collect(),
        switches: switch_summaries(plan, nodes, network.links.sources.workloads()),
        netstat: network.port_rows(plan, now),
        fabric: None,
        interfaces: None,
        tables: None,
    }
}

/// The observed ports over time.
pub fn tables(plan: &Plan, network: &Network) -> Tables {
    let nodes = network.switches();
    tailrace_record::collect_tables(&[port_series(plan, nodes), queue_depth(plan, nodes)])
}

/// Name of the port of a switch towards a host.
pub fn port_towards(plan: &Plan, host: usize) -> String {
    let end = plan.graph.ports[host][0];
    format!("{}>{}", plan.graph.names[end.peer], plan.graph.names[host])
}
