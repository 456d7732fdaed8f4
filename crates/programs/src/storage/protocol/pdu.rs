//! Protocol data units, as they stand in the stream of a connection.

use tailrace_blockdev::Request;
use tailrace_units::Span;

/// A protocol data unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pdu {
    /// Its kind.
    pub kind: PduKind,
    /// Its request: the initiator's number for it while it is outstanding.
    pub tag: u32,
    /// First byte of the request's data that it carries, or asks for.
    pub offset: u32,
    /// Bytes of the request's data that it carries.
    pub data: u32,
    /// Its bytes in the stream: header, data, padding, digests.
    pub bytes: u32,
    /// Commands that the initiator may have sent since its session began, as far as the sender
    /// knows. Initiators do not send it.
    pub window: u32,
}

/// The kind of a protocol data unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PduKind {
    /// Part of the set-up.
    SetUp,
    /// A command, with as much data as may go with it.
    Command {
        /// The request.
        request: Request,
        /// No data follows that was not asked for.
        is_final: bool,
    },
    /// The target asks for this many bytes of a write.
    ReadyToTransfer {
        /// Bytes.
        length: u32,
    },
    /// Data of a write.
    DataOut {
        /// The last of its burst.
        is_final: bool,
    },
    /// Data of a read.
    DataIn {
        /// The status, if it goes with this data.
        status: Option<Served>,
    },
    /// The status of a request.
    Response {
        /// Times of the target's device.
        status: Served,
    },
}

/// How long a target's device had a request. Real targets do not report that; the description of
/// the stream does, so that the initiator knows the waits of its requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Served {
    /// In its queue.
    pub queue: Span,
    /// While its medium and its link served it.
    pub device: Span,
    /// As in [`tailrace_blockdev::Completion`].
    pub pieces: u32,
    /// As there.
    pub pieces_wait: Span,
    /// As there.
    pub busy: Span,
}
