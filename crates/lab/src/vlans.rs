//! VLANs of a lab. A host has an address of its own in each VLAN that its workloads use, and the
//! interface that the fabric plays for it writes and takes out the tags, as one does that has VLAN
//! offload: the VLAN of a frame follows from its addresses, and the kernel never sees a tag.

use crate::address;
use std::collections::BTreeSet;
use tailrace_plan::Plan;
use tailrace_wire::Tag;

/// The VLANs of a plan, and their users.
#[derive(Clone, Debug, Default)]
pub struct Vlans {
    /// In order. The index of each, from one on, is the number of its network.
    ids: Vec<u16>,
    of_host: Vec<BTreeSet<u16>>,
    /// By host: whether its link is a trunk, on which frames of a VLAN carry their tag.
    is_trunk: Vec<bool>,
}

impl Vlans {
    /// The VLANs of a plan.
    ///
    /// # Errors
    /// When there are more than there are networks.
    pub fn new(plan: &Plan) -> Result<Vlans, String> {
        let mut of_host = vec![BTreeSet::new(); plan.graph.hosts];
        for workload in &plan.workloads {
            let header = &workload.header;
            header
                .hosts()
                .filter(|_| header.vlan > 0)
                .for_each(|host| of_host[host].extend([header.vlan]));
        }
        let ids: Vec<u16> =
            of_host.iter().flatten().copied().collect::<BTreeSet<u16>>().into_iter().collect();
        if ids.len() > address::VLANS_MAX {
            return Err(format!(
                "the plan has {} VLANs, but a lab supports at most {}",
                ids.len(),
                address::VLANS_MAX
            ));
        }
        let is_trunk = (0..plan.graph.hosts)
            .map(|host| plan.tagged_links[plan.graph.ports[host][0].link])
            .collect();
        Ok(Vlans { ids, of_host, is_trunk })
    }

    /// The tag of a frame that a host sends in the network of this number.
    #[inline]
    pub fn tag(&self, host: usize, network: usize, priority: u8) -> Tag {
        let vlan =
            network.checked_sub(1).and_then(|index| self.ids.get(index)).copied().unwrap_or(0);
        Tag::new(priority, vlan).written(self.is_trunk.get(host).copied().unwrap_or(false))
    }

    /// Whether the plan has none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// VLANs of a host, each with the number of its network.
    pub fn of_host(&self, host: usize) -> impl Iterator<Item = (u16, usize)> {
        self.of_host[host]
            .iter()
            .map(|&vlan| (vlan, self.ids.binary_search(&vlan).expect("every VLAN is listed") + 1))
    }

    /// Hosts that use a VLAN.
    pub fn hosts_of(&self, vlan: u16) -> impl Iterator<Item = usize> {
        self.of_host
            .iter()
            .enumerate()
            .filter(move |(_, vlans)| vlans.contains(&vlan))
            .map(|(host, _)| host)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two VLANs; the second host has a trunk.
    pub(crate) fn two() -> Vlans {
        let of_host = vec![BTreeSet::from([10]), BTreeSet::from([10, 20]), BTreeSet::from([20])];
        Vlans { ids: vec![10, 20], of_host, is_trunk: vec![false, true, false] }
    }

    #[test]
    fn a_frame_is_tagged_on_trunks_alone_and_belongs_to_the_vlan_of_its_network() {
        let vlans = two();
        assert_eq!(vlans.tag(0, 1, 3), Tag::new(3, 10));
        assert_eq!(vlans.tag(1, 2, 0), Tag::new(0, 20).written(true));
        for network in [0, 3] {
            assert_eq!(vlans.tag(1, network, 0), Tag::new(0, 0), "there is no VLAN, and so no tag");
        }
    }

    #[test]
    fn a_host_is_in_the_networks_of_its_vlans() {
        let vlans = two();
        assert_eq!(vlans.of_host(1).collect::<Vec<_>>(), [(10, 1), (20, 2)]);
        assert_eq!(vlans.of_host(2).collect::<Vec<_>>(), [(20, 2)]);
        assert_eq!(vlans.hosts_of(10).collect::<Vec<_>>(), [0, 1]);
    }
}
