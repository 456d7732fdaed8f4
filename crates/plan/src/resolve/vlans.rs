//! VLANs: who uses which, and on which links frames carry their tag.

use super::{Workload, require};
use crate::graph::Graph;
use crate::tree::VLAN_MAX;
use crate::{PlanError, RawPlan, RawWorkload};
use std::collections::BTreeSet;

/// A workload's hosts and its VLAN.
pub(super) type Use = (Vec<usize>, u16);

/// The hosts of each workload, and its VLAN.
pub(super) fn uses(workloads: &[Workload]) -> Vec<Use> {
    let of = |workload: &Workload| match workload {
        Workload::Oltp(oltp) => (vec![oltp.client, oltp.server], oltp.raw.vlan),
        Workload::Stream { source, destination, raw, .. } => (vec![*source, *destination], raw.vlan),
        Workload::Flows { sources, destinations, raw, .. } => ([sources.as_slice(), destinations].concat(), raw.vlan),
        Workload::Datagrams { source, destination, raw, .. } => (vec![*source, *destination], raw.vlan),
    };
    workloads.iter().map(of).collect()
}

pub(super) fn check_vlans(raw: &RawPlan) -> Result<(), PlanError> {
    for workload in &raw.workloads {
        let (name, vlan, is_pinned) = match workload {
            RawWorkload::Oltp(raw) => (&raw.name, raw.vlan, false),
            RawWorkload::Stream(raw) => (&raw.name, raw.vlan, !raw.pin_forward.is_empty() || !raw.pin_backward.is_empty()),
            RawWorkload::Flows(raw) => (&raw.name, raw.vlan, false),
            RawWorkload::Datagrams(raw) => (&raw.name, raw.vlan, false),
        };
        require(vlan <= VLAN_MAX, name, "vlan is 1 to 4094, or 0 for none")?;
        require(!is_pinned || raw.spanning_tree.is_none(), name, "with spanning trees no path is pinned")?;
    }
    Ok(())
}

/// By link: whether the frames of VLANs carry a tag on it. Links between switches are trunks. A link to a host is one where
/// the host uses more than one VLAN (frames of none count as one), because the tag tells them apart.
pub(super) fn tagged_links(graph: &Graph, uses: &[Use]) -> Vec<bool> {
    let mut vlans = vec![BTreeSet::new(); graph.hosts];
    for (hosts, vlan) in uses {
        for &host in hosts {
            vlans[host].insert(*vlan);
        }
    }
    let is_trunk = |end: usize| end >= graph.hosts || vlans[end].len() > 1;
    graph.links.iter().map(|link| is_trunk(link.a) && is_trunk(link.b)).collect()
}
