//! Equal periods of time, numbered from the start of the run.

use tailrace_units::{Span, Time};

/// Numbers periods. A frame's period is mostly that of the frame before, and then found without a
/// division.
#[derive(Clone, Debug)]
pub(crate) struct Periods {
    length: Span,
    /// The period that was asked for last, and its start and end.
    number: u64,
    start: Time,
    end: Time,
}

impl Periods {
    /// `length` must not be zero.
    pub(crate) fn new(length: Span) -> Periods {
        assert!(length > Span::ZERO, "periods last");
        Periods { length, number: 0, start: Time::ZERO, end: Time::ZERO + length }
    }

    /// The number of the period in which `now` lies. Times may fall.
    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> u64 {
        if now < self.start || now >= self.end {
            self.enter(now);
        }
        self.number
    }

    #[inline(never)]
    fn enter(&mut self, now: Time) {
        self.number = now.ps() / self.length.ps();
        self.start = Time::ZERO + self.length.times(self.number);
        self.end = self.start + self.length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_the_period_that_a_division_gives() {
        let mut periods = Periods::new(Span::from_ps(7));
        for now in [0, 6, 7, 8, 13, 14, 700, 699, 0, u64::MAX - 1, 3] {
            assert_eq!(periods.at(Time::from_ps(now)), now / 7, "{now}");
        }
    }
}
