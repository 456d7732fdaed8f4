//! Random early detection on the average depth (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993), in
//! integers.

use super::Fate;
use crate::DropCause;
use tailrace_units::{Pace, Probability, RandomStream, Time};

/// Binary digits after the point of the average depth.
const FRACTION_BITS: u32 = 16;
/// Idle time is counted in frames of this many bytes ("the time to send a small packet", section 11
/// of the paper, takes a typical one).
const TYPICAL_FRAME_BYTES: u64 = 1000;

/// Thresholds for one kind of frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RedProfile {
    /// Average depth below which no frame is marked or dropped.
    pub minimum_bytes: u64,
    /// Average depth from which on every frame is marked or dropped. At least `minimum_bytes`;
    /// equal to it, the profile is a step.
    pub maximum_bytes: u64,
    /// Probability just below the maximum in thousandths, 0 to 1000.
    pub probability_milli: u32,
    /// From the maximum to twice of it the probability rises from `probability_milli` to one
    /// instead of jumping (Floyd's "gentle" of 2000, the default of ns-3). Switches mark or drop
    /// every frame from the maximum on.
    pub is_gentle: bool,
}

/// Weighted random early detection: thresholds of their own for frames that are not ECN-capable.
#[derive(Clone, Debug)]
pub struct Red {
    profile: RedProfile,
    not_capable: RedProfile,
    weight_exponent: u8,
    ecn: bool,
    random: RandomStream,
    pace: Pace,
    average: u64,
    /// Frames since the last mark or drop; -1 when the average was below the minimum since (section
    /// 4 of the paper).
    count: i64,
    last_arrival: Time,
}

impl Red {
    /// The average's weight is 2^-`weight_exponent` (0: instantaneous). `not_capable` is for frames
    /// that cannot be marked. `pace` is the port's, for ageing the average while the port is idle.
    pub fn new(
        profile: RedProfile,
        not_capable: RedProfile,
        weight_exponent: u8,
        ecn: bool,
        random: RandomStream,
        pace: Pace,
    ) -> Red {
        for profile in [profile, not_capable] {
            assert!(profile.minimum_bytes <= profile.maximum_bytes, "thresholds are in order");
        }
        let last_arrival = Time::ZERO;
        Red {
            profile,
            not_capable,
            weight_exponent,
            ecn,
            random,
            pace,
            average: 0,
            count: -1,
            last_arrival,
        }
    }

    pub(crate) fn on_arrival(&mut self, now: Time, depth_bytes: u64, capable: bool) -> Fate {
        self.update_average(now, depth_bytes);
        let profile = if capable && self.ecn { self.profile } else { self.not_capable };
        let average = self.average >> FRACTION_BITS;
        if average < profile.minimum_bytes {
            self.count = -1;
            return Fate::Pass;
        }
        self.count += 1;
        if !self.selects(profile, average) {
            return Fate::Pass;
        }
        self.count = 0;
        if self.ecn && capable { Fate::Mark } else { Fate::Drop(DropCause::Red) }
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
        let frames = now.since(self.last_arrival).ps()
            / self.pace.time_to_send(TYPICAL_FRAME_BYTES).ps().max(1);
        for _ in 0..frames.min(64 << self.weight_exponent) {
            let fall = self.average >> self.weight_exponent;
            if fall == 0 {
                break;
            }
            self.average -= fall;
        }
    }

    fn selects(&mut self, profile: RedProfile, average: u64) -> bool {
        let RedProfile { minimum_bytes, maximum_bytes, probability_milli, is_gentle } = profile;
        let milli = u64::from(probability_milli);
        let certain_from = if is_gentle { 2 * maximum_bytes } else { maximum_bytes };
        if average >= certain_from {
            return true;
        }
        // Both parts are fractions of `1000 * denominator`.
        let (base, denominator) = if average < maximum_bytes {
            (milli * (average - minimum_bytes), maximum_bytes - minimum_bytes)
        } else {
            (milli * maximum_bytes + (1000 - milli) * (average - maximum_bytes), maximum_bytes)
        };
        // p_a = p_b / (1 - count p_b): spreads marks and drops evenly.
        let left = (1000 * denominator).saturating_sub((self.count as u64).saturating_mul(base));
        left == 0 || self.random.happens(Probability::ratio(base, left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::{BitRate, Span};

    const PROFILE: RedProfile = RedProfile {
        minimum_bytes: 10_000,
        maximum_bytes: 30_000,
        probability_milli: 100,
        is_gentle: false,
    };
    const GENTLE: RedProfile = RedProfile { is_gentle: true, ..PROFILE };
    /// A step: certain from its minimum on.
    const STRICT: RedProfile = RedProfile {
        minimum_bytes: 1_000,
        maximum_bytes: 1_000,
        probability_milli: 1_000,
        is_gentle: false,
    };

    fn of(profile: RedProfile, weight_exponent: u8) -> Red {
        let pace = BitRate::from_gbps(10).pace(0);
        Red::new(profile, STRICT, weight_exponent, true, RandomStream::new(1, "red"), pace)
    }
    fn red(weight_exponent: u8) -> Red {
        of(PROFILE, weight_exponent)
    }
    fn average(red: &Red) -> f64 {
        red.average as f64 / 65_536.0
    }

    /// Frames from one mark to the next at this depth.
    fn gaps(red: &mut Red, depth: u64) -> Vec<usize> {
        let marked: Vec<usize> =
            (0..40_000).filter(|_| red.on_arrival(Time::ZERO, depth, true) == Fate::Mark).collect();
        marked.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Section 7 of the paper: with p_b the gap is 1 to 1/p_b - 1 frames, every one equally likely.
    #[test]
    fn marks_are_spread_evenly() {
        let gaps = gaps(&mut red(0), 20_000); // halfway: p_b is a twentieth
        assert!(gaps.iter().all(|gap| (1..=19).contains(gap)), "{:?}", gaps.iter().max());
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((mean - 10.0).abs() < 0.3, "{mean}");
    }

    /// NX-OS and SAI: everything from the maximum on, however small the probability just below it.
    #[test]
    fn every_frame_is_marked_from_the_maximum_on() {
        let of = |depth| gaps(&mut red(0), depth);
        assert!(of(9_999).is_empty());
        assert_eq!(of(29_999).iter().max(), Some(&9)); // p_b is just below a tenth
        assert_eq!(of(30_000), vec![1; 39_999]);
    }

    #[test]
    fn gentle_rises_to_one_at_twice_the_maximum() {
        let of = |depth| gaps(&mut of(GENTLE, 0), depth);
        // At 31 500 bytes p_b is 0.1 + 0.9 / 20: gaps of 1 to 5.9 frames.
        assert_eq!(of(31_500).iter().max(), Some(&6));
        assert!(of(9_999).is_empty());
        assert!(of(59_999).contains(&1) && of(60_000).iter().all(|&gap| gap == 1));
    }

    /// Section 4 of the paper: the count is -1 while the average is below the minimum, so that the
    /// first frame above it is marked with p_b and not with p_b / (1 - p_b); and frames below the
    /// minimum do not add up.
    #[test]
    fn the_first_frame_above_the_minimum_is_marked_with_the_plain_probability() {
        let mut red = red(0);
        let rounds = 40_000;
        let first = |red: &mut Red| {
            (0..5).for_each(|_| assert_eq!(red.on_arrival(Time::ZERO, 9_000, true), Fate::Pass));
            red.on_arrival(Time::ZERO, 29_999, true) == Fate::Mark
        };
        let marked = (0..rounds).filter(|_| first(&mut red)).count() as f64 / f64::from(rounds);
        // A tenth; a ninth if the count began at 0. The standard error is 0.0015.
        assert!((marked - 0.1).abs() < 0.005, "{marked}");
    }

    #[test]
    fn frames_that_are_not_capable_have_thresholds_of_their_own_and_are_dropped() {
        let mut red = red(0);
        assert_eq!(red.on_arrival(Time::ZERO, 5_000, true), Fate::Pass);
        assert_eq!(red.on_arrival(Time::ZERO, 5_000, false), Fate::Drop(DropCause::Red));
        assert_eq!(red.on_arrival(Time::ZERO, 60_000, true), Fate::Mark);
    }

    #[test]
    fn the_average_follows_with_its_weight_and_falls_while_the_port_is_idle() {
        let mut red = red(4);
        (0..20).for_each(|_| red.update_average(Time::ZERO, 16_000));
        let risen = 16_000.0 * (1.0 - (15.0_f64 / 16.0).powi(20));
        assert!((average(&red) - risen).abs() < 2.0, "{} and {risen}", average(&red));
        // Ten typical frames of 800 ns, and the arrival itself.
        red.update_average(Time::ZERO + Span::from_us(8), 0);
        let fallen = risen * (15.0_f64 / 16.0).powi(11);
        assert!((average(&red) - fallen).abs() < 3.0, "{} and {fallen}", average(&red));
    }

    #[test]
    fn idle_time_counts_from_the_last_arrival() {
        let mut red = red(4);
        let later = Time::ZERO + Span::from_secs(1);
        (0..20).for_each(|_| red.update_average(later, 16_000));
        let risen = average(&red);
        // ten typical frames of 800 ns, and the arrival itself
        red.update_average(later + Span::from_us(8), 0);
        let fallen = risen * (15.0_f64 / 16.0).powi(11);
        assert!((average(&red) - fallen).abs() < 3.0, "{} and {fallen}", average(&red));
    }
}
