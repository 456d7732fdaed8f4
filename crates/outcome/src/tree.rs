//! Spanning trees.

use serde::{Deserialize, Serialize};

/// A spanning tree, as it has settled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Its alternate ports.
    pub blocked: Vec<BlockedPort>,
    /// By switch, in the order of the plan.
    pub bridges: Vec<Bridge>,
    /// By link, in the order of the plan, whether it forwards.
    pub forwards: Vec<bool>,
    /// Number of the instance; 0 is the common one.
    pub instance: u16,
    /// By link, in the order of the plan.
    pub path_costs: Vec<u32>,
    /// Names of the switches that are a root: one for each part of a network that is not connected.
    pub roots: Vec<String>,
    /// The VLANs of the instance.
    pub vlans: Vec<u16>,
}

/// What a switch has settled on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// Name of the switch.
    pub name: String,
    /// Bridge priority.
    pub priority: u16,
    /// Name of its root.
    pub root: String,
    /// From here.
    pub root_path_cost: u64,
    /// Number of its port towards the root, from 1; null at the root.
    pub root_port: Option<u64>,
    /// Name of the node at the other end of that port; null at the root.
    pub root_port_towards: Option<String>,
}

/// A port that is blocked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockedPort {
    /// Number of its link in the plan, from 0.
    pub link: u64,
    /// Name of its switch.
    pub node: String,
    /// Number of the port, from 1.
    pub port: u64,
    /// Name of the node at the other end.
    pub towards: String,
}
