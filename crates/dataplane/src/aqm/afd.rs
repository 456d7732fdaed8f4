//! Approximate fair drop: frames of elephants above their fair share are dropped (or marked) with
//! the probability that brings them down to it; frames of mice never are.
//!
//! Pan, Breslau, Prabhakar and Shenker, CCR 33(2), 2003, in the form of Cisco's Nexus 9000: per
//! elephant flow i with arrivals m_i in an AFD period the probability is 1 - m_fair / m_i, and
//! m_fair follows the queue's distance from `queue-desired` by a discrete PI law once a period.

use crate::periods::Periods;
use tailrace_units::{Probability, RandomStream, Span, Time};

/// With N elephants the queue gains N m_fair - line bytes in a period, so m_fair ~ line / N must
/// move by a share of itself: `m_fair += m_fair / line (BEFORE (q_old - q_desired) - NOW (q_new -
/// q_desired))`, in 1/65536. Half of the error is corrected in a period, and NOW / BEFORE - 1 = 1/9
/// is the integral part (derived: the loop is then well damped for any N; the paper's 1.7 and 1.8
/// at 160 Hz, in packets of its shadow buffer, have the ratio 1/17).
const NOW: i64 = 32_768;
/// See [`NOW`].
const BEFORE: i64 = 29_491;
/// Binary digits after the point of m_fair.
const FRACTION_BITS: u32 = 16;
/// Periods without an arrival are caught up one by one up to here; a longer silence means an empty
/// queue.
const PERIODS_CAUGHT_UP: u64 = 4_096;

/// Approximate fair drop of one queue.
#[derive(Clone, Debug)]
pub struct Afd {
    desired_bytes: u64,
    periods: Periods,
    /// Bytes that the link carries in one period: the largest fair share.
    line_bytes: u64,
    pub(crate) ecn: bool,
    random: RandomStream,
    /// Fair bytes per period, times 2^16.
    fair: i64,
    period_now: u64,
    depth_before: u64,
}

impl Afd {
    /// Keeps the queue near `desired_bytes`; the port sends `line_bytes` in one period.
    pub fn new(
        desired_bytes: u64,
        period: Span,
        line_bytes: u64,
        ecn: bool,
        random: RandomStream,
    ) -> Afd {
        assert!(period > Span::ZERO && line_bytes > 0, "a period lasts and carries bytes");
        let fair = (line_bytes as i64) << FRACTION_BITS;
        let periods = Periods::new(period);
        Afd {
            desired_bytes,
            periods,
            line_bytes,
            ecn,
            random,
            fair,
            period_now: 0,
            depth_before: 0,
        }
    }

    /// Whether the arriving frame of an elephant with this many bytes per period is to be marked or
    /// dropped.
    #[inline]
    pub(crate) fn selects(&mut self, now: Time, depth_bytes: u64, arrived: Option<u64>) -> bool {
        let period = self.periods.at(now);
        if period != self.period_now {
            self.update(period, depth_bytes);
        }
        arrived.is_some_and(|arrived| self.selects_elephant(arrived))
    }

    #[inline(never)]
    fn selects_elephant(&mut self, arrived: u64) -> bool {
        let fair = self.fair_bytes();
        arrived > fair && self.random.happens(Probability::ratio(arrived - fair, arrived))
    }

    /// Moves the fair share at the end of each period.
    #[inline(never)]
    fn update(&mut self, period: u64, depth_bytes: u64) {
        let over = period.saturating_sub(self.period_now).min(PERIODS_CAUGHT_UP);
        self.period_now = period;
        let (smallest, largest) =
            (1_i64 << FRACTION_BITS, (self.line_bytes as i64) << FRACTION_BITS);
        for n in 0..over {
            let before = self.depth_before as i64 - self.desired_bytes as i64;
            let error = depth_bytes as i64 - self.desired_bytes as i64;
            let step = share(BEFORE * before - NOW * error, self.fair_bytes(), self.line_bytes);
            self.fair = (i128::from(self.fair) + step)
                .clamp(i128::from(smallest), i128::from(largest)) as i64;
            self.depth_before = depth_bytes;
            if self.fair == largest && n > 0 {
                break;
            }
        }
    }

    /// Fair bytes per period, as it stands.
    pub fn fair_bytes(&self) -> u64 {
        (self.fair >> FRACTION_BITS) as u64
    }
}

/// `value * part / whole`, towards zero. Words of twice the size are divided in software, and are
/// seldom needed.
#[inline]
fn share(value: i64, part: u64, whole: u64) -> i128 {
    match value.checked_mul(part as i64) {
        Some(product) => i128::from(product / whole as i64),
        None => i128::from(value) * i128::from(part) / i128::from(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_us(25);
    const DESIRED: u64 = 150_000;
    /// Bytes that 10 Gbit/s carry in a period.
    const LINE: u64 = 31_250;

    fn afd() -> Afd {
        Afd::new(DESIRED, PERIOD, LINE, false, RandomStream::new(1, "afd"))
    }
    fn period(n: u64) -> Time {
        Time::ZERO + PERIOD.times(n)
    }

    /// The law of the page, in floating point, over random depths.
    #[test]
    fn the_fair_share_follows_the_law_and_stays_between_one_byte_and_the_line() {
        let (mut afd, mut random) = (afd(), RandomStream::new(2, "depths"));
        let bytes = |afd: &Afd| afd.fair as f64 / f64::from(1 << FRACTION_BITS);
        let error = |depth: u64| depth as f64 - DESIRED as f64;
        let (mut before, mut lowest, mut highest) = (0, f64::MAX, 0_f64);
        for n in 1..2_000 {
            // A hundred periods with too little, a hundred with too much.
            let depth = 180_000 * (n / 100 % 2) + random.below(40_000);
            let fair = bytes(&afd);
            let moved =
                fair + fair.floor() / LINE as f64 * (0.45 * error(before) - 0.5 * error(depth));
            afd.selects(period(n), depth, None);
            let now = bytes(&afd);
            let expected = moved.clamp(1.0, LINE as f64);
            assert!(
                (now - expected).abs() < 0.01 + expected / 10_000.0,
                "period {n}: {now} instead of {expected}"
            );
            // Further arrivals of the period change nothing, whatever they find.
            afd.selects(period(n) + PERIOD.part(2), 10 * DESIRED, None);
            assert_eq!(bytes(&afd).to_bits(), now.to_bits());
            before = depth;
            (lowest, highest) = (lowest.min(now), highest.max(now));
        }
        assert!(
            lowest < 10.0 && highest > 0.99 * LINE as f64,
            "both ends are reached: {lowest}, {highest}"
        );
    }

    #[test]
    fn a_share_is_the_same_in_words_of_any_size() {
        let most = i64::MAX / LINE as i64;
        for value in
            [0, 1, -1, 5 * LINE as i64, -7_654_321, most, most + 1, -most - 1, i64::MAX, i64::MIN]
        {
            for part in [1, 3, LINE - 1, LINE] {
                let expected = i128::from(value) * i128::from(part) / i128::from(LINE);
                assert_eq!(share(value, part, LINE), expected, "{value} * {part}");
            }
        }
    }

    #[test]
    fn an_elephant_loses_its_excess_and_a_mouse_nothing() {
        let mut afd = afd();
        for (arrived, share) in [(LINE, 0.0), (2 * LINE, 0.5), (4 * LINE, 0.75)] {
            let selected = (0..100_000)
                .filter(|_| afd.selects(Time::ZERO, 10 * DESIRED, Some(arrived)))
                .count();
            assert!(
                (selected as f64 / 1e5 - share).abs() < 0.01,
                "{selected} of 100 000 at {arrived}"
            );
        }
        assert!((0..1_000).all(|_| !afd.selects(Time::ZERO, 10 * DESIRED, None)));
    }
}
