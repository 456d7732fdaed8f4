//! Rules on which both ends of a session have agreed.

use super::{Pdu, PduKind};
use tailrace_blockdev::Op;

/// Rules that both ends of a session have agreed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Messages before the first command, in order.
    pub set_up: Vec<SetupMessage>,
    /// Bytes of headers.
    pub headers: Headers,
    /// Bytes of the digest behind each header; 0 for none.
    pub header_digest: u32,
    /// Bytes of the digest behind each piece of data; 0 for none.
    pub data_digest: u32,
    /// Data is filled up to a multiple of this.
    pub padding: u32,
    /// Data of a write that its command carries.
    pub immediate: Immediate,
    /// Data of a write that is sent without being asked for, with that of the command; 0 for what
    /// the command carries only.
    pub first_burst: u32,
    /// Most data that a target asks for at a time.
    pub burst: u32,
    /// Most times that a target has asked for data of one request and not received it.
    pub outstanding: u32,
    /// Most data of a write in one unit.
    pub data_out: u32,
    /// Most data of a read in one unit.
    pub data_in: u32,
    /// Data of a read stands in sequences of this length, whose ends are ends of units; 0 for one
    /// sequence.
    pub sequence: u32,
    /// The status of a read goes with the last of its data.
    pub is_status_with_data: bool,
    /// Commands that a target takes.
    pub commands: u32,
    /// These count until they are answered; otherwise until they arrive.
    pub counts_unanswered: bool,
    /// Most requests of one session that an initiator has under way, whatever the target would
    /// take.
    pub requests: u32,
}

/// A step of the set-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetupMessage {
    /// Sent by the initiator; otherwise by the target.
    pub is_from_initiator: bool,
    /// Bytes.
    pub bytes: u32,
}

/// Bytes of headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Headers {
    /// Of a command.
    pub command: u32,
    /// Of data of a write.
    pub data_out: u32,
    /// Of a target asking for data.
    pub ready_to_transfer: u32,
    /// Of data of a read.
    pub data_in: u32,
    /// Of a status.
    pub response: u32,
}

/// Data of a write that its command carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Immediate {
    /// As much as there is, up to this.
    UpTo(u32),
    /// All of it if that is no more than this, otherwise none.
    AllWithin(u32),
}

impl Rules {
    /// A unit with its size.
    pub(super) fn pdu(&self, kind: PduKind, tag: u32, offset: u32, data: u32) -> Pdu {
        let header = match kind {
            PduKind::SetUp => unreachable!("steps of the set-up have sizes of their own"),
            PduKind::Command { .. } => self.headers.command,
            PduKind::ReadyToTransfer { .. } => self.headers.ready_to_transfer,
            PduKind::DataOut { .. } => self.headers.data_out,
            PduKind::DataIn { .. } => self.headers.data_in,
            PduKind::Response { .. } => self.headers.response,
        };
        let behind_data =
            if data > 0 { data.next_multiple_of(self.padding) + self.data_digest } else { 0 };
        Pdu { kind, tag, offset, data, bytes: header + self.header_digest + behind_data, window: 0 }
    }

    /// Data that the command of this request carries.
    pub(super) fn immediate_of(&self, op: Op, length: u32) -> u32 {
        match (op, self.immediate) {
            (Op::Read | Op::Flush, _) => 0,
            (Op::Write, Immediate::UpTo(most)) => length.min(most),
            (Op::Write, Immediate::AllWithin(most)) => {
                if length <= most {
                    length
                } else {
                    0
                }
            }
        }
    }

    /// Data of a write that is sent without being asked for, with that of its command.
    pub(super) fn unsolicited_of(&self, length: u32) -> u32 {
        self.immediate_of(Op::Write, length).max(self.first_burst.min(length))
    }

    /// Data of a read from `offset` on that one unit carries, of `left` bytes.
    pub(super) fn piece_in(&self, offset: u32, left: u32) -> u32 {
        let in_sequence =
            if self.sequence == 0 { left } else { self.sequence - offset % self.sequence };
        left.min(self.data_in).min(in_sequence)
    }
}
