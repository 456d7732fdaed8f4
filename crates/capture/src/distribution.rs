//! A distribution of whole numbers in bounded memory, and its summary in results.

use serde::Serialize;
use tailrace_record::LogLinear;

/// Quantiles of a summary.
const SHARES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
/// Bins of a summary's histogram in each power of two.
const BINS_PER_OCTAVE_LOG: u32 = 3;

/// Numbers that were counted: exact in number, sum and extremes, and within 0.1 % between.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    counts: LogLinear,
    sum: u128,
}

impl Distribution {
    /// Counts a number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.add_times(number, 1);
    }

    /// Counts a number so many times.
    #[inline]
    pub fn add_times(&mut self, number: u64, times: u64) {
        if times > 0 {
            self.counts.add_times(number, times);
            self.sum += u128::from(number) * u128::from(times);
        }
    }

    /// How many numbers there were.
    pub fn count(&self) -> u64 {
        self.counts.total()
    }

    /// Number, extremes, mean, percentiles and a coarse histogram.
    pub fn summary(&self) -> Summary {
        let count = self.count();
        let most = self.counts.greatest();
        let mut at = [0; SHARES.len()];
        let (mut filled, mut end, mut seen) = (self.counts.filled(), 0, 0);
        for (value, share) in at.iter_mut().zip(SHARES) {
            let wanted = ((share * count as f64).ceil() as u64).max(1);
            while seen < wanted {
                let Some((next, more)) = filled.next() else { break };
                (end, seen) = (next, seen + more);
            }
            *value = end.min(most);
        }
        let mut histogram: Vec<(u64, u64)> = Vec::new();
        for (end, more) in self.counts.filled() {
            let edge = coarse(end).min(most);
            match histogram.last_mut() {
                Some((last, sum)) if *last == edge => *sum += more,
                _ => histogram.push((edge, more)),
            }
        }
        let [p50, p90, p95, p99, p999] = at;
        let mean = if count == 0 { 0.0 } else { self.sum as f64 / count as f64 };
        Summary {
            count,
            min: self.counts.smallest(),
            mean,
            p50,
            p90,
            p95,
            p99,
            p999,
            max: most,
            histogram,
        }
    }
}

/// The end of the coarse bin of a number.
fn coarse(number: u64) -> u64 {
    let lost = (u64::BITS - number.leading_zeros()).saturating_sub(BINS_PER_OCTAVE_LOG + 1);
    number | ((1 << lost) - 1)
}

/// Results on a distribution, in the unit that its key ends with; zeros without numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many numbers.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// Exact.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// Percentile 90.
    pub p90: u64,
    /// Percentile 95.
    pub p95: u64,
    /// Percentile 99.
    pub p99: u64,
    /// Percentile 99.9.
    pub p999: u64,
    /// The largest.
    pub max: u64,
    /// Largest number of each place and how many it has; places are at most an eighth of their
    /// numbers wide.
    pub histogram: Vec<(u64, u64)>,
}
