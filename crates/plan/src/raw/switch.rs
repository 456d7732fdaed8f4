//! Switches and their policies as they stand in the plan.

use serde::{Deserialize, Serialize};

/// Switching mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawSwitching {
    /// A frame is forwarded when it has arrived whole.
    StoreAndForward,
    /// A frame is forwarded when its header has arrived, where the output is not faster than the input.
    CutThrough,
}

/// A switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSwitch {
    /// Unique among all nodes.
    pub name: String,
    /// Switching mode.
    pub switching: RawSwitching,
    /// Fixed pipeline delay from ingress to the output queue (picoseconds).
    pub latency_ps: u64,
    /// Packet memory shared by all ports, in bytes.
    pub buffer_bytes: u64,
    /// Policy of every port that is not named in `port_policies`.
    pub policy: RawPolicy,
    /// Policies of single ports.
    pub port_policies: Vec<RawPortPolicy>,
}

/// A policy for the port towards one neighbour.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPortPolicy {
    /// Name of the node at the other end.
    pub towards: String,
    /// The policy of this port.
    pub policy: RawPolicy,
}

/// What one output port does.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPolicy {
    /// Output queues, 1 to 8.
    pub queues: Vec<RawQueue>,
    /// Queue index for each of the eight priorities.
    pub queue_of_priority: [u8; 8],
    /// Dynamic packet prioritisation.
    pub dpp: Option<RawDpp>,
}

/// One output queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawQueue {
    /// Shown in results, e.g. `express`, `default`.
    pub name: String,
    /// When it is served.
    pub service: RawService,
    /// When it is full.
    pub limit: RawLimit,
    /// Active queue management.
    pub aqm: RawAqm,
}

/// When a queue is served. Strict queues come before all weighted ones.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawService {
    /// Served whenever no strict queue of a lower level number has a frame (1 is first).
    Strict(u8),
    /// Deficit round robin with this weight (parts per thousand of the weighted bandwidth, 1 to 1000).
    Dwrr(u32),
}

/// When a queue is full.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawLimit {
    /// At most this many bytes.
    Bytes(u64),
    /// At most alpha times the free shared buffer (Choudhury and Hahne); alpha in thousandths.
    AlphaMilli(u32),
    /// At most this many frames (the unit in which ns-3 and older switches count).
    Frames(u32),
}

/// Active queue management of one queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawAqm {
    /// None: the limit alone.
    None,
    /// Mark what is ECN-capable above an instantaneous depth (DCTCP's step); what is not is left to the limit.
    Step {
        /// Depth in bytes.
        threshold_bytes: u64,
    },
    /// Random early detection on the average depth (Floyd and Jacobson 1993).
    Red {
        /// Below: never.
        minimum_bytes: u64,
        /// Above: always.
        maximum_bytes: u64,
        /// Probability at the maximum, thousandths.
        probability_milli: u32,
        /// The average's weight is 2^-this.
        weight_exponent: u8,
        /// Mark what is capable instead of dropping it.
        ecn: bool,
    },
    /// CoDel (RFC 8289), decided at dequeue.
    Codel {
        /// Acceptable standing delay (picoseconds).
        target_ps: u64,
        /// The delay must stay above the target for this long before anything is dropped (picoseconds).
        interval_ps: u64,
        /// Mark what is capable instead of dropping it.
        ecn: bool,
        /// Mark every capable frame whose delay is above this; 0 for never (Linux `ce_threshold`), in picoseconds.
        ce_threshold_ps: u64,
    },
}

/// Dynamic packet prioritisation (Cisco C11-738425, page 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDpp {
    /// The first this many packets of a flow are prioritised.
    pub max_packets: u32,
    /// A flow that was silent for this long is new (picoseconds).
    pub age_ps: u64,
    /// Queue index of the express queue (must be strict).
    pub express_queue: u8,
    /// When a flow becomes new again.
    pub reset: RawDppReset,
    /// Entries of the flow table, a power of two.
    pub table_entries: u32,
    /// What happens to a flow whose set of entries is full.
    pub when_full: RawTableFull,
}

/// When a silent flow becomes new again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawDppReset {
    /// Only when none of its packets waits in the normal queue: never reorders.
    OrderSafe,
    /// After the age period, whatever waits.
    Naive,
}

/// What happens to a flow that finds no entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawTableFull {
    /// It takes the entry that was silent the longest; the evicted flow starts anew.
    EvictOldest,
    /// It is not tracked and uses the class's own queue.
    Untracked,
}
