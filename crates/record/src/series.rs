//! A time series of sums in a bounded number of bins: when a run exceeds them, bins are merged in
//! pairs.

use tailrace_units::{Span, Time};

/// Sums per bin of time. The bin width doubles whenever the run outgrows the bins.
#[derive(Clone, Debug)]
pub struct Series {
    bins: Vec<u64>,
    most: usize,
    width: Span,
    /// The bin that was last added to, and from when to when it lasts: most additions are within
    /// it.
    bin: usize,
    bin_start: Time,
    bin_end: Time,
}

impl Series {
    /// At most `most` bins (at least 2), at first `width` wide.
    pub fn new(most: usize, width: Span) -> Series {
        assert!(most >= 2 && width > Span::ZERO, "a series has bins");
        Series { bins: Vec::new(), most, width, bin: 0, bin_start: Time::ZERO, bin_end: Time::ZERO }
    }
    /// Adds `amount` to the bin of `at`.
    #[inline]
    pub fn add(&mut self, at: Time, amount: u64) {
        if at < self.bin_start || at >= self.bin_end {
            self.enter_bin(at);
        }
        self.bins[self.bin] += amount;
    }
    #[cold]
    fn enter_bin(&mut self, at: Time) {
        self.bin = self.bin_of(at);
        self.bin_start = Time::ZERO + self.width.times(self.bin as u64);
        self.bin_end = self.bin_start + self.width;
    }
    fn bin_of(&mut self, at: Time) -> usize {
        let mut bin = (at.ps() / self.width.ps()) as usize;
        while bin >= self.most {
            self.merge_pairs();
            bin = (at.ps() / self.width.ps()) as usize;
        }
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        bin
    }
    /// Adds everything that was added to another series of as many bins, which were as wide at
    /// first, and empties that.
    pub fn absorb(&mut self, other: &mut Series) {
        debug_assert_eq!(self.most, other.most, "their bins are the same");
        while self.width < other.width {
            self.merge_pairs();
        }
        for (number, sum) in other.bins.drain(..).enumerate() {
            let bin = self.bin_of(Time::ZERO + other.width.times(number as u64));
            self.bins[bin] += sum;
        }
        (self.bin_start, self.bin_end) = (Time::ZERO, Time::ZERO);
        (other.bin_start, other.bin_end) = (Time::ZERO, Time::ZERO);
    }
    fn merge_pairs(&mut self) {
        self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.width = self.width.times(2);
    }
    /// Sums by bin.
    pub fn bins(&self) -> &[u64] {
        &self.bins
    }
    /// Width of every bin.
    pub fn width(&self) -> Span {
        self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_the_sum_and_the_position() {
        let mut series = Series::new(4, Span::from_ns(1));
        for ns in 0..16 {
            series.add(Time::ZERO + Span::from_ns(ns), ns);
        }
        assert_eq!(series.width(), Span::from_ns(4));
        assert_eq!(series.bins(), &[6, 22, 38, 54]);
    }

    #[test]
    fn two_series_together_are_the_series_of_everything() {
        let times = [0_u64, 3, 7, 2, 30, 5, 61, 11, 63];
        for own in 0..1_u32 << times.len() {
            let mut all = [
                Series::new(5, Span::from_ns(1)),
                Series::new(5, Span::from_ns(1)),
                Series::new(5, Span::from_ns(1)),
            ];
            for (place, &ns) in times.iter().enumerate() {
                let at = Time::ZERO + Span::from_ns(ns);
                all[2].add(at, ns + 1);
                all[(own >> place & 1) as usize].add(at, ns + 1);
            }
            let [mut one, mut other, together] = all;
            one.absorb(&mut other);
            one.absorb(&mut other);
            assert_eq!((one.width(), one.bins()), (together.width(), together.bins()));
        }
    }

    #[test]
    fn what_comes_late_is_added_where_it_belongs() {
        let mut series = Series::new(8, Span::from_ns(1));
        for (ns, amount) in [(1, 1), (3, 10), (1, 100), (2, 1_000), (7, 10_000), (3, 100_000)] {
            series.add(Time::ZERO + Span::from_ns(ns), amount);
        }
        assert_eq!(series.bins(), &[0, 101, 1_000, 100_010, 0, 0, 0, 10_000]);
    }
}
