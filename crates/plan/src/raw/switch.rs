//! Switches and their policies in the format of a plan.

use serde::{Deserialize, Serialize};

/// Switching mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawSwitching {
    /// A frame is forwarded after all of it has arrived.
    StoreAndForward,
    /// A frame is forwarded when its header has arrived, where the output is not faster than the
    /// input.
    CutThrough,
}

/// A switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Classification rules; the first match applies, and the class of a frame without a match is
    /// its priority.
    #[serde(default)]
    pub classify: Vec<RawRule>,
    /// Policy of every port that is not named in `port_policies`.
    pub policy: RawPolicy,
    /// Policies of single ports.
    pub port_policies: Vec<RawPortPolicy>,
    /// IP MTU of every port that is not named in `port_mtus`; none, also when missing, for frames
    /// of any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
    /// IP MTUs of single ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub port_mtus: Vec<RawPortMtu>,
}

/// The MTU of the port towards one neighbour.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawPortMtu {
    /// Name of the node at the other end.
    pub towards: String,
    /// IP MTU of this port.
    pub mtu_bytes: u32,
}

/// A policy for the port towards one neighbour.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawPortPolicy {
    /// Name of the node at the other end.
    pub towards: String,
    /// The policy of this port.
    pub policy: RawPolicy,
}

/// The policy of an output port.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawPolicy {
    /// Output queues, 1 to 8.
    pub queues: Vec<RawQueue>,
    /// Queue index for each of the eight priorities.
    pub queue_of_priority: [u8; 8],
    /// Dynamic packet prioritisation.
    pub dpp: Option<RawDpp>,
    /// Elephant trap, needed by queues with approximate fair drop.
    #[serde(default)]
    pub etrap: Option<RawEtrap>,
    /// Pauses that this port obeys and sends.
    #[serde(default)]
    pub pause: Option<RawPause>,
    /// Ingress accounting by groups of priorities that cover all eight; empty for none. When one
    /// port of a switch has groups, all have.
    #[serde(default)]
    pub groups: Vec<RawGroup>,
    /// Policers for frames that arrive at this port.
    #[serde(default)]
    pub police: Option<RawPolice>,
}

/// A classification rule. All stated conditions must hold; the class (0 to 7) replaces the frame's
/// priority.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawRule {
    /// Class of matching frames.
    pub class: u8,
    /// One of these priorities.
    #[serde(default)]
    pub pcp: Option<Vec<u8>>,
    /// One of these code points.
    #[serde(default)]
    pub dscp: Option<Vec<u8>>,
    /// One of these VLANs.
    #[serde(default)]
    pub vlan: Option<Vec<u16>>,
    /// Neighbour from which the frame arrived.
    #[serde(default)]
    pub ingress: Option<String>,
    /// Host that sent the frame.
    #[serde(default)]
    pub source: Option<String>,
    /// Host that receives the frame.
    #[serde(default)]
    pub destination: Option<String>,
    /// 6 or 17.
    #[serde(default)]
    pub protocol: Option<u8>,
    /// First and last source port.
    #[serde(default)]
    pub source_port: Option<(u16, u16)>,
    /// First and last destination port.
    #[serde(default)]
    pub destination_port: Option<(u16, u16)>,
}

/// Elephant trap (Nexus 9000).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawEtrap {
    /// Bytes after which a flow is an elephant.
    pub byte_count: u64,
    /// An elephant must send `bandwidth_threshold_bytes` in each such period.
    pub age_ps: u64,
    /// Bytes that an elephant must send in each period of `age_ps`.
    pub bandwidth_threshold_bytes: u64,
    /// Entries of the table, a power of two.
    pub table_entries: u32,
    /// Period of approximate fair drop.
    pub afd_period_ps: u64,
}

/// Pausing at one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawPause {
    /// Priorities whose pause (802.1Qbb) is obeyed, a bit each.
    pub obeys: u8,
    /// Obeys 802.3x pauses.
    pub obeys_link_pause: bool,
    /// From the arrival of a pause to its effect (802.3 annex 31B.3.7: at most 67 quanta at 10
    /// Gbit/s).
    pub response_ps: u64,
    /// Quanta in the frames that this port sends, 1 to 65 535.
    pub quanta: u16,
    /// Sends 802.3x frames instead of 802.1Qbb frames.
    pub sends_link_pause: bool,
    /// Ends pause storms.
    #[serde(default)]
    pub watchdog: Option<RawWatchdog>,
}

/// A watchdog against pause storms.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawWatchdog {
    /// Time for which a non-empty queue must be paused to be in a storm.
    pub detection_ps: u64,
    /// Time without a pause after which the storm is over.
    pub restoration_ps: u64,
}

/// A priority group of an ingress port.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawGroup {
    /// Its priorities, a bit each; the groups of a port cover every priority once.
    pub priorities: u8,
    /// Guaranteed bytes.
    pub reserved_bytes: u64,
    /// Limit in the shared buffer: `bytes` or `alpha-milli`. For a lossless group this is XOFF.
    pub limit: RawLimit,
    /// Set for a lossless group.
    #[serde(default)]
    pub lossless: Option<RawLossless>,
}

/// Thresholds of a lossless group.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawLossless {
    /// Distance of XON below XOFF.
    pub xon_offset_bytes: u64,
    /// Buffer for frames that arrive after a pause was sent.
    pub headroom_bytes: u64,
}

/// A policer at the ingress of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawPolice {
    /// Classes that it applies to, a bit each.
    pub classes: u8,
    /// Committed rate, of frames without wire overhead.
    pub rate_bps: u64,
    /// Committed burst.
    pub burst_bytes: u64,
    /// One bucket for each flow instead of one for all.
    pub per_flow: bool,
}

/// One output queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Guaranteed bytes of this queue.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// Largest rate in wire bits per second; 0 for none.
    #[serde(default)]
    pub shape_max_bps: u64,
    /// Guaranteed rate in wire bits per second; 0 for none.
    #[serde(default)]
    pub shape_min_bps: u64,
    /// QCN.
    #[serde(default)]
    pub qcn: Option<RawQcn>,
}

/// A QCN congestion point (802.1Qau).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawQcn {
    /// Set point of the queue depth, at least 100.
    pub set_point_bytes: u64,
    /// Weight of growth, at least 1.
    pub weight: u64,
}

/// When a queue is served. Strict queues come before all weighted ones.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawService {
    /// Served whenever no strict queue of a lower level number has a frame (1 is first).
    Strict(u8),
    /// Deficit round robin with this weight (parts per thousand of the weighted bandwidth, 1 to
    /// 1000).
    Dwrr(u32),
}

/// When a queue is full.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawAqm {
    /// None: only the limit.
    None,
    /// Mark ECN-capable frames above an instantaneous depth (DCTCP's step); other frames are
    /// dropped only at the limit.
    Step {
        /// Depth in bytes.
        threshold_bytes: u64,
    },
    /// Random early detection on the average depth (Floyd and Jacobson 1993).
    Red {
        /// Below: never.
        minimum_bytes: u64,
        /// From here on: always, unless `gentle`.
        maximum_bytes: u64,
        /// Probability just below the maximum, thousandths.
        probability_milli: u32,
        /// The average's weight is 2^-this.
        weight_exponent: u8,
        /// Mark ECN-capable frames instead of dropping them.
        ecn: bool,
        /// Thresholds for frames without ECN, if they differ: minimum, maximum, probability in
        /// thousandths.
        #[serde(default)]
        not_capable: Option<(u64, u64, u32)>,
        /// From the maximum to twice of it the probability rises to one, instead of being one.
        #[serde(default)]
        gentle: bool,
    },
    /// Approximate fair drop of elephants; the port must have an elephant trap.
    Afd {
        /// Target queue depth.
        desired_bytes: u64,
        /// Mark ECN-capable frames instead of dropping them.
        ecn: bool,
    },
    /// CoDel (RFC 8289), decided at dequeue.
    Codel {
        /// Acceptable standing delay (picoseconds).
        target_ps: u64,
        /// The delay must stay above the target for this long before anything is dropped
        /// (picoseconds).
        interval_ps: u64,
        /// Mark ECN-capable frames instead of dropping them.
        ecn: bool,
        /// Mark every capable frame whose delay is above this; 0 for never (Linux `ce_threshold`),
        /// in picoseconds.
        ce_threshold_ps: u64,
    },
}

/// Dynamic packet prioritisation (Cisco C11-738425, page 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawDpp {
    /// Number of first packets of a flow that are prioritised.
    pub max_packets: u32,
    /// Silence after which a flow is new again (picoseconds).
    pub age_ps: u64,
    /// Queue index of the express queue (must be strict).
    pub express_queue: u8,
    /// When a flow becomes new again.
    pub reset: RawDppReset,
    /// Entries of the flow table, a power of two.
    pub table_entries: u32,
    /// Treatment of a flow whose set of entries is full.
    pub when_full: RawTableFull,
    /// Classes whose flows are prioritised, a bit each; all when missing.
    #[serde(default = "every_class")]
    pub classes: u8,
}

fn every_class() -> u8 {
    u8::MAX
}

/// When a silent flow becomes new again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawDppReset {
    /// Only when none of its packets waits in the normal queue: never reorders.
    OrderSafe,
    /// After the age period, even if its packets wait.
    Naive,
}

/// Treatment of a flow for which there is no free entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawTableFull {
    /// It takes the entry that was silent the longest; the evicted flow starts anew.
    EvictOldest,
    /// It is not tracked and uses the class's own queue.
    Untracked,
}
