//! RACK: a segment is lost when one sent later has been delivered and enough time has passed (RFC
//! 8985, as in Linux).

use tailrace_units::{Span, Time};

use super::State;
use super::ack_effect::AckEffect;
use super::scoreboard::Scoreboard;
use super::segment_ring::{LOST, RETRANSMISSION_OUT, SACKED};
use crate::tcp::rtt::Rtt;

/// Duplicate acknowledgements, or their equal in held segments, that mean loss (RFC 5681; Linux
/// `tcp_reordering`).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;
/// Upper limit of the measured reordering in segments (Linux `tcp_max_reordering`).
const REORDERING_MAX: u32 = 300;
/// Recoveries for which a widened reordering window is kept (RFC 8985 section 6.2 step 4).
const PERSIST_RECOVERIES: u8 = 16;
/// The reordering window is counted in this part of the minimum round trip (RFC 8985 section 6.2
/// step 4).
const STEP_DIVISOR: u64 = 4;

/// The state of RACK.
pub(crate) struct Rack {
    /// When the most recently sent delivered segment was sent, and where it ends.
    latest: (Time, u64),
    /// Round trip of the last segment that was delivered.
    rtt: Span,
    /// Segments that one may be overtaken by without being lost.
    pub(crate) reordering: u32,
    pub(crate) is_reordering_seen: bool,
    /// Reordering window in quarters of the minimum round trip.
    steps: u8,
    /// Recoveries for which a widened window is still kept.
    persist: u8,
    /// The peer reported a duplicate, and the window has not been widened for it yet.
    is_duplicate_reported: bool,
    /// The window may widen again when everything up to here is acknowledged: once per round trip.
    adjusted_until: u64,
}

impl Rack {
    pub(crate) fn new() -> Rack {
        Rack {
            latest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            reordering: DUPLICATE_THRESHOLD,
            is_reordering_seen: false,
            steps: 1,
            persist: 0,
            is_duplicate_reported: false,
            adjusted_until: 0,
        }
    }

    /// Reordering window in quarters of the minimum round trip.
    pub(crate) fn steps(&self) -> u8 {
        self.steps
    }

    /// Learns from the segments of this acknowledgement.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time, effect: &AckEffect) {
        if let Some(latest) = effect.latest {
            self.rtt = now.since(effect.sample_sent);
            self.latest = self.latest.max(latest);
        }
    }

    /// A timeout was spurious: the supposed arrival of its retransmission was that of the original,
    /// sent at `sent`.
    pub(crate) fn correct(&mut self, now: Time, sent: Time, end: u64) {
        self.latest = (sent, end);
        self.rtt = now.since(sent);
    }

    /// The peer received something twice: the last reordering window was too small.
    pub(crate) fn handle_duplicate_report(&mut self) {
        self.is_duplicate_reported = true;
    }

    /// Widens the window after a needless retransmission, at most once per round trip (RFC 8985
    /// section 6.2 step 4).
    pub(crate) fn update_window(&mut self, una: u64, nxt: u64) {
        if una < self.adjusted_until {
            self.is_duplicate_reported = false;
        }
        if self.is_duplicate_reported {
            self.steps = self.steps.saturating_add(1);
            self.is_duplicate_reported = false;
            self.adjusted_until = nxt;
            self.persist = PERSIST_RECOVERIES;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery has ended: a widened window is kept for a number of these.
    pub(crate) fn handle_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A segment that ends at `overtaken` was late, not lost, although `highest` had been
    /// delivered.
    pub(crate) fn note_reordering(&mut self, overtaken: u64, highest: u64, mss: u32) {
        let distance = highest.saturating_sub(overtaken).div_ceil(u64::from(mss)) as u32 + 1;
        self.reordering = self.reordering.max(distance.min(REORDERING_MAX));
        self.is_reordering_seen = true;
    }

    /// How long a segment may be overtaken. None while reordering was never seen and loss is
    /// likely.
    fn window(&self, state: State, sacked_out: u32, rtt: &Rtt) -> Span {
        if !self.is_reordering_seen && (state >= State::Recovery || sacked_out >= self.reordering) {
            return Span::ZERO;
        }
        let window = rtt.minimum().part(STEP_DIVISOR).times(u64::from(self.steps));
        window.min(rtt.smoothed().unwrap_or(Span::ZERO))
    }

    /// Marks the segments that are lost by now; returns when to check again, if some segment is
    /// suspect. Originals are in order of sending behind one cursor, retransmissions in a queue of
    /// their own: no segment is judged twice, but while originals are suspect the last of them is
    /// searched.
    pub(crate) fn detect(
        &self,
        now: Time,
        state: State,
        rtt: &Rtt,
        board: &mut Scoreboard,
    ) -> Option<Time> {
        let patience = self.rtt + self.window(state, board.sacked_out, rtt);
        let original = self.judge_originals(now, patience, board).then(|| self.last_suspect(board));
        let retransmission = self.judge_retransmissions(now, patience, board);
        original.max(retransmission).map(|sent| sent + patience)
    }

    /// When the last of the originals was sent that may be lost: Linux waits for all
    /// (`reo_timeout`). The delivered segment that was sent last is no measure of that, because the
    /// round trip is that of another, which may have waited for it (tail loss probe).
    #[cold]
    #[inline(never)]
    fn last_suspect(&self, board: &Scoreboard) -> Time {
        let mut last = Time::ZERO;
        for number in board.judged..board.ring.tail {
            let record = board.ring.get(number);
            if !record.has(SACKED | LOST | RETRANSMISSION_OUT) {
                if (record.sent, record.end()) >= self.latest {
                    break;
                }
                last = last.max(record.sent);
            }
        }
        last
    }

    fn judge_originals(&self, now: Time, patience: Span, board: &mut Scoreboard) -> bool {
        let mut number = board.judged.max(board.ring.head);
        let mut is_waiting = false;
        while number < board.ring.tail {
            let record = board.ring.get(number);
            if !record.has(SACKED | LOST | RETRANSMISSION_OUT) {
                if (record.sent, record.end()) >= self.latest {
                    break;
                }
                if record.sent + patience > now {
                    is_waiting = true;
                    break;
                }
                board.mark_lost(number);
            }
            number += 1;
        }
        board.judged = number;
        is_waiting
    }

    /// Returns when the oldest was sent, if it may be lost.
    fn judge_retransmissions(
        &self,
        now: Time,
        patience: Span,
        board: &mut Scoreboard,
    ) -> Option<Time> {
        while let Some((number, record, next_original)) = board.oldest_retransmission() {
            // An original of the same instant that left before the retransmission is still out
            // (Linux `tsorted_sent_queue`).
            if (record.sent, record.end()) >= self.latest || board.judged < next_original {
                return None;
            }
            if record.sent + patience > now {
                return Some(record.sent);
            }
            board.mark_lost(number);
        }
        None
    }

    /// Whether a segment sent at `sent` is overdue when the retransmission timer expires (Linux
    /// `tcp_timeout_mark_lost`).
    pub(crate) fn is_overdue(&self, sent: Time, now: Time) -> bool {
        sent + self.rtt <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985 section 6.2 step 4: steps of a quarter of the minimum round trip, and never more
    /// than the smoothed one.
    #[test]
    fn the_window_widens_by_quarters_of_the_minimum_up_to_the_smoothed_round_trip() {
        let mut rtt = Rtt::new(Span::from_ms(200), Span::from_secs(120));
        for (number, ms) in [4, 8, 8, 8].into_iter().enumerate() {
            rtt.measure(
                Time::ZERO,
                Span::from_ms(ms),
                Span::from_ms(ms),
                number as u64,
                number as u64,
            );
        }
        let smoothed = rtt.smoothed().expect("measured");
        assert!(smoothed > Span::from_ms(5) && smoothed < Span::from_ms(6), "{smoothed:?}");
        let mut rack = Rack::new();
        rack.is_reordering_seen = true;
        for (steps, window) in [
            (1, Span::from_ms(1)),
            (4, Span::from_ms(4)),
            (5, Span::from_ms(5)),
            (6, smoothed),
            (255, smoothed),
        ] {
            rack.steps = steps;
            assert_eq!(rack.window(State::Recovery, 9, &rtt), window, "{steps} steps");
        }
    }

    /// RFC 8985 section 6.2 step 4, Linux `tcp_rack_update_reo_wnd`: kept for sixteen recoveries.
    #[test]
    fn a_widened_window_is_kept_for_sixteen_recoveries() {
        let mut rack = Rack::new();
        rack.handle_duplicate_report();
        rack.update_window(0, 100);
        for _ in 0..15 {
            rack.handle_recovery_end();
            rack.update_window(200, 300);
            assert_eq!(rack.steps(), 2);
        }
        rack.handle_recovery_end();
        rack.update_window(200, 300);
        assert_eq!(rack.steps(), 1);
    }

    /// The same: reports of one round trip are one.
    #[test]
    fn a_window_widens_once_in_a_round_trip() {
        let mut rack = Rack::new();
        for (una, nxt, steps) in [(0, 100, 2), (50, 200, 2), (100, 200, 3)] {
            rack.handle_duplicate_report();
            rack.update_window(una, nxt);
            assert_eq!(rack.steps(), steps, "at {una}");
        }
    }

    /// A probe was reported, and the segment before the lost one with it: that round trip was as
    /// long as the wait for the probe. The lost segment is suspect for as long from when it was
    /// sent, and not from when the probe was.
    #[test]
    fn it_is_the_suspect_whose_time_counts_and_not_the_segment_that_was_delivered_last() {
        let ms = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let mut rtt = Rtt::new(Span::from_ms(200), Span::from_secs(120));
        rtt.measure(Time::ZERO, Span::from_ms(4), Span::from_ms(4), 1, 1);
        let mut board = Scoreboard::new(0);
        for (sent, end) in [(1, 1000), (2, 2000), (11, 3000)] {
            board.ring.push(ms(sent), end);
        }
        board.ring.get_mut(2).set(SACKED);
        let rack = Rack { rtt: Span::from_ms(12), latest: (ms(11), 3000), ..Rack::new() };
        assert_eq!(
            rack.detect(ms(12), State::Open, &rtt, &mut board),
            Some(ms(2 + 12 + 1)),
            "the later of the two suspects"
        );
        assert_eq!(board.lost_marks, 0);
        assert_eq!(rack.detect(ms(14), State::Open, &rtt, &mut board), Some(ms(2 + 12 + 1)));
        assert_eq!(board.lost_marks, 1);
    }

    /// Linux `tcp_max_reordering`.
    #[test]
    fn reordering_is_three_to_three_hundred_segments() {
        let mut rack = Rack::new();
        for (highest, reordering) in [(1_000, 3), (9_000, 10), (1_000_000, 300)] {
            rack.note_reordering(0, highest, 1000);
            assert_eq!(rack.reordering, reordering);
        }
    }
}
