//! What an outcome tells of workloads: a part of its summary, and four of its tables.

mod cut_off;
mod ideal;
mod limits;
mod storage;
mod tables;
mod windows;

pub use cut_off::CutOff;
pub use limits::{CONNECTIONS_TOLD_MAX, LimitCounts, limits_summary};
pub use tables::{running, transactions, workload_series};
pub use windows::{WINDOW_ROWS_MAX, WindowRow, tcp_windows};

use crate::{WorkloadRecord, details, tells_blocks, tells_tallies};
use serde_json::{Value, json};
use tailrace_endpoint::app::Tallies;
use tailrace_endpoint::transport::TcpStats;
use tailrace_plan::Workload;
use tailrace_record::Latency;
use tailrace_units::Time;

/// What engines add to a record.
#[derive(Debug, Default)]
pub struct Counts {
    /// What each connection has carried, where that is told.
    pub connection_bytes: Option<Vec<u64>>,
    /// The workload's part of TCP's counters.
    pub tcp: Value,
    /// What limited its connections; null where the engine does not tell.
    pub limits: Value,
    /// What its programs have counted.
    pub tallies: Tallies,
}

/// What is told of a workload: its record, what the end cut off, and what was counted.
pub fn workload_summary(workload: &Workload, record: &WorkloadRecord, cut_off: &CutOff, counts: Counts) -> Value {
    let Counts { connection_bytes, tcp, limits, tallies } = counts;
    let users: Vec<Option<u64>> = record.user_completion.iter().map(|at| at.map(Time::ps)).collect();
    let mut summary = json!({
        "name": workload.header.name,
        "kind": workload.header.kind,
        "completion_ps": record.completion.map(Time::ps),
        "counted_from_ps": record.counted_from.ps(),
        "transactions": record.transactions,
        "goodput_bytes": record.goodput_bytes,
        "latency": latency(&record.latency),
        "cut_off": cut_off.summary(),
        "user_completion_ps": users,
        "connection_bytes": connection_bytes,
        "tcp": tcp,
        "limits": limits,
    });
    if tells_tallies(workload) {
        summary["request_counts"] = tallies_summary(&tallies);
    }
    if tells_blocks(workload) {
        summary["block_counts"] = blocks_summary(&tallies);
        summary["block_latency"] = latency(&record.parts).into();
    }
    if let Some(record) = &record.storage {
        summary["storage_requests"] = storage::storage_summary(record);
    }
    if let Some((key, value)) = details(workload, record) {
        summary[key] = value;
    }
    summary
}

fn tallies_summary(tallies: &Tallies) -> Value {
    json!({
        "begun": tallies.begun,
        "answered": tallies.answered,
        "failed": tallies.failed,
        "connections": tallies.connections,
        "failed_connections": tallies.failed_connections,
        "lost_queries": tallies.lost_queries,
        "failed_calls": tallies.failed_calls,
        "timed_out": tallies.timed_out,
    })
}

fn blocks_summary(tallies: &Tallies) -> Value {
    json!({
        "received_blocks": tallies.blocks,
        "lost_blocks": tallies.lost_blocks,
        "failed_blocks": tallies.failed_blocks,
        "messages": tallies.messages,
    })
}

/// What connections have counted.
pub fn tcp_summary(sum: &TcpStats) -> Value {
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

fn latency(latency: &Latency) -> Option<Value> {
    (latency.count() > 0).then(|| {
        let [p50, p90, p95, p99, p99_9] = latency.percentiles_ps([50.0, 90.0, 95.0, 99.0, 99.9]);
        json!({
            "count": latency.count(),
            "mean_ps": latency.mean_ps(),
            "min_ps": latency.min_ps(),
            "p50_ps": p50,
            "p90_ps": p90,
            "p95_ps": p95,
            "p99_ps": p99,
            "p99_9_ps": p99_9,
            "max_ps": latency.max_ps(),
            "buckets": latency.buckets(),
        })
    })
}
