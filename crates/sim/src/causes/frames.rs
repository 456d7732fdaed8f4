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
    frames: Ring<Frame>,
    hops: Ring<Hop>,
}

impl Frames {
    pub(super) fn add(&mut self, frame: Frame) -> FrameId {
        self.frames.push(frame, FRAMES_MAX)
    }

    pub(super) fn get(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(id)
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Frame> {
        self.frames.get_mut(id)
    }

    pub(super) fn add_hop(&mut self, id: FrameId, mut hop: Hop) {
        let Some(frame) = self.frames.get_mut(id) else { return };
        hop.before = frame.last_hop;
        frame.last_hop = self.hops.push(hop, HOPS_MAX) + 1;
    }

    pub(super) fn hop(&self, id: HopId) -> Option<&Hop> {
        self.hops.get(id.checked_sub(1)?)
    }
}

/// Records are kept in pieces of this many, and forgotten in such pieces: what is there is never moved.
const PIECE: usize = 1 << 12;

/// The latest of many records, by number.
#[derive(Debug)]
struct Ring<T> {
    pieces: VecDeque<Vec<T>>,
    /// Those that were forgotten.
    forgotten: u64,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { pieces: VecDeque::new(), forgotten: 0 }
    }
}

impl<T> Ring<T> {
    /// Adds a record where at most so many, a multiple of the pieces, are kept. Returns its number.
    fn push(&mut self, record: T, most: usize) -> u64 {
        if self.pieces.back().is_none_or(|piece| piece.len() == PIECE) {
            let oldest = (self.pieces.len() * PIECE == most).then(|| self.pieces.pop_front()).flatten();
            let mut piece = oldest.unwrap_or_else(|| Vec::with_capacity(PIECE));
            self.forgotten += piece.len() as u64;
            piece.clear();
            self.pieces.push_back(piece);
        }
        let before = (self.pieces.len() - 1) * PIECE;
        let piece = self.pieces.back_mut().expect("there is room in the last");
        piece.push(record);
        self.forgotten + (before + piece.len() - 1) as u64
    }

    fn get(&self, number: u64) -> Option<&T> {
        let at = number.checked_sub(self.forgotten)? as usize;
        self.pieces.get(at / PIECE)?.get(at % PIECE)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let at = number.checked_sub(self.forgotten)? as usize;
        self.pieces.get_mut(at / PIECE)?.get_mut(at % PIECE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_records_keep_their_numbers() {
        let mut ring = Ring::default();
        for number in 0..10 * PIECE as u64 + 5 {
            assert_eq!(ring.push(number, 3 * PIECE), number);
        }
        let last = 10 * PIECE as u64 + 4;
        assert_eq!(ring.get(last), Some(&last));
        assert_eq!(ring.get_mut(last).copied(), Some(last));
        assert_eq!(ring.get(8 * PIECE as u64), Some(&(8 * PIECE as u64)));
        assert_eq!((ring.get(8 * PIECE as u64 - 1), ring.get(last + 1)), (None, None));
    }
}
