//! What a trial leaves behind: one JSON document and four tables of columns.

use crate::observe::WorkloadRecord;
use crate::world::{World, duration, frames_in_network};
use serde_json::{Value, json};
use std::time::Duration;
use tailrace_dataplane::{DppCounters, DropCause, QueueCounters};
use tailrace_endpoint::transport::TcpStats;
use tailrace_plan::{Plan, Workload};
use tailrace_record::Latency;
use tailrace_units::Time;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Indices.
    U32(Vec<u32>),
    /// Counts and picoseconds.
    U64(Vec<u64>),
    /// Means.
    F64(Vec<f64>),
}

/// A table of columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `transactions`, `port_series`, `workload_series` or `queue_depth`.
    pub name: &'static str,
    /// Name and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// Results of one trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    summary: Value,
    tables: Vec<Table>,
}

impl Outcome {
    /// The summary as JSON.
    pub fn to_json(&self) -> String {
        self.summary.to_string()
    }
    /// The summary as a value.
    pub fn summary(&self) -> &Value {
        &self.summary
    }
    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}

pub(crate) fn gather(plan: &Plan, world: World, wall: Duration) -> Outcome {
    let frames = world.observe.frames;
    let in_network = frames_in_network(&world);
    let rx_waiting = frames.sent - frames.delivered - frames.dropped - in_network;
    debug_assert_eq!(rx_waiting, 0, "every frame is delivered, dropped or somewhere");
    let summary = json!({
        "name": plan.raw.name,
        "seed": plan.raw.seed,
        "digest": world.observe.digest().map(tailrace_record::Digest::hex),
        "finished": world.observe.unfinished == 0,
        "cancelled": world.is_cancelled,
        "end_ps": world.now.ps(),
        "wall_s": wall.as_secs_f64(),
        "events": world.events,
        "packet_hops": world.observe.packet_hops,
        "packets_delivered": world.observe.packets_delivered,
        "conservation": {
            "sent": frames.sent,
            "delivered": frames.delivered,
            "dropped": frames.dropped,
            "in_network": in_network,
        },
        "workloads": workloads(plan, &world),
        "ports": ports(plan, &world),
        "switches": switches(plan, &world),
        "hosts": hosts(plan, &world),
    });
    Outcome {
        summary,
        tables: vec![transactions(&world), port_series(plan, &world), workload_series(&world), queue_depth(plan, &world)],
    }
}

fn workloads(plan: &Plan, world: &World) -> Vec<Value> {
    plan.workloads
        .iter()
        .enumerate()
        .map(|(index, workload)| {
            let record = &world.observe.workloads[index];
            let (name, kind) = match workload {
                Workload::Oltp(oltp) => (&oltp.raw.name, "oltp"),
                Workload::Stream { raw, .. } => (&raw.name, "stream"),
                Workload::Flows { raw, .. } => (&raw.name, "flows"),
                Workload::Datagrams { raw, .. } => (&raw.name, "datagrams"),
            };
            let users: Vec<Option<u64>> = record.user_completion.iter().map(|at| at.map(Time::ps)).collect();
            json!({
                "name": name,
                "kind": kind,
                "completion_ps": record.completion.map(Time::ps),
                "transactions": record.transactions,
                "goodput_bytes": record.goodput_bytes,
                "latency": latency(&record.latency),
                "user_completion_ps": users,
                "tcp": tcp(world, index as u32, record),
            })
        })
        .collect()
}

fn latency(latency: &Latency) -> Option<Value> {
    (latency.count() > 0).then(|| {
        json!({
            "count": latency.count(),
            "mean_ps": latency.mean_ps(),
            "min_ps": latency.min_ps(),
            "p50_ps": latency.percentile_ps(50.0),
            "p90_ps": latency.percentile_ps(90.0),
            "p95_ps": latency.percentile_ps(95.0),
            "p99_ps": latency.percentile_ps(99.0),
            "p99_9_ps": latency.percentile_ps(99.9),
            "max_ps": latency.max_ps(),
            "buckets": latency.buckets(),
        })
    })
}

fn tcp(world: &World, workload: u32, record: &WorkloadRecord) -> Value {
    let mut sum: TcpStats = record.retired;
    let live = world.sockets.iter().filter(|socket| socket.workload == workload && socket.expects != 0);
    live.for_each(|socket| sum.add(socket.tcp.stats()));
    json!({
        "segments_sent": sum.segments_sent,
        "acks_sent": sum.acks_sent,
        "retransmits": sum.retransmits,
        "timeouts": sum.timeouts,
        "tail_loss_probes": sum.tail_loss_probes,
        "fast_recoveries": sum.fast_recoveries,
        "spurious_retransmits": sum.spurious_retransmits,
        "ecn_reductions": sum.ecn_reductions,
        "out_of_order": sum.out_of_order,
    })
}

fn ports(plan: &Plan, world: &World) -> Vec<Value> {
    let graph = &plan.graph;
    let mut ports = Vec::new();
    for (index, node) in world.switches.iter().enumerate() {
        let id = graph.hosts + index;
        let raw = &plan.raw.switches[index];
        for (port, end) in graph.ports[id].iter().enumerate() {
            let peer = &graph.names[end.peer];
            let policy = crate::build_switch::policy_towards(raw, peer);
            let queues: Vec<Value> = (0..node.switch.queues(port))
                .map(|queue| queue_summary(&policy.queues[queue].name, node.switch.counters(port, queue), world))
                .collect();
            let sum = |of: fn(&QueueCounters) -> u64| -> u64 {
                (0..queues.len()).map(|queue| of(node.switch.counters(port, queue))).sum()
            };
            ports.push(json!({
                "node": raw.name,
                "towards": peer,
                "rate_bps": graph.links[end.link].rate.bps(),
                "tx_frames": sum(|counters| counters.tx_frames),
                "tx_bytes": sum(|counters| counters.tx_bytes),
                "queues": queues,
                "dpp": node.switch.dpp_counters(port).map(dpp),
            }));
        }
    }
    ports
}

fn queue_summary(name: &str, counters: &QueueCounters, world: &World) -> Value {
    let drops: serde_json::Map<String, Value> = DropCause::ALL
        .iter()
        .filter(|&&cause| counters.drop_frames[cause as usize] > 0)
        .map(|&cause| {
            let (frames, bytes) = (counters.drop_frames[cause as usize], counters.drop_bytes[cause as usize]);
            (cause.name().to_owned(), json!({ "frames": frames, "bytes": bytes }))
        })
        .collect();
    let run = duration(world).ps().max(1);
    json!({
        "name": name,
        "tx_frames": counters.tx_frames,
        "tx_bytes": counters.tx_bytes,
        "drops": drops,
        "marked_frames": counters.marked_frames,
        "depth_max_bytes": counters.depth_max_bytes,
        "depth_mean_bytes": counters.byte_picoseconds as f64 / run as f64,
    })
}

fn dpp(counters: &DppCounters) -> Value {
    json!({
        "prioritised_frames": counters.prioritised_frames,
        "normal_frames": counters.normal_frames,
        "new_flows": counters.new_flows,
        "resets": counters.resets,
        "deferred_resets": counters.deferred_resets,
        "reordering_resets": counters.reordering_resets,
        "evictions": counters.evictions,
        "untracked_frames": counters.untracked_frames,
    })
}

fn switches(plan: &Plan, world: &World) -> Vec<Value> {
    let both = plan.raw.switches.iter().zip(&world.switches);
    both.map(|(raw, node)| {
        json!({
            "name": raw.name,
            "buffer_bytes": raw.buffer_bytes,
            "buffer_max_bytes": node.switch.buffer().used_max_bytes(),
            "no_route_frames": node.switch.unroutable().drop_frames[DropCause::NoRoute as usize],
        })
    })
    .collect()
}

fn hosts(plan: &Plan, world: &World) -> Vec<Value> {
    let summary = |(host, raw): (usize, &tailrace_plan::RawHost)| {
        let stage = &world.stages[host];
        json!({
            "name": raw.name,
            "rx_frames": stage.frames,
            "nic_queue_drops": world.nics[host].queue_drops,
            "rx_ring_drops": stage.ring_drops,
            "cpu_busy_ps": stage.busy.ps(),
            "program_busy_ps": world.cores[host].busy.ps(),
        })
    };
    plan.raw.hosts.iter().enumerate().map(summary).collect()
}

fn transactions(world: &World) -> Table {
    let rows = || {
        let workloads = world.observe.workloads.iter().enumerate();
        workloads.flat_map(|(index, record)| record.rows.iter().map(move |row| (index as u32, row)))
    };
    Table {
        name: "transactions",
        columns: vec![
            ("workload", Column::U32(rows().map(|(workload, _)| workload).collect())),
            ("user", Column::U32(rows().map(|(_, row)| row.user).collect())),
            ("start_ps", Column::U64(rows().map(|(_, row)| row.start.ps()).collect())),
            ("latency_ps", Column::U64(rows().map(|(_, row)| row.latency.ps()).collect())),
        ],
    }
}

/// Index in the summary's list of ports.
fn port_number(plan: &Plan, (node, port): (usize, usize)) -> u32 {
    let before: usize = (plan.graph.hosts..node).map(|earlier| plan.graph.ports[earlier].len()).sum();
    (before + port) as u32
}

fn port_series(plan: &Plan, world: &World) -> Table {
    let mut columns = (vec![], vec![], vec![], vec![], vec![], vec![], vec![], vec![]);
    for (record, &place) in world.observe.ports.iter().zip(&plan.observed) {
        let depths = record.depth.bins();
        let bins = depths.len().max(record.tx_bytes.bins().len());
        // All series of a port begin with the same width and double it at the same times, but for a queue that is
        // quiet at the end; the widest decides.
        let width = record.depth.width().max(record.tx_bytes.width());
        let rebin = |bins_of: &[u64], from: u64| -> Vec<u64> {
            let factor = (width.ps() / from).max(1) as usize;
            bins_of.chunks(factor).map(|chunk| chunk.iter().sum()).collect()
        };
        let tx = rebin(record.tx_bytes.bins(), record.tx_bytes.width().ps());
        let drops = rebin(record.drop_frames.bins(), record.drop_frames.width().ps());
        let marks = rebin(record.mark_frames.bins(), record.mark_frames.width().ps());
        let factor = (width.ps() / record.depth.width().ps()).max(1) as usize;
        let depths: Vec<(f64, u64)> = depths
            .chunks(factor)
            .map(|chunk| {
                let mean = chunk.iter().map(|bin| bin.0).sum::<f64>() / factor as f64;
                (mean, chunk.iter().map(|bin| bin.1).max().unwrap_or(0))
            })
            .collect();
        let bins = bins.min(depths.len().max(tx.len()));
        for bin in 0..bins {
            let (mean, max) = depths.get(bin).copied().unwrap_or_default();
            columns.0.push(port_number(plan, place));
            columns.1.push(bin as u32);
            columns.2.push(width.times(bin as u64).ps());
            columns.3.push(mean);
            columns.4.push(max);
            columns.5.push(tx.get(bin).copied().unwrap_or(0));
            columns.6.push(drops.get(bin).copied().unwrap_or(0));
            columns.7.push(marks.get(bin).copied().unwrap_or(0));
        }
    }
    Table {
        name: "port_series",
        columns: vec![
            ("port", Column::U32(columns.0)),
            ("bin", Column::U32(columns.1)),
            ("start_ps", Column::U64(columns.2)),
            ("queue_mean_bytes", Column::F64(columns.3)),
            ("queue_max_bytes", Column::U64(columns.4)),
            ("tx_bytes", Column::U64(columns.5)),
            ("drop_frames", Column::U64(columns.6)),
            ("mark_frames", Column::U64(columns.7)),
        ],
    }
}

fn workload_series(world: &World) -> Table {
    let mut columns = (vec![], vec![], vec![], vec![]);
    for (index, record) in world.observe.workloads.iter().enumerate() {
        let Some(series) = &record.goodput else { continue };
        for (bin, &bytes) in series.bins().iter().enumerate() {
            columns.0.push(index as u32);
            columns.1.push(bin as u32);
            columns.2.push(series.width().times(bin as u64).ps());
            columns.3.push(bytes);
        }
    }
    Table {
        name: "workload_series",
        columns: vec![
            ("workload", Column::U32(columns.0)),
            ("bin", Column::U32(columns.1)),
            ("start_ps", Column::U64(columns.2)),
            ("goodput_bytes", Column::U64(columns.3)),
        ],
    }
}

fn queue_depth(plan: &Plan, world: &World) -> Table {
    let rows = || {
        let ports = world.observe.ports.iter().zip(&plan.observed);
        ports.flat_map(|(record, &place)| record.depth.buckets().into_iter().map(move |bucket| (place, bucket)))
    };
    Table {
        name: "queue_depth",
        columns: vec![
            ("port", Column::U32(rows().map(|(place, _)| port_number(plan, place)).collect())),
            ("depth_bytes", Column::U64(rows().map(|(_, bucket)| bucket.0).collect())),
            ("time_ps", Column::U64(rows().map(|(_, bucket)| bucket.1).collect())),
        ],
    }
}
