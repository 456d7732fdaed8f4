//! The environment of a host: the link at its interface, the timers of an engine, and an observer.
//! Engines and tests implement these three traits.

use super::event::Observer;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// Frames that have come to the interface, or are on their way, in order of arrival. They stay
/// where the engine has them until a poll takes them, so that each is copied once.
pub trait ReceiveRing {
    /// When the first frame arrives, or [`Time::NEVER`].
    fn next_arrival(&self) -> Time;
    /// When the frame behind it arrives, or [`Time::NEVER`].
    fn second_arrival(&self) -> Time;
    /// Takes the first frame, which must have arrived.
    fn pop(&mut self) -> (Time, Packet);
    /// The same, into `packet`.
    #[inline]
    fn pop_to(&mut self, packet: &mut Packet) {
        *packet = self.pop().1;
    }
    /// Drops the latest of the frames that have arrived by `now` until `most` are left. Returns how
    /// many it dropped.
    fn drop_arrived_beyond(&mut self, most: usize, now: Time) -> u64;

    /// Takes the first frame if it has arrived by `now`.
    #[inline]
    fn pop_arrived(&mut self, now: Time) -> Option<(Time, Packet)> {
        (self.next_arrival() <= now).then(|| self.pop())
    }
}

/// The link on which a host sends and receives.
pub trait Link {
    /// Where a host is attached: the engine's own.
    type Place;
    /// Where received frames are.
    type Ring: ReceiveRing;

    /// The frames that have come to the interface.
    fn ring(&mut self, attachment: &Self::Place) -> &mut Self::Ring;
    /// When a frame that arrives at `arrival` after a quiet time is polled: the ring's interrupt
    /// moderation.
    fn poll_after(&mut self, attachment: &Self::Place, arrival: Time) -> Time;
    /// Whether the ring holds every frame that has arrived though nothing polls it, and frames are
    /// polled as they arrive.
    fn holds_unpolled(&self, _: &Self::Place) -> bool {
        false
    }
    /// A frame goes onto the link, from its first to its last bit.
    fn transmit(&mut self, attachment: &Self::Place, packet: &Packet, start: Time, end: Time);
    /// The same over the link of one of the interfaces of a bond. An engine without bonds has one
    /// link.
    fn transmit_over(
        &mut self,
        attachment: &Self::Place,
        _interface: u32,
        packet: &Packet,
        start: Time,
        end: Time,
    ) {
        self.transmit(attachment, packet, start, end);
    }
}

/// The timers of a host. Each has one deadline at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    /// The receive stage polls.
    Poll,
    /// Something on a core of its processor is done.
    Processor,
    /// The hypervisor of a virtual machine checks it: a core has begun, or has ceased, to have
    /// work.
    Hypervisor,
    /// The interface chooses its next frame.
    Interface,
    /// A socket, or a program with several, by the number that the engine has given it.
    Socket(u32),
}

/// When a host is to be called.
pub trait Timers<P> {
    /// Sets the deadline of a timer in place of the previous one; [`Time::NEVER`] disarms it. A
    /// poll without a deadline is due with the next arrival.
    fn arm(&mut self, attachment: &P, timer: Timer, at: Time);
    /// The poll that is in work is followed by another at this later time.
    #[inline]
    fn postpone_poll(&mut self, attachment: &P, at: Time) {
        self.arm(attachment, Timer::Poll, at);
    }
    /// Moves the deadline of the socket with this number forward to `at`, if that is earlier. A
    /// socket that is called too early arms its timer again.
    fn hasten_socket(&mut self, timer: u32, at: Time);
}

/// All that is around a host.
pub trait Environment:
    Link + Timers<<Self as Link>::Place> + Observer<<Self as Link>::Place>
{
}

impl<T: Link + Timers<T::Place> + Observer<T::Place>> Environment for T {}
