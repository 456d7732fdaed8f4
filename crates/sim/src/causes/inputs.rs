//! Inputs of the recorder.

use super::ends::{Repairs, SocketId};
use tailrace_transport::tcp::Limit;
use tailrace_units::Time;

/// A transmission.
pub(crate) struct Transmission {
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) arrival: Time,
    pub(crate) workload: Option<usize>,
}

/// The state of a socket after an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketState {
    pub(crate) repairs: Repairs,
    /// The limit of its sending.
    pub(crate) limit: Limit,
    /// The retransmission timer has expired, and lost segments are being repeated.
    pub(crate) is_after_timeout: bool,
}

/// A connection whose ends both exist from the start: sockets, the hashes of the packets that they
/// send, and ports.
pub(crate) struct Connection {
    pub(crate) workload: u32,
    pub(crate) ends: [SocketId; 2],
    pub(crate) hashes: [u32; 2],
    pub(crate) ports: [u16; 2],
}
