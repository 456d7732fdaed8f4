//! What a fabric in real time was like: how well it kept its plan.

use crate::live::LatenessEffect;
use crate::nullable::{Nullable, read_nullable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a fabric ran. What is absent is not told by a foreign switch.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Processor time of the machine.
    pub cpu: Cpu,
    /// By port towards a host, from the first switch of a frame to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_us: Option<BTreeMap<String, Delays>>,
    /// By port, what lateness did there; absent where it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<BTreeMap<String, LatenessEffect>>,
    /// Frames that are no part of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_frames: Option<u64>,
    /// That entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames_in: Option<u64>,
    /// By host, what was lost outside of the modelled queues: each should be zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames_lost_outside: Option<BTreeMap<String, LossesOutside>>,
    /// By host, frames that the senders of a workload have counted as refused by their own
    /// interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames_refused: Option<BTreeMap<String, u64>>,
    /// That left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames_out: Option<u64>,
    /// Name of the kind of fabric, such as `tap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How late frames left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_us: Option<LatenessUs>,
    /// Why the log is not whole; absent where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_error: Option<String>,
    /// The longest time between two looks at the wires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_gap_us: Option<f64>,
    /// How late frames left by the fabric's own doing: without the times for which the machine did
    /// not let it run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_lateness_us: Option<LatenessUs>,
    /// Frames for which there was no memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool_exhausted: Option<u64>,
    /// By port towards a host, how far its rate was off over its longest busy time; ports without
    /// one are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_error_ppm: Option<BTreeMap<String, f64>>,
    /// Whether it ran before all ordinary threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime: Option<bool>,
    /// Where the log of what entered is; null where none is kept.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub replay_log: Nullable<String>,
    /// Times for which the machine did not let it run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// How often it was woken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticks: Option<u64>,
    /// By host, frames that the host did not take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_failed: Option<BTreeMap<String, u64>>,
}

/// Shares of processor time during the measured interval, 0 to 1.
#[derive(Clone, PartialEq, Debug, Default, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// Of the machine, on nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<f64>,
    /// Of the machine, taken by a hypervisor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Of one core, by the switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_share: Option<f64>,
}

/// A distribution of lateness, in microseconds.
#[derive(Clone, PartialEq, Debug, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatenessUs {
    /// The most.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// Percentile 99.9.
    pub p99_9: f64,
}

/// Times for which the machine let a thread wait.
#[derive(Clone, PartialEq, Debug, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// How many.
    pub count: u64,
    /// The longest.
    pub max_us: f64,
    /// All together.
    pub total_us: f64,
}

/// Delays of frames, in microseconds.
#[derive(Clone, PartialEq, Debug, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Delays {
    /// How many frames.
    pub frames: u64,
    /// The mean; 0 where there are none.
    pub mean: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// Frames that a host lost outside of the modelled queues. Absent where its counters cannot be
/// read.
#[derive(Clone, PartialEq, Debug, Default, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LossesOutside {
    /// That it did not take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rx_dropped: Option<u64>,
    /// That did not fit its queue towards the fabric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_dropped: Option<u64>,
    /// That the fabric could not give to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_failed: Option<u64>,
}
