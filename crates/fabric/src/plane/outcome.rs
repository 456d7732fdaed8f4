//! The outcome of a lab: the shape of the simulator's, with how well the fabric kept time.

use super::fidelity::Fidelity;
use super::network::Network;
use serde_json::{Map, Value, json};
use tailrace_network::{Counted, port_series, ports, queue_depth, switch_summaries};
use tailrace_outcome::Port;
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};
use tailrace_units::Time;

/// What was counted in the measured interval, which began when the network was told and ends `now`. The network must be
/// settled.
pub fn outcome(plan: &Plan, network: &Network, now: Time) -> Value {
    let frames = network.links.frames;
    let nodes = network.switches();
    let counted = Counted { sources: network.links.sources.workloads(), now, run: network.counted(now) };
    json!({
        "name": plan.raw.name,
        "seed": plan.raw.seed,
        "digest": network.digest(),
        "end_ps": network.measured(now).ps(),
        "counted_from_ps": network.measured(network.counted_from()).ps(),
        "conservation": {
            "sent": frames.sent,
            "delivered": frames.delivered,
            "dropped": frames.dropped,
            "in_network": network.in_network(),
        },
        "ports": ports(plan, nodes, counted).collect::<Vec<Port>>(),
        "switches": switch_summaries(plan, nodes, network.links.sources.workloads()),
        "netstat": network.port_rows(plan, now),
    })
}

/// The observed ports over time: by table the columns, each a list.
pub fn tables(plan: &Plan, network: &Network) -> Value {
    let nodes = network.switches();
    let tables = [port_series(plan, nodes), queue_depth(plan, nodes)];
    Value::Object(tables.iter().map(|table| (table.name.to_owned(), columns(table))).collect())
}

fn columns(table: &Table) -> Value {
    let values = |column: &Column| match column {
        Column::U32(values) => json!(values),
        Column::U64(values) => json!(values),
        Column::F64(values) => json!(values),
    };
    Value::Object(table.columns.iter().map(|(name, column)| ((*name).to_owned(), values(column))).collect())
}

/// Name of the port of a switch towards a host.
pub(crate) fn port_towards(plan: &Plan, host: usize) -> String {
    let end = plan.graph.ports[host][0];
    format!("{}>{}", plan.graph.names[end.peer], plan.graph.names[host])
}

/// What the fabric itself was like.
pub(super) fn fabric(plan: &Plan, fidelity: &Fidelity, network: &Network, now: Time) -> Value {
    let mut summary = fidelity.summary(network.measured(now));
    let errors = (0..plan.graph.hosts).filter_map(|host| Some((port_towards(plan, host), json!(fidelity.rate_error_ppm(host)?))));
    summary["rate_error_ppm"] = Value::Object(errors.collect::<Map<String, Value>>());
    let delays = (0..plan.graph.hosts).map(|host| (port_towards(plan, host), fidelity.delay(host)));
    summary["delay_us"] = Value::Object(delays.collect());
    let failed = plan.raw.hosts.iter().zip(&fidelity.write_failed).map(|(host, &count)| (host.name.clone(), json!(count)));
    summary["write_failed"] = Value::Object(failed.collect());
    summary
}
