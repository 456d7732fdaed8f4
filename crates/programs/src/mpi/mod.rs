//! Ranks of an MPI job that run a benchmark: point-to-point messages and collectives over TCP, as
//! Open MPI 4.1 sends them.
//!
//! A [`MpiHost`] is the program of one host with all its ranks. The sends and receives of a rank,
//! step by step, are a pure function of its rank number ([`schedule`]); a message travels as in
//! Open MPI's `ob1` and its TCP transport ([`wire`]).

mod host;
mod links;
mod net;
mod rank;
pub mod schedule;
mod script;
#[cfg(test)]
mod tests;
mod wire;

pub use host::{MpiConfig, MpiHost};
pub use script::{Job, Size};
pub use wire::{EAGER_LIMIT, Ledger};

use tailrace_units::{BitRate, Span};

/// Cost of the library and of memory on a host.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Of a rank, for each thing that it hands to a connection.
    pub send: Span,
    /// Of a rank, for each thing that it takes from a connection.
    pub receive: Span,
    /// Copies of messages that were sent eagerly; none where they take no time.
    pub copy: Option<BitRate>,
    /// Rate of combining received data with the local data; none where it takes no time.
    pub combine: Option<BitRate>,
    /// A message between ranks of one host.
    pub local_latency: Span,
    /// Its bytes; none where they take no time.
    pub local: Option<BitRate>,
}

/// The time for so many bytes.
fn time_at(rate: Option<BitRate>, bytes: u64) -> Span {
    rate.map_or(Span::ZERO, |rate| rate.pace(0).time_to_send(bytes))
}
