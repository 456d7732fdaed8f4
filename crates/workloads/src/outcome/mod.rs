//! The workloads' part of an outcome: a part of its summary, and four of its tables.

mod cut_off;
mod ideal;
mod limits;
mod storage;
mod tables;
mod windows;

pub use cut_off::CutOff;
pub use limits::{CONNECTIONS_REPORTED_MAX, LimitCounts, limits_summary};
pub use tables::{running, transactions, workload_series};
pub use windows::{WINDOW_ROWS_MAX, WindowRow, tcp_windows};

use crate::{WorkloadRecord, add_details, tells_blocks, tells_tallies};
use tailrace_outcome::{BlockCounts, Limits, RequestCounts, Tcp};
use tailrace_plan::Workload;
use tailrace_programs::Tallies;
use tailrace_transport::tcp::TcpStats;
use tailrace_units::Time;

/// Figures that engines add to a record.
#[derive(Debug, Default)]
pub struct Counts {
    /// The bytes of each connection, if that is reported.
    pub connection_bytes: Option<Vec<u64>>,
    /// The workload's part of TCP's counters.
    pub tcp: Tcp,
    /// The limits of its connections; `None` if the engine does not report them.
    pub limits: Option<Limits>,
    /// The counters of its programs.
    pub tallies: Tallies,
}

/// The summary of a workload: its record, its operations that were cut off, and its counters.
pub fn workload_summary(
    workload: &Workload,
    record: &WorkloadRecord,
    cut_off: &CutOff,
    counts: Counts,
) -> tailrace_outcome::Workload {
    let Counts { connection_bytes, tcp, limits, tallies } = counts;
    let mut summary = tailrace_outcome::Workload {
        name: workload.header.name.clone(),
        kind: workload.header.kind.to_owned(),
        completion_ps: record.completion.map(Time::ps),
        counted_from_ps: record.counted_from.ps(),
        transactions: record.transactions,
        goodput_bytes: record.goodput_bytes,
        latency: record.latency.summary(),
        cut_off: cut_off.summary(),
        user_completion_ps: record.user_completion.iter().map(|at| at.map(Time::ps)).collect(),
        connection_bytes: Some(connection_bytes),
        tcp: Some(Some(tcp)),
        limits: Some(limits),
        request_counts: tells_tallies(workload).then(|| tallies_summary(&tallies)),
        block_counts: tells_blocks(workload).then(|| blocks_summary(&tallies)),
        block_latency: tells_blocks(workload).then(|| record.parts.summary()),
        storage_requests: record.storage.as_deref().map(storage::storage_summary),
        mpi_times: None,
        datagrams: None,
        backing: None,
        failed_attempts: None,
        initiators: None,
        lost_datagrams: None,
    };
    add_details(workload, record, &mut summary);
    summary
}

fn tallies_summary(tallies: &Tallies) -> RequestCounts {
    RequestCounts {
        begun: tallies.begun,
        answered: tallies.answered,
        failed: tallies.failed,
        connections: tallies.connections,
        failed_connections: tallies.failed_connections,
        lost_queries: tallies.lost_queries,
        failed_calls: tallies.failed_calls,
        timed_out: tallies.timed_out,
    }
}

fn blocks_summary(tallies: &Tallies) -> BlockCounts {
    BlockCounts {
        received_blocks: tallies.blocks,
        lost_blocks: tallies.lost_blocks,
        failed_blocks: tallies.failed_blocks,
        messages: tallies.messages,
    }
}

/// Counters of connections.
pub fn tcp_summary(sum: &TcpStats) -> Tcp {
    Tcp {
        segments_sent: Some(sum.segments_sent),
        acks_sent: Some(sum.acks_sent),
        retransmits: Some(sum.retransmits),
        timeouts: Some(sum.timeouts),
        tail_loss_probes: Some(sum.tail_loss_probes),
        fast_recoveries: Some(sum.fast_recoveries),
        spurious_retransmits: Some(sum.spurious_retransmits),
        ecn_reductions: Some(sum.ecn_reductions),
        out_of_order: Some(sum.out_of_order),
        marked_segments: None,
    }
}
