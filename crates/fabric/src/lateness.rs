//! How late things happened: a distribution, and the times at which the machine let a thread wait.

use hdrhistogram::Histogram;
use tailrace_outcome::LatenessUs;
use tailrace_units::Span;

/// Lateness is kept to within 1 %.
const SIGNIFICANT_DIGITS: u8 = 2;
/// Waking so much later than meant is no matter of timers: the machine did not let the thread run.
pub const STALL_MIN: Span = Span::from_ms(1);
const PS_PER_US: f64 = 1e6;
const NS_PER_US: f64 = 1_000.0;

/// A distribution of lateness.
#[derive(Debug)]
pub struct Lateness {
    times_ns: Histogram<u64>,
}

impl Lateness {
    /// Nothing was late or in time yet.
    pub fn new() -> Lateness {
        Lateness { times_ns: Histogram::new(SIGNIFICANT_DIGITS).expect("two digits are allowed") }
    }

    /// Something was so late.
    #[inline]
    pub fn record(&mut self, late: Span) {
        self.times_ns.record(late.ns()).expect("the histogram resizes itself");
    }

    /// Percentiles in microseconds.
    pub fn summary(&self) -> LatenessUs {
        let us = |percent: f64| self.times_ns.value_at_percentile(percent) as f64 / NS_PER_US;
        let max = self.times_ns.max() as f64 / NS_PER_US;
        LatenessUs { p50: us(50.0), p90: us(90.0), p99: us(99.0), p99_9: us(99.9), max }
    }
}

/// Times for which the machine let a thread wait for [`STALL_MIN`] or more.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stalls {
    count: u64,
    total: Span,
    longest: Span,
}

impl Stalls {
    /// A thread went on so much later than meant. Returns whether that was a stall.
    #[inline]
    pub fn add(&mut self, late: Span) -> bool {
        let is_stall = late >= STALL_MIN;
        if is_stall {
            self.count += 1;
            self.total += late;
            self.longest = self.longest.max(late);
        }
        is_stall
    }

    /// How many there were, how long all of them lasted, and the longest.
    pub fn summary(&self) -> tailrace_outcome::Stalls {
        let us = |span: Span| span.ps() as f64 / PS_PER_US;
        tailrace_outcome::Stalls {
            count: self.count,
            total_us: us(self.total),
            max_us: us(self.longest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_timers_do_not_explain_is_a_stall() {
        let mut stalls = Stalls::default();
        [Span::from_us(999), Span::from_ms(1), Span::from_ms(4)].into_iter().for_each(|late| {
            stalls.add(late);
        });
        assert_eq!(
            stalls.summary(),
            tailrace_outcome::Stalls { count: 2, total_us: 5_000.0, max_us: 4_000.0 }
        );
    }
}
