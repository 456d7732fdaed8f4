//! Hosts in the format of a plan.

use crate::{RawDistribution, RawProcessor, RawService};
use serde::{Deserialize, Serialize};

/// A host with one NIC port per link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawHost {
    /// Unique among all nodes.
    pub name: String,
    /// IP MTU in bytes, 576 to 9216 (1500 for plain Ethernet, 9000 for jumbo frames).
    pub mtu_bytes: u32,
    /// Network interface.
    pub nic: RawNic,
    /// Processing costs of the receive stage.
    pub cpu: RawCpu,
    /// TCP settings of all sockets of this host.
    pub tcp: RawTcp,
    /// How fragments of datagrams are put together; as in Linux when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<RawIp>,
    /// Other load on its processor, in engines with real programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<RawHostNeighbour>,
}

/// Reassembly of datagrams (Linux `net.ipv4.ipfrag_*`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawIp {
    /// How long an incomplete datagram waits (picoseconds, whole seconds): `ipfrag_time`, 30 s.
    pub reassembly_timeout_ps: u64,
    /// Memory of incomplete datagrams above which fragments are refused: `ipfrag_high_thresh`, 4
    /// 194 304.
    pub reassembly_memory_bytes: u64,
    /// Fragments of the same source between two of one datagram: `ipfrag_max_dist`, 64; 0 for no
    /// limit.
    pub reassembly_distance: u32,
}

/// Load beside the programs of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawHostNeighbour {
    /// Unique on its host.
    pub name: String,
    /// What it does.
    pub kind: RawHostNeighbourKind,
    /// Tasks that do it, at least one.
    pub tasks: u32,
    /// Nice value of each task, -20 to 19.
    pub nice: i32,
    /// Cores that they may use; none for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<u32>,
}

/// What a neighbour does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawHostNeighbourKind {
    /// Computes without pause.
    Compute,
    /// Writes files and waits until they are on the disk.
    Disk,
}

/// Network interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawNic {
    /// Transmit queue limit (qdisc and ring) in bytes; a frame that does not fit is dropped with
    /// cause `nic_queue`.
    pub queue_bytes: u64,
    /// Largest burst passed to the interface at once (TSO/GSO) in bytes of payload; 0 disables it.
    pub tso_bytes: u32,
    /// Largest aggregate passed up at once (GRO) in bytes of payload; 0 disables it.
    pub gro_bytes: u32,
    /// Interrupt moderation: from the first frame of a batch to the poll (picoseconds).
    pub rx_coalesce_ps: u64,
    /// Timing noise: extra delay of each poll (picoseconds).
    pub rx_jitter: RawDistribution,
    /// Obeys pause frames and, with QCN, limits rates.
    #[serde(default)]
    pub lossless: Option<RawNicLossless>,
    /// Receive ring in frames; a frame that arrives when it is full is dropped with cause
    /// `rx_ring`.
    pub rx_ring_frames: u32,
    /// Several interfaces as one, each at a link of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bond: Option<RawBondPolicy>,
}

/// How a bond chooses the interface of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RawBondPolicy {
    /// By addresses, protocol and ports: one for each flow.
    Flow,
    /// By addresses: one for each other host.
    Hosts,
}

/// A network interface that takes part in data-centre bridging.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawNicLossless {
    /// Priorities whose pause (802.1Qbb) is obeyed, a bit each.
    pub obeys: u8,
    /// Obeys 802.3x pauses.
    pub obeys_link_pause: bool,
    /// From the arrival of a pause to its effect.
    pub response_ps: u64,
    /// QCN reaction point.
    #[serde(default)]
    pub qcn: Option<RawQcnReaction>,
    /// A fault: the interface pauses its switch without need.
    #[serde(default)]
    pub storm: Option<RawStorm>,
    /// Traffic classes that share the line (802.1Qaz); none: the priorities take turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<RawNicClass>,
}

/// Priorities of an interface that are served together.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawNicClass {
    /// Its name, for reports.
    pub name: String,
    /// Its priorities, a bit each. A priority of no class belongs to the first.
    pub priorities: u8,
    /// When it is served.
    pub service: RawService,
}

/// A pause storm: the interface sends pauses continuously, as defective interfaces do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawStorm {
    /// Priorities that it pauses, a bit each.
    pub priorities: u8,
    /// First pause.
    pub from_ps: u64,
    /// No pause is sent from here on.
    pub until_ps: u64,
}

/// A QCN reaction point (802.1Qau; defaults of IEEE8021-CN-MIB).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawQcnReaction {
    /// Timer of rate increase: 15 ms.
    pub timer_ps: u64,
    /// Byte counter of rate increase: 150 000.
    pub byte_counter: u64,
    /// Active increase: 5 Mbit/s.
    pub active_increase_bps: u64,
    /// Hyper-active increase: 50 Mbit/s.
    pub hyper_increase_bps: u64,
    /// Lowest rate: 10 Mbit/s (assumed).
    pub rate_min_bps: u64,
}

/// Without a processor, one core serves all received frames of a host, in order; the others run its
/// programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawCpu {
    /// Per received aggregate (after GRO), picoseconds.
    pub per_packet_ps: u64,
    /// Per received payload byte, in femtoseconds (1000 fs = 1 ps).
    pub per_byte_fs: u64,
    /// Cores that the programs share; 0, also when missing, for as many as they need.
    #[serde(default)]
    pub program_cores: u32,
    /// Time slice after which a program yields its core at the end of its current unit of work
    /// (picoseconds); 0, also when missing, for after every unit.
    #[serde(default)]
    pub time_slice_ps: u64,
    /// Cores that the kernel and the programs share. They replace the two keys above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Box<RawProcessor>>,
}

impl RawCpu {
    /// Whether receiving takes time of a core.
    pub(crate) fn has_costs(&self) -> bool {
        self.per_packet_ps > 0 || self.per_byte_fs > 0
    }
}

/// Congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawCongestionControl {
    /// RFC 9438.
    Cubic,
    /// RFC 6582 with RFC 5681.
    NewReno,
    /// RFC 8257.
    Dctcp,
    /// BBR, version 1, as in Linux 6.1.
    Bbr,
}

/// Early exit from slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawSlowStartExit {
    /// Loss or marks only.
    None,
    /// HyStart as in Linux (ACK train and delay).
    Hystart,
    /// HyStart++ (RFC 9406).
    HystartPlusPlus,
}

/// A socket buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawSocketBuffer {
    /// Initial size, in payload bytes.
    pub initial_bytes: u64,
    /// Largest size that autotuning may reach; equal to `initial_bytes` when fixed.
    pub maximum_bytes: u64,
}

/// Of a kernel with HZ = 250.
fn tick_ps() -> u64 {
    4_000_000_000
}

/// TCP settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawTcp {
    /// Congestion control.
    pub congestion_control: RawCongestionControl,
    /// Early exit from slow start.
    pub slow_start_exit: RawSlowStartExit,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window_segments: u32,
    /// Upper limit of the congestion window in bytes; 0 for none.
    pub window_cap_bytes: u64,
    /// An acknowledgement counts as one segment of growth, however many bytes it acknowledges.
    #[serde(default)]
    pub growth_by_acknowledgement: bool,
    /// CUBIC may be slower than Reno (no RFC 9438 section 4.3).
    #[serde(default)]
    pub without_reno_friendly: bool,
    /// Negotiate ECN.
    pub ecn: bool,
    /// Selective acknowledgement (and with it RACK and tail loss probes).
    pub sack: bool,
    /// Tail loss probe (RFC 8985).
    pub tail_loss_probe: bool,
    /// Smallest variance term of the retransmission timeout (picoseconds, above 0).
    pub rto_min_ps: u64,
    /// Largest retransmission timeout (picoseconds, not below `rto_min_ps`).
    pub rto_max_ps: u64,
    /// Delayed acknowledgement timer (picoseconds); 0 acknowledges every aggregate at once.
    pub delayed_ack_ps: u64,
    /// Slow start after idle (RFC 2861 as in Linux).
    pub slow_start_after_idle: bool,
    /// Clock tick, with which timers expire (picoseconds, at most 65 ms); 0 for timers that expire
    /// as they are set.
    #[serde(default = "tick_ps")]
    pub tick_ps: u64,
    /// A short write does not wait for the segments of its connection that are in the NIC (Linux
    /// with `tcp_autocorking` 0).
    #[serde(default)]
    pub without_autocorking: bool,
    /// Limit of one socket's data in the NIC (TCP small queues), as picoseconds at the socket's
    /// pacing rate; 0 for no limit.
    pub small_queue_ps: u64,
    /// Whether only the pacing rate determines that limit, and not also the rate of the line.
    #[serde(default)]
    pub small_queue_by_pace: bool,
    /// Send buffer.
    pub send_buffer: RawSocketBuffer,
    /// Receive buffer.
    pub receive_buffer: RawSocketBuffer,
}
