//! Workloads and distributions as they stand in the plan.

use serde::{Deserialize, Serialize};

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
    /// Pause between transactions (picoseconds).
    pub gap: RawDistribution,
    /// What the pause is measured from.
    pub gap_from: RawGapFrom,
    /// First transaction of each user: a draw after time zero (picoseconds).
    pub start: RawDistribution,
    /// Users connect at time zero and wait for their first transaction; when missing they connect for it.
    #[serde(default)]
    pub connects_early: bool,
    /// Class.
    pub priority: u8,
    /// Code point of the IP header.
    #[serde(default)]
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    #[serde(default)]
    pub vlan: u16,
    /// The program that is the users in a live run; the simulator has users of its own.
    #[serde(default)]
    pub load_generator: RawLoadGenerator,
}

/// A program that asks a database as the users of a workload do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawLoadGenerator {
    /// PostgreSQL's own.
    #[default]
    Pgbench,
    /// HammerDB's command line with a driver script.
    Hammerdb,
}

/// What the pause between transactions is measured from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawGapFrom {
    /// From the end of the last transaction (think time).
    End,
    /// From the intended start of the last transaction (pacing). A late transaction starts at once, and its latency counts
    /// from the intended start.
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
    /// The server's work on the request, whatever the size of the response (picoseconds).
    pub server_time: RawDistribution,
    /// The server writes the response in pieces of this many bytes, each its own segment(s); 0 for one write.
    pub write_bytes: u32,
    /// The server then makes the whole response at this pace before it writes any of it (femtoseconds per byte, 0, also when
    /// missing, for no time).
    #[serde(default)]
    pub build_fs_per_byte: u64,
    /// The server produces the response at this pace (femtoseconds per byte, 0 for at once): a piece is written when it is produced.
    pub produce_fs_per_byte: u64,
    /// The client's core works this long on every byte that has arrived (femtoseconds per byte).
    pub consume_fs_per_byte: u64,
    /// It works on at most this many bytes at a time; 64 KiB when missing.
    #[serde(default = "default_chunk_bytes")]
    pub consume_chunk_bytes: u64,
    /// After the last byte the client's core works this long on the whole response (femtoseconds per byte; 0 when missing).
    #[serde(default)]
    pub unpack_fs_per_byte: u64,
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
    /// The programs together offer bytes no faster than this, each connection an equal part; 0, also when missing, for no
    /// limit.
    #[serde(default)]
    pub rate_bps: u64,
    /// With a rate: bytes that a program writes at a time.
    #[serde(default)]
    pub write_bytes: u64,
    /// Class.
    pub priority: u8,
    /// Code point of the IP header.
    #[serde(default)]
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    #[serde(default)]
    pub vlan: u16,
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
    /// Gap between arrivals over all sources together (picoseconds).
    pub interarrival: RawDistribution,
    /// Number of flows; 0 means until `stop_at_ps`.
    pub flows: u64,
    /// First arrival is drawn after this.
    pub start_ps: u64,
    /// Class.
    pub priority: u8,
    /// Code point of the IP header.
    #[serde(default)]
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    #[serde(default)]
    pub vlan: u16,
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
    /// Gap between datagrams (picoseconds).
    pub interarrival: RawDistribution,
    /// Number of datagrams; 0 means until `stop_at_ps`.
    pub count: u64,
    /// First datagram is drawn after this.
    pub start_ps: u64,
    /// Class.
    pub priority: u8,
    /// Code point of the IP header.
    #[serde(default)]
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    #[serde(default)]
    pub vlan: u16,
}

/// Bytes that a program works on at a time where a plan does not say: a usual size of read buffers (assumed).
fn default_chunk_bytes() -> u64 {
    65_536
}
