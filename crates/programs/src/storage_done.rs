//! The report of a completed request of storage.

use tailrace_blockdev::Op;
use tailrace_units::{Span, Time};

/// A request that is complete.
#[derive(Clone, Copy, Debug)]
pub struct StorageDone {
    /// Job, which counts within the workload.
    pub user: u32,
    /// Its operation.
    pub op: Op,
    /// Bytes that it read or wrote.
    pub bytes: u64,
    /// When it was meant to start.
    pub intended: Time,
    /// Its waits since then.
    pub waits: Waits,
    /// Pieces that the block layer of the device made of it.
    pub pieces: u32,
    /// From submission to completion of each of these, added up.
    pub pieces_wait: Span,
    /// How long the device had something to do since the completion before.
    pub busy: Span,
}

/// The parts of the time of a request. Together they are all of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Waits {
    /// For its turn: its job had as many requests under way as it may.
    pub turn: Span,
    /// For the processor of the initiator, and that processor's work.
    pub processor: Span,
    /// For an entry of the protocol's queue of commands.
    pub entry: Span,
    /// Of the network, with buffers and queues before and behind it.
    pub network: Span,
    /// For the target's permission to send data.
    pub r2t: Span,
    /// In the block layer and in the device, for earlier requests.
    pub queue: Span,
    /// For the medium and the link of the device, while they serve it.
    pub device: Span,
}

impl Waits {
    /// Names of the parts, as in results.
    pub const NAMES: [&'static str; 7] =
        ["turn", "processor", "entry", "network", "r2t", "queue", "device"];

    /// In the order of the names.
    pub fn parts(&self) -> [Span; 7] {
        let Waits { turn, processor, entry, network, r2t, queue, device } = *self;
        [turn, processor, entry, network, r2t, queue, device]
    }

    /// All of it.
    pub fn whole(&self) -> Span {
        self.parts().into_iter().fold(Span::ZERO, |sum, part| sum + part)
    }
}
