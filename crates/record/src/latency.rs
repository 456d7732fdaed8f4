//! Latencies in a histogram: 0.1 % resolution from a nanosecond on.

use crate::log_linear::LogLinear;
use tailrace_units::Span;

/// Resolution of the histogram.
const PS_PER_COUNT: u64 = 1_000;

/// A histogram of latencies.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    counts: LogLinear,
    sum_ps: u128,
}

impl Latency {
    /// Adds one latency.
    pub fn record(&mut self, latency: Span) {
        self.counts.add((latency.ps() / PS_PER_COUNT).max(1));
        self.sum_ps += u128::from(latency.ps());
    }
    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.counts.total()
    }
    /// Exact mean in picoseconds; 0 when empty.
    pub fn mean_ps(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ps as f64 / self.count() as f64 }
    }
    /// The latencies that these percentages (0 to 100, ascending) do not exceed, in picoseconds to
    /// within 0.1 %; 0 when empty.
    pub fn percentiles_ps<const N: usize>(&self, percents: [f64; N]) -> [u64; N] {
        let mut filled = self.counts.filled();
        let (mut edge, mut seen) = (0, 0);
        percents.map(|percent| {
            let wanted = ((percent / 100.0 * self.count() as f64).ceil() as u64).max(1);
            while seen < wanted {
                let Some((end, count)) = filled.next() else { break };
                (edge, seen) = (end, seen + count);
            }
            edge * PS_PER_COUNT
        })
    }
    /// Shortest in picoseconds.
    pub fn min_ps(&self) -> u64 {
        self.counts.least() * PS_PER_COUNT
    }
    /// Longest in picoseconds.
    pub fn max_ps(&self) -> u64 {
        self.counts.most() * PS_PER_COUNT
    }
    /// `(upper edge in picoseconds, count)` of every bucket that is not empty.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        self.counts.filled().map(|(end, count)| (end * PS_PER_COUNT, count)).collect()
    }
    /// As outcomes have it; `None` when empty.
    pub fn summary(&self) -> Option<tailrace_outcome::Latency> {
        let [p50_ps, p90_ps, p95_ps, p99_ps, p99_9_ps] =
            self.percentiles_ps([50.0, 90.0, 95.0, 99.0, 99.9]);
        (self.count() > 0).then(|| tailrace_outcome::Latency {
            count: self.count(),
            mean_ps: self.mean_ps(),
            min_ps: self.min_ps(),
            p50_ps,
            p90_ps,
            p95_ps,
            p99_ps,
            p99_9_ps,
            max_ps: self.max_ps(),
            buckets: self.buckets(),
            above: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut latency = Latency::default();
        (1..=100_000).for_each(|us| latency.record(Span::from_us(us)));
        let found = latency.percentiles_ps([50.0, 99.0, 99.9, 100.0]);
        for (got, us) in found.into_iter().zip([50_000.0, 99_000.0, 99_900.0, 100_000.0]) {
            let got = got as f64 / 1e6;
            assert!((got / us - 1.0).abs() < 0.001, "{us} us are {got}");
        }
        assert_eq!(found[3], latency.max_ps());
        assert_eq!(Latency::default().percentiles_ps([50.0]), [0]);
        assert!((latency.mean_ps() / 1e6 - 50_000.5).abs() < 1e-6);
        assert_eq!(latency.buckets().iter().map(|bucket| bucket.1).sum::<u64>(), 100_000);
    }
}
