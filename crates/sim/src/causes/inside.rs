//! Frames for one socket inside switches and interfaces, found by the fields that these do not
//! change.

use super::frames::FrameId;
use super::wires::Node;
use std::collections::VecDeque;
use tailrace_wire::{Fragment, Packet};

/// A frame inside a node.
#[derive(Clone, Copy, Debug)]
struct Held {
    node: Node,
    what: What,
    frame: FrameId,
}

/// Frames inside nodes, in the order in which they came there.
#[derive(Debug, Default)]
pub(super) struct Inside(VecDeque<Held>);

/// Identifies a frame among those of its socket.
pub(super) type What = (u64, u64, u16, u16, u16);

/// Of two copies of a datagram that are sent in one moment, as answers to a query that came twice,
/// only the identification distinguishes the fragments.
pub(super) fn what(packet: &Packet) -> What {
    let Packet { seq, ack, payload_bytes, flags, .. } = *packet;
    (seq, ack, payload_bytes, flags.bits(), Fragment::of(packet).map_or(0, |fragment| fragment.id))
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

    /// The first of equal frames moves from one stage of a node to another.
    pub(super) fn go_on(&mut self, from: Node, to: Node, packet: &Packet) -> Option<FrameId> {
        let frame = self.leave(from, packet)?;
        self.enter(to, packet, frame);
        Some(frame)
    }

    /// The last of equal ones leaves: it has found no room.
    pub(super) fn leave_last(&mut self, node: Node, packet: &Packet) -> Option<FrameId> {
        let what = what(packet);
        let at = self.0.iter().rposition(|held| held.what == what && held.node == node)?;
        self.0.remove(at).map(|held| held.frame)
    }

    /// The first of equal ones leaves. Most frames leave a node in the order in which they came.
    pub(super) fn leave(&mut self, node: Node, packet: &Packet) -> Option<FrameId> {
        let what = what(packet);
        let at = self.0.iter().position(|held| held.what == what && held.node == node)?;
        self.0.remove(at).map(|held| held.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_of_two_copies_of_a_datagram_are_distinguished() {
        let fragment = |id: u16| {
            let mut packet = Packet { seq: 5, ack: 70, payload_bytes: 1_472, ..Packet::default() };
            Fragment { source: 0, id, offset: 1_480, bytes: 1_480, more: true, datagram_hash: 9 }
                .write(&mut packet);
            packet
        };
        let (mut inside, at) = (Inside::default(), Node::Switch(0));
        inside.enter(at, &fragment(1), 10);
        inside.enter(at, &fragment(2), 20);
        assert_eq!(inside.leave(at, &fragment(2)), Some(20), "it has found no room");
        assert_eq!(
            (inside.leave(at, &fragment(2)), inside.leave(at, &fragment(1))),
            (None, Some(10))
        );
    }

    #[test]
    fn of_equal_frames_the_last_finds_no_room_and_the_first_leaves() {
        let (mut inside, at) = (Inside::default(), Node::Switch(0));
        (10..13).for_each(|frame| inside.enter(at, &Packet::default(), frame));
        assert_eq!(inside.leave_last(at, &Packet::default()), Some(12));
        assert_eq!(inside.leave(at, &Packet::default()), Some(10));
        assert_eq!(inside.first(at, &Packet::default()), Some(11));
    }
}
