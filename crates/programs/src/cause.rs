//! The cause of a program's act, for engines that explain latencies. Nothing else depends on it.

use tailrace_units::{Span, Time};

/// The kind of time that a program spends between an input and its consequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Its own, with its waits for cores and for a worker.
    Program,
    /// That of a block device.
    Device,
    /// None: a command of a storage protocol waits for an entry of the session's queue.
    Entry,
}

/// The input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// Bytes, for this socket of the same host.
    Bytes(u32),
    /// A datagram.
    Datagram {
        /// The socket. A program numbers its own sockets; a cause from the host has the host's
        /// number.
        socket: u32,
        /// Its number, which its sender has chosen.
        number: u64,
    },
    /// None: the work has continued since [`Cause::by`].
    Nothing,
}

/// Why a program acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The input.
    pub came: Came,
    /// Later inputs do not count.
    pub by: Time,
    /// For how long it waited until a worker of the program took it up.
    pub waited: Span,
    /// The kind of time since then.
    pub work: Work,
}

/// Why a program acts when it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Because {
    /// Its host.
    pub host: u16,
    /// Its cause; `None` if the program has not named one, or its own deadline has come.
    pub cause: Option<Cause>,
    /// On a host with a processor, how long its thread has been awake and not at work.
    pub core_wait: Span,
}

impl Cause {
    /// The latest input of this socket.
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
