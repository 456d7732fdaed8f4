//! The plan as it stands in JSON. Units end the names: `_ps`, `_bytes`, `_bps`, `_ppb`, `_milli`.

use serde::{Deserialize, Serialize};

/// One trial of one arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPlan {
    /// Format of this plan: 1.
    pub version: u32,
    /// For people, e.g. `cisco-dpp/fifo/trial-3`.
    pub name: String,
    /// Seed of every random stream of this trial.
    pub seed: u64,
    /// The run ends here even if a workload is unfinished (picoseconds).
    pub stop_at_ps: u64,
    /// Bytes of header and wire overhead per frame.
    pub framing: RawFraming,
    /// Each node's oscillator is off by a uniform draw in ± this (parts per billion, 0 to 1 000 000).
    pub clock_offset_ppb: u32,
    /// Hosts, in order.
    pub hosts: Vec<RawHost>,
    /// Switches, in order.
    pub switches: Vec<RawSwitch>,
    /// Full-duplex links.
    pub links: Vec<RawLink>,
    /// What uses the network.
    pub workloads: Vec<RawWorkload>,
    /// What is recorded.
    pub observe: RawObserve,
}

/// Link-layer sizes in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFraming {
    /// Header that switches store: 14 for Ethernet.
    pub header_bytes: u32,
    /// Wire time besides the frame: 24 for Ethernet.
    pub overhead_bytes: u32,
}

/// A host with one NIC port per link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawHost {
    /// Unique among all nodes.
    pub name: String,
    /// IP MTU in bytes, 576 to 65 535 in steps of one (9000 for jumbo frames).
    pub mtu_bytes: u32,
    /// Network interface.
    pub nic: RawNic,
    /// Processing costs of the receive stage.
    pub cpu: RawCpu,
    /// TCP settings of all sockets of this host.
    pub tcp: RawTcp,
}

/// Network interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawNic {
    /// Transmit queue limit (qdisc and ring) in bytes; a frame that does not fit is dropped with cause `nic_queue`.
    pub queue_bytes: u64,
    /// Largest burst handed down at once (TSO/GSO) in bytes of payload; 0 switches it off.
    pub tso_bytes: u32,
    /// Largest aggregate handed up at once (GRO) in bytes of payload; 0 switches it off.
    pub gro_bytes: u32,
    /// Interrupt moderation: from the first frame of a batch to the poll (picoseconds).
    pub rx_coalesce_ps: u64,
    /// Timing noise: extra delay of each poll.
    pub rx_jitter: RawDistribution,
    /// Receive ring in frames; a frame that finds it full is dropped with cause `rx_ring`.
    pub rx_ring_frames: u32,
}

/// One core serves all received frames of a host, in order; the others run its programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawCpu {
    /// Per received aggregate (after GRO), picoseconds.
    pub per_packet_ps: u64,
    /// Per received payload byte, in femtoseconds (1000 fs = 1 ps).
    pub per_byte_fs: u64,
    /// Cores that the programs share; 0 for as many as they need.
    #[serde(default)]
    pub program_cores: u32,
}

/// Congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawCongestionControl {
    /// RFC 9438.
    Cubic,
    /// RFC 6582 with RFC 5681.
    NewReno,
    /// RFC 8257.
    Dctcp,
}

/// How slow start ends early.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[serde(deny_unknown_fields)]
pub struct RawSocketBuffer {
    /// Size at the start, in payload bytes that it can hold.
    pub initial_bytes: u64,
    /// Autotuning may grow it to this; equal to `initial_bytes` when fixed.
    pub maximum_bytes: u64,
}

/// TCP settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Negotiate ECN.
    pub ecn: bool,
    /// Selective acknowledgement (and with it RACK and tail loss probes).
    pub sack: bool,
    /// Tail loss probe (RFC 8985).
    pub tail_loss_probe: bool,
    /// Smallest retransmission timeout.
    pub rto_min_ps: u64,
    /// Largest retransmission timeout.
    pub rto_max_ps: u64,
    /// Delayed acknowledgement timer; 0 acknowledges every aggregate at once.
    pub delayed_ack_ps: u64,
    /// Slow start after idle (RFC 2861 as in Linux).
    pub slow_start_after_idle: bool,
    /// At most this much of one socket waits in the NIC (TCP small queues), in time at line rate.
    pub small_queue_ps: u64,
    /// Send buffer.
    pub send_buffer: RawSocketBuffer,
    /// Receive buffer.
    pub receive_buffer: RawSocketBuffer,
}

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
    /// Mark (or drop what is not ECN-capable when `drop_not_ect`) above an instantaneous depth: DCTCP's step.
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
        /// Acceptable standing delay.
        target_ps: u64,
        /// Window.
        interval_ps: u64,
        /// Mark what is capable instead of dropping it.
        ecn: bool,
        /// Mark every capable frame whose delay is above this; 0 for never (Linux `ce_threshold`).
        ce_threshold_ps: u64,
    },
}

/// Dynamic packet prioritisation (Cisco C11-738425, page 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDpp {
    /// The first this many packets of a flow are prioritised.
    pub max_packets: u32,
    /// A flow that was silent for this long is new.
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

/// A full-duplex link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawLink {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Rate of both directions.
    pub rate_bps: u64,
    /// Propagation delay (picoseconds).
    pub delay_ps: u64,
}

/// A distribution of spans (picoseconds) or sizes (bytes).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawDistribution {
    /// Always this.
    Constant(u64),
    /// Between the two.
    Uniform {
        /// Smallest.
        low: u64,
        /// Largest.
        high: u64,
    },
    /// Memoryless.
    Exponential {
        /// Mean.
        mean: u64,
    },
    /// Cut at zero.
    Normal {
        /// Mean.
        mean: u64,
        /// Standard deviation.
        deviation: u64,
    },
    /// Log-normal.
    LogNormal {
        /// Median.
        median: u64,
        /// 1000 x sigma.
        sigma_milli: u32,
    },
    /// Sum of exponentials.
    Erlang {
        /// Mean of the sum.
        mean: u64,
        /// How many.
        shape: u32,
    },
    /// `(value, parts per billion)`, rising to one billion.
    Cumulative(Vec<(u64, u32)>),
}

/// What uses the network. `priority` is 0 to 7 and chooses the class in the switches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawWorkload {
    /// Closed-loop users of a database.
    Oltp(RawOltp),
    /// Bulk TCP.
    Stream(RawStream),
    /// Finite TCP flows with sizes from a distribution and Poisson (or other) arrivals.
    Flows(RawFlows),
    /// Datagrams at a rate, whatever the network does.
    Datagrams(RawDatagrams),
}

/// Closed-loop users: each has one connection and does one transaction after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawOltp {
    /// Name in results.
    pub name: String,
    /// Host of the users.
    pub client: String,
    /// Host of the database.
    pub server: String,
    /// Users, each with its own connection.
    pub users: u32,
    /// Transactions per user; 0 means until `stop_at_ps`.
    pub transactions: u64,
    /// The first this many of each user are not recorded (they count towards completion).
    pub warmup_transactions: u64,
    /// Statements of one transaction, in order.
    pub round_trips: Vec<RawRoundTrip>,
    /// Pause between transactions.
    pub gap: RawDistribution,
    /// What the pause is measured from.
    pub gap_from: RawGapFrom,
    /// First transaction of each user: a draw after time zero.
    pub start: RawDistribution,
    /// Class.
    pub priority: u8,
}

/// What the pause between transactions is measured from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawGapFrom {
    /// From the end of the last transaction (think time).
    End,
    /// From the intended start of the last transaction (pacing). A late transaction starts at once, and its latency counts from the intended start.
    Start,
}

/// One statement: a request, the server's work, a response.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRoundTrip {
    /// Payload bytes of the request.
    pub request_bytes: u64,
    /// Payload bytes of the response.
    pub response_bytes: u64,
    /// From the last request byte to the first response byte.
    pub server_time: RawDistribution,
    /// The server writes the response in pieces of this many bytes, each its own segment(s); 0 for one write.
    pub write_bytes: u32,
    /// The server produces the response at this pace (femtoseconds per byte, 0 for at once): a piece is written when it is produced.
    pub produce_fs_per_byte: u64,
    /// The client's core works this long on every byte that has arrived (femtoseconds per byte).
    pub consume_fs_per_byte: u64,
    /// It works on at most this many bytes at a time.
    #[serde(default = "default_chunk_bytes")]
    pub consume_chunk_bytes: u64,
}

/// Bulk TCP connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawStream {
    /// Name in results.
    pub name: String,
    /// Sending host.
    pub source: String,
    /// Receiving host.
    pub destination: String,
    /// Parallel connections.
    pub connections: u32,
    /// Bytes per connection; 0 means until `stop_at_ps`.
    pub bytes: u64,
    /// Start of connection i: `start_ps + i * stagger_ps`.
    pub start_ps: u64,
    /// See `start_ps`.
    pub stagger_ps: u64,
    /// Class.
    pub priority: u8,
    /// Names of the switches on the way out and on the way back, to pin the path; empty for ECMP.
    pub pin_forward: Vec<String>,
    /// See `pin_forward`.
    pub pin_backward: Vec<String>,
}

/// Finite flows that arrive by themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFlows {
    /// Name in results.
    pub name: String,
    /// Each flow's source is one of these.
    pub sources: Vec<String>,
    /// Each flow's destination is one of these, never the source.
    pub destinations: Vec<String>,
    /// Sizes in bytes.
    pub sizes: RawDistribution,
    /// Gap between arrivals over all sources together.
    pub interarrival: RawDistribution,
    /// Number of flows; 0 means until `stop_at_ps`.
    pub flows: u64,
    /// First arrival is drawn after this.
    pub start_ps: u64,
    /// Class.
    pub priority: u8,
}

/// Datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDatagrams {
    /// Name in results.
    pub name: String,
    /// Sending host.
    pub source: String,
    /// Receiving host.
    pub destination: String,
    /// Payload sizes in bytes; each datagram must fit the MTU.
    pub sizes: RawDistribution,
    /// Gap between datagrams.
    pub interarrival: RawDistribution,
    /// Number of datagrams; 0 means until `stop_at_ps`.
    pub count: u64,
    /// First datagram.
    pub start_ps: u64,
    /// Class.
    pub priority: u8,
}

/// What is recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawObserve {
    /// Ports whose queue is recorded over time, as `[switch, neighbour]`.
    pub ports: Vec<(String, String)>,
    /// Bins of every time series; the bin width doubles when a run outgrows them. 0 for no series.
    pub series_bins: u32,
    /// First bin width.
    pub series_bin_ps: u64,
    /// Keep every transaction (start, latency) up to this many per workload; beyond it only the histogram is complete.
    pub transactions_max: u64,
    /// Compute the digest of events.
    pub digest: bool,
}

/// Bytes that a program works on at a time where a plan does not say: a common size of read buffers.
fn default_chunk_bytes() -> u64 {
    65_536
}
