//! Frames of a kind that wait in an interface.

use std::collections::VecDeque;
use tailrace_wire::Packet;

/// Frames of one priority or one limited flow. Each lane has the whole limit for itself, so that a
/// lane that is held back does not take memory of the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) frames: VecDeque<Packet>,
    pub(super) bytes: u64,
}

impl Lane {
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.frame_bytes);
        self.frames.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.frames.pop_front()?;
        self.bytes -= u64::from(packet.frame_bytes);
        Some(packet)
    }

    /// Takes out the frames of one flow, in order.
    pub(super) fn take_flow(&mut self, flow_hash: u32, into: &mut Lane) {
        for packet in std::mem::take(self).frames {
            if packet.flow_hash == flow_hash { into.push(packet) } else { self.push(packet) }
        }
    }
}
