//! Delays of frames from their first switch to their host: the distribution by which two passes are
//! compared.

use hdrhistogram::Histogram;
use tailrace_units::Span;

/// A percentile is exact to within 1 %; the mean is exact.
const SIGNIFICANT_DIGITS: u8 = 2;
/// Longer delays than a minute are not those of a network.
const NS_MAX: u64 = 60_000_000_000;
const PS_PER_US: f64 = 1e6;
const NS_PER_US: f64 = 1e3;

/// A distribution of delays.
#[derive(Clone, Debug)]
pub struct Delays {
    times_ns: Histogram<u64>,
    total_ps: u128,
}

impl Delays {
    /// None so far.
    pub fn new() -> Delays {
        let times_ns =
            Histogram::new_with_max(NS_MAX, SIGNIFICANT_DIGITS).expect("the bounds are allowed");
        Delays { times_ns, total_ps: 0 }
    }

    /// Records the delay of a frame.
    #[inline]
    pub fn record(&mut self, delay: Span) {
        self.times_ns.saturating_record(delay.ns());
        self.total_ps += u128::from(delay.ps());
    }

    /// How many there are.
    pub fn frames(&self) -> u64 {
        self.times_ns.len()
    }

    /// The mean in microseconds; 0 where there are none.
    pub fn mean_us(&self) -> f64 {
        self.total_ps as f64 / self.frames().max(1) as f64 / PS_PER_US
    }

    /// Number, mean and 99th percentile in microseconds.
    pub fn summary(&self) -> tailrace_outcome::Delays {
        let p99 = self.times_ns.value_at_percentile(99.0) as f64 / NS_PER_US;
        tailrace_outcome::Delays { frames: self.frames(), mean: self.mean_us(), p99 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact_and_a_percentile_close() {
        let mut delays = Delays::new();
        (1..=1_000).for_each(|us| delays.record(Span::from_us(us)));
        let summary = delays.summary();
        assert_eq!((summary.frames, summary.mean), (1_000, 500.5));
        assert!((summary.p99 - 990.0).abs() < 10.0, "{summary:?}");
    }
}
