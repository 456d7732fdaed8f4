//! VLANs at one switch: the tree that a frame takes, and the ports on which its tag is written.

use crate::{Forwarding, Frame, PortNo};

/// The VLANs of a switch. A network without VLANs has none.
#[derive(Clone, Debug, Default)]
pub struct Vlans {
    /// By port: whether frames of a VLAN carry their tag there (a trunk, and not an access port).
    is_tagged: Vec<bool>,
    /// VLANs that have a table of their own, in order, with the index of that table.
    table_of: Vec<(u16, usize)>,
    tables: Vec<Forwarding>,
}

impl Vlans {
    /// `is_tagged` by port.
    pub fn new(is_tagged: Vec<bool>) -> Vlans {
        Vlans { is_tagged, ..Vlans::default() }
    }

    /// These VLANs are forwarded by this table, and not by the switch's.
    pub fn forward_by(&mut self, vlans: &[u16], table: Forwarding) {
        self.table_of.extend(vlans.iter().map(|&vlan| (vlan, self.tables.len())));
        self.table_of.sort_unstable();
        self.tables.push(table);
    }

    /// The table of a VLAN that has one.
    pub(crate) fn table(&self, vlan: u16) -> Option<&Forwarding> {
        let found = self.table_of.binary_search_by_key(&vlan, |&(vlan, _)| vlan).ok()?;
        Some(&self.tables[self.table_of[found].1])
    }

    /// Gives a frame the length that it has on the link behind a port.
    pub(crate) fn retag<F: Frame>(&self, port: PortNo, frame: &mut F) {
        frame.retag(self.is_tagged[port]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::{Packet, Tag};

    #[test]
    fn a_vlan_takes_its_table_and_any_other_the_switch_s() {
        let mut vlans = Vlans::new(vec![true, false]);
        for (listed, port) in [([20, 5], 3), ([10, 7], 4)] {
            let mut table = Forwarding::new(0);
            table.push_destination(&[port]);
            vlans.forward_by(&listed, table);
        }
        let port_of = |vlan| vlans.table(vlan).map(|table| table.route(&Packet::default()));
        let found = [0, 5, 7, 10, 11, 20, 21].map(port_of);
        assert_eq!(
            found,
            [None, Some(Some(3)), Some(Some(4)), Some(Some(4)), None, Some(Some(3)), None]
        );
    }

    #[test]
    fn a_frame_is_longer_on_a_trunk_than_at_an_access_port() {
        let vlans = Vlans::new(vec![true, false]);
        let mut frame = Packet { tag: Tag::new(0, 10), frame_bytes: 100, ..Packet::default() };
        let lengths = [0, 0, 1].map(|port| {
            vlans.retag(port, &mut frame);
            frame.frame_bytes
        });
        assert_eq!(lengths, [104, 104, 100]);
    }
}
