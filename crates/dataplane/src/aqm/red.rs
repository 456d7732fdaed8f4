//! Random early detection on the average depth (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993), in integers.

use super::Fate;
use tailrace_units::{Pace, Probability, Stream, Time};

/// Binary digits after the point of the average depth.
const FRACTION_BITS: u32 = 16;
/// Idle time is counted in frames of this many bytes ("the time to send a small packet", section 11 of the paper, takes a typical one).
const TYPICAL_FRAME_BYTES: u64 = 1000;

/// Thresholds for one kind of frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RedProfile {
    /// Average depth below which nothing happens.
    pub minimum_bytes: u64,
    /// Average depth at which the probability is `probability_milli`; from there to twice this it rises to one ("gentle", as in ns-3).
    pub maximum_bytes: u64,
    /// Thousandths, 0 to 1000.
    pub probability_milli: u32,
}

/// Weighted random early detection: thresholds of their own for frames that are not ECN-capable.
#[derive(Clone, Debug)]
pub struct Red {
    profile: RedProfile,
    not_capable: RedProfile,
    weight_exponent: u8,
    ecn: bool,
    luck: Stream,
    pace: Pace,
    average: u64,
    /// Frames since the last mark or drop.
    count: u64,
    last_arrival: Time,
}

impl Red {
    /// The average's weight is 2^-`weight_exponent` (0: instantaneous). `not_capable` is for frames that cannot be marked.
    /// `pace` is the port's, for ageing the average while the port is idle.
    pub fn new(profile: RedProfile, not_capable: RedProfile, weight_exponent: u8, ecn: bool, luck: Stream, pace: Pace) -> Red {
        for profile in [profile, not_capable] {
            assert!(profile.minimum_bytes < profile.maximum_bytes, "thresholds are in order");
        }
        let last_arrival = Time::ZERO;
        Red { profile, not_capable, weight_exponent, ecn, luck, pace, average: 0, count: 0, last_arrival }
    }

    pub(crate) fn on_arrival(&mut self, now: Time, depth_bytes: u64, capable: bool) -> Fate {
        self.update_average(now, depth_bytes);
        let profile = if capable && self.ecn { self.profile } else { self.not_capable };
        let average = self.average >> FRACTION_BITS;
        if average < profile.minimum_bytes {
            self.count = 0;
            return Fate::Pass;
        }
        self.count += 1;
        if !self.strikes(profile, average) {
            return Fate::Pass;
        }
        self.count = 0;
        if self.ecn && capable { Fate::Mark } else { Fate::Drop }
    }

    fn update_average(&mut self, now: Time, depth_bytes: u64) {
        if depth_bytes == 0 {
            self.age(now);
        }
        self.last_arrival = now;
        let target = depth_bytes << FRACTION_BITS;
        if target >= self.average {
            self.average += (target - self.average) >> self.weight_exponent;
        } else {
            self.average -= (self.average - target) >> self.weight_exponent;
        }
    }

    /// While the port was idle the average falls as if small frames had passed.
    fn age(&mut self, now: Time) {
        let frames = now.since(self.last_arrival).ps() / self.pace.time_to_send(TYPICAL_FRAME_BYTES).ps().max(1);
        for _ in 0..frames.min(64 << self.weight_exponent) {
            let fall = self.average >> self.weight_exponent;
            if fall == 0 {
                break;
            }
            self.average -= fall;
        }
    }

    fn strikes(&mut self, profile: RedProfile, average: u64) -> bool {
        let RedProfile { minimum_bytes, maximum_bytes, probability_milli } = profile;
        let milli = u64::from(probability_milli);
        let span = maximum_bytes - minimum_bytes;
        if average >= 2 * maximum_bytes {
            return true;
        }
        // Both parts are fractions of `1000 * denominator`.
        let (base, denominator) = if average < maximum_bytes {
            (milli * (average - minimum_bytes), span)
        } else {
            (milli * maximum_bytes + (1000 - milli) * (average - maximum_bytes), maximum_bytes)
        };
        // p_a = p_b / (1 - count p_b): spreads the strikes evenly.
        let left = (1000 * denominator).saturating_sub(self.count.saturating_mul(base));
        left == 0 || self.luck.happens(Probability::ratio(base, left))
    }
}
