//! Latencies in a high-dynamic-range histogram: 0.1 % resolution from a nanosecond on.

use hdrhistogram::Histogram;
use tailrace_units::Span;

/// Three significant digits: values are kept to within 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;
/// Resolution of the histogram.
const PS_PER_COUNT: u64 = 1_000;

/// A histogram of latencies.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    sum_ps: u128,
}

impl Default for Latency {
    /// An empty histogram is small; it grows with what it is given.
    fn default() -> Latency {
        Latency { histogram: Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are allowed"), sum_ps: 0 }
    }
}

impl Latency {
    /// Adds one latency.
    pub fn record(&mut self, latency: Span) {
        self.histogram.record((latency.ps() / PS_PER_COUNT).max(1)).expect("the histogram resizes itself");
        self.sum_ps += u128::from(latency.ps());
    }
    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }
    /// Exact mean in picoseconds; 0 when empty.
    pub fn mean_ps(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ps as f64 / self.count() as f64 }
    }
    /// The latency that this percentage (0 to 100) does not exceed, in picoseconds to within 0.1 %.
    pub fn percentile_ps(&self, percent: f64) -> u64 {
        self.histogram.value_at_percentile(percent) * PS_PER_COUNT
    }
    /// Shortest in picoseconds.
    pub fn min_ps(&self) -> u64 {
        self.histogram.min() * PS_PER_COUNT
    }
    /// Longest in picoseconds.
    pub fn max_ps(&self) -> u64 {
        self.histogram.max() * PS_PER_COUNT
    }
    /// `(upper edge in picoseconds, count)` of every bucket that is not empty.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        self.histogram.iter_recorded().map(|v| (v.value_iterated_to() * PS_PER_COUNT, v.count_at_value())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut latency = Latency::default();
        (1..=100_000).for_each(|us| latency.record(Span::from_us(us)));
        for (percent, us) in [(50.0, 50_000.0), (99.0, 99_000.0), (99.9, 99_900.0)] {
            let got = latency.percentile_ps(percent) as f64 / 1e6;
            assert!((got / us - 1.0).abs() < 0.001, "p{percent} is {got}");
        }
        assert!((latency.mean_ps() / 1e6 - 50_000.5).abs() < 1e-6);
        assert_eq!(latency.buckets().iter().map(|bucket| bucket.1).sum::<u64>(), 100_000);
    }
}
