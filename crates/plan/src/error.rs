//! Why a plan is refused.

use std::fmt;

/// Why a plan is refused. The lab checks scenarios before it lowers them, so a user meets this only with a hand-written plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// Not JSON, or not of this shape.
    Syntax(String),
    /// A name that no node has.
    UnknownNode {
        /// Where it is used.
        used_by: String,
        /// The name.
        name: String,
    },
    /// A value that makes no sense at this place.
    Nonsense {
        /// The place, e.g. `switches[0].policy.queues[1]`.
        place: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Syntax(why) => write!(f, "the plan cannot be read: {why}"),
            PlanError::UnknownNode { used_by, name } => write!(f, "{used_by}: there is no node named {name:?}"),
            PlanError::Nonsense { place, reason } => write!(f, "{place}: {reason}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl PlanError {
    pub(crate) fn nonsense(place: impl Into<String>, reason: impl Into<String>) -> PlanError {
        PlanError::Nonsense { place: place.into(), reason: reason.into() }
    }
}

pub(crate) fn require(ok: bool, place: &str, reason: &str) -> Result<(), PlanError> {
    if ok { Ok(()) } else { Err(PlanError::nonsense(place, reason)) }
}
