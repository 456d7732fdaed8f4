//! What a program's act follows from, for engines that explain latencies. Nothing else depends on
//! it.

use tailrace_units::{Span, Time};

/// What time a program lets pass between what came and what follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Its own, with its waits for cores and for a worker.
    Program,
    /// That of a block device.
    Device,
    /// None: a command of a storage protocol waits for an entry of the session's queue.
    Entry,
}

/// What had come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// Bytes, for this socket of the same host.
    Bytes(u32),
    /// A datagram.
    Datagram {
        /// The socket. A program numbers its own; what the host tells has the host's number.
        socket: u32,
        /// Its number, which its sender has chosen.
        number: u64,
    },
    /// Nothing: then this is what has gone on since [`Cause::by`].
    Nothing,
}

/// Why a program acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// What had come.
    pub came: Came,
    /// What came later than this does not count.
    pub by: Time,
    /// For how long it waited until a worker of the program took it up.
    pub waited: Span,
    /// What the time since then was spent with.
    pub work: Work,
}

/// Why a program acts when it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Because {
    /// Its host.
    pub host: u16,
    /// What it follows from; `None` where it has not said, or where its own deadline has come.
    pub cause: Option<Cause>,
    /// On a host with a processor, how long its thread has been awake and not at work.
    pub core_wait: Span,
}

impl Cause {
    /// What has just come for this socket.
    pub fn now(socket: u32, now: Time) -> Cause {
        Cause { came: Came::Bytes(socket), by: now, waited: Span::ZERO, work: Work::Program }
    }

    /// A datagram that has just come.
    pub fn datagram(socket: u32, number: u64, now: Time) -> Cause {
        Cause {
            came: Came::Datagram { socket, number },
            by: now,
            waited: Span::ZERO,
            work: Work::Program,
        }
    }
}
