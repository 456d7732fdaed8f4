//! A packet in two parts: what every packet has, and what few have beside it.

use crate::packet::{Ecn, Flags, MAX_SACK_BLOCKS, Packet, SackBlock};
use crate::tag::Tag;

/// A packet without its selective acknowledgement, whose presence it tells. Most packets are in flight on some wire, and
/// most have none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct PacketHead {
    seq: u64,
    ack: u64,
    window: u32,
    flow_hash: u32,
    to_endpoint: u32,
    to_host: u16,
    tag: Tag,
    frame_bytes: u16,
    payload_bytes: u16,
    flags: Flags,
    ecn: Ecn,
    dscp: u8,
}

const _: () = assert!(size_of::<PacketHead>() == 40, "with its time of arrival it takes 48 bytes");

/// The blocks of a selective acknowledgement.
pub type PacketRest = [SackBlock; MAX_SACK_BLOCKS];

impl PacketHead {
    /// Whether the packet has a rest.
    #[inline]
    pub fn has_rest(&self) -> bool {
        self.flags.contains(Flags::HAS_REST)
    }

    /// The packet has a rest.
    pub fn note_rest(&mut self) {
        self.flags = self.flags.with(Flags::HAS_REST);
    }
}

impl Packet {
    /// What every packet has. It does not know of a rest.
    #[inline(always)]
    pub fn head(&self) -> PacketHead {
        PacketHead {
            seq: self.seq,
            ack: self.ack,
            window: self.window,
            flow_hash: self.flow_hash,
            to_endpoint: self.to_endpoint,
            to_host: self.to_host,
            tag: self.tag,
            frame_bytes: self.frame_bytes,
            payload_bytes: self.payload_bytes,
            flags: self.flags,
            ecn: self.ecn,
            dscp: self.dscp,
        }
    }

    /// Whether there is more than the head.
    #[inline(always)]
    pub fn has_rest(&self) -> bool {
        let word = |block: &SackBlock| u64::from(block.offset as u32) | u64::from(block.bytes) << 32;
        word(&self.sack[0]) | word(&self.sack[1]) | word(&self.sack[2]) != 0
    }

    /// The packet with this head and no rest.
    #[inline(always)]
    pub fn from_head(head: &PacketHead) -> Packet {
        Packet {
            seq: head.seq,
            ack: head.ack,
            window: head.window,
            flow_hash: head.flow_hash,
            to_endpoint: head.to_endpoint,
            to_host: head.to_host,
            tag: head.tag,
            frame_bytes: head.frame_bytes,
            payload_bytes: head.payload_bytes,
            flags: head.flags,
            ecn: head.ecn,
            dscp: head.dscp,
            sack: PacketRest::default(),
        }
    }

    /// Adds the rest that its head has told of.
    pub fn add_rest(&mut self, rest: PacketRest) {
        self.flags = self.flags.without(Flags::HAS_REST);
        self.sack = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_the_packet_and_only_a_selective_acknowledgement_is_a_rest() {
        let plain = Packet { seq: 1, ack: 2, window: 3, flow_hash: 4, to_endpoint: 5, to_host: 6, ..Packet::default() };
        let plain = Packet { frame_bytes: 7, payload_bytes: 8, flags: Flags::ACK, ecn: Ecn::Ce, dscp: 9, ..plain };
        let block = SackBlock { offset: -1, bytes: 2 };
        let last = Packet { sack: [SackBlock::default(), SackBlock::default(), block], ..plain };
        for (packet, has_rest) in [(plain, false), (last, true)] {
            let mut head = packet.head();
            assert_eq!((packet.has_rest(), head.has_rest()), (has_rest, false));
            if has_rest {
                head.note_rest();
                assert!(head.has_rest());
            }
            let mut again = Packet::from_head(&head);
            if has_rest {
                again.add_rest(packet.sack);
            }
            assert_eq!(again, packet);
        }
    }
}
