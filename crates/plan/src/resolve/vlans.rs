//! VLANs: on which links frames carry their tag.

use crate::graph::Graph;
use crate::workloads::Workload;
use std::collections::BTreeSet;

/// By link: whether the frames of VLANs carry a tag on it. Links between switches are trunks. A
/// link to a host is one where the host uses more than one VLAN (frames of none count as one),
/// because the tag tells them apart.
pub(super) fn tagged_links(graph: &Graph, workloads: &[Workload]) -> Vec<bool> {
    let mut vlans = vec![BTreeSet::new(); graph.hosts];
    for header in workloads.iter().map(|workload| &workload.header) {
        header.hosts().for_each(|host| _ = vlans[host].insert(header.vlan));
    }
    let is_trunk = |end: usize| end >= graph.hosts || vlans[end].len() > 1;
    graph.links.iter().map(|link| is_trunk(link.a) && is_trunk(link.b)).collect()
}
