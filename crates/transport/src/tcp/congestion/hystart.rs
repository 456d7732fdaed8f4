//! The early end of slow start: HyStart as in Linux, and HyStart++ (RFC 9406).

use tailrace_units::{Span, Time};

use super::Acked;
use crate::tcp::config::SlowStartExit;

/// Smaller windows do not end slow start (Linux `hystart_low_window`).
const HYSTART_WINDOW_MIN: u32 = 16;
/// Acknowledgements closer than this form a train (Linux `hystart_ack_delta_us`).
const TRAIN_GAP_MAX: Span = Span::from_ms(2);
/// Bursts stretch the train: by four of 64 KiB at the pacing rate, two windows per round trip
/// (Linux `hystart_ack_delay`).
const BURSTS_BYTES: u64 = 4 * 65_536;
/// But by no more than this (Linux, the same).
const BURSTS_TIME_MAX: Span = Span::from_ms(1);
/// Round-trip samples per round before the delay is judged (Linux and RFC 9406: 8).
const SAMPLES_MIN: u8 = 8;
/// Rise of the delay that ends slow start: an eighth of the minimum, but not less (Linux and RFC
/// 9406 section 4.3).
const RISE_MIN: Span = Span::from_ms(4);
/// Nor more (the same).
const RISE_MAX: Span = Span::from_ms(16);
/// Growth in conservative slow start is divided by this (RFC 9406 `CSS_GROWTH_DIVISOR`).
const CONSERVATIVE_DIVISOR: u32 = 4;
/// Rounds of conservative slow start (RFC 9406 `CSS_ROUNDS`).
const CONSERVATIVE_ROUNDS: u8 = 5;
/// Most segments of growth per acknowledgement when not paced (RFC 9406 `L`).
const GROWTH_MAX: u32 = 8;

/// Watches rounds of slow start. A round is one window.
pub(super) struct SlowStart {
    exit: SlowStartExit,
    /// Round-trip samples of this round, up to the number that is needed.
    samples: u8,
    conservative_rounds: u8,
    /// Segments of conservative growth left over from the last division.
    remainder: u8,
    is_done: bool,
    is_conservative: bool,
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    delay_min: Span,
    round_min: Span,
    last_round_min: Span,
    conservative_baseline: Span,
}

impl SlowStart {
    pub(super) fn new(exit: SlowStartExit) -> SlowStart {
        SlowStart {
            exit,
            samples: 0,
            conservative_rounds: 0,
            remainder: 0,
            is_done: false,
            is_conservative: false,
            round_end: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            delay_min: Span::FOREVER,
            round_min: Span::FOREVER,
            last_round_min: Span::FOREVER,
            conservative_baseline: Span::FOREVER,
        }
    }

    pub(super) fn reset(&mut self) {
        *self = SlowStart::new(self.exit);
    }

    /// Takes a round-trip sample; returns whether slow start ends here.
    pub(super) fn observe(&mut self, acked: &Acked, rtt: Span, cwnd: u32) -> bool {
        self.delay_min = self.delay_min.min(rtt);
        match self.exit {
            SlowStartExit::None => false,
            SlowStartExit::Hystart => self.observe_hystart(acked, rtt, cwnd),
            SlowStartExit::HystartPlusPlus => self.observe_plus_plus(acked, rtt),
        }
    }

    /// Segments of growth for `segments` acknowledged ones.
    pub(super) fn growth(&mut self, segments: u32) -> u32 {
        if self.exit != SlowStartExit::HystartPlusPlus {
            return segments;
        }
        let segments = segments.min(GROWTH_MAX);
        if !self.is_conservative {
            return segments;
        }
        let credit = u32::from(self.remainder) + segments;
        self.remainder = (credit % CONSERVATIVE_DIVISOR) as u8;
        credit / CONSERVATIVE_DIVISOR
    }

    fn start_round(&mut self, acked: &Acked) {
        self.round_end = acked.nxt;
        self.round_start = acked.now;
        self.last_ack = acked.now;
        self.last_round_min = self.round_min;
        self.round_min = Span::FOREVER;
        self.samples = 0;
    }

    fn observe_hystart(&mut self, acked: &Acked, rtt: Span, cwnd: u32) -> bool {
        if self.is_done {
            return false;
        }
        if acked.una > self.round_end {
            self.start_round(acked);
        }
        if cwnd < HYSTART_WINDOW_MIN {
            return false;
        }
        self.is_done = self.is_train_long(acked, cwnd) || self.has_delay_risen(rtt);
        self.is_done
    }

    /// The acknowledgements of one round arrive over half a round trip and what bursts add: the
    /// window fills the path.
    fn is_train_long(&mut self, acked: &Acked, cwnd: u32) -> bool {
        if acked.now.since(self.last_ack) > TRAIN_GAP_MAX {
            return false;
        }
        self.last_ack = acked.now;
        let round_trip_bytes = 2 * u64::from(cwnd) * u64::from(acked.mss);
        let bursts = acked.smoothed.times(BURSTS_BYTES).part(round_trip_bytes).min(BURSTS_TIME_MAX);
        acked.now.since(self.round_start) > (self.delay_min + bursts).part(2)
    }

    fn has_delay_risen(&mut self, rtt: Span) -> bool {
        self.round_min = self.round_min.min(rtt);
        if self.samples < SAMPLES_MIN {
            self.samples += 1;
            return false;
        }
        self.round_min > self.delay_min + rise(self.delay_min)
    }

    fn observe_plus_plus(&mut self, acked: &Acked, rtt: Span) -> bool {
        if acked.una > self.round_end {
            self.start_round(acked);
            if self.is_conservative {
                self.conservative_rounds += 1;
                if self.conservative_rounds >= CONSERVATIVE_ROUNDS {
                    self.is_conservative = false;
                    return true;
                }
            }
        }
        self.round_min = self.round_min.min(rtt);
        self.samples = (self.samples + 1).min(SAMPLES_MIN);
        if self.samples < SAMPLES_MIN {
            return false;
        }
        if self.is_conservative {
            self.is_conservative = self.round_min >= self.conservative_baseline;
        } else if self.last_round_min != Span::FOREVER
            && self.round_min >= self.last_round_min + rise(self.last_round_min)
        {
            self.is_conservative = true;
            self.conservative_rounds = 0;
            self.conservative_baseline = self.round_min;
        }
        false
    }
}

fn rise(minimum: Span) -> Span {
    minimum.part(8).clamp(RISE_MIN, RISE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds round trips of `rtt`, as many microseconds apart; returns whether each ended slow
    /// start.
    fn observe(
        slow_start: &mut SlowStart,
        now: &mut Time,
        count: u64,
        apart_us: u64,
        rtt: Span,
    ) -> Vec<bool> {
        let mut ends = Vec::new();
        for _ in 0..count {
            *now += Span::from_us(apart_us);
            let smoothed = Span::from_ms(10);
            let acked = Acked {
                now: *now,
                segments: 1,
                rtt: Some(rtt),
                smoothed,
                mss: 1000,
                una: 1,
                nxt: 99,
                is_marked: false,
            };
            ends.push(slow_start.observe(&acked, rtt, 100));
        }
        ends
    }

    /// Linux `hystart_update`, RFC 9406 section 4.3: an eighth of the minimum, but at least 4 ms,
    /// seen after eight samples.
    #[test]
    fn a_small_rise_of_the_delay_does_not_end_slow_start() {
        for (rtt_us, ends) in [(5_000, false), (5_001, true)] {
            let (mut slow_start, mut now) = (SlowStart::new(SlowStartExit::Hystart), Time::ZERO);
            slow_start.delay_min = Span::from_ms(1);
            // 3 ms apart, acknowledgements form no train.
            let observed = observe(&mut slow_start, &mut now, 9, 3_000, Span::from_us(rtt_us));
            assert_eq!((observed[..8].contains(&true), observed[8]), (false, ends), "{rtt_us} us");
        }
    }

    /// Linux `hystart_ack_delay`: half of the round trip and of at most a millisecond that bursts
    /// add.
    #[test]
    fn bursts_stretch_the_train() {
        let (mut slow_start, mut now) = (SlowStart::new(SlowStartExit::Hystart), Time::ZERO);
        let observed = observe(&mut slow_start, &mut now, 5, 300, Span::from_ms(1));
        assert_eq!(observed, [false, false, false, false, true]); // 1.2 ms after the round began
    }
}
