//! Switches as a whole.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A switch.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Size of its shared buffer.
    pub buffer_bytes: u64,
    /// The most of it that was occupied; absent where an engine cannot look into the switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_max_bytes: Option<u64>,
    /// Frames that were dropped before they had a port.
    pub early_drops: Drops,
    /// What was dropped of each source of traffic, for whatever reason; sources without losses are
    /// left out. Absent where an engine cannot look into the switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<Vec<SourceLosses>>,
    /// As in the plan.
    pub name: String,
    /// Frames without a way to their destination; absent where an engine cannot look into the
    /// switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_route_frames: Option<u64>,
}

/// By cause, such as `tail-drop`; causes that dropped nothing are left out.
pub type Drops = BTreeMap<String, Dropped>;

/// Frames that were dropped for one cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    /// Their bytes; absent where a kernel counts frames alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How many.
    pub frames: u64,
}

/// Losses of one source of traffic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceLosses {
    /// All frames that were dropped.
    pub frames: u64,
    /// Those above a rate.
    pub policed_frames: u64,
    /// Those longer than the MTU of a port.
    pub too_long_frames: u64,
    /// Names of the workloads of the source.
    pub workloads: Vec<String>,
}
