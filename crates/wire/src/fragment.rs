//! The IP header of a fragment (RFC 791). It stands where a segment of TCP has its selective
//! acknowledgement.

use crate::{Flags, FlowKey, IPV4_HEADER_BYTES, Packet, Protocol, SackBlock};

/// Offsets of fragments are counted in units of eight bytes.
pub const FRAGMENT_UNIT_BYTES: u32 = 8;
/// The largest payload of a datagram: 65 535 bytes with the headers of IP and UDP.
pub const DATAGRAM_BYTES_MAX: u32 = 65_507;
/// The bit beside a length that says that more fragments follow.
const MORE: u32 = 1 << 31;
/// Where the offset stands in a fragment's number, so that fragments of one datagram differ in
/// their fingerprints.
const OFFSET_SHIFT: u32 = 48;

/// A fragment of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// The host that has cut the datagram.
    pub source: u16,
    /// Identification: the same in all fragments of a datagram, and used again after 65 536
    /// datagrams.
    pub id: u16,
    /// Its first byte's offset in the payload of the datagram's IP packet, which begins with the
    /// header of UDP.
    pub offset: u32,
    /// Its bytes, without the IP header.
    pub bytes: u32,
    /// Whether it is not the last.
    pub more: bool,
    /// Hash of the datagram's flow, which only the first fragment could show.
    pub datagram_hash: u32,
}

/// The bytes of IP payload in a fragment that is not the last: as many units of eight as fit the
/// MTU. 1480 at 1500, 8976 at 9000.
pub const fn fragment_bytes(mtu_bytes: u32) -> u32 {
    (mtu_bytes - IPV4_HEADER_BYTES) / FRAGMENT_UNIT_BYTES * FRAGMENT_UNIT_BYTES
}

impl Fragment {
    /// The fragment that a packet is, if it is one.
    pub fn of(packet: &Packet) -> Option<Fragment> {
        if !packet.flags.contains(Flags::FRAGMENT) {
            return None;
        }
        let [place, datagram, _] = packet.sack;
        Some(Fragment {
            source: datagram.offset as u16,
            id: datagram.bytes as u16,
            offset: place.offset as u32,
            bytes: place.bytes & !MORE,
            more: place.bytes & MORE != 0,
            datagram_hash: packet.window,
        })
    }

    /// Makes a fragment of a packet that has the headers of the whole datagram.
    pub fn write(&self, packet: &mut Packet) {
        let more = if self.more { MORE } else { 0 };
        packet.flags = packet.flags.with(Flags::FRAGMENT);
        packet.window = self.datagram_hash;
        packet.seq ^= self.mixed_in();
        packet.sack = [
            SackBlock { offset: self.offset as i32, bytes: self.bytes | more },
            SackBlock { offset: i32::from(self.source), bytes: self.id.into() },
            SackBlock::default(),
        ];
    }

    /// Makes the whole datagram's packet again of one of its fragments, but for its lengths.
    pub fn undo(&self, packet: &Packet) -> Packet {
        Packet {
            flags: packet.flags.without(Flags::FRAGMENT),
            flow_hash: self.datagram_hash,
            seq: packet.seq ^ self.mixed_in(),
            window: 0,
            sack: <[SackBlock; 3]>::default(),
            ..*packet
        }
    }

    /// Whether it carries the header of UDP.
    pub const fn is_first(&self) -> bool {
        self.offset == 0
    }

    fn mixed_in(&self) -> u64 {
        u64::from(self.offset / FRAGMENT_UNIT_BYTES) << OFFSET_SHIFT
    }
}

impl FlowKey {
    /// The part of a key that fragments have: addresses and protocol. Ports stand in the first
    /// fragment alone, and Linux's flow dissector, the hash of receive queues and switches leave
    /// them out for all fragments, so that those of a datagram take one way.
    pub fn of_fragments(self) -> FlowKey {
        FlowKey { source_port: 0, destination_port: 0, ..self }
    }

    /// The key of fragments of datagrams between these hosts.
    pub fn fragments_between(source: u32, destination: u32) -> FlowKey {
        FlowKey {
            source,
            destination,
            source_port: 0,
            destination_port: 0,
            protocol: Protocol::Udp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_made_and_undone() {
        let whole = Packet {
            seq: 77,
            ack: 5,
            flow_hash: 9,
            to_host: 3,
            flags: Flags::UDP,
            dscp: 46,
            ..Packet::default()
        };
        let fragment = Fragment {
            source: 65_535,
            id: 40_000,
            offset: 65_128,
            bytes: 379,
            more: true,
            datagram_hash: 9,
        };
        let mut packet = Packet { flow_hash: 1, ..whole };
        assert_eq!(Fragment::of(&packet), None);
        fragment.write(&mut packet);
        assert_eq!(Fragment::of(&packet), Some(fragment));
        assert_ne!(packet.seq, whole.seq);
        assert_eq!(fragment.undo(&packet), whole);
    }

    #[test]
    fn fragments_are_of_whole_units() {
        assert_eq!(
            [576, 1_500, 1_499, 9_000, 9_216].map(fragment_bytes),
            [552, 1_480, 1_472, 8_976, 9_192]
        );
    }
}
