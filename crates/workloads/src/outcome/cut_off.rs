//! Operations that the end of a trial cuts off: transactions and flows that were running, and how
//! long they had waited by then.
//!
//! Their latencies are known to be longer than that (censored on the right). Leaving them out would
//! make latencies look short, the more so the more congested a network is.

use crate::Row;
use tailrace_record::Latency;
use tailrace_units::{Span, Time};

/// Of one workload.
#[derive(Debug, Default)]
pub struct CutOff {
    waited: Latency,
    longest: Span,
    /// The first so many.
    pub(super) rows: Vec<Row>,
}

impl CutOff {
    /// A transaction of this user that was meant to start at `start` is running at `now`. At most
    /// `rows_max` are kept one by one.
    pub fn note(&mut self, user: u32, start: Time, now: Time, rows_max: usize) {
        let latency = now.since(start);
        self.waited.record(latency);
        self.longest = self.longest.max(latency);
        if self.rows.len() < rows_max {
            self.rows.push(Row { user, start, latency });
        }
    }

    pub(super) fn summary(&self) -> tailrace_outcome::CutOff {
        tailrace_outcome::CutOff {
            count: self.waited.count(),
            longest_ps: self.longest.ps(),
            buckets: self.waited.buckets(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_is_reported_whenever_it_began() {
        let mut cut_off = CutOff::default();
        let now = Time::ZERO + Span::from_ms(10);
        for (user, start_ms) in [(0, 4), (1, 1), (2, 8)] {
            cut_off.note(user, Time::ZERO + Span::from_ms(start_ms), now, 2);
        }
        let summary = cut_off.summary();
        assert_eq!((summary.count, summary.longest_ps), (3, Span::from_ms(9).ps()));
        assert_eq!(
            cut_off.rows.iter().map(|row| row.user).collect::<Vec<u32>>(),
            [0, 1],
            "the first so many"
        );
    }
}
