//! Explanations of latency: the latency of each transaction split into parts that add up to it
//! exactly.
//!
//! The critical path is followed from the completion back to the start. Every step explains the
//! time between two successive stamps on it, so that the sum is exact by construction. `recorder`
//! keeps the stamps, `ends` knows the prior frame of each frame, and `walk` goes back.

mod cached_path;
mod datagrams;
mod ends;
mod frames;
mod inputs;
mod inside;
mod loss;
mod number;
mod part;
mod pauses;
mod recorder;
mod stages;
mod tables;
mod timed_part;
mod walk;
mod wires;

pub(crate) use datagrams::{DatagramEnds, LostDatagrams};
pub(crate) use ends::Repairs;
pub(crate) use frames::FrameId;
pub(crate) use inputs::{Connection, SocketState, Transmission};
pub use loss::{DroppedBy, Loss};
pub(crate) use number::SocketNumber;
pub use part::{Part, Parts};
pub(crate) use pauses::Pausable;
pub(crate) use recorder::{KnownSocket, Member, Receives, Recorder, SentFrame, WorkOnFrame};
pub(crate) use stages::{Gates, Stage};
pub(crate) use tables::tables;
pub use timed_part::TimedPart;
pub(crate) use wires::Node;

use std::collections::BTreeMap;
use tailrace_units::{Span, Time};

/// The explanation of one transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// Index of the workload.
    pub workload: u32,
    /// Index within the workload.
    pub user: u32,
    /// Intended start.
    pub start: Time,
    /// Completion.
    pub end: Time,
    /// Times by part, from start to end.
    pub parts: Parts,
    /// Of that, round trips that a window took: written bytes waited in the sender for
    /// acknowledgements.
    pub windowed: Span,
    /// Of that, round trips in which it was the receiver's window.
    pub receive_windowed: Span,
    /// Number of such round trips.
    pub window_rounds: u32,
    /// Of the time in queues of switches, in those of interfaces, and of that in paused ones, the
    /// time before each wire in each class.
    pub queued_at: BTreeMap<(Part, u32, u8), Span>,
    /// Of the time in queues of switches and of interfaces, how long frames of each workload were
    /// sent; `u32::MAX` for frames of switches.
    pub behind: BTreeMap<(Part, u32), Span>,
    /// Frames of the path that were dropped, and repeated: from the completion back.
    pub losses: Vec<Loss>,
    /// The path from the completion back; empty where no timeline is wanted.
    pub steps: Vec<TimedPart>,
}
