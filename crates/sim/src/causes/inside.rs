//! Frames for one socket that are inside switches and interfaces, by what these do not change.

use super::frames::FrameId;
use super::wires::Node;
use std::collections::VecDeque;
use tailrace_wire::Packet;

/// A frame inside a node.
#[derive(Clone, Copy, Debug)]
struct Held {
    node: Node,
    what: (u64, u64, u16, u16),
    frame: FrameId,
}

/// Frames inside nodes, in the order in which they came there.
#[derive(Debug, Default)]
pub(super) struct Inside(VecDeque<Held>);

/// What tells a frame of a socket from its others.
fn what(packet: &Packet) -> (u64, u64, u16, u16) {
    let Packet { seq, ack, payload_bytes, flags, .. } = *packet;
    (seq, ack, payload_bytes, flags.bits())
}

impl Inside {
    pub(super) fn enter(&mut self, node: Node, packet: &Packet, frame: FrameId) {
        self.0.push_back(Held { node, what: what(packet), frame });
    }

    /// The first of equal ones, which leaves next.
    pub(super) fn first(&self, node: Node, packet: &Packet) -> Option<FrameId> {
        let what = what(packet);
        self.0.iter().find(|held| held.what == what && held.node == node).map(|held| held.frame)
    }

    /// The first of equal ones leaves. Most frames leave a node in the order in which they came.
    pub(super) fn leave(&mut self, node: Node, packet: &Packet) -> Option<FrameId> {
        let what = what(packet);
        let at = self.0.iter().position(|held| held.what == what && held.node == node)?;
        self.0.remove(at).map(|held| held.frame)
    }
}
