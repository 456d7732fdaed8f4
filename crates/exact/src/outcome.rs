//! The outcome of a trial, in the simulator's shape: what the network did, and what the traffic programs of the hosts have recorded.

use crate::interface::Counted;
use crate::spec::QueueReport;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use tailrace_fabric::plane::network::Network;
use tailrace_network::{port_series, queue_depth};
use tailrace_outcome::Interface;
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};
use tailrace_traffic::merge;
use tailrace_traffic::record::Record;
use tailrace_units::Time;

/// Ports over time.
pub(crate) fn network_tables(plan: &Plan, network: &Network) -> Vec<Table> {
    vec![port_series(plan, network.switches()), queue_depth(plan, network.switches())]
}

/// Tables as JSON: by name the columns, and of each column its type and its values.
pub(crate) fn tables_value(tables: &[Table]) -> Value {
    tables.iter().map(|table| (table.name.to_owned(), columns(table))).collect::<Map<_, _>>().into()
}

fn columns(table: &Table) -> Value {
    let of = |(name, column): &(&'static str, Column)| {
        let typed = match column {
            Column::U32(values) => json!(["u32", values]),
            Column::U64(values) => json!(["u64", values]),
            Column::F64(values) => json!(["f64", values]),
        };
        ((*name).to_owned(), typed)
    };
    Value::Object(table.columns.iter().map(of).collect())
}

/// What the interface and the queueing discipline of each host have counted.
pub(crate) fn hosts(plan: &Plan, interfaces: &[Counted], queues: &[QueueReport]) -> Vec<Value> {
    let of = |(host, interface): (usize, &Counted)| {
        json!({
            "name": plan.raw.hosts[host].name,
            "rx_frames": interface.received_frames,
            "rx_ring_drops": interface.ring_drops,
            "nic_queue_drops": queues[host].drop_frames,
            "cpu_busy_ps": 0,
            "program_busy_ps": 0,
        })
    };
    interfaces.iter().enumerate().map(of).collect()
}

/// Puts the interfaces of hosts before the ports of switches, as `netstat -i` has them. The guests' devices are the engine's: it
/// counts what it carries for them.
pub(crate) fn add_interfaces(plan: &Plan, interfaces: &[Counted], queues: &[QueueReport], network: &Network, answer: &mut Value) {
    let of = |(host, interface): (usize, &Counted)| {
        let raw = &plan.raw.hosts[host];
        json!(Interface {
            rx_frames: Some(interface.received_frames - interface.ring_drops),
            rx_overruns: Some(interface.ring_drops),
            tx_frames: Some(network.sent(host)),
            tx_dropped: Some(queues[host].drop_frames),
            ..Interface::up(&raw.name, None, "eth0", Some(raw.mtu_bytes))
        })
    };
    let mut rows: Vec<Value> = interfaces.iter().enumerate().map(of).collect();
    rows.extend(answer["netstat"].as_array().cloned().unwrap_or_default());
    answer["netstat"] = rows.into();
}

/// Adds what the traffic programs have recorded, of which the one of each host has written a file into the folder of its host.
///
/// # Errors
/// When a record is missing or damaged.
pub(crate) fn add_traffic(plan: &Plan, folder: &Path, answer: &mut Value, end: Time) -> Result<Vec<Table>, String> {
    let mut records = Vec::new();
    for host in &plan.raw.hosts {
        let file = folder.join("hosts").join(&host.name).join("out").join(format!("{}.traffic", host.name));
        if let Ok(bytes) = fs::read(&file) {
            records.push(Record::parse(&bytes).map_err(|error| format!("{}: {error}", file.display()))?);
        }
    }
    let merged = merge(plan, &records, Some(end))?;
    for key in ["finished", "end_ps", "workloads"] {
        answer[key] = merged.summary[key].clone();
    }
    let told = merged.summary["hosts"].as_array().cloned().unwrap_or_default();
    for host in answer["hosts"].as_array_mut().into_iter().flatten() {
        let Some(own) = told.iter().find(|own| own["name"] == host["name"]) else { continue };
        // A datagram that finds the socket's buffer full because the interface is busy does not get as far as the queue.
        let drops = host["nic_queue_drops"].as_u64().unwrap_or(0) + own["unsent_datagrams"].as_u64().unwrap_or(0);
        host["nic_queue_drops"] = drops.into();
        host["failures"] = own["failures"].clone();
        host["late_max_ps"] = own["late_max_ps"].clone();
    }
    Ok(merged.tables)
}
