//! Workloads.

use crate::latency::{CutOff, Latency};
use crate::limits::Limits;
use crate::mpi::MpiTimes;
use crate::nullable::{Nullable, read_nullable};
use crate::requests::{BlockCounts, RequestCounts};
use crate::storage::{BackingDisk, StorageInitiator, StorageRequests};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a workload did. What is absent belongs to other kinds, or is not told by an engine or a
/// program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Disks that stood for its device; absent where that is none with limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing: Option<Vec<BackingDisk>>,
    /// Of kinds whose programs count blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_counts: Option<BlockCounts>,
    /// Of single blocks, of kinds whose programs count them; null where none is complete.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub block_latency: Nullable<Latency>,
    /// When all of it was complete, from the start of the trial; null where it was not, or has no
    /// end.
    pub completion_ps: Option<u64>,
    /// What each connection has carried, in the order in which they start; null for kinds of which
    /// that is not told.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub connection_bytes: Nullable<Vec<u64>>,
    /// When counting began, from the start of the trial.
    pub counted_from_ps: u64,
    /// Transactions and flows that were running at the end.
    pub cut_off: CutOff,
    /// Of a sender of frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramCounts>,
    /// Transactions that were rolled back and tried again, by error of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_attempts: Option<BTreeMap<String, u64>>,
    /// Payload that arrived.
    pub goodput_bytes: u64,
    /// As in the plan.
    pub kind: String,
    /// Of storage, what each initiator did; absent where a program or an engine does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initiators: Option<Vec<StorageInitiator>>,
    /// Of what is complete; null where nothing is.
    pub latency: Option<Latency>,
    /// What limited its connections; null where none was open, or where an engine does not tell.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub limits: Nullable<Limits>,
    /// Datagrams that did not arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_datagrams: Option<u64>,
    /// Of MPI jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpi_times: Option<MpiTimes>,
    /// As in the plan.
    pub name: String,
    /// Of kinds whose programs count requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_counts: Option<RequestCounts>,
    /// Of storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_requests: Option<StorageRequests>,
    /// Counters of its connections; null where they are not told.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub tcp: Nullable<Tcp>,
    /// Transactions, flows or datagrams that are complete.
    pub transactions: u64,
    /// When each user was done, from the start of the trial; null for those that were not.
    pub user_completion_ps: Vec<Option<u64>>,
}

/// Counters of TCP connections, added up. What is absent is not told by a system.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Segments without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks_sent: Option<u64>,
    /// Reductions of the window because of congestion marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_reductions: Option<u64>,
    /// Recoveries without a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_recoveries: Option<u64>,
    /// Segments that arrived with a congestion mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_segments: Option<u64>,
    /// Segments that arrived after one with later data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<u64>,
    /// Segments that were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Segments with data, those sent again included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments_sent: Option<u64>,
    /// Segments that were sent again and had arrived before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious_retransmits: Option<u64>,
    /// Probes for a loss at the end of what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_loss_probes: Option<u64>,
    /// Retransmission timeouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
}

/// What became of the datagrams of a sender of frames.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DatagramCounts {
    /// That arrived.
    pub delivered: u64,
    /// That the sender's own interface refused.
    pub refused: u64,
    /// That left.
    pub sent: u64,
}
