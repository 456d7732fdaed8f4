//! The states of a connection between opening and closing.

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

/// Why a connection ended before both ends had closed it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Failure {
    /// A reset answered the SYN: no program listens at the port (`ECONNREFUSED`).
    Refused,
    /// The peer has reset the connection (`ECONNRESET`, `EPIPE`).
    Reset,
    /// The peer has not answered (`ETIMEDOUT`).
    TimedOut,
}
