//! Events of hosts: one type for all, from which counters, series, digests, traces and explanations
//! follow.

use tailrace_programs::StorageDone;
use tailrace_programs::cause::{Because, Cause};
use tailrace_transport::tcp::{Limits, TcpStats};
use tailrace_transport::udp::Datagram;
use tailrace_units::{Span, Time};
use tailrace_wire::{FlowKey, Packet};

/// Something that happens at a host. Bytes are those of applications, frames those of links; an
/// `owner` is the number that the engine gave to whom a socket or a program works for, a `socket`
/// the number of its host.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A frame is handed to the interface, which may still drop it.
    FrameSent,
    /// A frame that was handed to the interface waits there until the interface chooses it.
    /// Interfaces without data-centre bridging never emit this: they know at once when a frame
    /// leaves.
    FrameQueued {
        /// The frame.
        packet: &'a Packet,
    },
    /// A frame did not fit the queue of the interface.
    FrameDropped {
        /// The frame.
        packet: &'a Packet,
    },
    /// A poll takes a frame out of the receive ring.
    FrameDelivered {
        /// The frame.
        packet: &'a Packet,
    },
    /// Frames that had arrived did not fit the receive ring.
    RingDropped {
        /// How many: the latest.
        frames: u64,
        /// The packet, on a host with a processor. Other hosts do not inspect frames before they
        /// take them.
        packet: Option<&'a Packet>,
    },
    /// The processor hands a frame, or contiguous segments as one, to their socket. Hosts without a
    /// processor never emit this: there it follows from the time.
    AggregateDelivered {
        /// The first.
        packet: &'a Packet,
        /// How many.
        segments: u16,
    },
    /// A datagram, or a fragment of one, is discarded above the interface.
    DatagramDiscarded {
        /// The last packet of the aggregate.
        packet: &'a Packet,
        /// Why.
        reason: DiscardReason,
    },
    /// A program sends a datagram, whose frames are handed to the interface next.
    DatagramSent {
        /// Through this socket for datagrams.
        socket: u32,
        /// Its number, which the program has chosen.
        number: u64,
        /// Why now.
        because: Because,
    },
    /// A program has received a datagram.
    DatagramReceived {
        /// The owner for which it works.
        owner: u32,
        /// The datagram.
        datagram: &'a Datagram,
        /// On a host with a processor, for how long its thread was awake and not at work.
        core_wait: Span,
    },
    /// A program has written bytes to a connection, which takes them next.
    BytesWritten {
        /// Its socket.
        socket: u32,
        /// How many.
        bytes: u64,
        /// Why now.
        because: Because,
    },
    /// Bytes of goodput have come to a program, in order.
    BytesReceived {
        /// The owner for which it works.
        owner: u32,
        /// How many.
        bytes: u64,
    },
    /// A program begins to wait for a core. Hosts with a processor never emit this: they know the
    /// wait when it is over.
    CoreRequested {
        /// Distinguishes it from other waiting programs of its host.
        waiter: u64,
        /// The cause of its work.
        cause: Option<Cause>,
    },
    /// A program is granted the core.
    CoreGranted {
        /// As it was requested.
        waiter: u64,
    },
    /// A program with several sockets has one more: it connects, or it has accepted.
    ConnectionOpened(&'a Opened),
    /// Such a connection is over.
    ConnectionClosed {
        /// The owner for which its program works.
        owner: u32,
        /// Counters of the connection.
        stats: &'a TcpStats,
        /// For how long each thing limited it.
        limits: &'a Limits,
    },
    /// A transaction or a flow is complete.
    TransactionCompleted(&'a Completion),
    /// A part of a transaction is complete.
    PartCompleted {
        /// The owner for which the program works.
        owner: u32,
        /// When it was asked for.
        since: Time,
    },
    /// A request of storage is complete.
    StorageCompleted {
        /// The owner for which the program works.
        owner: u32,
        /// The completed request.
        done: &'a StorageDone,
    },
    /// A user, a stream or a flow has nothing more to do.
    UserFinished {
        /// Its owner.
        owner: u32,
        /// Counts within the owner.
        user: u32,
    },
    /// A flow with a connection of its own is complete: both ends of it can be given back.
    FlowFinished {
        /// The socket of the end that has noticed.
        socket: u32,
    },
}

/// A transaction or flow that is complete.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The owner of the socket.
    pub owner: u32,
    /// Counts within the owner.
    pub user: u32,
    /// When it was meant to start.
    pub intended: Time,
    /// Of a socket that is given back afterwards: where its bytes came from, where they went, and
    /// how many they were.
    pub carried: Option<Carried>,
    /// Why now.
    pub because: Because,
}

/// A flow: its ends and its size.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The host that sent.
    pub source: u16,
    /// The host that received.
    pub destination: u16,
    /// Payload.
    pub bytes: u64,
}

/// A connection of a program that owns several sockets, at one of its ends.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// The socket at this end.
    pub socket: u32,
    /// The owner for which the program works.
    pub owner: u32,
    /// The host at the other end.
    pub peer: u16,
    /// The key of the packets that this end sends.
    pub key: FlowKey,
    /// The reason for which the program opened it.
    pub cause: Option<Cause>,
}

/// Reasons for which a host discards a received frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiscardReason {
    /// Incomplete datagrams take all the memory that they may.
    Reassembly,
    /// The receive buffer of the socket is full.
    SocketBuffer,
}

/// Receives every event as it happens. An observer never changes the behaviour of a host.
///
/// The variant of an event is known where it is emitted: of an inlined `on_event` one arm remains
/// there, and none if the observer ignores the event.
pub trait Observer<P> {
    /// An event happens now at the host at this place.
    fn on_event(&mut self, now: Time, attachment: &P, event: Event<'_>);
}
