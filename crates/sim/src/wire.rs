//! One direction of a link: what is on its way, in order.

use crate::agenda::Source;
use crate::ring::Ring;
use tailrace_endpoint::host::ReceiveRing;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// Where a wire ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// At a switch; from here on the frame is the switch's.
    Switch { switch: u32, port: u16 },
    /// At a host, which polls its interface.
    Host(u32),
}

/// Where a wire begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// At a switch's port that chooses late: it must be settled before the wire is read.
    LatePort { switch: u32, port: u16 },
    /// At any other port or a host's interface.
    Settled,
}

/// What is on its way from one node to the next. The source in the agenda has the same index.
#[derive(Debug)]
pub(crate) struct Wire {
    /// By arrival.
    on_the_way: Ring<Time, Packet>,
    pub(crate) end: End,
    pub(crate) origin: Origin,
    /// Propagation and the receiver's pipeline.
    delay: Span,
    /// Cut-through: the frame counts as arrived when this much of it has been sent; `None` for the whole frame.
    header_time: Option<Span>,
    /// When the latest frame that went to an interface, and so is not on its way here, is over.
    pub(crate) posted_until: Time,
}

impl Wire {
    pub(crate) fn new(origin: Origin, end: End, delay: Span, header_time: Option<Span>) -> Wire {
        Wire { on_the_way: Ring::default(), end, origin, delay, header_time, posted_until: Time::ZERO }
    }

    /// Whether the next frame needs more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.on_the_way.is_full()
    }

    /// Puts a frame on the wire. Returns when it arrives, if it is the first on its way.
    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet, start: Time, end: Time) -> Option<Time> {
        let arrival = self.arrival(start, end);
        self.on_the_way.push(arrival, packet);
        (self.on_the_way.len() == 1).then_some(arrival)
    }

    /// When a frame sent from `start` to `end` arrives.
    #[inline]
    pub(crate) fn arrival(&self, start: Time, end: Time) -> Time {
        match self.header_time {
            None => end + self.delay,
            Some(header) => (start + header).min(end) + self.delay,
        }
    }

    /// Whether frames are read when their header arrives.
    pub(crate) fn is_read_ahead(&self) -> bool {
        self.header_time.is_some()
    }

    /// When the next frame arrives.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.on_the_way.front().unwrap_or(Time::NEVER)
    }

    /// Takes the next frame if it has arrived.
    #[inline]
    pub(crate) fn pop_arrived(&mut self, now: Time) -> Option<(Time, Packet)> {
        if self.on_the_way.front()? > now {
            return None;
        }
        Some(self.on_the_way.pop())
    }

    /// Takes the next frame, which must have arrived.
    #[inline]
    pub(crate) fn pop(&mut self) -> (Time, Packet) {
        self.on_the_way.pop()
    }

    /// Frames on their way. Pause frames are the switches' own and not counted among the frames of the network.
    pub(crate) fn len(&self) -> usize {
        self.on_the_way.iter().filter(|frame| !frame.1.flags.contains(Flags::PAUSE)).count()
    }
}

/// The wire that ends at a host is the ring from which the host polls.
impl ReceiveRing for Wire {
    #[inline]
    fn next_arrival(&self) -> Time {
        self.on_the_way.front().unwrap_or(Time::NEVER)
    }
    #[inline]
    fn second_arrival(&self) -> Time {
        self.on_the_way.second().unwrap_or(Time::NEVER)
    }
    #[inline]
    fn pop(&mut self) -> (Time, Packet) {
        self.on_the_way.pop()
    }
    #[inline]
    fn pop_arrived(&mut self, now: Time) -> Option<(Time, Packet)> {
        Wire::pop_arrived(self, now)
    }

    fn drop_arrived_beyond(&mut self, most: usize, now: Time) -> u64 {
        if self.on_the_way.len() <= most || self.on_the_way.iter().nth(most).is_none_or(|frame| frame.0 > now) {
            return 0;
        }
        let arrived = self.on_the_way.iter().take_while(|frame| frame.0 <= now).count();
        self.on_the_way.remove(most, arrived);
        (arrived - most) as u64
    }
}

/// The index of a wire is its source in the agenda.
pub(crate) fn source_of(wire: usize) -> Source {
    wire as Source
}
