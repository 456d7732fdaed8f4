//! One interval of the critical path.

use super::Part;
use tailrace_units::Time;

/// Part of the time of a transaction, with its position in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedPart {
    /// The part.
    pub part: Part,
    /// When it began.
    pub from: Time,
    /// When it was over.
    pub to: Time,
    /// The wire in front of which the frame waited, of time in a queue of a switch.
    pub wire: Option<u32>,
}
