//! Operations of a thread on its core, and their durations.

use super::{KernelCosts, ProgramEvent};
use crate::cpu::Kind;
use crate::cpu::time_for;
use tailrace_programs::Message;
use tailrace_programs::cause::Cause;
use tailrace_transport::tcp::{Close, Tcp};
use tailrace_units::Span;

/// A large write goes into the socket in pieces of this size, each when there is room (Linux: a
/// segment of up to 64 KB at a time).
pub(super) const PIECE_BYTES: u64 = 65_536;

/// One operation. Each socket comes with its expected hash: by the time of the operation its number
/// may belong to another connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// Learns of an event.
    Learn(ProgramEvent),
    /// Work of the program.
    Compute(Span),
    /// Opens the connection of its socket.
    Connect,
    /// Writes to a socket. The rest of a write that has begun needs no other system call.
    Write { socket: u32, expects: u32, bytes: u64, has_begun: bool, cause: Option<Cause> },
    /// Takes bytes out of a receive buffer.
    Read { socket: u32, expects: u32, bytes: u64 },
    /// Writes no more.
    ShutDown { socket: u32, expects: u32 },
    /// Closes.
    Close { socket: u32, expects: u32 },
    /// Sends a datagram.
    Send { bytes: u32 },
    /// Sends a datagram of a program with several sockets.
    SendMessage(Message, Option<Cause>),
    /// Only the work that follows from earlier operations, which every operation of the kernel does
    /// first.
    Overhead(Span),
}

impl Operation {
    /// The socket that it is about, which must still expect this.
    pub(crate) fn about(&self) -> Option<(u32, u32)> {
        match *self {
            Operation::Write { socket, expects, .. }
            | Operation::Read { socket, expects, .. }
            | Operation::ShutDown { socket, expects }
            | Operation::Close { socket, expects } => Some((socket, expects)),
            Operation::Learn(_)
            | Operation::Compute(_)
            | Operation::Connect
            | Operation::Send { .. }
            | Operation::SendMessage(..)
            | Operation::Overhead(_) => None,
        }
    }

    /// Its work. Bytes that arrive are copied when the thread learns of them, unless it reads by
    /// itself.
    pub(super) fn work(&self, costs: &KernelCosts, reads_itself: bool) -> (Kind, Span) {
        let call = costs.system_call;
        let work = match *self {
            Operation::Compute(work) => return (Kind::User, work),
            Operation::Overhead(work) => work,
            Operation::Learn(ProgramEvent::Core) => Span::ZERO,
            Operation::Learn(ProgramEvent::Readable { bytes, .. }) if !reads_itself => {
                call + time_for(bytes, costs.read_byte_fs)
            }
            Operation::Learn(ProgramEvent::Datagram(datagram)) => {
                call + time_for(datagram.payload_bytes.into(), costs.read_byte_fs)
            }
            Operation::Learn(ProgramEvent::Message(message)) => {
                call + time_for(message.bytes.into(), costs.read_byte_fs)
            }
            Operation::Read { bytes, .. } => call + time_for(bytes, costs.read_byte_fs),
            Operation::Write { bytes, has_begun, .. } => {
                let copy = time_for(bytes.min(PIECE_BYTES), costs.write_byte_fs);
                if has_begun { copy } else { call + copy }
            }
            Operation::Send { bytes } | Operation::SendMessage(Message { bytes, .. }, _) => {
                call + time_for(bytes.into(), costs.write_byte_fs)
            }
            Operation::Learn(_)
            | Operation::Connect
            | Operation::ShutDown { .. }
            | Operation::Close { .. } => call,
        };
        (Kind::System, work)
    }
}

/// Whether an operation of a socket is still of use: the connection may be gone, or closed by
/// another thread.
pub(super) fn is_of_use(operation: &Operation, tcp: &Tcp) -> bool {
    match operation {
        Operation::Write { .. } => matches!(tcp.closing(), Close::Open | Close::CloseWait),
        _ => tcp.closing() != Close::Closed,
    }
}

/// Whether a socket takes another piece. One goes beyond its buffer, as a write that waits for room
/// does: the buffer grows then.
pub(super) fn has_room(tcp: &Tcp) -> bool {
    tcp.failure().is_some() || tcp.unsent() + tcp.unacked() <= tcp.buffers().0
}
