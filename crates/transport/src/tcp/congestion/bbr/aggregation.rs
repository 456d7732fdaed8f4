//! Acknowledgements come in lumps: the window grows by how many segments they acknowledge beyond
//! what the rate explains.

use tailrace_units::Time;

use super::{Ack, Bbr, RATE_UNIT};
use crate::tcp::delivery_rate::microseconds;

/// Each of two halves of the window of the excess, in rounds (Linux `bbr_extra_acked_win_rtts`).
const HALF_ROUNDS: u32 = 5;
/// Linux counts rounds in five bits.
const ROUNDS_MAX: u32 = 31;
/// An epoch ends after so many segments (Linux `bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_SEGMENTS_MAX: u64 = 1 << 20;
/// The excess adds to the window at most the bytes that the rate sends in 100 ms (Linux
/// `bbr_extra_acked_max_us`).
const EXCESS_US_MAX: u64 = 100_000;

/// The largest excess of five to ten rounds.
#[derive(Default)]
pub(super) struct Aggregation {
    since_us: u64,
    acked: u64,
    excess: [u32; 2],
    half: usize,
    rounds: u32,
}

impl Aggregation {
    /// Counts from now on.
    pub(super) fn restart(&mut self, now: Time) {
        self.since_us = microseconds(now);
        self.acked = 0;
    }
}

impl Bbr {
    /// Linux `bbr_update_ack_aggregation`.
    pub(super) fn update_aggregation(&mut self, ack: &Ack<'_>, cwnd: u32) {
        if ack.sample.acked == 0 || ack.sample.interval_us.is_none() {
            return;
        }
        let rate = u64::from(self.rate());
        let delivered_us = microseconds(ack.paced.sampler.delivered_at);
        let epoch = &mut self.aggregation;
        if self.is_round_start {
            epoch.rounds = (epoch.rounds + 1).min(ROUNDS_MAX);
            if epoch.rounds >= HALF_ROUNDS {
                epoch.rounds = 0;
                epoch.half = 1 - epoch.half;
                epoch.excess[epoch.half] = 0;
            }
        }
        let acked = u64::from(ack.sample.acked);
        let mut expected = rate * delivered_us.saturating_sub(epoch.since_us) / RATE_UNIT;
        if epoch.acked <= expected || epoch.acked + acked >= EPOCH_SEGMENTS_MAX {
            epoch.acked = 0;
            epoch.since_us = delivered_us;
            expected = 0;
        }
        epoch.acked = (epoch.acked + acked).min(EPOCH_SEGMENTS_MAX - 1);
        let excess = (epoch.acked - expected).min(cwnd.into()) as u32;
        epoch.excess[epoch.half] = epoch.excess[epoch.half].max(excess);
    }

    /// Segments that the excess adds to the window (Linux `bbr_ack_aggregation_cwnd`).
    pub(super) fn aggregated_segments(&self) -> u32 {
        if !self.is_full {
            return 0;
        }
        let most = u64::from(self.rate()) * EXCESS_US_MAX / RATE_UNIT;
        u64::from(self.aggregation.excess[0].max(self.aggregation.excess[1])).min(most) as u32
    }
}
