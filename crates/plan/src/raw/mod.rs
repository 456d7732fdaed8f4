//! The JSON format of a plan. Names end in units: `_ps`, `_bytes`, `_bps`, `_ppb`, `_milli`.

mod host;
mod hypervisor;
mod processor;
mod switch;
mod tree;

pub use host::*;
pub use hypervisor::*;
pub use processor::*;
pub use switch::*;
pub use tree::*;

use crate::{RawDevice, RawWorkload};
use serde::{Deserialize, Serialize};

/// One trial of one arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawPlan {
    /// Format of this plan: 2.
    pub version: u32,
    /// Name for messages, e.g. `cisco-dpp/fifo/trial-3`.
    pub name: String,
    /// Seed of every random stream of this trial.
    pub seed: u64,
    /// End of the run, even if a workload is unfinished (picoseconds).
    pub stop_at_ps: u64,
    /// The run lasts until then, even when all finite workloads are done before; it ends with them
    /// when missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasts_to_stop: bool,
    /// Bytes of header and wire overhead per frame.
    pub framing: RawFraming,
    /// Each node's oscillator is off by a uniform draw in ± this (parts per billion, 0 to 1 000
    /// 000).
    pub clock_offset_ppb: u32,
    /// Hosts, in order.
    pub hosts: Vec<RawHost>,
    /// Switches, in order.
    pub switches: Vec<RawSwitch>,
    /// Hypervisors: cores behind a switch, and the virtual machines on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hypervisors: Vec<RawHypervisor>,
    /// Full-duplex links.
    pub links: Vec<RawLink>,
    /// Spanning trees; shortest paths when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spanning_tree: Option<RawSpanningTree>,
    /// Block devices of hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<RawDevice>,
    /// Workloads.
    pub workloads: Vec<RawWorkload>,
    /// Recorded data.
    pub observe: RawObserve,
}

/// Link-layer sizes in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawFraming {
    /// Header that switches store: 14 for Ethernet.
    pub header_bytes: u32,
    /// Wire time besides the frame: 24 for Ethernet.
    pub overhead_bytes: u32,
}

/// A full-duplex link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Frames that are lost on it at random, each direction by itself, in parts per billion; 0,
    /// also when missing, for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loss_ppb: u32,
    /// Only fragments without a transport header are lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loses_later_fragments: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Recorded data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawObserve {
    /// Ports whose queue is recorded over time, as `[switch, neighbour]`.
    pub ports: Vec<(String, String)>,
    /// Bins of every time series; the bin width doubles when a run exceeds them. 0 for no series.
    pub series_bins: u32,
    /// First bin width.
    pub series_bin_ps: u64,
    /// Keep every transaction (start, latency) up to this many per workload; beyond it only the
    /// histogram is complete.
    pub transactions_max: u64,
    /// Compute the digest of all events.
    pub digest: bool,
    /// Start of counters and latencies, by default zero (picoseconds); series always start at zero.
    #[serde(default)]
    pub warm_up_ps: u64,
    /// Windows of lasting connections are recorded so often (picoseconds); 0 for never.
    #[serde(default)]
    pub windows_ps: u64,
    /// The counters of all interfaces are recorded so often (picoseconds); 0 for never.
    #[serde(default)]
    pub interfaces_ps: u64,
}
