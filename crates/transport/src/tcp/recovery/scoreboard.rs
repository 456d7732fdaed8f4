//! The state of every segment in flight: delivered, lost, sent again. Four counters summarise it,
//! as in Linux.

use std::collections::VecDeque;

use tailrace_units::Time;
use tailrace_wire::MAX_SACK_BLOCKS;

use crate::tcp::limits::LimitClock;

use super::ack_effect::AckEffect;
use super::segment_ring::{
    EVER_RETRANSMITTED, LOST, RETRANSMISSION_OUT, Record, SACKED, SegmentRing,
};

/// Bytes from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A retransmission in flight, in the order of sending.
#[derive(Clone, Copy)]
struct Retransmission {
    number: u64,
    sent: Time,
    /// Originals before this number had been sent by then.
    follows: u64,
}

/// The scoreboard. Invariants: a segment is never both lost and delivered, and every counter equals
/// a recount.
pub(crate) struct Scoreboard {
    pub(crate) ring: SegmentRing,
    /// Segments that the peer holds out of order.
    pub(crate) sacked_out: u32,
    /// Segments taken for lost.
    pub(crate) lost_out: u32,
    /// Retransmissions in flight.
    pub(crate) retrans_out: u32,
    /// Lost segments that no retransmission is in flight for.
    pub(crate) lost_waiting: u32,
    /// Times that a segment or its retransmission was taken for lost.
    pub(crate) lost_marks: u64,
    /// Times that it was a retransmission.
    pub(crate) lost_retransmissions: u64,
    /// End of the highest segment that the peer holds out of order.
    pub(crate) highest_sacked: u64,
    /// RACK has judged the originals before this number; it never judges them again.
    pub(crate) judged: u64,
    /// State that only repairs need, out of the way of the steady state.
    pub(crate) repairs: Box<Repairs>,
}

#[derive(Default)]
pub(crate) struct Repairs {
    /// No lost segment waits before this number.
    cursor: u64,
    retransmissions: VecDeque<Retransmission>,
    /// Blocks of the last acknowledgement: all of their segments are marked.
    pub(crate) marked: [Range; MAX_SACK_BLOCKS],
    /// Updated when the limit of the sender changes.
    pub(crate) clock: LimitClock,
}

impl Scoreboard {
    pub(crate) fn new(base: u64) -> Scoreboard {
        Scoreboard {
            ring: SegmentRing::new(base),
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            lost_waiting: 0,
            lost_marks: 0,
            lost_retransmissions: 0,
            highest_sacked: 0,
            judged: 0,
            repairs: Box::default(),
        }
    }

    /// Segments believed to be in the network (RFC 6675 pipe, counted as Linux does).
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.ring.len() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// Nothing is lost, held out of order or sent again.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.sacked_out | self.lost_out | self.retrans_out == 0
    }

    /// Removes everything up to `ack`.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, ack: u64, effect: &mut AckEffect) {
        while !self.ring.is_empty() {
            let record = self.ring.get(self.ring.head);
            if record.end() > ack {
                break;
            }
            if record.flags() == 0 {
                self.note_original(record, effect);
                effect.acked += 1;
                effect.oldest_sent = effect.oldest_sent.or(Some(record.sent));
                effect.newest_sent = record.sent;
            } else {
                self.remove_flagged(record, effect);
            }
            self.ring.pop();
        }
        effect.is_sample_final = effect.latest.is_some();
    }

    #[inline]
    pub(crate) fn note_original(&self, record: Record, effect: &mut AckEffect) {
        effect.note_latest(record);
        effect.original_delivered |= record.end() <= effect.window_end;
        if record.end() < self.highest_sacked && effect.overtaken.is_none() {
            effect.overtaken = Some(record.end());
        }
    }

    #[cold]
    #[inline(never)]
    fn remove_flagged(&mut self, record: Record, effect: &mut AckEffect) {
        if record.has(SACKED) {
            self.sacked_out -= 1;
            return;
        }
        effect.acked += 1;
        self.unmark(record);
        if record.has(EVER_RETRANSMITTED) {
            effect.retransmitted_acked = true;
            effect.note_retransmitted(record);
        } else {
            self.note_original(record, effect);
            effect.oldest_sent = effect.oldest_sent.or(Some(record.sent));
            effect.newest_sent = record.sent;
        }
    }

    /// Takes a record that is delivered out of the counters.
    pub(crate) fn unmark(&mut self, record: Record) {
        let retransmission_out = record.has(RETRANSMISSION_OUT);
        self.retrans_out -= u32::from(retransmission_out);
        if record.has(LOST) {
            self.lost_out -= 1;
            self.lost_waiting -= u32::from(!retransmission_out);
        }
    }

    /// Takes segment `number`, or its retransmission, for lost.
    pub(crate) fn mark_lost(&mut self, number: u64) {
        let record = self.ring.get_mut(number);
        if record.has(SACKED) || (record.has(LOST) && !record.has(RETRANSMISSION_OUT)) {
            return;
        }
        if record.has(RETRANSMISSION_OUT) {
            record.clear(RETRANSMISSION_OUT);
            self.retrans_out -= 1;
            self.lost_retransmissions += 1;
        }
        if !record.has(LOST) {
            record.set(LOST);
            self.lost_out += 1;
        }
        self.lost_waiting += 1;
        self.lost_marks += 1;
        self.repairs.cursor = self.repairs.cursor.min(number);
    }

    /// Forgets all losses: they were imagined. RACK judges again from the start.
    pub(crate) fn unmark_losses(&mut self) {
        for number in self.ring.head..self.ring.tail {
            self.ring.get_mut(number).clear(LOST);
        }
        self.lost_out = 0;
        self.lost_waiting = 0;
        self.judged = self.ring.head;
    }

    /// The first lost segment that waits for its retransmission.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        if self.lost_waiting == 0 {
            return None;
        }
        let mut number = self.repairs.cursor.max(self.ring.head);
        while number < self.ring.tail {
            let record = self.ring.get(number);
            if record.has(LOST) && !record.has(RETRANSMISSION_OUT) {
                break;
            }
            number += 1;
        }
        assert!(number < self.ring.tail, "lost_waiting counts segments at or after the cursor");
        self.repairs.cursor = number;
        Some(number)
    }

    /// The last segment that the peer is not known to hold.
    pub(crate) fn last_missing(&self) -> Option<u64> {
        (self.ring.head..self.ring.tail).rev().find(|number| !self.ring.get(*number).has(SACKED))
    }

    /// Segment `number`, which the peer is not known to hold, was sent again.
    pub(crate) fn mark_retransmitted(&mut self, number: u64, now: Time) {
        let record = self.ring.get_mut(number);
        record.sent = now;
        if !record.has(RETRANSMISSION_OUT) {
            self.retrans_out += 1;
            self.lost_waiting -= u32::from(record.has(LOST));
        }
        record.set(RETRANSMISSION_OUT | EVER_RETRANSMITTED);
        if self.retrans_out == 1 {
            self.repairs.retransmissions.clear();
        }
        self.repairs.retransmissions.push_back(Retransmission {
            number,
            sent: now,
            follows: self.ring.tail,
        });
    }

    /// The oldest retransmission still in flight: its segment, and the original that was sent next.
    pub(crate) fn oldest_retransmission(&mut self) -> Option<(u64, Record, u64)> {
        while let Some(oldest) = self.repairs.retransmissions.front() {
            if oldest.number >= self.ring.head {
                let record = self.ring.get(oldest.number);
                if record.has(RETRANSMISSION_OUT) && record.sent == oldest.sent {
                    return Some((oldest.number, record, oldest.follows));
                }
            }
            self.repairs.retransmissions.pop_front();
        }
        None
    }
}

impl Scoreboard {
    /// Whether all counters equal a recount. With `sack` off the held count is an estimate and is
    /// not compared.
    pub(crate) fn is_consistent(&self, sack: bool) -> bool {
        let count = |matches: &dyn Fn(Record) -> bool| {
            (self.ring.head..self.ring.tail).filter(|n| matches(self.ring.get(*n))).count() as u32
        };
        let held = count(&|r| r.has(SACKED));
        let both = count(&|r| r.has(SACKED) && r.has(LOST | RETRANSMISSION_OUT));
        (!sack || held == self.sacked_out)
            && both == 0
            && count(&|r| r.has(LOST)) == self.lost_out
            && count(&|r| r.has(RETRANSMISSION_OUT)) == self.retrans_out
            && count(&|r| r.has(LOST) && !r.has(RETRANSMISSION_OUT)) == self.lost_waiting
            && self.sacked_out + self.lost_out <= self.ring.len() + self.retrans_out
    }
}
