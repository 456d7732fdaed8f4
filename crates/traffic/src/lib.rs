//! The workloads of a plan over real sockets: every end of one host in one thread, with the
//! programs and the random streams of the simulator. The draws are the same: when users start, how
//! long they pause, how large flows are, when they arrive.
//!
//! [`Host`] is handed the time and the events of its sockets, and asks for sockets by the trait
//! [`Sockets`]; `kernel` has those of Linux. `record` is the file that a host writes, and [`merge`]
//! makes the outcome of a trial from all of them.

pub mod commands;
pub mod counters;
pub mod duty;
pub mod host;
pub mod kernel;
pub mod merge;
pub mod record;
pub mod sockets;

mod datagrams;
mod end;
mod flows;
mod hosted;
mod limits;
mod servers;
mod waiter;

pub use duty::Addresses;
pub use host::{Host, Settings};
pub use merge::{Merged, merge};
pub use sockets::{Event, Marks, Route, Sockets};
