//! The interface of an engine's frames to the network, in addition to that to switches.

use tailrace_dataplane::Frame;
use tailrace_wire::{Flags, Packet};

/// A frame of an engine.
pub trait NetworkFrame: Frame + Copy + Default {
    /// Its header fields.
    fn packet(&self) -> &Packet;
    /// A frame with these header fields that a switch makes.
    fn from_packet(packet: Packet) -> Self;

    /// Whether it is for the interface of a host and not for the host behind it: a pause or a congestion notification.
    #[inline]
    fn is_control(&self) -> bool {
        self.packet().flags.intersects(Flags::PAUSE.with(Flags::CNM))
    }
}

impl NetworkFrame for Packet {
    #[inline]
    fn packet(&self) -> &Packet {
        self
    }
    fn from_packet(packet: Packet) -> Packet {
        packet
    }
}

/// Frames without pauses, which the ends of one link exchange: every other frame is delivered, dropped or in the
/// network.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Frames {
    /// Handed to an interface, or made by a congestion point.
    pub sent: u64,
    /// Reached a host or its interface.
    pub delivered: u64,
    /// Dropped, for whatever cause.
    pub dropped: u64,
}
