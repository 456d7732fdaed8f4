//! Incast: how many senders have data for one receiver within the same millisecond.

use crate::distribution::Distribution;

/// Interval in which the senders of a receiver are counted.
pub const INTERVAL_NS: u64 = 1_000_000;
/// Pairs of sender and receiver in one interval; more are counted and left out.
const PAIRS_MAX: usize = 65_536;
/// Intervals that results name, those with most senders.
const PEAKS_MAX: usize = 10;

/// Counts senders.
#[derive(Debug, Default)]
pub struct Incast {
    interval: u64,
    /// Receiver and sender.
    pairs: Vec<(u128, u128)>,
    /// Senders of each receiver in each interval in which it had any.
    pub degree: Distribution,
    /// The largest, the largest first.
    pub peaks: Vec<IncastPeak>,
    /// Pairs that had no room.
    pub pairs_left_out: u64,
}

/// One receiver in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncastPeak {
    /// Senders.
    pub senders: u64,
    /// Begin of the interval, in nanoseconds since 1970.
    pub start_ns: u64,
    /// Its address.
    pub receiver: u128,
}

impl Incast {
    /// Counts data from this sender, unless its flow was counted in the same interval: `last` is
    /// the flow's memory, of the lower bits. Data that are late count in the interval that is open.
    #[inline]
    pub fn add(&mut self, now_ns: u64, last: &mut u32, sender: u128, receiver: u128) {
        let interval = (now_ns / INTERVAL_NS).max(self.interval);
        if interval as u32 == *last {
            return;
        }
        *last = interval as u32;
        if interval > self.interval {
            self.close();
            self.interval = interval;
        }
        if self.pairs.len() < PAIRS_MAX {
            self.pairs.push((receiver, sender));
        } else {
            self.pairs_left_out += 1;
        }
    }

    /// Counts the senders of the interval.
    pub fn close(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        for one in self.pairs.chunk_by(|a, b| a.0 == b.0) {
            let senders = one.len() as u64;
            self.degree.add(senders);
            let peak =
                IncastPeak { senders, start_ns: self.interval * INTERVAL_NS, receiver: one[0].0 };
            let at = self.peaks.partition_point(|held| held.senders >= senders);
            if at < PEAKS_MAX {
                self.peaks.truncate(PEAKS_MAX - 1);
                self.peaks.insert(at, peak);
            }
        }
        self.pairs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_within_one_millisecond_count_once_each() {
        let mut incast = Incast::default();
        let mut flows = [0; 4];
        for (at_us, sender) in
            [(5_000, 0), (5_100, 1), (5_200, 1), (5_999, 2), (6_000, 3), (6_100, 0)]
        {
            incast.add(at_us * 1_000, &mut flows[sender], sender as u128, 9);
        }
        // A second flow of the same sender.
        incast.add(6_200_000, &mut 0, 0, 9);
        incast.close();
        assert_eq!(
            incast.peaks.iter().map(|peak| (peak.senders, peak.start_ns)).collect::<Vec<_>>(),
            [(3, 5_000_000), (2, 6_000_000)]
        );
        assert_eq!(incast.degree.count(), 2);
    }
}
