//! Events of a thread.

use std::collections::VecDeque;
use tailrace_programs::Message;
use tailrace_programs::cause::Cause;
use tailrace_transport::udp::Datagram;
use tailrace_units::Time;

/// An event that a program learns of by a system call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProgramEvent {
    /// The connection of a socket is open.
    Connected { socket: u32 },
    /// Bytes have arrived.
    Readable { socket: u32, bytes: u64 },
    /// The peer has closed its end.
    Ended { socket: u32 },
    /// The connection is lost.
    Failed { socket: u32 },
    /// A connection waits at a port.
    Waiting { port: u16 },
    /// Its deadline has come.
    Due,
    /// It has the core that it has requested.
    Core,
    /// A datagram has arrived.
    Datagram(Datagram),
    /// A datagram has arrived for a program with several sockets.
    Message(Message),
}

impl ProgramEvent {
    /// The socket of a program that it is about.
    pub(crate) fn socket(&self) -> Option<u32> {
        match *self {
            ProgramEvent::Connected { socket }
            | ProgramEvent::Readable { socket, .. }
            | ProgramEvent::Ended { socket }
            | ProgramEvent::Failed { socket } => Some(socket),
            ProgramEvent::Waiting { .. }
            | ProgramEvent::Due
            | ProgramEvent::Core
            | ProgramEvent::Datagram(_)
            | ProgramEvent::Message(_) => None,
        }
    }

    /// The cause of the acts that follow from this event.
    pub(crate) fn cause(&self, now: Time) -> Option<Cause> {
        match self {
            ProgramEvent::Message(message) => {
                Some(Cause::datagram(message.socket, message.number, now))
            }
            other => other.socket().map(|socket| Cause::now(socket, now)),
        }
    }

    /// Bytes of one socket that arrive one after the other are read together.
    pub(super) fn add_to(self, inbox: &mut VecDeque<ProgramEvent>) {
        if let ProgramEvent::Readable { socket, bytes } = self
            && let Some(ProgramEvent::Readable { socket: last, bytes: more }) = inbox.back_mut()
            && *last == socket
        {
            *more += bytes;
            return;
        }
        inbox.push_back(self);
    }
}
