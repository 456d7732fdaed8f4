//! Counts of whole numbers in buckets that become wider as numbers become larger: each is known to
//! within 0.1 %.
//!
//! The buckets are those of an HdrHistogram with three significant digits, one behind the other:
//! 2048 of width one, then 1024 of each further power of two. Only buckets up to the largest number
//! have memory, and only those between the extremes are visited.

/// Numbers below two to this power have buckets of their own.
const EXACT_BITS: u32 = 11;
/// Buckets of one width.
const BUCKETS_PER_WIDTH: usize = 1 << (EXACT_BITS - 1);

/// How many of which numbers there were.
#[derive(Clone, Debug)]
pub struct LogLinear {
    counts: Vec<u64>,
    total: u64,
    /// The extremes; the first is the greater one while there are none.
    least: u64,
    most: u64,
}

impl Default for LogLinear {
    fn default() -> LogLinear {
        LogLinear { counts: Vec::new(), total: 0, least: u64::MAX, most: 0 }
    }
}

impl LogLinear {
    /// Counts one number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.add_times(number, 1);
    }

    /// Counts one number so many times, at least once.
    #[inline]
    pub fn add_times(&mut self, number: u64, times: u64) {
        let bucket = bucket_of(number);
        if bucket >= self.counts.len() {
            self.counts.resize((bucket + 1).next_multiple_of(BUCKETS_PER_WIDTH), 0);
        }
        self.counts[bucket] += times;
        self.total += times;
        (self.least, self.most) = (self.least.min(number), self.most.max(number));
    }

    /// How many there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The least number of the least one's bucket; 0 without numbers.
    pub fn least(&self) -> u64 {
        if self.total == 0 {
            0
        } else {
            self.least >> width_bits(bucket_of(self.least)) << width_bits(bucket_of(self.least))
        }
    }

    /// The largest number of the largest one's bucket; 0 without numbers.
    pub fn most(&self) -> u64 {
        if self.total == 0 { 0 } else { end_of(bucket_of(self.most)) }
    }

    /// The least number itself; 0 without numbers.
    pub fn smallest(&self) -> u64 {
        if self.total == 0 { 0 } else { self.least }
    }

    /// The largest number itself; 0 without numbers.
    pub fn greatest(&self) -> u64 {
        self.most
    }

    /// The largest number of each bucket that has any, and how many it has, in order.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = bucket_of(self.least.min(self.most));
        let counts = self.counts.get(first..=bucket_of(self.most)).unwrap_or_default();
        let filled = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(move |(bucket, &count)| (end_of(first + bucket), count))
    }
}

/// Bits of a number that its bucket does not resolve.
fn bits_lost(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).saturating_sub(EXACT_BITS)
}

fn bucket_of(number: u64) -> usize {
    let lost = bits_lost(number);
    lost as usize * BUCKETS_PER_WIDTH + (number >> lost) as usize
}

/// The width of a bucket is a power of two.
fn width_bits(bucket: usize) -> u32 {
    ((bucket / BUCKETS_PER_WIDTH) as u32).saturating_sub(1)
}

/// The largest number of a bucket.
fn end_of(bucket: usize) -> u64 {
    let bits = width_bits(bucket);
    let start = ((bucket - bits as usize * BUCKETS_PER_WIDTH) as u64) << bits;
    start + ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    proptest! {
        // Half of all numbers: that histogram ends its last bucket one below the largest number.
        #[test]
        fn it_tells_what_an_hdr_histogram_of_three_digits_tells(
            numbers in proptest::collection::vec((any::<u64>(), 1_u32..64), 0..200),
        ) {
            let mut own = LogLinear::default();
            let mut model = Histogram::<u64>::new(3).expect("three digits are allowed");
            for (number, shift) in numbers {
                own.add(number >> shift);
                model.record(number >> shift).expect("it resizes itself");
            }
            prop_assert_eq!(own.total(), model.len());
            prop_assert_eq!((own.least(), own.most()), (model.min(), model.max()));
            let expected: Vec<_> = model
                .iter_recorded()
                .map(|one| (one.value_iterated_to(), one.count_at_value()))
                .collect();
            prop_assert_eq!(own.filled().collect::<Vec<_>>(), expected);
        }
    }
}
