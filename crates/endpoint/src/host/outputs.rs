//! What is around a host: the link that its interface sends on, the ring that its interface has received into, and an engine that
//! calls when something is due.

use crate::app::StorageDone;
use crate::cause::{Because, Cause};
use crate::transport::Tcp;
use crate::udp::Datagram;
use tailrace_units::{Span, Time};
use tailrace_wire::{FlowKey, Packet};

/// Frames that have come to the interface, or are on their way, in order of arrival. They stay where the engine has them until a poll
/// takes them, so that each is copied once.
pub trait ReceiveRing {
    /// When the first frame arrives, or [`Time::NEVER`].
    fn next_arrival(&self) -> Time;
    /// When the frame behind it arrives, or [`Time::NEVER`].
    fn second_arrival(&self) -> Time;
    /// Takes the first frame, which must have arrived.
    fn pop(&mut self) -> (Time, Packet);
    /// The same, to where it is wanted.
    #[inline]
    fn pop_to(&mut self, packet: &mut Packet) {
        *packet = self.pop().1;
    }
    /// Drops the latest of the frames that have arrived by `now` until `most` are left. Returns how many it dropped.
    fn drop_arrived_beyond(&mut self, most: usize, now: Time) -> u64;

    /// Takes the first frame if it has arrived by `now`.
    #[inline]
    fn pop_arrived(&mut self, now: Time) -> Option<(Time, Packet)> {
        (self.next_arrival() <= now).then(|| self.pop())
    }
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
    /// Of a socket that is given back afterwards: where its bytes came from, where they went, and how many they were.
    pub carried: Option<Carried>,
    /// Why now.
    pub because: Because,
}

/// What a flow was: its ends and its size.
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
    /// For whom the program works.
    pub owner: u32,
    /// The host at the other end.
    pub peer: u16,
    /// The key of the packets that this end sends.
    pub key: FlowKey,
    /// What the program opened it for.
    pub cause: Option<Cause>,
}

/// Why a host discards what it has received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Incomplete datagrams take all the memory that they may.
    Reassembly,
    /// The receive buffer of the socket is full.
    SocketBuffer,
}

/// What a host does to what is around it. A `place` is where the host stands in the engine, and the engine's own; so are the `owner` and
/// the `timer` of a socket.
pub trait Outputs {
    /// Where a host is attached.
    type Place;
    /// Where received frames are.
    type Ring: ReceiveRing;

    /// The frames that have come to the interface.
    fn ring(&mut self, place: &Self::Place) -> &mut Self::Ring;
    /// When a frame that arrives at `arrival` after a quiet time is polled: the ring's interrupt moderation.
    fn poll_after(&mut self, place: &Self::Place, arrival: Time) -> Time;
    /// Whether the ring holds every frame that has arrived though nothing polls it, and frames are polled as they arrive.
    fn holds_unpolled(&self, _: &Self::Place) -> bool {
        false
    }
    /// The receive stage polls next at this time, which is later than the poll in work.
    fn postpone_poll(&mut self, place: &Self::Place, at: Time);
    /// The receive stage polls next at this time, or not before the next arrival with [`Time::NEVER`].
    fn arm_poll(&mut self, place: &Self::Place, at: Time);
    /// Something on a core of the host's processor is done at this time.
    fn arm_processor(&mut self, place: &Self::Place, at: Time);
    /// A virtual machine has come to have, or has ceased to have, something to do on a core.
    fn call_hypervisor(&mut self, place: &Self::Place, at: Time);
    /// The interface chooses its next frame at this time.
    fn arm_interface(&mut self, place: &Self::Place, at: Time);
    /// The socket of this timer is due at this time.
    fn arm_socket(&mut self, timer: u32, at: Time);
    /// The same where that is earlier than what was armed. A socket that is called too early asks again.
    fn hasten_socket(&mut self, timer: u32, at: Time);

    /// A frame was handed to the interface.
    fn sent(&mut self);
    /// A frame goes onto the link, from its first to its last bit.
    fn transmit(&mut self, place: &Self::Place, packet: &Packet, start: Time, end: Time);
    /// The same over the link of one of the interfaces of a bond. An engine without bonds has one link.
    fn transmit_over(&mut self, place: &Self::Place, _interface: u32, packet: &Packet, start: Time, end: Time) {
        self.transmit(place, packet, start, end);
    }
    /// A frame did not fit the queue of the interface.
    fn dropped(&mut self, place: &Self::Place, at: Time, packet: &Packet);
    /// A frame was handed to an interface that sends it later. Only engines that explain latencies listen to this and the next three.
    fn enqueued(&mut self, _place: &Self::Place, _packet: &Packet) {}
    /// The processor hands so many segments to their socket, merged, of which this is the first.
    fn handed_up(&mut self, _place: &Self::Place, _packet: &Packet, _segments: u16) {}
    /// This frame does not fit the receive ring of a host with a processor, of which [`Outputs::ring_dropped`] tells too.
    fn left_out(&mut self, _place: &Self::Place, _packet: &Packet) {}
    /// A datagram, or a fragment of one, was discarded above the interface.
    fn refused(&mut self, _place: &Self::Place, _packet: &Packet, _why: Refusal) {}
    /// So many frames did not fit the receive ring.
    fn ring_dropped(&mut self, frames: u64);
    /// A poll took a frame.
    fn delivered(&mut self, packet: &Packet);

    /// A program has written bytes to a socket of this host, which takes them next. Only engines that explain latencies listen to this and
    /// the next three.
    fn wrote(&mut self, _socket: u32, _bytes: u64, _because: Because) {}
    /// A program sends a datagram of this number through this socket of its host, whose frames are handed to the interface next.
    fn sends_datagram(&mut self, _socket: u32, _number: u64, _because: Because) {}
    /// A program waits for a core of its host from now on, to work for this; `waiter` tells it from others.
    fn asks_core(&mut self, _host: u16, _waiter: u64, _cause: Option<Cause>) {}
    /// It has the core.
    fn has_core(&mut self, _host: u16, _waiter: u64) {}
    /// A program of this owner has received a datagram. On a host with a processor, its thread was awake and not at work for so long.
    fn received_datagram(&mut self, now: Time, owner: u32, datagram: &Datagram, core_wait: Span);
    /// Bytes of goodput came to a program of this owner.
    fn received(&mut self, now: Time, owner: u32, bytes: u64);
    /// A transaction or flow is complete.
    fn completed(&mut self, now: Time, completion: &Completion);
    /// A part of a transaction, which was asked for at `since`, is complete.
    fn part_completed(&mut self, now: Time, owner: u32, since: Time);
    /// A request of storage of this owner is complete. An engine without storage ignores it.
    fn storage_done(&mut self, _now: Time, _owner: u32, _done: &StorageDone) {}
    /// This user, stream or flow of an owner has nothing more to do.
    fn finished(&mut self, now: Time, owner: u32, user: u32);
    /// A program with several sockets has one more: it connects, or a listener has accepted.
    fn opened(&mut self, place: &Self::Place, opened: &Opened);
    /// A connection of a program with several sockets is over, with what it has counted for the owner.
    fn closed(&mut self, now: Time, owner: u32, tcp: &Tcp);
    /// A flow is complete and both ends of its connection can be given back: this host's socket.
    fn is_over(&mut self, place: &Self::Place, socket: u32);
}
