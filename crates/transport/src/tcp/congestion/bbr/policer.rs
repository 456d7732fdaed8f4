//! Policers: two intervals with the same rate and many losses are taken for the work of one, and
//! its rate is kept for 48 rounds.

use super::{Ack, Bbr, Phase, RATE_UNIT, Sampler, UNIT};
use crate::tcp::delivery_rate::microseconds;

/// Fewest rounds of an interval (Linux `bbr_lt_intvl_min_rtts`); four times as many are too many.
const INTERVAL_ROUNDS_MIN: u32 = 4;
/// Segments lost of those delivered, in 256ths, from which on an interval is lossy: 20 % (Linux
/// `bbr_lt_loss_thresh`).
const LOSS: u64 = 50;
/// Rates that differ by at most an eighth are the same (Linux `bbr_lt_bw_ratio`) ...
const SAME_RATIO: u64 = UNIT as u64 / 8;
/// ... and those that differ by at most 4 kbit/s (Linux `bbr_lt_bw_diff`, in bytes).
const SAME_BYTES_PER_S: u64 = 4000 / 8;
/// The rate is kept for so many rounds (Linux `bbr_lt_bw_max_rtts`).
const KEPT_ROUNDS: u32 = 48;
/// A longer interval is not evaluated: its microseconds do not fit into 32 bits (Linux).
const INTERVAL_MS_MAX: u64 = u32::MAX as u64 / 1000;

/// Long-term sampling (Linux `lt_*`).
#[derive(Default)]
pub(super) struct LongTerm {
    is_sampling: bool,
    is_used: bool,
    rate: u32,
    rounds: u32,
    /// Segments delivered and lost when the interval began, and when that was.
    delivered: u64,
    lost: u64,
    since_ms: u64,
}

impl LongTerm {
    /// The rate of the policer, while it is believed in.
    pub(super) fn rate_in_use(&self) -> Option<u32> {
        self.is_used.then_some(self.rate)
    }

    fn start_interval(&mut self, lost: u64, sampler: &Sampler) {
        self.since_ms = microseconds(sampler.delivered_at) / 1000;
        self.delivered = sampler.delivered;
        self.lost = lost;
        self.rounds = 0;
    }

    fn reset(&mut self, lost: u64, sampler: &Sampler) {
        *self = LongTerm::default();
        self.start_interval(lost, sampler);
    }
}

impl Bbr {
    /// Linux `bbr_lt_bw_sampling`.
    pub(super) fn sample_long_term(&mut self, ack: &Ack<'_>) {
        self.sample_interval(
            ack.lost,
            ack.sample.lost > 0,
            ack.sample.is_app_limited,
            &ack.paced.sampler,
        );
    }

    pub(super) fn sample_long_term_at_timeout(&mut self, lost: u64, sampler: &Sampler) {
        self.sample_interval(lost, true, false, sampler);
    }

    fn sample_interval(
        &mut self,
        lost: u64,
        has_lost: bool,
        is_app_limited: bool,
        sampler: &Sampler,
    ) {
        if self.long_term.is_used {
            self.count_kept_round(lost, sampler);
            return;
        }
        if !self.long_term.is_sampling {
            if !has_lost {
                return; // the first loss shows that the tokens are spent
            }
            self.long_term.start_interval(lost, sampler);
            self.long_term.is_sampling = true;
        }
        if is_app_limited {
            self.long_term.reset(lost, sampler);
            return;
        }
        self.long_term.rounds += u32::from(self.is_round_start);
        if self.long_term.rounds < INTERVAL_ROUNDS_MIN {
            return;
        }
        if self.long_term.rounds > 4 * INTERVAL_ROUNDS_MIN {
            self.long_term.reset(lost, sampler);
            return;
        }
        if has_lost {
            self.evaluate_interval(lost, sampler);
        }
    }

    fn count_kept_round(&mut self, lost: u64, sampler: &Sampler) {
        if self.phase == Phase::ProbeBandwidth && self.is_round_start {
            self.long_term.rounds += 1;
            if self.long_term.rounds >= KEPT_ROUNDS {
                self.long_term.reset(lost, sampler);
                self.start_cycle(sampler);
            }
        }
    }

    fn evaluate_interval(&mut self, lost: u64, sampler: &Sampler) {
        let interval = &self.long_term;
        let delivered = sampler.delivered - interval.delivered;
        if delivered == 0 || (lost - interval.lost) << UNIT.trailing_zeros() < LOSS * delivered {
            return;
        }
        let ms = (microseconds(sampler.delivered_at) / 1000).saturating_sub(interval.since_ms);
        if ms == 0 {
            return;
        }
        if ms >= INTERVAL_MS_MAX {
            self.long_term.reset(lost, sampler);
            return;
        }
        let rate = u32::try_from(delivered * RATE_UNIT / (ms * 1000)).unwrap_or(u32::MAX);
        self.end_interval(rate, lost, sampler);
    }

    /// Linux `bbr_lt_bw_interval_done`.
    fn end_interval(&mut self, rate: u32, lost: u64, sampler: &Sampler) {
        let before = self.long_term.rate;
        let difference = u64::from(rate.abs_diff(before));
        let is_same = difference * u64::from(UNIT) <= SAME_RATIO * u64::from(before)
            || self.bytes_per_second(difference, UNIT) <= SAME_BYTES_PER_S;
        if before > 0 && is_same {
            self.long_term.rate = ((u64::from(rate) + u64::from(before)) / 2) as u32;
            self.long_term.is_used = true;
            self.long_term.rounds = 0;
            self.pace_gain = UNIT;
            return;
        }
        self.long_term.rate = rate;
        self.long_term.start_interval(lost, sampler);
    }
}
