//! Pacing: a connection with a rate sends its next burst when the last one would have left at that
//! rate (Linux `tcp_pacing_check`, one high-resolution timer for each socket; `sch_fq` does the
//! same for all sockets of a host).

use tailrace_units::{Span, Time};

use super::delivery_rate::Sampler;
use super::{Tcp, TcpStats};

/// This many segments of a connection are sent before any is paced (Linux
/// `tcp_update_skb_after_send`; `sch_fq` the same).
const UNPACED_SEGMENTS: u64 = 10;
const NS_PER_S: u128 = 1_000_000_000;
const PS_PER_S: u128 = 1_000_000_000_000;

/// State that only a connection with a rate needs.
pub(super) struct Paced {
    pub(super) pace: Pace,
    pub(super) sampler: Sampler,
}

/// The rate, and when the next burst may leave.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Bytes of payload per second.
    pub(super) rate: u64,
    /// The next burst leaves no earlier (Linux `tcp_wstamp_ns`).
    pub(super) next: Time,
}

impl Paced {
    pub(super) fn new() -> Paced {
        Paced { pace: Pace { rate: 0, next: Time::ZERO }, sampler: Sampler::new() }
    }
}

impl Pace {
    /// Bytes that the rate sends in 2^-10 s (Linux `sk_pacing_shift`).
    pub(super) fn burst_bytes(&self) -> u64 {
        self.rate >> 10
    }

    /// Bytes that the rate sends in `span`.
    pub(super) fn bytes(&self, span: Span) -> u64 {
        u64::try_from(u128::from(self.rate) * u128::from(span.ps()) / PS_PER_S).unwrap_or(u64::MAX)
    }

    /// A burst of `bytes` left now. One that left late shortens the wait for the next by as much,
    /// and by at most half.
    fn charge(&mut self, now: Time, bytes: u64, stats: &TcpStats) {
        let due = self.next;
        self.next = due.max(now);
        if self.rate == 0 || stats.segments_sent < UNPACED_SEGMENTS {
            return;
        }
        let wait = Span::from_ns(
            u64::try_from(u128::from(bytes) * NS_PER_S / u128::from(self.rate))
                .unwrap_or(u64::MAX / 1000),
        );
        let late = self.next.since(due);
        self.next += wait.less(late.min(wait.part(2)));
    }
}

impl Tcp {
    /// Whether the next burst is not due yet; the connection then goes on when it is.
    #[inline]
    pub(super) fn is_held_by_pace(&mut self, now: Time) -> bool {
        match self.congestion.paced() {
            None => false,
            Some(paced) => {
                let next = paced.pace.next;
                let is_held = next > now;
                if is_held {
                    self.timers.room_at = self.timers.room_at.min(next);
                }
                is_held
            }
        }
    }

    /// A burst, or a single segment, has been handed to the NIC.
    #[inline]
    pub(super) fn charge_pace(&mut self, now: Time, bytes: u64) {
        if let Some(paced) = self.congestion.paced_mut()
            && bytes > 0
        {
            paced.pace.charge(now, bytes, &self.stats);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Linux `tcp_update_skb_after_send`: a megabyte per second is a byte per microsecond.
    #[test]
    fn a_late_burst_is_made_up_for_by_half_of_its_wait() {
        let stats = TcpStats { segments_sent: 10, ..TcpStats::default() };
        let mut pace = Pace { rate: 1_000_000, next: at_us(100) };
        pace.charge(at_us(100), 1000, &stats);
        assert_eq!(pace.next, at_us(1100));
        pace.charge(at_us(1300), 1000, &stats);
        assert_eq!(pace.next, at_us(1300 + 800), "200 us late");
        pace.charge(at_us(9000), 1000, &stats);
        assert_eq!(pace.next, at_us(9500), "very late");
    }

    #[test]
    fn the_first_ten_segments_are_not_paced() {
        let stats = TcpStats { segments_sent: 9, ..TcpStats::default() };
        let mut pace = Pace { rate: 1_000_000, next: Time::ZERO };
        pace.charge(at_us(100), 9000, &stats);
        assert_eq!(pace.next, at_us(100));
    }
}
