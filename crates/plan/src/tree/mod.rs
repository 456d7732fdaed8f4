//! Spanning trees: the forwarding and blocked links of a network with loops.
//!
//! The result is the converged state of the protocol (IEEE 802.1Q-2018 clause 13, RSTP and MSTP
//! with all switches in one region). Modules in order: what the protocol settles on with given
//! priorities and costs; the choice of costs by which several trees share few links.

pub(crate) mod choice;
mod election;
mod union;

pub use election::{Bridge, PortRole, SpanningTree};

use crate::error::require;
use crate::graph::Graph;
use crate::{PlanError, RawSpanningTree, RawTree};
use election::elect;
use std::collections::BTreeSet;
use tailrace_wire::VLAN_MAX;

/// IEEE 802.1Q-2018 table 13-3: the steps of a bridge's priority. The largest is 15 of them.
pub(crate) const BRIDGE_PRIORITY_STEP: u16 = 4096;
/// IEEE 802.1Q-2018 table 13-3: the steps of a port's priority.
pub(crate) const PORT_PRIORITY_STEP: u8 = 16;
/// IEEE 802.1Q-2018 table 13-4: the largest path cost.
pub(crate) const PATH_COST_MAX: u32 = 200_000_000;
/// IEEE 802.1Q-2018 clause 8.9.2: at most 64 instances besides the first.
pub(crate) const TREES_MAX: usize = 65;

/// The trees of a plan, in its order.
pub(crate) fn trees(raw: &RawSpanningTree, graph: &Graph) -> Result<Vec<SpanningTree>, PlanError> {
    check(raw, graph)?;
    let mut settings = raw.trees.clone();
    if raw.disjoint {
        choice::choose_costs(&mut settings, graph)?;
    }
    Ok(settings.into_iter().map(|settings| elect(graph, settings)).collect())
}

/// The tree of a VLAN: an index into the trees of the plan.
pub(crate) fn tree_of<'a>(mut vlans: impl Iterator<Item = &'a [u16]>, vlan: u16) -> usize {
    vlans.position(|vlans| vlans.contains(&vlan)).unwrap_or(0)
}

fn check(raw: &RawSpanningTree, graph: &Graph) -> Result<(), PlanError> {
    let location = "spanning_tree";
    require((1..=TREES_MAX).contains(&raw.trees.len()), location, "must have 1 to 65 trees")?;
    require(
        raw.trees[0].vlans.is_empty(),
        location,
        "the list of VLANs of the first tree must be empty: it is for all VLANs that no other tree lists",
    )?;
    let vlans: Vec<u16> = raw.trees.iter().flat_map(|tree| tree.vlans.iter().copied()).collect();
    require(
        vlans.iter().all(|vlan| (1..=VLAN_MAX).contains(vlan)),
        location,
        "VLANs must be 1 to 4094",
    )?;
    require(
        vlans.iter().collect::<BTreeSet<_>>().len() == vlans.len(),
        location,
        "a VLAN must have only one tree",
    )?;
    let instances: BTreeSet<u16> = raw.trees.iter().map(|tree| tree.instance).collect();
    require(instances.len() == raw.trees.len(), location, "two trees have the same number")?;
    raw.trees.iter().try_for_each(|tree| check_tree(tree, graph))
}

fn check_tree(tree: &RawTree, graph: &Graph) -> Result<(), PlanError> {
    let location = format!("spanning_tree.trees[{}]", tree.instance);
    let switches = graph.names.len() - graph.hosts;
    require(
        tree.bridge_priority.len() == switches,
        &location,
        "bridge_priority must have a number for each switch",
    )?;
    let links = graph.links.len();
    let whole = tree.path_cost.len() == links && tree.port_priority.len() == links;
    require(whole, &location, "path_cost and port_priority must have an entry for each link")?;
    let stepped = tree.bridge_priority.iter().all(|priority| priority % BRIDGE_PRIORITY_STEP == 0);
    require(stepped, &location, "bridge_priority must be 0 to 61440 in steps of 4096")?;
    let costs = tree.path_cost.iter().all(|cost| (1..=PATH_COST_MAX).contains(cost));
    require(costs, &location, "path_cost must be 1 to 200 000 000")?;
    let ports = tree.port_priority.iter().all(|(a, b)| (a | b) % PORT_PRIORITY_STEP == 0);
    require(ports, &location, "port_priority must be 0 to 240 in steps of 16")
}
