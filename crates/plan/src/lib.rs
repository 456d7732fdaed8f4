//! The resolved scenario that both engines read: one trial of one arm, with nothing left to default and every unit in its key.
//!
//! Python lowers what people write to this; [`Plan::parse`] is the only way in, and what it returns is sound: names are
//! resolved to indices, rates are not zero, thresholds fit their buffers.

mod error;
mod graph;
mod raw;
mod resolve;

pub use error::PlanError;
pub use graph::{Graph, Link, NodeId, PortEnd, Routes};
pub use raw::*;
pub use resolve::{Oltp, Plan, RoundTrip, Workload};
