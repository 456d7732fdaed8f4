//! The resolved scenario that an engine reads: one trial of one arm, with every unit in its key.
//! The lab writes every key; the few keys that may be missing state their default.
//!
//! Python lowers scenarios to plans. [`Plan::parse`] is the only constructor, and its result is
//! valid: names are resolved to indices, rates are not zero, thresholds fit their buffers.

mod error;
mod graph;
mod limits;
mod raw;
mod resolve;
mod tree;
mod variants;
mod workloads;

pub use error::PlanError;
pub use graph::{Graph, Link, NodeId, PortEnd, SwitchIndex};
pub use limits::limits;
pub use raw::*;
pub use resolve::Plan;
pub use tree::{Bridge, PortRole, SpanningTree};
pub use variants::variants;
pub use workloads::*;

/// Most nodes, links, users or connections of one plan.
const COUNT_MAX: usize = 1_000_000;
