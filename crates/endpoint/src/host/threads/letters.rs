//! What a thread is told.

use crate::app::Message;
use crate::cause::Cause;
use crate::udp::Datagram;
use std::collections::VecDeque;
use tailrace_units::Time;

/// An event that a program learns of by a system call.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) enum Letter {
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
    /// It has the core that it has asked for.
    Core,
    /// A datagram has arrived.
    Datagram(Datagram),
    /// A datagram has arrived for a program with several sockets.
    Message(Message),
}

impl Letter {
    /// The socket of a program that it is about.
    pub(in crate::host) fn socket(&self) -> Option<u32> {
        match *self {
            Letter::Connected { socket }
            | Letter::Readable { socket, .. }
            | Letter::Ended { socket }
            | Letter::Failed { socket } => Some(socket),
            Letter::Waiting { .. } | Letter::Due | Letter::Core | Letter::Datagram(_) | Letter::Message(_) => None,
        }
    }

    /// What follows from it follows from what it tells.
    pub(in crate::host) fn cause(&self, now: Time) -> Option<Cause> {
        match self {
            Letter::Message(message) => Some(Cause::datagram(message.socket, message.number, now)),
            other => other.socket().map(|socket| Cause::now(socket, now)),
        }
    }

    /// Bytes of one socket that arrive one after the other are read together.
    pub(super) fn add_to(self, letters: &mut VecDeque<Letter>) {
        if let Letter::Readable { socket, bytes } = self
            && let Some(Letter::Readable { socket: last, bytes: more }) = letters.back_mut()
            && *last == socket
        {
            *more += bytes;
            return;
        }
        letters.push_back(self);
    }
}
