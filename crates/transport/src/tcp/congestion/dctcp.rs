//! DCTCP: the window falls by half of the marked share, once per window (RFC 8257).

use super::Acked;

/// The share is kept in 1024ths (Linux `DCTCP_MAX_ALPHA`).
const ONE: u32 = 1024;
/// Weight of a new window is 2^-this: g = 1/16 (RFC 8257 section 4.2).
const GAIN_SHIFT: u32 = 4;

/// The marked share and the counts of the current window.
pub(super) struct Dctcp {
    share: u32,
    delivered: u32,
    marked: u32,
    window_end: u64,
}

impl Dctcp {
    /// The first share is one: react in full until something is known (RFC 8257 section 3.3).
    pub(super) fn new() -> Dctcp {
        Dctcp { share: ONE, delivered: 0, marked: 0, window_end: 0 }
    }

    pub(super) fn share_1024(&self) -> u32 {
        self.share
    }

    #[inline]
    pub(super) fn observe(&mut self, acked: &Acked) {
        self.delivered += acked.segments;
        if acked.is_marked {
            self.marked += acked.segments;
        }
        if acked.una >= self.window_end {
            self.update_share();
            self.window_end = acked.nxt;
        }
    }

    fn update_share(&mut self) {
        let decay = self.share >> GAIN_SHIFT;
        self.share -= if decay == 0 { self.share } else { decay };
        let weighted = u64::from(self.marked) << (ONE.trailing_zeros() - GAIN_SHIFT);
        self.share = (self.share + (weighted / u64::from(self.delivered.max(1))) as u32).min(ONE);
        self.delivered = 0;
        self.marked = 0;
    }

    pub(super) fn threshold(&self, cwnd: u32) -> u32 {
        cwnd - ((u64::from(cwnd) * u64::from(self.share)) >> 11) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::{Span, Time};

    fn after_windows(windows: u64, marked_of_16: u32) -> Dctcp {
        let mut dctcp = Dctcp::new();
        for window in 0..windows {
            for segment in 0..16 {
                let acked = Acked {
                    now: Time::ZERO,
                    segments: 1,
                    rtt: None,
                    smoothed: Span::ZERO,
                    mss: 1,
                    una: window * 16 + u64::from(segment),
                    nxt: window * 16 + 16,
                    is_marked: segment < marked_of_16,
                };
                dctcp.observe(&acked);
            }
        }
        dctcp
    }

    #[test]
    fn the_share_converges_to_the_marked_fraction() {
        for marked in [0, 1, 4, 8, 16] {
            let share = after_windows(200, marked).share_1024() as i32;
            assert!((share - marked as i32 * 64).abs() <= 16, "{marked} of 16 gives {share}");
        }
    }

    #[test]
    fn without_marks_the_share_decays_by_a_sixteenth_per_window() {
        let mut expected = 1024.0;
        for windows in 1..20 {
            expected *= 15.0 / 16.0;
            // The first window's counts close at its first acknowledgement, so n windows are n
            // updates.
            let share = f64::from(after_windows(windows, 0).share_1024());
            assert!((share - expected).abs() < 8.0, "{windows}: {share} {expected}");
        }
    }

    #[test]
    fn a_fully_marked_window_halves_and_an_unmarked_one_keeps() {
        assert_eq!(Dctcp::new().threshold(100), 50);
        assert_eq!(after_windows(300, 0).threshold(100), 100);
    }
}
