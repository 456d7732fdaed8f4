//! What limited connections.

use serde::{Deserialize, Serialize};

/// For how long connections were limited by what, added up over both ends. What is absent is not
/// told by a system.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How busy the core was that received the acknowledgements, in thousandths; the mean of
    /// several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_core_permille: Option<u64>,
    /// By the congestion window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_ps: Option<u64>,
    /// Of the first connections one by one, where they last; null for one that was not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Vec<Option<Limits>>>,
    /// By the sender's interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface_ps: Option<u64>,
    /// For how long they were open: both ends are for the same time, which counts once.
    pub open_ps: u64,
    /// By the pacing rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_ps: Option<u64>,
    /// For how long segments waited in queues of the network; congestion and queueing may be at
    /// once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_ps: Option<u64>,
    /// For how long data waited for the reading program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader_late_ps: Option<u64>,
    /// How busy the core was that received the data, in thousandths; the mean of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_core_permille: Option<u64>,
    /// By the receiver's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window_ps: Option<u64>,
    /// By the recovery of losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ps: Option<u64>,
    /// By the send buffer: the program has written all that fits, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer_ps: Option<u64>,
    /// How busy the busiest program of the sending host was, in thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_busy_permille: Option<u64>,
    /// By the sender's processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_processor_ps: Option<u64>,
}
