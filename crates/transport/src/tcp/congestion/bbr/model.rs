//! The model of the path: the largest delivery rate of ten rounds, the smallest round trip of ten
//! seconds, and whether the rate still grows.

use super::{
    Ack, Bbr, Phase, RATE_UNIT, RateSample, Sampler, Time, UNIT, WINDOW_MIN, Window, ticks,
};
use crate::tick::TICK;
use tailrace_units::Span;

/// Window of the rate in rounds: a cycle and two (Linux `bbr_bw_rtts`).
const RATE_ROUNDS: u32 = 10;
/// Window of the round trip (Linux `bbr_min_rtt_win_sec`).
const MIN_RTT_TICKS: u64 = Span::from_secs(10).ps() / TICK.ps();
/// The path is full when the rate has not grown by a quarter (Linux `bbr_full_bw_thresh`) ...
const GROWTH: u64 = UNIT as u64 * 5 / 4;
/// ... in so many rounds (Linux `bbr_full_bw_cnt`).
const FULL_ROUNDS: u8 = 3;
/// Time with four segments in flight, 200 ms (Linux `bbr_probe_rtt_mode_ms`).
const PROBE_TICKS: u64 = Span::from_ms(200).ps() / TICK.ps();

impl Bbr {
    /// Rounds, and the rate (Linux `bbr_update_bw`).
    pub(super) fn update_rate(&mut self, ack: &Ack<'_>) {
        self.is_round_start = false;
        let sample = &ack.sample;
        let Some(interval_us) = sample.interval_us else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = ack.paced.sampler.delivered;
            self.rounds = self.rounds.wrapping_add(1);
            self.is_round_start = true;
            self.conserves_packets = false;
        }
        self.sample_long_term(ack);
        let rate = u32::try_from(sample.delivered * RATE_UNIT / interval_us).unwrap_or(u32::MAX);
        if !sample.is_app_limited || rate >= self.rate.value() {
            self.rate.add(RATE_ROUNDS, self.rounds, rate);
        }
    }

    /// Linux `bbr_check_full_bw_reached`.
    pub(super) fn judge_fullness(&mut self, sample: &RateSample) {
        if self.is_full || !self.is_round_start || sample.is_app_limited {
            return;
        }
        let wanted = (u64::from(self.full_rate) * GROWTH) >> UNIT.trailing_zeros();
        if u64::from(self.rate.value()) >= wanted {
            self.full_rate = self.rate.value();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// The round trip, and when it is measured on an empty path (Linux `bbr_update_min_rtt`).
    pub(super) fn update_min_rtt(&mut self, ack: &mut Ack<'_>, window: &mut Window<'_>) {
        let tick = ticks(ack.now);
        let has_expired = tick > self.min_rtt_tick + MIN_RTT_TICKS;
        if let Some(rtt_us) = ack.sample.rtt_us
            && (rtt_us < self.min_rtt_us || (has_expired && !ack.sample.may_be_delayed))
        {
            self.min_rtt_us = rtt_us;
            self.min_rtt_tick = tick;
        }
        if has_expired && !self.is_restarting && self.phase != Phase::ProbeRtt {
            self.phase = Phase::ProbeRtt;
            self.save_window(*window.cwnd);
            self.probe_done_tick = 0;
        }
        if self.phase == Phase::ProbeRtt {
            self.probe_rtt(ack, window);
        }
        if ack.sample.delivered > 0 {
            self.is_restarting = false;
        }
    }

    /// Few segments for 200 ms and a round. Their rate says nothing of the path.
    fn probe_rtt(&mut self, ack: &mut Ack<'_>, window: &mut Window<'_>) {
        let sampler = &mut ack.paced.sampler;
        sampler.app_limited = (sampler.delivered + u64::from(ack.in_flight)).max(1);
        if self.probe_done_tick == 0 {
            if ack.in_flight <= WINDOW_MIN {
                self.probe_done_tick = ticks(ack.now) + PROBE_TICKS;
                self.is_probe_round_done = false;
                self.round_end = sampler.delivered;
            }
            return;
        }
        self.is_probe_round_done |= self.is_round_start;
        if self.is_probe_round_done {
            self.end_probe_if_due(ack.now, sampler, window);
        }
    }

    /// Linux `bbr_check_probe_rtt_done`.
    pub(super) fn end_probe_if_due(
        &mut self,
        now: Time,
        sampler: &Sampler,
        window: &mut Window<'_>,
    ) {
        let tick = ticks(now);
        if self.probe_done_tick == 0 || tick <= self.probe_done_tick {
            return;
        }
        self.min_rtt_tick = tick;
        *window.cwnd = (*window.cwnd).max(self.prior_cwnd);
        if self.is_full { self.start_cycle(sampler) } else { self.phase = Phase::Startup }
    }
}
