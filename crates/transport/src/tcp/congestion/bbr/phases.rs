//! The phases of BBR: start-up, draining, and the cycle of gains.

use super::{Ack, Bbr, HIGH_GAIN, Phase, RATE_UNIT, Sampler, UNIT, Window};
use crate::tcp::delivery_rate::microseconds;

/// The pace while the queue of the start is drained (Linux `bbr_drain_gain`).
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// Gain of the window in the cycle: acknowledgements may be late by a round trip (Linux
/// `bbr_cwnd_gain`).
const CYCLE_WINDOW_GAIN: u32 = UNIT * 2;
/// The cycle: probe for more, drain what that has queued, and cruise (Linux `bbr_pacing_gain`).
const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// It begins in one of this many phases, never with draining (Linux `bbr_cycle_rand`).
const CYCLE_STARTS: u64 = 7;

impl Bbr {
    /// From start-up to draining, and on when no more is in flight than the path holds (Linux
    /// `bbr_check_drain`).
    pub(super) fn drain(&mut self, ack: &Ack<'_>, window: &mut Window<'_>) {
        let target = |bbr: &Bbr| bbr.in_flight_target(bbr.rate.value(), UNIT, ack.paced.pace);
        if self.phase == Phase::Startup && self.is_full {
            self.phase = Phase::Drain;
            *window.ssthresh = target(self);
        }
        if self.phase == Phase::Drain && self.in_network(ack, ack.in_flight) <= target(self) {
            self.start_cycle(&ack.paced.sampler);
        }
    }

    /// Begins the cycle at a phase that differs from connection to connection.
    pub(super) fn start_cycle(&mut self, sampler: &Sampler) {
        self.phase = Phase::ProbeBandwidth;
        let back = self.stream.below(CYCLE_STARTS) as u32;
        self.cycle_index = (CYCLE.len() as u32 - back) % CYCLE.len() as u32;
        self.cycle_since_us = microseconds(sampler.delivered_at);
    }

    /// Linux `bbr_update_cycle_phase`.
    pub(super) fn advance_cycle(&mut self, ack: &Ack<'_>) {
        if self.phase == Phase::ProbeBandwidth && self.is_phase_over(ack) {
            self.cycle_index = (self.cycle_index + 1) % CYCLE.len() as u32;
            self.cycle_since_us = microseconds(ack.paced.sampler.delivered_at);
        }
    }

    /// Linux `bbr_is_next_cycle_phase`: after a round trip; probing continues until its target is
    /// in flight or a segment is lost, and draining ends when the queue is drained.
    fn is_phase_over(&self, ack: &Ack<'_>) -> bool {
        let is_full_length = microseconds(ack.paced.sampler.delivered_at)
            .saturating_sub(self.cycle_since_us)
            > self.min_rtt_us;
        if self.pace_gain == UNIT {
            return is_full_length;
        }
        let in_network = self.in_network(ack, ack.sample.prior_in_flight);
        let target = |gain| self.in_flight_target(self.rate.value(), gain, ack.paced.pace);
        if self.pace_gain > UNIT {
            return is_full_length && (ack.sample.lost > 0 || in_network >= target(self.pace_gain));
        }
        is_full_length || in_network <= target(UNIT)
    }

    /// Linux `bbr_update_gains`.
    pub(super) fn update_gains(&mut self) {
        (self.pace_gain, self.window_gain) = match self.phase {
            Phase::Startup => (HIGH_GAIN, HIGH_GAIN),
            Phase::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Phase::ProbeBandwidth if self.long_term.rate_in_use().is_some() => {
                (UNIT, CYCLE_WINDOW_GAIN)
            }
            Phase::ProbeBandwidth => (CYCLE[self.cycle_index as usize], CYCLE_WINDOW_GAIN),
            Phase::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// Of `in_flight` segments, those that will be in the network when the next burst leaves (Linux
    /// `bbr_packets_in_net_at_edt`).
    fn in_network(&self, ack: &Ack<'_>, in_flight: u32) -> u32 {
        let wait_us = ack.paced.pace.next.since(ack.now).ps() / 1_000_000;
        let delivered = u64::from(self.rate()) * wait_us / RATE_UNIT;
        let next = if self.pace_gain > UNIT { self.burst_goal(ack.paced.pace) } else { 0 };
        u32::try_from(u64::from(in_flight + next).saturating_sub(delivered)).unwrap_or(u32::MAX)
    }
}
