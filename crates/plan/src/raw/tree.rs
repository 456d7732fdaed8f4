//! Spanning trees in the format of a plan.

use serde::{Deserialize, Serialize};

/// The spanning trees of the network (IEEE 802.1Q clause 13). Without it, frames use all shortest
/// paths.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawSpanningTree {
    /// The first is for frames of no VLAN, and of every VLAN that no other tree names.
    pub trees: Vec<RawTree>,
    /// Choose the path costs of all trees but the first such that these share as few links between
    /// switches as possible.
    pub disjoint: bool,
}

/// One tree and the parameters that determine it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawTree {
    /// Its number, shown in results: 0 for the first, then that of the MSTP instance, or the VLAN
    /// that has it alone.
    pub instance: u16,
    /// VLANs of this tree; none for the first.
    pub vlans: Vec<u16>,
    /// By switch: 0 to 61 440 in steps of 4096, lower is better.
    pub bridge_priority: Vec<u16>,
    /// By link: 1 to 200 000 000, for both of its ends. The values of links to hosts are ignored.
    pub path_cost: Vec<u32>,
    /// By link: of the ports at its ends `a` and `b`, 0 to 240 in steps of 16, lower is better.
    pub port_priority: Vec<(u8, u8)>,
}
