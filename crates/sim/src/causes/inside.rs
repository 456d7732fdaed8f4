//! Frames inside switches and interfaces, by what these do not change.

use super::frames::FrameId;
use super::wires::Node;
use std::collections::{BTreeMap, VecDeque};
use tailrace_wire::Packet;

/// All that a node does not change of a frame.
pub(crate) type Key = (Node, u16, u32, u32, u64, u64, u16, u16);

pub(crate) fn key(node: Node, packet: &Packet) -> Key {
    let Packet { to_host, to_endpoint, flow_hash, seq, ack, payload_bytes, flags, .. } = *packet;
    (node, to_host, to_endpoint, flow_hash, seq, ack, payload_bytes, flags.bits())
}

/// Frames inside nodes, equal ones in their order.
#[derive(Debug, Default)]
pub(super) struct Inside(BTreeMap<Key, VecDeque<FrameId>>);

impl Inside {
    pub(super) fn enter(&mut self, node: Node, packet: &Packet, frame: FrameId) {
        self.0.entry(key(node, packet)).or_default().push_back(frame);
    }

    /// The next of these frames that leaves a node.
    pub(super) fn first(&self, node: Node, packet: &Packet) -> Option<FrameId> {
        self.0.get(&key(node, packet))?.front().copied()
    }

    pub(super) fn leave(&mut self, node: Node, packet: &Packet) -> Option<FrameId> {
        if self.0.is_empty() {
            return None;
        }
        let key = key(node, packet);
        let same = self.0.get_mut(&key)?;
        let frame = same.pop_front();
        if same.is_empty() {
            self.0.remove(&key);
        }
        frame
    }
}
