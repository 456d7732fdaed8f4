//! What the record still has of single frames and connections.

use super::{Recorder, end_of};
use crate::causes::ends::SocketId;
use crate::causes::frames::{Frame, FrameId};
use crate::causes::part::Part;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// A frame of an explained connection that a host sent, as far as the record still has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFrame {
    /// As the host sent it.
    pub(crate) packet: Packet,
    pub(crate) handed: Time,
    /// `Time::NEVER` of one that did not come to a transport.
    pub(crate) delivered: Time,
    /// The frame without which this one would not have been sent then, and what lies between.
    pub(crate) prior: Option<(FrameId, Part)>,
    /// The copy before it, of a repetition.
    pub(crate) repeats: Option<FrameId>,
}

impl Recorder {
    /// The number of a frame in the node before a wire, if it is kept.
    pub(crate) fn inside(&self, wire: u32, packet: &Packet) -> Option<FrameId> {
        self.ends.get(end_of(packet))?.inside.first(self.wires.from(wire), packet)
    }

    /// A frame by its number.
    pub(crate) fn frame(&self, id: FrameId) -> Option<SentFrame> {
        let &Frame { packet, handed, delivered, prior, repeats, .. } = self.frames.get(id)?;
        Some(SentFrame { packet, handed, delivered, prior: prior.map(|prior| (prior.frame, prior.part)), repeats })
    }

    /// The sockets of a user's connection: the client's and the server's. None for programs with several sockets.
    pub(crate) fn connection_of(&self, workload: u32, user: u32) -> Option<[SocketId; 2]> {
        self.connections.get(&(workload, user)).copied()
    }
}
