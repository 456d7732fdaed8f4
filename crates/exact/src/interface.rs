//! The interface of a host between its driver and its link: when frames are sent, and when the
//! driver hears of received ones.

use crate::device::{Card, Features};
use crate::spec::Line;
use std::collections::VecDeque;
use tailrace_host::Moderation;
use tailrace_lab::frame::{LiveFrame, mark_congestion};
use tailrace_lab::network::Network;
use tailrace_network::pace_of;
use tailrace_plan::Plan;
use tailrace_units::{Pace, RandomStream, Span, Time};
use tailrace_wire::Ecn;

/// Of a frame on a wire.
pub const SHORTEST_BYTES: u64 = 60;

/// One host's.
#[derive(Debug)]
pub struct Interface {
    pace: Pace,
    overhead_bytes: u64,
    /// When the line has sent its frames.
    free_at: Time,
    /// Slots of the ring that are being sent, by the end of their last frame.
    sending: VecDeque<(Time, u16)>,
    /// Messages of the engine for the guest, before any frame.
    unreported: VecDeque<Line>,
    /// Frames that the driver has not been handed.
    received: VecDeque<LiveFrame>,
    moderation: Moderation,
    /// Interrupt moderation of sent frames.
    coalesce: Span,
    /// When the driver is handed received frames; never when there are none.
    hand_over_at: Time,
    /// The driver's ring was full.
    is_starved: bool,
    ring_frames: usize,
    counted: Counted,
    /// Frames that were for no host of the plan.
    pub foreign: u64,
}

/// Counters of an interface.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Frames that its link has brought.
    pub received_frames: u64,
    /// Frames that found the receive ring full.
    pub ring_drops: u64,
}

impl Interface {
    /// The interface of a host of the plan.
    pub fn new(plan: &Plan, host: usize) -> Interface {
        let nic = &plan.raw.hosts[host].nic;
        let stream =
            RandomStream::new(plan.raw.seed, &format!("{}/rx-jitter", plan.graph.names[host]));
        Interface {
            pace: pace_of(plan, host, 0),
            overhead_bytes: u64::from(plan.raw.framing.overhead_bytes),
            free_at: Time::ZERO,
            sending: VecDeque::new(),
            unreported: VecDeque::new(),
            received: VecDeque::new(),
            moderation: Moderation::new(
                Span::from_ps(nic.rx_coalesce_ps),
                plan.rx_jitter[host].clone(),
                stream,
            ),
            coalesce: Span::from_ps(nic.rx_coalesce_ps),
            hand_over_at: Time::NEVER,
            is_starved: false,
            ring_frames: nic.rx_ring_frames as usize,
            counted: Counted::default(),
            foreign: 0,
        }
    }

    /// Its counters so far.
    pub fn counted(&self) -> Counted {
        self.counted
    }

    /// Features that the driver is offered.
    pub fn features(plan: &Plan, host: usize) -> Features {
        Features { segmentation: plan.raw.hosts[host].nic.tso_bytes > 0, ..Features::default() }
    }

    /// A frame of this size is handed over now: when its transmission starts and ends.
    pub fn send(&mut self, now: Time, frame_bytes: u32) -> (Time, Time) {
        let start = self.free_at.max(now);
        self.free_at = start + self.pace.time_to_send(u64::from(frame_bytes) + self.overhead_bytes);
        (start, self.free_at)
    }

    /// The frame in this slot of the ring is sent after those before it. A frame without a line
    /// takes the time of the shortest frame: no guest learns sooner of a frame that it sends.
    pub fn sends(&mut self, now: Time, slot: u16) {
        let least = now + self.pace.time_to_send(SHORTEST_BYTES);
        self.sending.push_back((self.free_at.max(least), slot));
    }

    /// A frame has come. Returns it when the ring has no room for it.
    pub fn arrived(&mut self, arrival: Time, frame: LiveFrame) -> Option<LiveFrame> {
        self.counted.received_frames += 1;
        if self.received.len() >= self.ring_frames {
            self.counted.ring_drops += 1;
            return Some(frame);
        }
        self.received.push_back(frame);
        if self.hand_over_at.is_never() && !self.is_starved {
            self.hand_over_at = self.moderation.poll_after(arrival);
        }
        None
    }

    /// Sends the guest this message as soon as its driver has room for it.
    pub fn tell(&mut self, now: Time, line: Line) {
        self.unreported.push_back(line);
        if !self.is_starved {
            self.hand_over_at = self.hand_over_at.min(now);
        }
    }

    /// The driver has made room.
    pub fn has_room(&mut self, now: Time) {
        if std::mem::take(&mut self.is_starved) {
            self.hand_over_at = self.hand_over_at.min(now);
        }
    }

    /// When it has something to report to its driver.
    pub fn due(&self) -> Time {
        self.give_back_at().min(self.hand_over_at)
    }

    fn give_back_at(&self) -> Time {
        self.sending.front().map_or(Time::NEVER, |first| first.0 + self.coalesce)
    }

    /// Gives back the frames that were sent by `now`, if it is time; returns whether the driver is
    /// to be interrupted. One interrupt serves both rings.
    pub fn complete(&mut self, now: Time, card: &mut Card) -> Result<bool, String> {
        if self.due() > now {
            return Ok(false);
        }
        let count = self.sending.iter().take_while(|sent| sent.0 <= now).count();
        if count == 0 {
            return Ok(false);
        }
        card.give_back(self.sending.drain(..count).map(|sent| sent.1))
    }

    /// Hands over received frames, if it is time. Returns whether the driver is to be interrupted.
    pub fn hand_over(
        &mut self,
        now: Time,
        card: &mut Card,
        network: &mut Network,
    ) -> Result<bool, String> {
        if self.hand_over_at > now {
            return Ok(false);
        }
        self.hand_over_at = Time::NEVER;
        let mut is_any = false;
        while !self.is_starved
            && let Some(line) = self.unreported.front()
        {
            if card.receive(&line.frame())? {
                self.unreported.pop_front();
                is_any = true;
            } else {
                card.await_room()?;
                self.is_starved = true;
            }
        }
        while !self.is_starved
            && let Some(&frame) = self.received.front()
        {
            if card.receive(bytes_of(&frame, network))? {
                self.received.pop_front();
                network.release(&frame);
                is_any = true;
            } else {
                card.await_room()?;
                self.is_starved = true;
            }
        }
        Ok(is_any && card.wants_interrupt()?)
    }
}

/// The bytes of a frame as its host gets them.
fn bytes_of<'a>(frame: &LiveFrame, network: &'a mut Network) -> &'a [u8] {
    let slot = frame.slot.expect("frames of hosts have bytes");
    let bytes = &mut network.pool_mut().expect("the network has memory").bytes_mut(slot)
        [..frame.memory_bytes()];
    if frame.packet.ecn == Ecn::Ce {
        mark_congestion(bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;
    use tailrace_wire::Packet;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    /// 1 Gbit/s, two frames of ring, moderation of 10 us.
    fn interface() -> Interface {
        Interface {
            pace: BitRate::from_gbps(1).pace(0),
            overhead_bytes: 24,
            free_at: Time::ZERO,
            sending: VecDeque::new(),
            unreported: VecDeque::new(),
            received: VecDeque::new(),
            moderation: Moderation::new(
                Span::from_us(10),
                tailrace_units::Distribution::Constant(0),
                RandomStream::new(1, "test"),
            ),
            coalesce: Span::ZERO,
            hand_over_at: Time::NEVER,
            is_starved: false,
            ring_frames: 2,
            counted: Counted::default(),
            foreign: 0,
        }
    }

    #[test]
    fn a_slot_is_returned_when_the_last_frame_of_its_row_is_sent() {
        let mut interface = interface();
        let sent: Vec<_> = (0..3).map(|_| interface.send(us(5), 976)).collect(); // 8 us each
        assert_eq!(sent, [(us(5), us(13)), (us(13), us(21)), (us(21), us(29))]);
        interface.sends(us(5), 7);
        assert_eq!(interface.due(), us(29));
        let mut card = Card::default();
        assert_eq!(interface.complete(us(28), &mut card), Ok(false));
        assert_eq!(interface.due(), us(29));
        assert_eq!(
            interface.complete(us(29), &mut card),
            Ok(false),
            "without a driver nothing is reported"
        );
        assert!(interface.due().is_never());
        assert_eq!(interface.send(us(40), 976).0, us(40));
    }

    #[test]
    fn no_notification_comes_sooner_than_the_shortest_frame() {
        let mut interface = interface();
        interface.sends(us(5), 7);
        assert_eq!(interface.due(), us(5) + Span::from_ns(480));
    }

    #[test]
    fn sent_frames_are_reported_when_the_interrupt_moderation_says() {
        let mut interface = Interface { coalesce: Span::from_us(10), ..interface() };
        interface.sends(us(5), 7);
        assert_eq!(interface.due(), us(15) + Span::from_ns(480));
    }

    #[test]
    fn a_driver_that_has_made_room_is_handed_what_waits_at_once() {
        let mut interface = Interface { is_starved: true, ..interface() };
        let frame = LiveFrame::bare(Packet { frame_bytes: 60, ..Packet::default() });
        assert!(interface.arrived(us(1), frame).is_none());
        assert!(interface.due().is_never(), "there is no room");
        interface.has_room(us(7));
        assert_eq!(interface.due(), us(7));
    }

    #[test]
    fn the_first_arrival_decides_when_the_driver_hears_and_a_full_ring_drops() {
        let mut interface = interface();
        let frame = LiveFrame::bare(Packet { frame_bytes: 60, ..Packet::default() });
        assert!(interface.arrived(us(1), frame).is_none());
        assert!(interface.arrived(us(4), frame).is_none());
        assert_eq!(interface.due(), us(11));
        assert!(interface.arrived(us(5), frame).is_some());
        assert_eq!((interface.counted.ring_drops, interface.received.len()), (1, 2));
    }
}
