//! The outcome of a trial: that of the network, and the records of the hosts' traffic programs.

use crate::interface::Counted;
use crate::spec::QueueReport;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tailrace_lab::network::Network;
use tailrace_network::{port_series, queue_depth};
use tailrace_outcome::{
    ColumnValues, Exact, Host, Interface, NetworkOutcome, Outcome, TrafficHost, TrafficOutcome,
};
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};
use tailrace_traffic::record::Record;
use tailrace_traffic::{Merged, merge};
use tailrace_units::Time;

/// The results of a trial.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Its tables: by name the columns, and of each column its type and its values.
    pub tables: BTreeMap<&'static str, BTreeMap<&'static str, (&'static str, ColumnValues)>>,
}

impl Answer {
    /// With these tables.
    pub(crate) fn new(outcome: Outcome, tables: &[Table]) -> Answer {
        let columns = |table: &Table| {
            table.columns.iter().map(|(name, column)| (*name, typed(column))).collect()
        };
        Answer {
            outcome,
            tables: tables.iter().map(|table| (table.name, columns(table))).collect(),
        }
    }
}

fn typed(column: &Column) -> (&'static str, ColumnValues) {
    let kind = match column {
        Column::U32(_) => "u32",
        Column::U64(_) => "u64",
        Column::F64(_) => "f64",
    };
    (kind, column.into())
}

/// Ports over time.
pub(crate) fn network_tables(plan: &Plan, network: &Network) -> Vec<Table> {
    vec![port_series(plan, network.switches()), queue_depth(plan, network.switches())]
}

/// The engine's counters of each host.
pub(crate) struct Counts<'a> {
    pub(crate) interfaces: &'a [Counted],
    pub(crate) queues: &'a [QueueReport],
}

/// Combines the outcome of a trial. Without traffic programs nothing is known of workloads.
pub(crate) fn assembled(
    plan: &Plan,
    (network_outcome, network): (NetworkOutcome, &Network),
    counts: &Counts,
    traffic: Option<TrafficOutcome>,
    (exact, wall_s): (Exact, f64),
) -> Outcome {
    let programs = traffic.as_ref().map_or(&[][..], |traffic| &traffic.hosts);
    Outcome {
        hosts: hosts(plan, counts, programs),
        netstat: interfaces(plan, counts, network).chain(network_outcome.netstat).collect(),
        finished: traffic.as_ref().is_some_and(|traffic| traffic.finished),
        end_ps: traffic.as_ref().map_or(network_outcome.end_ps, |traffic| traffic.end_ps),
        workloads: traffic.map_or_else(Vec::new, |traffic| traffic.workloads),
        name: network_outcome.name,
        seed: network_outcome.seed,
        digest: network_outcome.digest,
        counted_from_ps: network_outcome.counted_from_ps,
        conservation: network_outcome.conservation,
        ports: network_outcome.ports,
        switches: network_outcome.switches,
        exact: Some(exact),
        wall_s,
        ..Outcome::default()
    }
}

/// The counters of the interface and the queueing discipline of each host, and of its traffic
/// program, where it has one.
fn hosts(plan: &Plan, counts: &Counts, programs: &[TrafficHost]) -> Vec<Host> {
    let of = |((interface, queue), raw): ((&Counted, &QueueReport), &tailrace_plan::RawHost)| {
        let own = programs.iter().find(|own| own.name == raw.name);
        Host {
            name: raw.name.clone(),
            rx_frames: interface.received_frames,
            rx_ring_drops: interface.ring_drops,
            // A datagram that finds the socket's buffer full because the interface is busy does not
            // get as far as the queue.
            nic_queue_drops: queue.drop_frames + own.map_or(0, |own| own.unsent_datagrams),
            failures: own.map(|own| own.failures.clone()),
            late_max_ps: own.map(|own| own.late_max_ps),
            ..Host::default()
        }
    };
    counts.interfaces.iter().zip(counts.queues).zip(&plan.raw.hosts).map(of).collect()
}

/// The interfaces of hosts, as `netstat -i` has them. The guests' devices are the engine's: it
/// counts the frames that it carries for them.
fn interfaces(plan: &Plan, counts: &Counts, network: &Network) -> impl Iterator<Item = Interface> {
    let of = |(host, interface): (usize, &Counted)| {
        let raw = &plan.raw.hosts[host];
        Interface {
            rx_frames: Some(interface.received_frames - interface.ring_drops),
            rx_overruns: Some(interface.ring_drops),
            tx_frames: Some(network.sent(host)),
            tx_dropped: Some(counts.queues[host].drop_frames),
            ..Interface::up(&raw.name, None, "eth0", Some(raw.mtu_bytes))
        }
    };
    counts.interfaces.iter().enumerate().map(of)
}

/// The records of the traffic programs, each in a file in the folder of its host.
///
/// # Errors
/// When a record is missing or damaged.
pub(crate) fn traffic(plan: &Plan, folder: &Path, end: Time) -> Result<Merged, String> {
    let mut records = Vec::new();
    for host in &plan.raw.hosts {
        let file = folder
            .join("hosts")
            .join(&host.name)
            .join("out")
            .join(format!("{}.traffic", host.name));
        if let Ok(bytes) = fs::read(&file) {
            records.push(
                Record::parse(&bytes).map_err(|error| format!("{}: {error}", file.display()))?,
            );
        }
    }
    merge(plan, &records, Some(end))
}
