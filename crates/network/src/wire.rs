//! One direction of a link: the frames in flight, in order.

use crate::NetworkFrame;
use crate::flight::Flight;
use crate::ring::Ring;
use tailrace_host::ReceiveRing;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// Where a wire ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// At a port of a switch; from here on the frame is the switch's.
    Switch {
        /// Its number.
        switch: u32,
        /// The port.
        port: u16,
    },
    /// At a host.
    Host(u32),
    /// At a hypervisor, around a port of its virtual switch.
    Stage {
        /// Its number.
        hypervisor: u32,
        /// The port.
        port: u16,
        /// Whether frames come from the switch, for a virtual machine, or are still to be switched.
        is_switched: bool,
    },
    /// At one of the interfaces of a host that has several.
    Bonded(u32),
}

/// Where a wire begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// At a switch's port that chooses late: it must be settled before the wire is read.
    LatePort {
        /// Its number.
        switch: u32,
        /// The port.
        port: u16,
    },
    /// At any other port or a host's interface.
    Settled,
}

/// The frames in flight from one node to the next. Each hop touches two wires: one is as large as a
/// cache line, and begins where one begins.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Wire<F: NetworkFrame> {
    /// By arrival.
    on_the_way: Ring<F>,
    /// Where it ends.
    pub end: End,
    /// Where it begins.
    pub origin: Origin,
    flight: Flight,
}

const _: () = assert!(size_of::<Wire<Packet>>() == 64, "a wire is as large as a cache line");

impl<F: NetworkFrame> Wire<F> {
    pub(crate) fn new(origin: Origin, end: End, flight: Flight) -> Wire<F> {
        Wire { on_the_way: Ring::default(), end, origin, flight }
    }

    /// Whether the next frame needs more memory.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.on_the_way.is_full()
    }

    /// Puts a frame on the wire. Returns when it arrives, if it is the first on its way.
    #[inline(always)]
    pub fn push(&mut self, frame: &F, start: Time, end: Time) -> Option<Time> {
        let arrival = self.arrival(start, end);
        self.on_the_way.push(arrival, frame).then_some(arrival)
    }

    /// Puts a frame on the wire whose arrival is known. It must not lie before that of the frame
    /// before it.
    #[inline]
    pub fn push_at(&mut self, arrival: Time, frame: &F) {
        self.on_the_way.push(arrival, frame);
    }

    /// When a frame that is sent from `start` to `end` arrives.
    #[inline]
    pub fn arrival(&self, start: Time, end: Time) -> Time {
        self.flight.arrival(start, end)
    }

    /// The same, but neither before `earliest` nor before the frames that are on their way already.
    pub fn arrival_after(&self, start: Time, end: Time, earliest: Time) -> Time {
        let last = self.on_the_way.back().unwrap_or(Time::ZERO);
        self.arrival(start, end).max(earliest).max(last)
    }

    /// Whether frames are read when their header arrives.
    pub fn is_read_ahead(&self) -> bool {
        self.flight.cuts_through()
    }

    /// When the next frame arrives; [`Time::NEVER`] when none is on its way.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.on_the_way.front().unwrap_or(Time::NEVER)
    }

    /// The next frame, with its arrival.
    #[inline]
    pub fn next_frame(&self) -> Option<(Time, F)> {
        self.on_the_way.iter().next()
    }

    /// The frames on their way but for the first so many, each with its arrival.
    pub fn frames_from(&self, place: usize) -> impl Iterator<Item = (Time, F)> {
        self.on_the_way.iter().skip(place)
    }

    /// The next frame is wanted soon.
    #[inline]
    pub fn prefetch(&self) {
        self.on_the_way.prefetch();
    }

    /// The head of the next frame, if one is on its way.
    #[inline(always)]
    pub fn next_head(&self) -> Option<&F::Head> {
        self.on_the_way.head()
    }

    /// Prefetches the slot of the next frame to be sent.
    #[inline(always)]
    pub fn prefetch_last(&self) {
        self.on_the_way.prefetch_next();
    }

    /// Takes the next frame if it has arrived.
    #[inline]
    pub fn pop_arrived(&mut self, now: Time) -> Option<(Time, F)> {
        if self.on_the_way.front()? > now {
            return None;
        }
        Some(self.on_the_way.pop())
    }

    /// Takes the next frame, which must have arrived.
    #[inline]
    pub fn pop(&mut self) -> (Time, F) {
        self.on_the_way.pop()
    }

    /// The same, into memory of the caller.
    #[inline(always)]
    pub fn pop_to(&mut self, frame: &mut F) {
        self.on_the_way.pop_to(frame);
    }

    /// When the frame behind the next one arrives.
    #[inline]
    pub fn second_arrival(&self) -> Time {
        self.on_the_way.second().unwrap_or(Time::NEVER)
    }

    /// Drops the latest of the frames that have arrived by `now` until `most` are left, and returns
    /// how many it dropped.
    pub fn drop_arrived_beyond(&mut self, most: usize, now: Time) -> u64 {
        if self.on_the_way.len() <= most
            || self.on_the_way.iter().nth(most).is_none_or(|frame| frame.0 > now)
        {
            return 0;
        }
        let arrived = self.on_the_way.iter().take_while(|frame| frame.0 <= now).count();
        self.on_the_way.remove(most, arrived);
        (arrived - most) as u64
    }

    /// Where the memory for frames on their way begins, if there is any.
    pub fn memory(&self) -> Option<usize> {
        self.on_the_way.memory()
    }

    /// Removes the frames on their way, and their memory.
    pub fn discard(&mut self) {
        self.on_the_way.discard();
    }

    /// Whether frames follow each other.
    #[inline]
    pub fn holds_several(&self) -> bool {
        self.on_the_way.second().is_some()
    }

    /// Frames on their way. Pause frames are the switches' own and not counted among the frames of
    /// the network.
    pub fn frames(&self) -> u64 {
        self.on_the_way.iter().filter(|(_, frame)| !frame.is_pause()).count() as u64
    }
}

/// The wire that ends at a host is the ring from which the host polls.
impl ReceiveRing for Wire<Packet> {
    #[inline]
    fn next_arrival(&self) -> Time {
        self.next_arrival()
    }
    #[inline]
    fn second_arrival(&self) -> Time {
        self.second_arrival()
    }
    #[inline]
    fn pop(&mut self) -> (Time, Packet) {
        self.pop()
    }
    #[inline(always)]
    fn pop_to(&mut self, packet: &mut Packet) {
        self.pop_to(packet);
    }
    #[inline]
    fn pop_arrived(&mut self, now: Time) -> Option<(Time, Packet)> {
        self.pop_arrived(now)
    }
    fn drop_arrived_beyond(&mut self, most: usize, now: Time) -> u64 {
        self.drop_arrived_beyond(most, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::Span;

    #[test]
    fn a_frame_that_is_held_up_arrives_neither_too_early_nor_before_those_ahead_of_it() {
        let flight = Flight::new(Span::from_ns(5), None);
        let mut wire = Wire::new(Origin::Settled, End::Host(0), flight);
        let ns = |ns: u64| Time::ZERO + Span::from_ns(ns);
        assert_eq!(wire.arrival_after(ns(1), ns(2), Time::ZERO), ns(7));
        assert_eq!(wire.arrival_after(ns(1), ns(2), ns(9)), ns(9));
        wire.push_at(ns(20), &Packet::default());
        assert_eq!(wire.arrival_after(ns(1), ns(2), ns(9)), ns(20));
    }
}
