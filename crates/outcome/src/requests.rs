//! Counts of requests and of blocks.

use serde::{Deserialize, Serialize};

/// What the programs of a workload have counted of requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestCounts {
    /// Answered whole.
    pub answered: u64,
    /// Begun.
    pub begun: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Without an answer.
    pub failed: u64,
    /// Calls of other services that had no answer.
    pub failed_calls: u64,
    /// Connections that could not be opened, or broke.
    pub failed_connections: u64,
    /// Queries in datagrams that were lost.
    pub lost_queries: u64,
    /// Given up because their time was over.
    pub timed_out: u64,
}

/// What the programs of a workload have counted of blocks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockCounts {
    /// Blocks that were given up.
    pub failed_blocks: u64,
    /// Blocks that were lost and asked for again.
    pub lost_blocks: u64,
    /// Messages of both directions.
    pub messages: u64,
    /// Blocks that arrived.
    pub received_blocks: u64,
}
