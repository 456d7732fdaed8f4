//! The resolved scenario that an engine reads: one trial of one arm, with every unit in its key. The lab writes every key;
//! the few that may be missing then mean what stands beside them.
//!
//! Python lowers what people write to this; [`Plan::parse`] is the only way in, and what it returns is sound: names are
//! resolved to indices, rates are not zero, thresholds fit their buffers.

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
