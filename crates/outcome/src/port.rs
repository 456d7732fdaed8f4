//! Ports of switches.

use crate::nullable::{Nullable, read_nullable};
use crate::switch::Drops;
use serde::{Deserialize, Serialize};

/// The counters of a port of a switch. What is absent cannot be told by an engine that does not
/// look into the switch.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// Of Dynamic Packet Prioritization; null where the port has none.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub dpp: Nullable<Dpp>,
    /// Of the elephant trap; null where the port has none.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub elephants: Nullable<Elephants>,
    /// Of the ingress side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// Frames longer than the MTU; null where the port has none.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub mtu_drops: Nullable<MtuDrops>,
    /// Name of its switch.
    pub node: String,
    /// Pauses that the port has obeyed; null where it obeys none.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub pause: Nullable<Pause>,
    /// By class, in the order of the plan.
    pub queues: Vec<Queue>,
    /// Of its link.
    pub rate_bps: u64,
    /// Name of the node at the other end.
    pub towards: String,
    /// Frames with data by source and queue; null where the port is not observed.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub traffic: Nullable<Vec<SourceTraffic>>,
    /// Sent by all queues.
    pub tx_bytes: u64,
    /// Sent by all queues.
    pub tx_frames: u64,
}

/// A queue of a port.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// At the end.
    pub depth_bytes: u64,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_max_bytes: Option<u64>,
    /// Over the counted time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_mean_bytes: Option<f64>,
    /// Frames that were dropped.
    pub drops: Drops,
    /// Frames that were given a congestion mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_frames: Option<u64>,
    /// Name of its class.
    pub name: String,
    /// Quantized congestion notification; null where nothing was notified.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub qcn: Nullable<Qcn>,
    /// That were sent.
    pub tx_bytes: u64,
    /// That were sent.
    pub tx_frames: u64,
}

/// Notices of a congestion point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Qcn {
    /// Sum of the quantized feedback of all, each 1 to 63.
    pub feedback_sum: u64,
    /// How many were sent.
    pub notifications: u64,
}

/// A group of priorities that share an ingress buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The most that it held.
    pub bytes_max: u64,
    /// At the end, besides its headroom.
    pub depth_bytes: u64,
    /// Frames that were dropped because the headroom was full, or because a lossy group was at its
    /// limit.
    pub drop_frames: u64,
    /// The most in its headroom.
    pub headroom_max_bytes: u64,
    /// Bit mask: bit n is priority n.
    pub priorities: u8,
    /// Pauses that were sent, without refreshes.
    pub xoff_sent: u64,
    /// Resumes that were sent.
    pub xon_sent: u64,
}

/// Pauses at one end of a link, by priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// For how long each priority was paused.
    pub paused_ps: [u64; 8],
    /// Pause frames of each priority.
    pub received: [u64; 8],
    /// Storms that the watchdog has found.
    pub storms_detected: u64,
    /// Those that were over before the end.
    pub storms_ended: u64,
}

/// Frames with data of one source of traffic in one queue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceTraffic {
    /// That were dropped.
    pub dropped_frames: u64,
    /// Name of the queue.
    pub queue: String,
    /// That were sent.
    pub sent_frames: u64,
    /// Names of the workloads of the source.
    pub workloads: Vec<String>,
}

/// What Dynamic Packet Prioritization has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dpp {
    /// Silent flows that stayed old because their packets still waited (order-safe rule).
    pub deferred_resets: u64,
    /// Flows that lost their entry to another while they were active.
    pub evictions: u64,
    /// Flows that got an entry.
    pub new_flows: u64,
    /// Frames to the queue of their class.
    pub normal_frames: u64,
    /// Frames to the express queue.
    pub prioritised_frames: u64,
    /// Silent flows that became new while their packets still waited (naive rule).
    pub reordering_resets: u64,
    /// Silent flows that became new again.
    pub resets: u64,
    /// Frames of flows that found no entry.
    pub untracked_frames: u64,
}

/// What the elephant trap has seen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Elephants {
    /// That arrived at the port, dropped or not.
    pub bytes: u64,
    /// Those of frames whose flow was an elephant.
    pub elephant_bytes: u64,
    /// Elephants that lost their entry to another flow.
    pub evictions: u64,
    /// Flows that became elephants.
    pub found: u64,
    /// Elephants that were evicted because they sent too little, by how long they were silent:
    /// element n counts those of at least 2^n and less than 2^(n+1) age periods, the last element
    /// longer ones too.
    pub silences: Vec<u64>,
}

/// Frames longer than the MTU of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MtuDrops {
    /// Frames that were to leave.
    pub egress: u64,
    /// Frames that arrived.
    pub ingress: u64,
}
