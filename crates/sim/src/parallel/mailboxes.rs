//! Frames on their way from one part to another.

use super::sync::{Mutex, PoisonError};
use tailrace_units::Time;
use tailrace_wire::Packet;

/// A frame that enters another part.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrossingFrame {
    pub(super) wire: u32,
    pub(super) arrival: Time,
    pub(super) packet: Packet,
}

/// Items on their way between parts, by sender and receiver: one box is filled while the other is
/// emptied, window by window.
#[derive(Debug)]
pub(super) struct Mailboxes {
    parts: usize,
    boxes: Vec<[Mutex<Vec<CrossingFrame>>; 2]>,
}

impl Mailboxes {
    pub(super) fn new(parts: usize) -> Mailboxes {
        Mailboxes {
            parts,
            boxes: std::iter::repeat_with(Default::default).take(parts * parts).collect(),
        }
    }

    /// Puts crossing frames into a box, and takes the memory that was there.
    pub(super) fn post(
        &self,
        (from, to): (usize, usize),
        window: usize,
        crossing: &mut Vec<CrossingFrame>,
    ) {
        let mut own = self.boxes[from * self.parts + to][window % 2]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        assert!(own.is_empty(), "what was posted two windows ago has been read");
        std::mem::swap(&mut *own, crossing);
    }

    /// Hands out all frames for a part, by sender. Those for one wire come from one sender, in
    /// order; the order of wires decides nothing.
    pub(super) fn collect(&self, to: usize, window: usize, mut each: impl FnMut(&[CrossingFrame])) {
        for from in 0..self.parts {
            let mut own = self.boxes[from * self.parts + to][window % 2]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            each(&own);
            own.clear();
        }
    }
}

/// Items that each part publishes to all others: those of one window are written while those of the
/// window before are read.
#[derive(Debug)]
pub(super) struct Board<T> {
    slots: Vec<[Mutex<Vec<T>>; 2]>,
}

impl<T: Copy> Board<T> {
    pub(super) fn new(parts: usize) -> Board<T> {
        Board { slots: std::iter::repeat_with(Default::default).take(parts).collect() }
    }

    /// Publishes the new items of a part, in place of those of two windows ago. `items` is empty
    /// afterwards.
    pub(super) fn post(&self, part: usize, window: usize, items: &mut Vec<T>) {
        let mut own = self.slots[part][window % 2].lock().unwrap_or_else(PoisonError::into_inner);
        own.clear();
        own.append(items);
    }

    /// The new items of all parts, one part after the other.
    pub(super) fn read(&self, window: usize) -> Vec<T> {
        let mut all = Vec::new();
        for slot in &self.slots {
            all.extend_from_slice(&slot[window % 2].lock().unwrap_or_else(PoisonError::into_inner));
        }
        all
    }
}
