//! The outputs of the model: the pace, and the window.

use super::{
    Ack, BURST_BYTES_MAX, BURST_SEGMENTS_MAX, Bbr, FIRST_RTT_US, HIGH_GAIN, INITIAL_WINDOW,
    PACE_MARGIN_PERCENT, Pace, Paced, Path, Phase, RATE_UNIT, RateSample, SINGLE_SEGMENT_RATE,
    State, Time, UNIT, WINDOW_MIN, Window,
};

const US_PER_S: u128 = 1_000_000;

impl Bbr {
    /// A rate with a gain in bytes per second, less the margin (Linux `bbr_rate_bytes_per_sec`).
    pub(super) fn bytes_per_second(&self, rate: u64, gain: u32) -> u64 {
        let scaled = (u128::from(rate) * u128::from(self.segment_bytes) * u128::from(gain))
            >> UNIT.trailing_zeros();
        let bytes = (scaled * (US_PER_S / 100) * u128::from(100 - PACE_MARGIN_PERCENT))
            / u128::from(RATE_UNIT);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The first pace: a window in a round trip, with the gain of start-up (Linux
    /// `bbr_init_pacing_rate_from_rtt`).
    pub(super) fn start_pace(&mut self, cwnd: u32, path: Path, pace: &mut Pace) {
        self.has_seen_rtt |= path.smoothed_us.is_some();
        let rtt_us = path.smoothed_us.unwrap_or(FIRST_RTT_US).max(1);
        pace.rate = self.bytes_per_second(u64::from(cwnd) * RATE_UNIT / rtt_us, HIGH_GAIN);
    }

    /// Linux `bbr_set_pacing_rate`: until the path is full, the pace only rises.
    pub(super) fn set_pace(&mut self, ack: &mut Ack<'_>, cwnd: u32) {
        if !self.has_seen_rtt && ack.path.smoothed_us.is_some() {
            self.start_pace(cwnd, ack.path, &mut ack.paced.pace);
        }
        self.set_pace_to(self.pace_gain, &mut ack.paced.pace);
    }

    fn set_pace_to(&self, gain: u32, pace: &mut Pace) {
        let rate = self.bytes_per_second(self.rate().into(), gain);
        if self.is_full || rate > pace.rate {
            pace.rate = rate;
        }
    }

    /// Sending starts with nothing in flight (Linux `bbr_cwnd_event`): after a silence, no faster
    /// than the path is.
    pub(in crate::tcp) fn handle_transmission_start(
        &mut self,
        now: Time,
        window: &mut Window<'_>,
        paced: &mut Paced,
    ) {
        if paced.sampler.app_limited == 0 {
            return;
        }
        self.is_restarting = true;
        self.aggregation.restart(now);
        match self.phase {
            Phase::ProbeBandwidth => self.set_pace_to(UNIT, &mut paced.pace),
            Phase::ProbeRtt => self.end_probe_if_due(now, &paced.sampler, window),
            Phase::Startup | Phase::Drain => {}
        }
    }

    /// Fewest segments of a burst (Linux `bbr_min_tso_segs`).
    pub(in crate::tcp) fn burst_segments_min(pace: Pace) -> u32 {
        if pace.rate < SINGLE_SEGMENT_RATE { 1 } else { 2 }
    }

    /// Linux `bbr_tso_segs_goal`.
    pub(super) fn burst_goal(&self, pace: Pace) -> u32 {
        let bytes = pace.burst_bytes().min(BURST_BYTES_MAX);
        let segments = (bytes / u64::from(self.segment_bytes.max(1)))
            .max(Bbr::burst_segments_min(pace).into());
        segments.min(BURST_SEGMENTS_MAX) as u32
    }

    /// Segments that a path of this rate holds, times a gain (Linux `bbr_bdp`).
    fn product(&self, rate: u32, gain: u32) -> u32 {
        if self.min_rtt_us == u64::MAX {
            return INITIAL_WINDOW;
        }
        let scaled = (u128::from(rate) * u128::from(self.min_rtt_us) * u128::from(gain))
            >> UNIT.trailing_zeros();
        u32::try_from(scaled.div_ceil(u128::from(RATE_UNIT))).unwrap_or(u32::MAX)
    }

    /// Room for what the ends of the path hold (Linux `bbr_quantization_budget`).
    fn with_budget(&self, window: u32, pace: Pace) -> u32 {
        let even = window.saturating_add(3 * self.burst_goal(pace) + 1) & !1;
        let is_probing = self.phase == Phase::ProbeBandwidth && self.cycle_index == 0;
        even.saturating_add(if is_probing { 2 } else { 0 })
    }

    /// Linux `bbr_inflight`.
    pub(super) fn in_flight_target(&self, rate: u32, gain: u32, pace: Pace) -> u32 {
        self.with_budget(self.product(rate, gain), pace)
    }

    /// Remembers the window before something lowers it (Linux `bbr_save_cwnd`).
    pub(in crate::tcp) fn save_window(&mut self, cwnd: u32) {
        let is_own = self.prior_state < State::Recovery && self.phase != Phase::ProbeRtt;
        self.prior_cwnd = if is_own { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// A timeout counts as the end of a round (Linux `bbr_set_state`).
    pub(in crate::tcp) fn handle_timeout(&mut self, lost: u64, paced: &Paced) {
        self.prior_state = State::Loss;
        self.full_rate = 0;
        self.is_round_start = true;
        self.sample_long_term_at_timeout(lost, &paced.sampler);
    }

    /// A reduction was needless (Linux `bbr_undo_cwnd`).
    pub(in crate::tcp) fn undo(&mut self) {
        self.full_rate = 0;
        self.full_rounds = 0;
        self.long_term = super::LongTerm::default();
    }

    /// Linux `bbr_set_cwnd`: towards the target by the number of delivered segments, and down to it
    /// at once if the path is full.
    pub(super) fn set_window(&mut self, ack: &Ack<'_>, window: &mut Window<'_>) {
        let acked = ack.sample.acked;
        let mut cwnd = *window.cwnd;
        if acked > 0 {
            cwnd = self.recover_or_restore(ack, cwnd);
            if !self.conserves_packets {
                cwnd = self.approach_target(ack, cwnd);
            }
        }
        *window.cwnd = cwnd.min(window.clamp);
        if self.phase == Phase::ProbeRtt {
            *window.cwnd = (*window.cwnd).min(WINDOW_MIN);
        }
    }

    fn approach_target(&self, ack: &Ack<'_>, cwnd: u32) -> u32 {
        let acked = ack.sample.acked;
        let target =
            self.product(self.rate(), self.window_gain).saturating_add(self.aggregated_segments());
        let target = self.with_budget(target, ack.paced.pace);
        let grown = if self.is_full {
            (cwnd + acked).min(target)
        } else if cwnd < target || ack.paced.sampler.delivered < u64::from(INITIAL_WINDOW) {
            cwnd + acked
        } else {
            cwnd
        };
        grown.max(WINDOW_MIN)
    }

    /// Linux `bbr_set_cwnd_to_recover_or_restore`.
    fn recover_or_restore(&mut self, ack: &Ack<'_>, cwnd: u32) -> u32 {
        let RateSample { acked, lost, .. } = ack.sample;
        let mut cwnd = if lost > 0 { cwnd.saturating_sub(lost).max(1) } else { cwnd };
        let prior = self.prior_state;
        if ack.state == State::Recovery && prior != State::Recovery {
            self.conserves_packets = true;
            self.round_end = ack.paced.sampler.delivered;
            cwnd = ack.in_flight + acked;
        } else if prior >= State::Recovery && ack.state < State::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves_packets = false;
        }
        self.prior_state = ack.state;
        if self.conserves_packets { cwnd.max(ack.in_flight + acked) } else { cwnd }
    }
}
