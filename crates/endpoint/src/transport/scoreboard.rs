//! What is known of every segment in flight: delivered, lost, sent again. Four counters summarise it, as in Linux.

use std::collections::VecDeque;

use tailrace_units::Time;

use super::segment_ring::{EVER_RETRANSMITTED, LOST, RETRANSMISSION_OUT, Record, SACKED, SegmentRing};

/// Bytes from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What one acknowledgement told.
#[derive(Default)]
pub(super) struct AckNews {
    /// Segments delivered by the cumulative acknowledgement that had not been reported before.
    pub(super) acked: u32,
    /// Segments newly reported as held out of order.
    pub(super) sacked: u32,
    /// The cumulative acknowledgement moved.
    pub(super) advanced: bool,
    /// A segment of the last window that was sent only once was delivered (F-RTO's evidence).
    pub(super) original_delivered: bool,
    /// The cumulative acknowledgement covered a segment that was sent more than once.
    pub(super) retransmitted_acked: bool,
    /// The lowest segment that overtook nothing but was overtaken: reordering, not loss.
    pub(super) overtaken: Option<u64>,
    /// When the oldest and newest segments sent only once and acknowledged cumulatively were sent.
    pub(super) oldest_sent: Option<Time>,
    pub(super) newest_sent: Time,
    /// When the first newly reported segment that was sent only once was sent.
    pub(super) sacked_sent: Option<Time>,
    /// The most recently sent of all delivered segments (RACK): when, and where it ends.
    pub(super) latest: Option<(Time, u64)>,
    /// Retransmissions sent after this are too young to be what was acknowledged.
    pub(super) ambiguous_after: Time,
    /// Segments up to here belong to the window that F-RTO asks about.
    pub(super) window_end: u64,
}

impl AckNews {
    /// Segments delivered.
    #[inline]
    pub(super) fn delivered(&self) -> u32 {
        self.acked + self.sacked
    }

    #[inline]
    fn note_latest(&mut self, record: Record) {
        let sent = (record.sent, record.end());
        if self.latest.is_none_or(|latest| latest < sent) {
            self.latest = Some(sent);
        }
    }

    /// RACK cannot tell whether the original or a young retransmission arrived: it then learns nothing (RFC 8985 6.2 step 2).
    fn note_retransmitted(&mut self, record: Record) {
        if record.sent <= self.ambiguous_after {
            self.note_latest(record);
        }
    }
}

/// A retransmission in flight, in the order of sending.
#[derive(Clone, Copy)]
struct Retransmission {
    number: u64,
    sent: Time,
}

/// The scoreboard. Invariants: a segment is never both lost and delivered, and every counter equals a recount.
pub(super) struct Scoreboard {
    pub(super) ring: SegmentRing,
    pub(super) sacked_out: u32,
    pub(super) lost_out: u32,
    pub(super) retrans_out: u32,
    /// Lost segments that no retransmission is in flight for.
    pub(super) lost_waiting: u32,
    /// Times that a segment or its retransmission was taken for lost.
    pub(super) lost_marks: u64,
    /// Times that it was a retransmission.
    pub(super) lost_retransmissions: u64,
    /// End of the highest segment that the peer holds out of order.
    pub(super) highest_sacked: u64,
    /// RACK has judged the originals before this number; it never looks at them again.
    pub(super) judged: u64,
    /// What only repairs need, out of the way of the steady state.
    repairs: Box<Repairs>,
}

#[derive(Default)]
struct Repairs {
    /// No lost segment waits before this number.
    cursor: u64,
    retransmissions: VecDeque<Retransmission>,
    /// Blocks of the last acknowledgement: all of their segments are marked.
    marked: [Range; 3],
}

impl Scoreboard {
    pub(super) fn new(base: u64) -> Scoreboard {
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
    pub(super) fn in_flight(&self) -> u32 {
        self.ring.len() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// Nothing is lost, held out of order or sent again.
    #[inline]
    pub(super) fn is_clean(&self) -> bool {
        self.sacked_out | self.lost_out | self.retrans_out == 0
    }

    /// Removes everything up to `ack`.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: u64, news: &mut AckNews) {
        while !self.ring.is_empty() {
            let record = self.ring.get(self.ring.head);
            if record.end() > ack {
                break;
            }
            if record.flags() == 0 {
                self.note_original(record, news);
                news.acked += 1;
                news.oldest_sent = news.oldest_sent.or(Some(record.sent));
                news.newest_sent = record.sent;
            } else {
                self.remove_flagged(record, news);
            }
            self.ring.pop();
        }
    }

    #[inline]
    fn note_original(&self, record: Record, news: &mut AckNews) {
        news.note_latest(record);
        news.original_delivered |= record.end() <= news.window_end;
        if record.end() < self.highest_sacked && news.overtaken.is_none() {
            news.overtaken = Some(record.end());
        }
    }

    fn remove_flagged(&mut self, record: Record, news: &mut AckNews) {
        if record.has(SACKED) {
            self.sacked_out -= 1;
            return;
        }
        news.acked += 1;
        self.unmark(record);
        if record.has(EVER_RETRANSMITTED) {
            news.retransmitted_acked = true;
            news.note_retransmitted(record);
        } else {
            self.note_original(record, news);
            news.oldest_sent = news.oldest_sent.or(Some(record.sent));
            news.newest_sent = record.sent;
        }
    }

    /// Takes a record that is delivered out of the counters.
    fn unmark(&mut self, record: Record) {
        let retransmission_out = record.has(RETRANSMISSION_OUT);
        self.retrans_out -= u32::from(retransmission_out);
        if record.has(LOST) {
            self.lost_out -= 1;
            self.lost_waiting -= u32::from(!retransmission_out);
        }
    }

    /// Marks what the peer reports to hold out of order. Work is proportional to what is new: blocks reported again are skipped.
    pub(super) fn mark_held(&mut self, blocks: &mut [Range], news: &mut AckNews) {
        blocks.sort_unstable_by_key(|block| block.start);
        for block in blocks.iter() {
            let mut seq = block.start;
            while seq < block.end {
                if let Some(known) = self.repairs.marked.iter().find(|known| known.start <= seq && seq < known.end) {
                    seq = known.end;
                    continue;
                }
                let number = self.ring.find(seq);
                if number == self.ring.tail {
                    break;
                }
                seq = self.mark_run(number, block.end, news);
            }
        }
        for (slot, block) in self.repairs.marked.iter_mut().zip(blocks.iter()) {
            *slot = *block;
        }
    }

    /// Marks segments from `number` on until one ends after `end` or starts a block that is marked; returns where it stopped.
    fn mark_run(&mut self, mut number: u64, end: u64, news: &mut AckNews) -> u64 {
        while number < self.ring.tail {
            let record = self.ring.get(number);
            if record.end() > end {
                return end; // the peer holds a part of this segment: as Linux, wait for the rest
            }
            self.mark_sacked(number, record, news);
            number += 1;
            if self.repairs.marked.iter().any(|known| known.start == record.end()) {
                return record.end();
            }
        }
        end
    }

    fn mark_sacked(&mut self, number: u64, record: Record, news: &mut AckNews) {
        if record.has(SACKED) {
            return;
        }
        self.unmark(record);
        if record.has(EVER_RETRANSMITTED) {
            news.note_retransmitted(record);
        } else {
            self.note_original(record, news);
            news.sacked_sent = news.sacked_sent.or(Some(record.sent));
        }
        let stored = self.ring.get_mut(number);
        stored.clear(LOST | RETRANSMISSION_OUT);
        stored.set(SACKED);
        self.sacked_out += 1;
        news.sacked += 1;
        self.highest_sacked = self.highest_sacked.max(record.end());
    }

    /// Takes segment `number`, or its retransmission, for lost.
    pub(super) fn mark_lost(&mut self, number: u64) {
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
    pub(super) fn unmark_losses(&mut self) {
        for number in self.ring.head..self.ring.tail {
            self.ring.get_mut(number).clear(LOST);
        }
        self.lost_out = 0;
        self.lost_waiting = 0;
        self.judged = self.ring.head;
    }

    /// The first lost segment that waits for its retransmission.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
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
    pub(super) fn last_missing(&self) -> Option<u64> {
        (self.ring.head..self.ring.tail).rev().find(|number| !self.ring.get(*number).has(SACKED))
    }

    /// Segment `number`, which the peer is not known to hold, was sent again.
    pub(super) fn mark_retransmitted(&mut self, number: u64, now: Time) {
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
        self.repairs.retransmissions.push_back(Retransmission { number, sent: now });
    }

    /// The oldest retransmission still in flight.
    pub(super) fn oldest_retransmission(&mut self) -> Option<(u64, Record)> {
        while let Some(oldest) = self.repairs.retransmissions.front() {
            if oldest.number >= self.ring.head {
                let record = self.ring.get(oldest.number);
                if record.has(RETRANSMISSION_OUT) && record.sent == oldest.sent {
                    return Some((oldest.number, record));
                }
            }
            self.repairs.retransmissions.pop_front();
        }
        None
    }
}

impl Scoreboard {
    /// Whether all counters equal a recount. With `sack` off the held count is an estimate and is not compared.
    pub(super) fn is_consistent(&self, sack: bool) -> bool {
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
