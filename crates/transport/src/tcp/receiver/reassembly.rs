//! Bytes that arrived out of order, and their reports (RFC 2018, RFC 2883).

use std::collections::VecDeque;

use tailrace_wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

use crate::tcp::recovery::scoreboard::Range;

/// Byte ranges above the next expected byte: sorted, apart from each other, not empty.
#[derive(Default)]
pub(crate) struct Reassembly {
    ranges: VecDeque<Range>,
    bytes: u64,
    /// A byte of each of the most recently changed ranges, latest first; 0 for none.
    recent: [u64; MAX_SACK_BLOCKS],
    /// The range that arrived twice since the last report; empty for none.
    duplicate: Range,
}

impl Reassembly {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// Bytes held.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Whether the next acknowledgement has something to report.
    #[inline]
    pub(crate) fn has_reports(&self) -> bool {
        !self.ranges.is_empty() || self.duplicate.end != 0
    }

    pub(crate) fn note_duplicate(&mut self, duplicate: Range) {
        self.duplicate = duplicate;
    }

    /// Of several ranges that came twice the first is reported, and what extends it (Linux
    /// `tcp_dsack_extend`).
    fn extend_duplicate(&mut self, range: Range) {
        if self.duplicate.end == 0 {
            self.duplicate = range;
        } else if range.start <= self.duplicate.end && self.duplicate.start <= range.end {
            self.duplicate = Range {
                start: self.duplicate.start.min(range.start),
                end: self.duplicate.end.max(range.end),
            };
        }
    }

    /// Takes bytes that are above the next expected one. Returns how many are new; the others are
    /// noted as a duplicate.
    pub(crate) fn insert(&mut self, arrived: Range) -> u64 {
        let first = self.ranges.partition_point(|range| range.end < arrived.start);
        let last = self.ranges.partition_point(|range| range.start <= arrived.end);
        let mut merged = arrived;
        let mut known = 0;
        for range in self.ranges.range(first..last) {
            known += range.end - range.start;
            let overlap =
                Range { start: range.start.max(arrived.start), end: range.end.min(arrived.end) };
            if overlap.start < overlap.end {
                self.duplicate = overlap;
            }
            merged = Range { start: merged.start.min(range.start), end: merged.end.max(range.end) };
        }
        if last - first == 1 {
            self.ranges[first] = merged;
        } else {
            self.ranges.drain(first..last);
            self.ranges.insert(first, merged);
        }
        self.remember(merged, arrived.start);
        let new = merged.end - merged.start - known;
        self.bytes += new;
        new
    }

    /// Whether `arrived` would change a range other than the two that were changed last: one more
    /// range might leave the report (Linux `TCP_SACK_BLOCKS_EXPECTED`).
    pub(crate) fn would_displace(&self, arrived: Range) -> bool {
        let touches = |byte: u64| {
            byte != 0
                && self.ranges.iter().any(|range| {
                    (range.start..range.end).contains(&byte)
                        && range.start <= arrived.end
                        && arrived.start <= range.end
                })
        };
        self.ranges.len() >= 2 && !touches(self.recent[0]) && !touches(self.recent[1])
    }

    /// The range that holds `byte` becomes the most recent one; others that it swallowed are
    /// forgotten.
    fn remember(&mut self, merged: Range, byte: u64) {
        let old = std::mem::take(&mut self.recent);
        let others =
            old.into_iter().filter(|b| *b != 0 && !(merged.start <= *b && *b < merged.end));
        self.recent[0] = byte;
        for (slot, other) in self.recent[1..].iter_mut().zip(others) {
            *slot = other;
        }
    }

    /// Everything up to `next` has arrived in order: returns where that ends when the ranges that
    /// it touches are added.
    pub(crate) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(range) = self.ranges.front().copied()
            && range.start <= next
        {
            if range.start < next {
                self.extend_duplicate(Range { start: range.start, end: range.end.min(next) });
            }
            next = next.max(range.end);
            self.bytes -= range.end - range.start;
            self.ranges.pop_front();
        }
        next
    }

    /// Writes the duplicate, once, and up to three ranges in order of recency; returns the number
    /// of blocks.
    pub(crate) fn report(&mut self, packet: &mut Packet) -> u32 {
        let mut count = 0;
        let mut blocks = [SackBlock::default(); MAX_SACK_BLOCKS];
        if self.duplicate.end != 0 {
            blocks[0] = block(self.duplicate, packet.ack);
            packet.flags = packet.flags.with(Flags::DSACK);
            self.duplicate = Range::default();
            count = 1;
        }
        for byte in self.recent {
            if count == MAX_SACK_BLOCKS || byte == 0 || byte < packet.ack {
                continue;
            }
            let range = self.ranges[self.ranges.partition_point(|range| range.end <= byte)];
            blocks[count] = block(range, packet.ack);
            count += 1;
        }
        packet.sack = blocks;
        count as u32
    }
}

fn block(range: Range, ack: u64) -> SackBlock {
    let offset = i64::try_from(range.start).expect("offsets are below 2^56")
        - i64::try_from(ack).expect("offsets are below 2^56");
    SackBlock {
        offset: offset.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        bytes: (range.end - range.start) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(reassembly: &mut Reassembly, ack: u64) -> Vec<(i32, u32)> {
        let mut packet = Packet { ack, ..Packet::default() };
        let count = reassembly.report(&mut packet) as usize;
        packet.sack[..count].iter().map(|b| (b.offset, b.bytes)).collect()
    }

    #[test]
    fn the_latest_range_is_reported_first() {
        let mut reassembly = Reassembly::default();
        for start in [20, 40, 60, 80] {
            assert_eq!(reassembly.insert(Range { start, end: start + 10 }), 10);
        }
        assert_eq!(reported(&mut reassembly, 10), [(70, 10), (50, 10), (30, 10)]);
        reassembly.insert(Range { start: 30, end: 40 });
        assert_eq!(reported(&mut reassembly, 10), [(10, 30), (70, 10), (50, 10)]);
    }

    #[test]
    fn filling_the_hole_releases_what_touches_it() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(Range { start: 20, end: 30 });
        reassembly.insert(Range { start: 40, end: 50 });
        assert_eq!(reassembly.advance(20), 30);
        assert_eq!(reassembly.bytes(), 10);
        assert_eq!(reassembly.advance(45), 50);
        assert!(reassembly.is_empty());
    }

    #[test]
    fn what_arrives_twice_is_reported_once() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(Range { start: 20, end: 30 });
        assert_eq!(reassembly.insert(Range { start: 20, end: 30 }), 0);
        assert_eq!(reported(&mut reassembly, 10), [(10, 10), (10, 10)]);
        assert_eq!(reported(&mut reassembly, 10), [(10, 10)]);
    }
}
