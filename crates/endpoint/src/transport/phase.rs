//! The states of a connection between opening and closing.

use super::giving_up::Failure;

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Listen,
    SynSent,
    SynReceived,
    Established,
    /// Established, and an end was closed.
    Closing,
    /// Nothing is left of the connection.
    Closed,
    /// The same before both ends had closed.
    Failed(Failure),
}
