//! Time of a queue at each depth, and its depth over time.

use tailrace_units::{Span, Time};

/// Buckets of depth per doubling: 9 % resolution.
const STEPS_PER_DOUBLING: u32 = 8;
/// Depths up to 2^40 bytes.
const DOUBLINGS: u32 = 40;

/// Time-weighted histogram of a queue's depth, with mean and maximum per bin of time.
#[derive(Clone, Debug)]
pub struct DepthHistogram {
    /// Picoseconds at depths of each bucket.
    time_ps: Vec<u64>,
    depth: u64,
    since: Time,
    bins: Vec<Bin>,
    most: usize,
    width: Span,
    /// The bin of `since` and its end: most changes are within it.
    bin: usize,
    bin_end: Time,
}

#[derive(Clone, Copy, Default, Debug)]
struct Bin {
    byte_ps: u128,
    max: u64,
}

impl DepthHistogram {
    /// At most `most` bins of time (at least 2), at first `width` wide.
    pub fn new(most: usize, width: Span) -> DepthHistogram {
        assert!(most >= 2 && width > Span::ZERO, "a series has bins");
        let buckets = (STEPS_PER_DOUBLING * DOUBLINGS) as usize + 2;
        let time_ps = vec![0; buckets];
        let (since, bin_end) = (Time::ZERO, Time::ZERO);
        DepthHistogram { time_ps, depth: 0, since, bins: Vec::new(), most, width, bin: 0, bin_end }
    }

    /// The depth is `bytes` from `at` on. Times must not fall.
    #[inline]
    pub fn change(&mut self, at: Time, bytes: u64) {
        let stood = at.since(self.since);
        self.time_ps[bucket_of(self.depth)] += stood.ps();
        if at < self.bin_end {
            self.bins[self.bin].byte_ps += u128::from(self.depth) * u128::from(stood.ps());
        } else {
            self.enter_bin(at);
        }
        self.since = self.since.max(at);
        self.depth = bytes;
        let bin = &mut self.bins[self.bin];
        bin.max = bin.max.max(bytes);
    }

    #[cold]
    fn enter_bin(&mut self, at: Time) {
        self.add_to_bins(self.since, at);
        self.bin = self.bin_of(at);
        self.bin_end = Time::ZERO + self.width.times(self.bin as u64 + 1);
    }

    fn add_to_bins(&mut self, mut from: Time, to: Time) {
        while from < to {
            let bin = self.bin_of(from);
            let end = Time::ZERO + self.width.times(bin as u64 + 1);
            let until = end.min(to);
            self.bins[bin].byte_ps += u128::from(self.depth) * u128::from(until.since(from).ps());
            self.bins[bin].max = self.bins[bin].max.max(self.depth);
            from = until;
        }
    }

    fn bin_of(&mut self, at: Time) -> usize {
        let mut bin = (at.ps() / self.width.ps()) as usize;
        while bin >= self.most {
            let merged = |pair: &[Bin]| Bin {
                byte_ps: pair.iter().map(|bin| bin.byte_ps).sum(),
                max: pair.iter().map(|bin| bin.max).max().unwrap_or(0),
            };
            self.bins = self.bins.chunks(2).map(merged).collect();
            self.width = self.width.times(2);
            bin = (at.ps() / self.width.ps()) as usize;
        }
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, Bin::default());
        }
        bin
    }

    /// The times at each depth count from `at` on; the bins of time stay. Times must not fall.
    pub fn begin_counting(&mut self, at: Time) {
        self.change(at, self.depth);
        self.time_ps.fill(0);
    }

    /// Width of every bin of time.
    pub fn width(&self) -> Span {
        self.width
    }
    /// `(mean bytes, maximum bytes)` by bin of time.
    pub fn bins(&self) -> Vec<(f64, u64)> {
        let width = self.width.ps() as f64;
        self.bins.iter().map(|bin| (bin.byte_ps as f64 / width, bin.max)).collect()
    }
    /// `(upper edge of depth in bytes, picoseconds)` of every bucket that is not empty.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let named = self.time_ps.iter().enumerate().map(|(bucket, &ps)| (upper_edge(bucket), ps));
        named.filter(|&(_, ps)| ps > 0).collect()
    }
}

/// Every depth below 8 bytes has its own bucket; then there are eight to a doubling.
fn bucket_of(bytes: u64) -> usize {
    if bytes < 8 {
        return bytes as usize;
    }
    let exponent = bytes.ilog2();
    let step = (bytes >> (exponent - 3)) & 7;
    ((exponent - 2) * STEPS_PER_DOUBLING) as usize + step as usize
}

fn upper_edge(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let exponent = bucket as u32 / STEPS_PER_DOUBLING + 2;
    let step = (bucket as u64) % u64::from(STEPS_PER_DOUBLING);
    ((8 + step + 1) << (exponent - 3)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_lies_in_its_bucket() {
        let mut last = 0;
        for bytes in (0..100_000).chain([1 << 20, (1 << 30) + 12_345]) {
            let bucket = bucket_of(bytes);
            assert!(bucket >= last && upper_edge(bucket) >= bytes, "{bytes} in {bucket}");
            assert!(bucket == 0 || upper_edge(bucket - 1) < bytes, "{bytes} in {bucket}");
            last = bucket;
        }
    }

    #[test]
    fn the_mean_of_a_bin_is_weighted_by_time() {
        let mut depth = DepthHistogram::new(8, Span::from_ns(10));
        depth.change(Time::from_ps(0), 100);
        depth.change(Time::from_ps(2_500), 300);
        depth.change(Time::from_ps(10_000), 0);
        depth.change(Time::from_ps(20_000), 0);
        assert_eq!(depth.bins()[..2], [(250.0, 300), (0.0, 0)]);
        assert_eq!(depth.buckets().iter().map(|b| b.1).sum::<u64>(), 20_000);
    }

    #[test]
    fn depths_are_counted_anew_and_stay_in_their_bins() {
        let mut depth = DepthHistogram::new(8, Span::from_ns(10));
        depth.change(Time::from_ps(0), 100);
        depth.begin_counting(Time::from_ps(15_000));
        depth.change(Time::from_ps(20_000), 0);
        assert_eq!(depth.buckets().iter().map(|b| b.1).sum::<u64>(), 5_000);
        assert_eq!(depth.bins()[..2], [(100.0, 100), (100.0, 100)]);
    }

    #[test]
    fn every_bin_holds_what_stood_in_its_time() {
        let steps = |step: u64| (step * 37 % 101, 5 + step % 11);
        let mut depth = DepthHistogram::new(32, Span::from_ps(7));
        let mut stood = Vec::new();
        for (bytes, ps) in (0..200).map(steps) {
            depth.change(Time::from_ps(stood.len() as u64), bytes);
            stood.extend((0..ps).map(|_| bytes));
        }
        depth.change(Time::from_ps(stood.len() as u64), 0);
        let width = depth.width().ps() as usize;
        for (bin, (mean, max)) in stood.chunks_exact(width).zip(depth.bins()) {
            let sum: u64 = bin.iter().sum();
            assert!((mean - sum as f64 / width as f64).abs() < 1e-9, "{mean}");
            assert_eq!(Some(&max), bin.iter().max());
        }
    }
}
