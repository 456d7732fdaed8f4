//! The interface of a frame to the switch.

use tailrace_wire::{Ecn, Flags, FlowKey, Fragment, PRIORITIES, Packet, Pause};

/// A pause frame has the minimum length: 64 bytes with its check sequence.
const PAUSE_FRAME_BYTES: u16 = 60;

/// The interface of a frame to the switch: the simulator's packet, or the fabric's parsed header
/// with a handle to its bytes. It is copied where it is kept.
pub trait Frame: Copy {
    /// Length from the Ethernet header to the end of the payload, without check sequence.
    fn bytes(&self) -> u32;
    /// Hash of the flow key: chooses among equal paths and finds the flow in tables.
    fn flow_hash(&self) -> u32;
    /// Destination host, an index into the forwarding table.
    fn destination(&self) -> u32;
    /// Priority, 0 to 7.
    fn priority(&self) -> u8;
    /// IP's congestion bits.
    fn ecn(&self) -> Ecn;
    /// Sets "congestion experienced". Only called on capable frames.
    fn mark(&mut self);
    /// Code point of the IP header, 0 to 63 (RFC 2474).
    fn dscp(&self) -> u8 {
        0
    }
    /// VLAN, 0 for none.
    fn vlan(&self) -> u16 {
        0
    }
    /// Writes the tag of a frame that belongs to a VLAN into it, or takes it out: the frame has
    /// another length then.
    fn retag(&mut self, _is_tagged: bool) {}
    /// Source, destination, ports and protocol, when the frame carries them.
    fn flow_key(&self) -> Option<FlowKey> {
        None
    }
    /// Hash of the key that rules of classification ask about, where the frame does not carry that:
    /// of the flow, unless the frame is a first fragment, which takes the way of all fragments
    /// between its hosts and has ports none the less.
    fn classified_hash(&self) -> u32 {
        self.flow_hash()
    }
    /// Whether it is a fragment without the header of its transport.
    fn is_later_fragment(&self) -> bool {
        false
    }
    /// Whether it belongs to an IP flow. Pauses and congestion notifications do not, although a
    /// notification has the hash of the flow that it is about.
    fn belongs_to_flow(&self) -> bool {
        true
    }
    /// Sets the priority: the class that a switch gave to the frame.
    fn set_priority(&mut self, class: u8);
    /// Whether this is a pause frame.
    fn is_pause(&self) -> bool;
    /// Its content, when this is a pause frame.
    fn pause(&self) -> Option<Pause>;
    /// A pause frame.
    fn new_pause(pause: Pause) -> Self;
    /// A number that distinguishes this frame from others, for the digest of events.
    fn fingerprint(&self) -> u64;
}

impl Frame for Packet {
    #[inline]
    fn bytes(&self) -> u32 {
        u32::from(self.frame_bytes)
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.flow_hash
    }
    #[inline]
    fn destination(&self) -> u32 {
        u32::from(self.to_host)
    }
    #[inline]
    fn priority(&self) -> u8 {
        self.tag.priority()
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn mark(&mut self) {
        debug_assert!(self.ecn != Ecn::NotEct, "only capable frames are marked");
        self.ecn = Ecn::Ce;
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn vlan(&self) -> u16 {
        self.tag.vlan()
    }
    fn retag(&mut self, is_tagged: bool) {
        let written = self.tag.written(is_tagged);
        self.frame_bytes = self.frame_bytes + written.bytes() - self.tag.bytes();
        self.tag = written;
    }
    fn classified_hash(&self) -> u32 {
        Fragment::of(self)
            .filter(Fragment::is_first)
            .map_or(self.flow_hash, |first| first.datagram_hash)
    }
    fn is_later_fragment(&self) -> bool {
        Fragment::of(self).is_some_and(|fragment| !fragment.is_first())
    }
    fn belongs_to_flow(&self) -> bool {
        !self.flags.intersects(Flags::PAUSE.with(Flags::CNM))
    }
    fn set_priority(&mut self, class: u8) {
        self.tag = self.tag.with_priority(class);
    }
    #[inline]
    fn is_pause(&self) -> bool {
        self.flags.contains(Flags::PAUSE)
    }
    fn pause(&self) -> Option<Pause> {
        if !self.flags.contains(Flags::PAUSE) {
            return None;
        }
        // Eight timers ride where a segment has its two stream offsets.
        let quanta = |priority: usize| {
            (if priority < 4 { self.seq } else { self.ack } >> (16 * (priority % 4))) as u16
        };
        Some(Pause {
            classes: self.window as u8,
            quanta: std::array::from_fn(quanta),
            is_link_pause: self.flags.contains(Flags::LINK_PAUSE),
        })
    }
    fn new_pause(pause: Pause) -> Packet {
        let pack = |from: usize| {
            (0..PRIORITIES / 2)
                .fold(0, |word, i| word | u64::from(pause.quanta[from + i]) << (16 * i))
        };
        let kind =
            if pause.is_link_pause { Flags::PAUSE.with(Flags::LINK_PAUSE) } else { Flags::PAUSE };
        Packet {
            seq: pack(0),
            ack: pack(PRIORITIES / 2),
            window: u32::from(pause.classes),
            frame_bytes: PAUSE_FRAME_BYTES,
            flags: kind,
            ..Packet::default()
        }
    }
    #[inline]
    fn fingerprint(&self) -> u64 {
        u64::from(self.flow_hash) << 32
            ^ self.seq.rotate_left(13)
            ^ self.ack.rotate_left(43)
            ^ u64::from(self.flags.bits()) << 24
            ^ self.ecn as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::Tag;

    #[test]
    fn a_tag_is_written_once_and_taken_out_once() {
        let mut frame = Packet { tag: Tag::new(5, 10), frame_bytes: 1000, ..Packet::default() };
        for (is_tagged, bytes) in [(false, 1000), (true, 1004), (true, 1004), (false, 1000)] {
            frame.retag(is_tagged);
            assert_eq!((frame.frame_bytes, frame.priority(), frame.vlan()), (bytes, 5, 10));
        }
        let mut of_no_vlan = Packet { frame_bytes: 1000, ..Packet::default() };
        of_no_vlan.retag(true);
        assert_eq!(of_no_vlan.frame_bytes, 1000);
    }

    #[test]
    fn a_pause_frame_carries_its_content() {
        let mut pause = Pause::new(0b1010_0001, 0xABCD, false);
        pause.quanta[5] = 7;
        assert_eq!(Packet::new_pause(pause).pause(), Some(pause));
        let link = Pause::new(0, 99, true);
        assert_eq!(Packet::new_pause(link).pause(), Some(link));
        assert_eq!(Packet::default().pause(), None);
    }
}
