//! A packet in two parts: the fields of every packet, and the fields that few have beside them.

use crate::packet::{Ecn, Flags, MAX_SACK_BLOCKS, Packet, SackBlock};
use crate::tag::Tag;
use std::mem::offset_of;

/// A packet without its selective acknowledgement, whose presence it records. Most packets are in
/// flight on some wire, and most have none.
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

/// Asserts that these fields of a packet and of its head have the same offset and type.
macro_rules! assert_same {
    ($($field:ident: $type:ty),*) => {
        $(const _: () = {
            assert!(offset_of!(Packet, $field) == offset_of!(PacketHead, $field), "a head is the beginning of its packet");
            let _: fn(&PacketHead, &Packet) -> (*const $type, *const $type) = |head, packet| (&head.$field, &packet.$field);
        };)*
    };
}
assert_same!(seq: u64, ack: u64, window: u32, flow_hash: u32, to_endpoint: u32, to_host: u16, tag: Tag);
assert_same!(frame_bytes: u16, payload_bytes: u16, flags: Flags, ecn: Ecn, dscp: u8);
const _: () = assert!(
    offset_of!(Packet, sack) == size_of::<PacketHead>(),
    "and nothing else stands before the rest"
);

/// The blocks of a selective acknowledgement.
pub type PacketRest = [SackBlock; MAX_SACK_BLOCKS];

impl PacketHead {
    /// Whether the packet has a rest.
    #[inline]
    pub fn has_rest(&self) -> bool {
        self.flags.contains(Flags::HAS_REST)
    }

    /// The hash of its flow.
    #[inline(always)]
    pub fn flow_hash(&self) -> u32 {
        self.flow_hash
    }

    /// The host for which it is.
    #[inline(always)]
    pub fn to_host(&self) -> u16 {
        self.to_host
    }

    /// The socket for which it is.
    #[inline(always)]
    pub fn to_endpoint(&self) -> u32 {
        self.to_endpoint
    }

    /// The packet has a rest.
    pub fn note_rest(&mut self) {
        self.flags = self.flags.with(Flags::HAS_REST);
    }
}

impl Packet {
    /// The fields of every packet. The head does not know of a rest.
    #[inline(always)]
    pub fn head(&self) -> PacketHead {
        #[expect(
            unsafe_code,
            reason = "the head is the beginning of the packet, field by field: copied at once, and not in thirteen parts"
        )]
        unsafe {
            std::ptr::from_ref(self).cast::<PacketHead>().read()
        }
    }

    /// Whether there is more than the head.
    #[inline(always)]
    pub fn has_rest(&self) -> bool {
        #[expect(
            unsafe_code,
            reason = "blocks are bits of which some are set: three words are looked at, and not six halves"
        )]
        let words = unsafe { std::mem::transmute::<PacketRest, [u64; MAX_SACK_BLOCKS]>(self.sack) };
        words[0] | words[1] | words[2] != 0
    }

    /// Becomes the packet with this head and no rest.
    #[inline(always)]
    pub fn read_head(&mut self, head: &PacketHead) {
        #[expect(
            unsafe_code,
            reason = "as in `Packet::head`; what lies behind the head stays as it is"
        )]
        unsafe {
            std::ptr::from_mut(self).cast::<PacketHead>().write(*head);
        }
        self.sack = PacketRest::default();
    }

    /// Adds the rest that its head has announced.
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
        let plain = Packet {
            seq: 1,
            ack: 2,
            window: 3,
            flow_hash: 4,
            to_endpoint: 5,
            to_host: 6,
            ..Packet::default()
        };
        let plain = Packet {
            frame_bytes: 7,
            payload_bytes: 8,
            flags: Flags::ACK,
            ecn: Ecn::Ce,
            dscp: 9,
            ..plain
        };
        let block = SackBlock { offset: -1, bytes: 2 };
        let last = Packet { sack: [SackBlock::default(), SackBlock::default(), block], ..plain };
        for (packet, has_rest) in [(plain, false), (last, true)] {
            let mut head = packet.head();
            assert_eq!((packet.has_rest(), head.has_rest()), (has_rest, false));
            if has_rest {
                head.note_rest();
                assert!(head.has_rest());
            }
            let mut again = last;
            again.read_head(&head);
            if has_rest {
                again.add_rest(packet.sack);
            }
            assert_eq!(again, packet);
        }
    }
}
