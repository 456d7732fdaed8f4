//! The latest frames of a run with their stamps, in two rings of bounded size.

use super::part::Part;
use std::collections::VecDeque;
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Frames that are kept; older ones are forgotten. With their hops less than 300 MB.
const FRAMES_MAX: usize = 1 << 20;
/// Hops that are kept: two for each frame, as around one switch.
const HOPS_MAX: usize = 2 * FRAMES_MAX;

/// A frame's number in the order of sending.
pub(crate) type FrameId = u64;
/// Stands for a frame that no explained connection has sent: only its place on wires counts.
pub(super) const NOT_KEPT: FrameId = FrameId::MAX;
/// A hop's number; 0 is none.
pub(super) type HopId = u64;

/// Where the life of an earlier frame is entered on the way back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// When it was handed to the transport of its receiver.
    Delivered,
    /// When its sender handed it to the interface.
    Handed,
}

/// A window that was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Window {
    /// That of the receiver.
    Receiver,
    /// That of congestion control, with what repairs losses.
    Congestion,
}

/// Why a frame was sent when it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prior {
    /// The frame without which this one would not have been sent then.
    pub(super) frame: FrameId,
    pub(super) entry: Entry,
    /// What the time between that frame and this one is.
    pub(super) part: Part,
    /// Of that time, a program's wait for a core.
    pub(super) core_wait: Span,
    /// The window for which what it released had waited.
    pub(super) opens: Option<Window>,
}

/// Where a frame was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lost {
    pub(super) at: Time,
    /// Before this wire, or at its end.
    pub(super) wire: u32,
    /// At its end: by the receive ring.
    pub(super) in_ring: bool,
}

/// A frame that a host sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) packet: Packet,
    pub(super) handed: Time,
    pub(super) delivered: Time,
    /// `None` where it was sent without a frame before it: the first of a connection.
    pub(super) prior: Option<Prior>,
    pub(super) last_hop: HopId,
    /// The copy that was sent before, of a repetition.
    pub(super) repeats: Option<FrameId>,
    pub(super) lost: Option<Lost>,
}

impl Frame {
    /// A frame that is handed to the interface now.
    pub(super) fn new(handed: Time, packet: Packet, prior: Option<Prior>) -> Frame {
        Frame { packet, handed, delivered: Time::NEVER, prior, last_hop: 0, repeats: None, lost: None }
    }
}

/// One wire that a frame passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) before: HopId,
    pub(super) wire: u32,
    /// The class in which it was sent there.
    pub(super) class: u8,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) arrival: Time,
}

/// The rings.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: VecDeque<Frame>,
    first_frame: FrameId,
    hops: VecDeque<Hop>,
    /// Hops that were forgotten.
    forgotten_hops: u64,
}

impl Frames {
    pub(super) fn add(&mut self, frame: Frame) -> FrameId {
        if self.frames.len() == FRAMES_MAX {
            self.frames.pop_front();
            self.first_frame += 1;
        }
        self.frames.push_back(frame);
        self.first_frame + self.frames.len() as u64 - 1
    }

    pub(super) fn get(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(id.checked_sub(self.first_frame)? as usize)
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Frame> {
        self.frames.get_mut(id.checked_sub(self.first_frame)? as usize)
    }

    pub(super) fn add_hop(&mut self, id: FrameId, mut hop: Hop) {
        if self.hops.len() == HOPS_MAX {
            self.hops.pop_front();
            self.forgotten_hops += 1;
        }
        let number = self.forgotten_hops + self.hops.len() as u64 + 1;
        let Some(frame) = self.get_mut(id) else { return };
        hop.before = std::mem::replace(&mut frame.last_hop, number);
        self.hops.push_back(hop);
    }

    pub(super) fn hop(&self, id: HopId) -> Option<&Hop> {
        self.hops.get((id.checked_sub(1)?).checked_sub(self.forgotten_hops)? as usize)
    }
}
