//! Errors of plans.

use std::fmt;

/// The reason for which a plan is rejected. The lab checks scenarios before it lowers them, so that
/// this concerns hand-written plans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// Not JSON, or not in the format of a plan.
    Syntax(String),
    /// An unknown node.
    UnknownNode {
        /// Where it is used.
        used_by: String,
        /// The name.
        name: String,
    },
    /// An invalid value.
    Nonsense {
        /// The place, e.g. `switches[0].policy.queues[1]`.
        location: String,
        /// The requirement that is not met.
        reason: String,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Syntax(why) => write!(f, "the plan cannot be read: {why}"),
            PlanError::UnknownNode { used_by, name } => {
                write!(f, "{used_by}: there is no node named {name:?}")
            }
            PlanError::Nonsense { location, reason } => write!(f, "{location}: {reason}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl PlanError {
    pub(crate) fn nonsense(location: impl Into<String>, reason: impl Into<String>) -> PlanError {
        PlanError::Nonsense { location: location.into(), reason: reason.into() }
    }
}

pub(crate) fn require(ok: bool, location: &str, reason: &str) -> Result<(), PlanError> {
    if ok { Ok(()) } else { Err(PlanError::nonsense(location, reason)) }
}
