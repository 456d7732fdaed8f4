//! Distributions of latencies.

use serde::{Deserialize, Serialize};

/// Of the transactions, flows or datagrams of a workload that are complete.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Those that were longer than the program that measured them counts one by one; absent where
    /// there is no such bound. A percentile among them is their least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<CutOff>,
    /// Upper edge of each bucket that is not empty, in picoseconds and in order, and how many are
    /// in it.
    pub buckets: Vec<(u64, u64)>,
    /// How many.
    pub count: u64,
    /// The longest.
    pub max_ps: u64,
    /// The mean.
    pub mean_ps: f64,
    /// The shortest.
    pub min_ps: u64,
    /// The median.
    pub p50_ps: u64,
    /// The 90th percentile.
    pub p90_ps: u64,
    /// The 95th percentile.
    pub p95_ps: u64,
    /// Percentile 99.9.
    pub p99_9_ps: u64,
    /// The 99th percentile.
    pub p99_ps: u64,
}

/// What was running when a trial ended: latencies that are known to be longer than this (censored
/// on the right).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CutOff {
    /// Upper edge of each bucket that is not empty, in picoseconds and in order, and how many are
    /// in it.
    pub buckets: Vec<(u64, u64)>,
    /// How many.
    pub count: u64,
    /// How long the first of them had been running; 0 where there are none.
    pub longest_ps: u64,
}
