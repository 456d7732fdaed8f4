//! Congestion window validation: a window that is not used does not grow, and shrinks.

use tailrace_units::{Span, Time};

use super::{Algorithm, Congestion};

/// Congestion window validation (RFC 7661, RFC 2861, as in Linux): an unused window does not grow,
/// and shrinks with time.
impl Congestion {
    /// In slow start the window may grow to twice the used window.
    #[inline]
    pub(super) fn was_limiting(&self) -> bool {
        self.is_limited || (self.is_in_slow_start() && self.cwnd < 2 * self.max_packets_out)
    }

    /// After sending: notes whether the window was what stopped the sender. `timeout` is the
    /// retransmission timeout.
    #[inline]
    pub(in crate::tcp) fn validate(
        &mut self,
        now: Time,
        is_limited: bool,
        packets_out: u32,
        una: u64,
        nxt: u64,
        timeout: Span,
    ) {
        if una >= self.usage_end
            || is_limited
            || (!self.is_limited && packets_out > self.max_packets_out)
        {
            self.is_limited = is_limited;
            self.max_packets_out = packets_out;
            self.usage_end = nxt;
        }
        if self.was_limiting() {
            self.used = 0;
            self.used_since = now;
            return;
        }
        self.used = self.used.max(packets_out);
        if self.restarts_after_idle && now.since(self.used_since) >= timeout {
            self.shrink_unused(now);
        }
    }

    /// One timeout of an unused window: half-way towards the used window (RFC 2861).
    pub(super) fn shrink_unused(&mut self, now: Time) {
        let used = self.used.max(self.initial);
        if used < self.cwnd {
            self.ssthresh = self.remembered_threshold();
            self.cwnd = (self.cwnd + used) / 2;
        }
        self.used = 0;
        self.used_since = now;
    }

    /// Three quarters of the window that was reached, at least (Linux `tcp_current_ssthresh`).
    pub(in crate::tcp) fn remembered_threshold(&self) -> u32 {
        self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
    }

    /// Sending starts again, `idle` after the last segment and with nothing in flight.
    pub(in crate::tcp) fn restart(&mut self, now: Time, idle: Span, timeout: Span) {
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.skip_idle(now, idle);
        }
        if !self.restarts_after_idle || idle <= timeout {
            return;
        }
        let floor = self.initial.min(self.cwnd);
        self.ssthresh = self.remembered_threshold();
        let mut left = idle.less(timeout);
        while left > Span::ZERO && self.cwnd > floor {
            self.cwnd >>= 1;
            left = left.less(timeout);
        }
        self.cwnd = self.cwnd.max(floor);
        self.used = 0;
        self.used_since = now;
    }
}
