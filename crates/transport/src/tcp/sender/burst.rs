//! How much leaves at once (TSO), and how much may wait in the NIC (small queues).

use tailrace_units::{Span, Time};

use crate::tcp::Tcp;
use crate::tcp::congestion::Bbr;
use crate::tcp::limits::Limit;
use crate::tcp::recovery::State;

/// A window is not kept waiting for a larger burst when this share of it is free (Linux
/// `tcp_tso_win_divisor`).
const DEFER_DIVISOR: u64 = 3;
/// Nor when the next acknowledgement is further away than this or half a round trip, or the last
/// segment longer ago (Linux `tcp_tso_should_defer`).
const DEFER_MAX: Span = Span::from_ms(1);
/// Bursts hold what the pacing rate sends in this time (Linux `sk_pacing_shift` 10).
const BURST_TIME: Span = Span::from_ms(1);
/// The burst halves for every so much of minimum round trip (Linux `tcp_tso_rtt_log` 9: 512 us).
const BURST_RTT_STEP: Span = Span::from_us(512);
/// Smallest burst of a slow connection in segments (Linux `tcp_min_tso_segs`).
const BURST_SEGMENTS_MIN: u32 = 2;
/// Pacing rate over window per round trip in early slow start, in per cent (Linux
/// `tcp_pacing_ss_ratio`).
const PACING_SLOW_START_PERCENT: u64 = 200;
/// The same from then on (Linux `tcp_pacing_ca_ratio`).
const PACING_AVOIDANCE_PERCENT: u64 = 120;

impl Tcp {
    /// Waiting for the next acknowledgement makes a larger burst (Linux `tcp_tso_should_defer`).
    pub(crate) fn should_wait(
        &self,
        now: Time,
        (block, is_last): (u64, bool),
        burst_max: u32,
        in_flight: u32,
    ) -> Option<Limit> {
        let mss = u64::from(self.send.mss);
        let burst = u64::from(burst_max) * mss;
        let peer_room = self.send.window_end - self.send.nxt;
        let room = u64::from(self.congestion.cwnd - in_flight) * mss;
        let limit = peer_room.min(room);
        if limit >= burst
            || self.recovery.state >= State::Recovery
            || now.since(self.send.last_sent) > DEFER_MAX
        {
            return None;
        }
        if !is_last && limit >= block {
            return None; // it gets no longer by waiting
        }
        let window =
            (self.send.window_end - self.send.una).min(u64::from(self.congestion.cwnd) * mss);
        if limit >= window / DEFER_DIVISOR || self.board.ring.is_empty() {
            return None;
        }
        let smoothed = self.rtt.smoothed().unwrap_or(Span::ZERO);
        let expected = self.board.ring.get(self.board.ring.head).sent + smoothed;
        // Without the half, the last acknowledgement of a flight would leave the rest of the window
        // waiting for its own.
        if expected.since(now) > DEFER_MAX.min(smoothed.part(2)) {
            return None;
        }
        if limit > block {
            return Some(self.send.limit_without_sendable()); // the last block waits for more
        }
        Some(if room < peer_room { Limit::Congestion } else { Limit::ReceiveWindow })
    }

    /// Segments per burst (Linux `tcp_tso_autosize`): a millisecond of the pacing rate, and more on
    /// short paths.
    #[inline]
    pub(crate) fn burst_segments(&self) -> u32 {
        let most = u32::from(self.send.burst_max);
        if self.rtt.minimum() < BURST_RTT_STEP {
            return most;
        }
        let least = self
            .congestion
            .paced()
            .map_or(BURST_SEGMENTS_MIN, |paced| Bbr::burst_segments_min(paced.pace));
        if most <= least {
            return most;
        }
        let steps = self.rtt.minimum().ps() / BURST_RTT_STEP.ps();
        let near = self.send.burst_bytes().checked_shr(steps as u32).unwrap_or(0);
        let bytes = near + self.paced_bytes(BURST_TIME);
        let segments = (bytes / u64::from(self.send.mss)).min(u64::from(most)) as u32;
        segments.max(least)
    }

    /// Bytes that the pacing rate sends in `span`: 1.2 windows per round trip, two in early slow
    /// start (Linux `tcp_update_pacing_rate`).
    fn paced_bytes(&self, span: Span) -> u64 {
        if let Some(paced) = self.congestion.paced() {
            return paced.pace.bytes(span);
        }
        let percent = if self.congestion.cwnd < self.congestion.ssthresh / 2 {
            PACING_SLOW_START_PERCENT
        } else {
            PACING_AVOIDANCE_PERCENT
        };
        let window =
            u64::from(self.congestion.cwnd.max(self.board.ring.len())) * u64::from(self.send.mss);
        let smoothed_ns = (self.rtt.smoothed().unwrap_or(BURST_TIME).ps() / 1000).max(1);
        (window * percent).saturating_mul(span.ps() / 1000) / (100 * smoothed_ns)
    }

    /// Bytes of this connection that may wait in the NIC: `least`, or more at a high pace, but not
    /// more than the line sends in that time (Linux leaves the last bound to byte queue limits of
    /// the driver).
    fn small_queue_limit(&self, least: u32) -> u32 {
        let line = self.small_queue.line_bytes();
        if line <= least {
            return least;
        }
        least.max(self.paced_bytes(self.small_queue.span()).min(u64::from(line)) as u32)
    }

    /// Whether a write of less than a burst waits until the first of this connection's frames that
    /// wait in the NIC has left: if it is not longer than they are (Linux `tcp_should_autocork`,
    /// where the memory of both is compared). An acknowledgement that arrives sends it earlier.
    pub(crate) fn is_corked(&mut self, now: Time) -> bool {
        if self.board.ring.is_empty() || self.send.unsent() > self.small_queue.waiting(now) {
            return false;
        }
        self.timers.room_at = self.timers.room_at.min(self.small_queue.first_departure());
        true
    }

    /// Whether a burst of `bytes` waits for frames of this connection to leave the NIC (Linux
    /// `tcp_small_queue_check`): two such bursts may always wait there, and one whatever it is
    /// after.
    #[inline]
    pub(crate) fn is_small_queue_full(&mut self, now: Time, bytes: u32) -> bool {
        if !self.small_queue.has_two(bytes) {
            return false;
        }
        let is_one_burst = self.send.nxt - self.send.una <= u64::from(self.send.last_burst);
        !is_one_burst
            && !self.small_queue.has_drained(now)
            && self.is_small_queue_full_indeed(now, 2 * bytes)
    }

    #[inline(never)]
    fn is_small_queue_full_indeed(&mut self, now: Time, least: u32) -> bool {
        if !self.small_queue.is_full(now, least) {
            return false;
        }
        let limit = self.small_queue_limit(least);
        let is_full = self.small_queue.is_full(now, limit);
        if is_full {
            self.timers.room_at = self.small_queue.room_at(limit);
        }
        is_full
    }
}
