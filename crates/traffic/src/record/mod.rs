//! The record of one host: a file of numbers.
//!
//! The file begins with [`MAGIC`] and a head: the length of a JSON document and the document. Items
//! follow up to the end of the file, each a byte that names its kind and then its fields, in the
//! order of [`Item`]. The length and all fields are unsigned numbers of seven bits a byte, the
//! lowest first, with the top bit set in all bytes but the last (LEB128). Times are picoseconds
//! since the trial's time zero; a user is written plus one, so that the user of flows, which have
//! none, is 0. The last item is [`Item::End`]: a file without it is not whole.

mod numbers;
mod read;
mod write;

pub use read::{Head, Record};
pub use write::Recorder;

use crate::counters::Counters;
use tailrace_programs::Tallies;
use tailrace_units::Time;
use tailrace_workloads::Ends;

/// Name and version of the format.
pub const MAGIC: &[u8; 8] = b"traffic1";

/// A transaction, flow or datagram that is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Index of the workload.
    pub workload: u32,
    /// Counts within the workload.
    pub user: u32,
    /// When it was meant to start.
    pub intended: Time,
    /// When the first byte of its answer came, or of itself for a flow.
    pub first_byte: Time,
    /// When it was complete.
    pub end: Time,
    /// Of a flow its hosts and its size.
    pub flow: Option<(Ends, u64)>,
}

/// A connection that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// When.
    pub at: Time,
    /// Index of the workload, or `u32::MAX` for an unexpected connection.
    pub workload: u32,
    /// Counts within the workload.
    pub user: u32,
    /// 0 at the client, 1 at the server.
    pub side: u8,
    /// The system's number of the error.
    pub error: i32,
}

/// TCP's counters at one end of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Index of the workload.
    pub workload: u32,
    /// Counts within the workload.
    pub user: u32,
    /// 0 at the client, 1 at the server.
    pub side: u8,
    /// The port of the client, which distinguishes flows.
    pub port: u16,
    /// Bytes that came to the program.
    pub received: u64,
    /// The system's counters.
    pub counters: Counters,
}

/// The items of a record. The kind of the first is 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// Workload, user, intended start, from there to the first byte, from there to the end, bytes
    /// of a flow (0 for others), its source, its destination.
    Transaction(Transaction),
    /// Workload, user, number of the bin, and bytes that came to receiving programs in that bin.
    Received {
        /// Index of the workload.
        workload: u32,
        /// Of a stream: counts within the workload. `u32::MAX` for other workloads, of which all
        /// connections are summed.
        user: u32,
        /// Number of the bin.
        bin: u64,
        /// Payload.
        bytes: u64,
    },
    /// Time, workload, user, side, port of the client, bytes received; then how many counters
    /// follow, and these, in the order of [`crate::counters::COUNTERS`], each plus one, with 0 for
    /// one that the system does not report.
    Sample(Box<Sample>),
    /// Workload, user, and when it had done all that it does.
    Finished {
        /// Index of the workload.
        workload: u32,
        /// Counts within the workload.
        user: u32,
        /// When.
        at: Time,
    },
    /// Workload, user, and the intended start of an operation that was not complete at the end.
    CutOff {
        /// Index of the workload.
        workload: u32,
        /// Counts within the workload.
        user: u32,
        /// When it was meant to start.
        start: Time,
    },
    /// Time, workload, user, side, error.
    Failed(Failure),
    /// Time, workload, then how many counts follow, and these, in the order of [`Tallies`].
    Tallies {
        /// When.
        at: Time,
        /// Index of the workload.
        workload: u32,
        /// Counters of programs.
        tallies: Tallies,
    },
    /// Workload, when a part of a transaction was asked for, and from there to when it was
    /// complete.
    Part {
        /// Index of the workload.
        workload: u32,
        /// When it was asked for.
        since: Time,
        /// When it was complete.
        end: Time,
    },
    /// The end.
    End(Closing),
}

/// Figures that are known at the end only.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Closing {
    /// When the host ended.
    pub at: Time,
    /// Work of programs on cores.
    pub busy_ps: u64,
    /// Calls of programs, datagrams and flows that were due.
    pub calls: u64,
    /// By how much they were late, together.
    pub late_ps: u64,
    /// By how much the latest of them was.
    pub late_max_ps: u64,
    /// Datagrams that the system did not take.
    pub unsent_datagrams: u64,
}
