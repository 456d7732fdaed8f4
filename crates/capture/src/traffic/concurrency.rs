//! How many things are under way at once, by share of time.

use crate::distribution::{Distribution, Summary};
use serde::Serialize;

/// A level over time.
#[derive(Debug, Default)]
pub struct Concurrency {
    level: u64,
    since_ns: Option<u64>,
    /// Nanoseconds at each level.
    time: Distribution,
    max: u64,
}

/// Results on a level.
#[derive(Debug, PartialEq, Serialize)]
pub struct ConcurrencySummary {
    max: u64,
    /// Weighted by time, as are the percentiles.
    mean: f64,
    p50: u64,
    p99: u64,
}

impl Concurrency {
    /// The level rises by one.
    pub fn begin(&mut self, now_ns: u64) {
        self.pass(now_ns);
        self.level += 1;
        self.max = self.max.max(self.level);
    }

    /// The level falls by one.
    pub fn end(&mut self, now_ns: u64) {
        self.pass(now_ns);
        self.level = self.level.checked_sub(1).expect("what ends has begun");
    }

    /// Time goes on; a late event happens now.
    pub fn pass(&mut self, now_ns: u64) {
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        self.time.add_times(self.level, now_ns.saturating_sub(since_ns));
        self.since_ns = Some(now_ns.max(since_ns));
    }

    /// For the results.
    pub fn summary(&self) -> ConcurrencySummary {
        let Summary { mean, p50, p99, .. } = self.time.summary();
        ConcurrencySummary { max: self.max, mean, p50, p99 }
    }
}
