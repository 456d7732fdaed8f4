//! Records by their number, of which the latest are kept.

use std::collections::VecDeque;

/// Records are kept in pieces of this size, and forgotten in such pieces, so that a record never
/// moves.
pub(super) const PIECE: usize = 1 << 12;

/// The latest of many records, by number.
#[derive(Debug)]
pub(super) struct Ring<T> {
    pieces: VecDeque<Vec<T>>,
    /// Forgotten records.
    forgotten: u64,
    /// Memory of forgotten pieces, for the next ones: a few.
    spare: Vec<Vec<T>>,
}

/// Pieces whose memory is kept.
const SPARE_MAX: usize = 4;

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { pieces: VecDeque::new(), forgotten: 0, spare: Vec::new() }
    }
}

impl<T> Ring<T> {
    /// Adds a record; at most `most` records, a multiple of the pieces, are kept. Returns its
    /// number.
    pub(super) fn push(&mut self, record: T, most: usize) -> u64 {
        if self.pieces.back().is_none_or(|piece| piece.len() == PIECE) {
            if self.pieces.len() * PIECE == most {
                self.forget_oldest();
            }
            let piece = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(PIECE));
            self.pieces.push_back(piece);
        }
        let before = (self.pieces.len() - 1) * PIECE;
        let piece = self.pieces.back_mut().expect("there is room in the last");
        piece.push(record);
        self.forgotten + (before + piece.len() - 1) as u64
    }

    /// The number of the oldest record that is kept; of the next one without any.
    pub(super) fn first(&self) -> u64 {
        self.forgotten
    }

    /// The number of the next record.
    pub(super) fn next(&self) -> u64 {
        let before = self.pieces.len().saturating_sub(1) * PIECE;
        self.forgotten + (before + self.pieces.back().map_or(0, Vec::len)) as u64
    }

    /// The oldest piece that is kept.
    pub(super) fn oldest(&self) -> &[T] {
        self.pieces.front().map_or(&[], Vec::as_slice)
    }

    /// Forgets the oldest piece.
    pub(super) fn forget_oldest(&mut self) {
        let Some(mut piece) = self.pieces.pop_front() else { return };
        self.forgotten += piece.len() as u64;
        piece.clear();
        if self.spare.len() < SPARE_MAX {
            self.spare.push(piece);
        }
    }

    /// Forgets the pieces whose records are all older than this one.
    pub(super) fn forget_below(&mut self, number: u64) {
        while self.forgotten + PIECE as u64 <= number && self.pieces.len() > 1 {
            self.forget_oldest();
        }
    }

    pub(super) fn get(&self, number: u64) -> Option<&T> {
        let at = number.checked_sub(self.forgotten)? as usize;
        self.pieces.get(at / PIECE)?.get(at % PIECE)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
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
