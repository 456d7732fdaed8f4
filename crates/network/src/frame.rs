//! The interface of an engine's frames to the network, in addition to that to switches.

use std::fmt::Debug;
use tailrace_dataplane::Frame;
use tailrace_wire::{Flags, Packet, PacketHead, PacketRest};

/// A frame of an engine.
pub trait NetworkFrame: Frame + Default {
    /// The part that a wire keeps of every frame.
    type Head: Copy + Default + Debug;
    /// The part that it keeps apart, because few frames have it.
    type Rest: Copy + Debug;

    /// Its head.
    fn head(&self) -> Self::Head;
    /// Its rest, if it has one; its head records that from now on.
    fn rest(&self, head: &mut Self::Head) -> Option<Self::Rest>;
    /// Whether it has one.
    fn has_rest(&self) -> bool;
    /// Whether the frame of this head has a rest.
    fn tells_rest(head: &Self::Head) -> bool;
    /// Becomes the frame with this head and no rest.
    fn read_head(&mut self, head: &Self::Head);
    /// Adds the rest that belongs to the head.
    fn add_rest(&mut self, rest: Self::Rest);

    /// Its header fields.
    fn packet(&self) -> &Packet;
    /// A frame with these header fields that a switch makes.
    fn from_packet(packet: Packet) -> Self;

    /// Whether it is for the interface of a host and not for the host behind it: a pause or a
    /// congestion notification.
    #[inline]
    fn is_control(&self) -> bool {
        self.packet().flags.intersects(Flags::PAUSE.with(Flags::CNM))
    }
}

impl NetworkFrame for Packet {
    type Head = PacketHead;
    type Rest = PacketRest;

    #[inline(always)]
    fn head(&self) -> PacketHead {
        self.head()
    }
    fn rest(&self, head: &mut PacketHead) -> Option<PacketRest> {
        head.note_rest();
        Some(self.sack)
    }
    #[inline(always)]
    fn has_rest(&self) -> bool {
        self.has_rest()
    }
    #[inline(always)]
    fn tells_rest(head: &PacketHead) -> bool {
        head.has_rest()
    }
    #[inline(always)]
    fn read_head(&mut self, head: &PacketHead) {
        self.read_head(head);
    }
    fn add_rest(&mut self, rest: PacketRest) {
        self.add_rest(rest);
    }

    #[inline]
    fn packet(&self) -> &Packet {
        self
    }
    fn from_packet(packet: Packet) -> Packet {
        packet
    }
}

/// Frames without pauses, which the ends of one link exchange: every other frame is delivered,
/// dropped or in the network.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Frames {
    /// Handed to an interface, or made by a congestion point.
    pub sent: u64,
    /// Reached a host or its interface.
    pub delivered: u64,
    /// Dropped, for whatever cause.
    pub dropped: u64,
}
