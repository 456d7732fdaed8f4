//! The wire of a host: its TAP on one side, the network on the other.

use super::bridged::{Bridged, Queues};
use super::edge::{HostLine, Sending};
use super::fidelity::{Delivered, Fidelity, ON_TIME_SPAN};
use super::wait::WAKE_UP_MAX;
use crate::clock::Clock;
use crate::log::{Entry, Writer};
use nix::unistd::{read, write};
use std::os::fd::OwnedFd;
use tailrace_lab::capture::Captures;
use tailrace_lab::frame::{FrameOrigin, LiveFrame, mark_congestion, parse, take_stamp};
use tailrace_lab::network::Network;
use tailrace_lab::vlans::Vlans;
use tailrace_network::deliver_to;
use tailrace_units::{Pace, Span, Time};
use tailrace_wire::{Ecn, PRIORITIES};

/// The interface that the fabric plays for a host.
#[derive(Debug)]
pub(super) enum Edge {
    Plain(HostLine),
    Bridged(Box<Bridged>),
}

/// A host's wire: its queues, and how it is paced in both directions.
#[derive(Debug)]
pub(super) struct HostPort {
    pub(super) host: usize,
    /// One, or one for each priority.
    pub(super) queues: Vec<OwnedFd>,
    pub(super) edge: Edge,
    /// Pace of the switch's port towards it.
    pub(super) pace: Pace,
    /// The next queue in the round.
    pub(super) turn: u8,
    /// Queues that are known to have a frame, a bit each.
    pub(super) readable: u8,
}

/// The network, and all that is written down about it.
pub(super) struct Recorder {
    pub(super) network: Network,
    pub(super) fidelity: Fidelity,
    pub(super) log: Option<Writer>,
    pub(super) captures: Captures,
    /// Frames that entered so far.
    pub(super) entered: u64,
    pub(super) hosts: usize,
    pub(super) clock: Clock,
    pub(super) vlans: Vlans,
    pub(super) overhead_bytes: u32,
}

impl HostPort {
    /// Takes the frames that the host has sent, as far as its interface has sent them by `until`.
    /// The clock shows `now`, and the wake-up was `meant` to be then. A plain line is read ahead: a
    /// frame that it will have begun by the next wake-up comes to the switch at its own time, and
    /// not with that wake-up.
    pub(super) fn work(&mut self, recorder: &mut Recorder, until: Time, now: Time, meant: Time) {
        match &mut self.edge {
            Edge::Plain(line) => {
                if now.since(meant) <= ON_TIME_SPAN {
                    line.give_up_lost_time();
                }
                while self.readable != 0 && line.is_free(until + WAKE_UP_MAX) {
                    let queue = next_queue(self.readable, self.turn);
                    let priority = (self.queues.len() > 1).then_some(queue);
                    match recorder.read(self.host, &self.queues[usize::from(queue)], priority, now)
                    {
                        Some((frame, offered)) => {
                            let (real, on_time) =
                                line.send(now, meant, offered, u32::from(frame.packet.frame_bytes));
                            recorder.enter(self.host, frame, real, on_time);
                            self.turn = turn_after(queue);
                        }
                        None => self.readable &= !(1 << queue),
                    }
                }
                if self.readable == 0 {
                    line.found_empty();
                }
            }
            Edge::Bridged(bridged) => {
                while let Some((arrival, packet)) =
                    recorder.network.poll_control_frame(self.host, until)
                {
                    deliver_to(&mut bridged.nic, arrival, &packet);
                }
                let mut side = HostSide { host: self.host, queues: &self.queues, recorder, now };
                self.readable = bridged.work(until, now, self.readable, &mut side);
            }
        }
    }

    /// Its interface counts from `now` on.
    pub(super) fn begin_counting(&mut self, now: Time) {
        if let Edge::Bridged(bridged) = &mut self.edge {
            bridged.nic.begin_counting(now);
        }
    }

    /// Whether the host has frames that its interface does not take yet, or holds back.
    pub(super) fn waits(&self) -> bool {
        self.readable != 0 || matches!(&self.edge, Edge::Bridged(bridged) if bridged.holds_any())
    }

    /// When the interface has something to do although the host sends nothing.
    pub(super) fn poll_timeout(&self) -> Time {
        match &self.edge {
            Edge::Plain(_) => Time::NEVER,
            Edge::Bridged(bridged) => bridged.nic.poll_timeout(),
        }
    }

    /// Delivers the frames that have reached the host.
    pub(super) fn deliver(&self, recorder: &mut Recorder, now: Time, clock: &Clock) {
        if matches!(self.edge, Edge::Plain(_)) {
            // it obeys nothing
            while recorder.network.poll_control_frame(self.host, now).is_some() {}
        }
        while let Some((due, frame)) = recorder.network.poll_delivery(self.host, now) {
            let bytes = frame.packet.frame_bytes;
            if let Some(slot) = frame.slot {
                let memory = &mut recorder
                    .network
                    .pool_mut()
                    .expect("a live network has memory")
                    .bytes_mut(slot)[..frame.memory_bytes()];
                if frame.packet.ecn == Ecn::Ce {
                    mark_congestion(memory);
                }
                if write(&self.queues[0], memory).is_err() {
                    recorder.fidelity.write_failed[self.host] += 1;
                }
                recorder.captures.delivered(self.host, due, memory, frame.packet.tag);
            }
            let on_wire =
                self.pace.time_to_send(u64::from(bytes) + u64::from(recorder.overhead_bytes));
            recorder.fidelity.delivered(
                self.host,
                &Delivered { due, on_wire, on_time: frame.on_time, now: clock.now() },
            );
            recorder.network.release(&frame);
        }
    }
}

impl Recorder {
    /// The next frame of a queue that is for another host, and when the host offered it if its
    /// kernel stamps that; none when nothing waits or there is no memory.
    #[inline]
    fn read(
        &mut self,
        host: usize,
        queue: &OwnedFd,
        priority: Option<u8>,
        now: Time,
    ) -> Option<(LiveFrame, Option<Time>)> {
        loop {
            let pool = self.network.pool_mut().expect("a live network has memory");
            let Some(slot) = pool.take() else {
                self.fidelity.pool_exhausted += 1;
                return None;
            };
            let memory = pool.bytes_mut(slot);
            let length = read(queue, memory).unwrap_or(0);
            if length == 0 {
                pool.give_back(slot);
                return None;
            }
            let age_ns = take_stamp(&mut memory[..length], host, self.clock.monotonic_ns(now));
            let origin = FrameOrigin { host, hosts: self.hosts, priority, vlans: &self.vlans };
            if let Ok(frame) = parse(&memory[..length], origin, self.entered) {
                self.entered += 1;
                return Some((
                    LiveFrame { slot: Some(slot), ..frame },
                    age_ns.map(|age_ns| before(now, age_ns)),
                ));
            }
            pool.give_back(slot);
            self.fidelity.foreign_frames += 1;
        }
    }

    /// A frame of a host enters the network.
    #[inline]
    fn enter(&mut self, host: usize, frame: LiveFrame, (start, end): Sending, on_time: Sending) {
        self.fidelity.frames_in += 1;
        let frame =
            LiveFrame { on_time: self.network.undisturbed(host, on_time.0, on_time.1), ..frame };
        let advanced = self.network.advanced();
        let arrival = self.network.enter(host, frame, start, end);
        if let Some(log) = &mut self.log {
            log.add(&Entry::Frame { advanced, arrival, frame });
        }
        if self.captures.wants(host)
            && let (Some(pool), Some(slot)) = (self.network.pool_mut(), frame.slot)
        {
            self.captures.entered(
                host,
                end,
                &pool.bytes_mut(slot)[..frame.memory_bytes()],
                frame.packet.tag,
            );
        }
    }
}

/// The time this long before a moment, or after it when that is negative.
fn before(now: Time, age_ns: i64) -> Time {
    let span = Span::from_ns(age_ns.unsigned_abs());
    if age_ns < 0 { now + span } else { now - span }
}

/// The next queue in the round after a frame of this queue was taken.
fn turn_after(queue: u8) -> u8 {
    queue + 1
}

/// The first queue that has frames, from the next one in the round on.
#[inline]
fn next_queue(readable: u8, turn: u8) -> u8 {
    let turn = turn % PRIORITIES as u8;
    (turn + readable.rotate_right(u32::from(turn)).trailing_zeros() as u8) % PRIORITIES as u8
}

/// A host as its interface sees it.
struct HostSide<'a> {
    host: usize,
    queues: &'a [OwnedFd],
    recorder: &'a mut Recorder,
    now: Time,
}

impl Queues for HostSide<'_> {
    fn read(&mut self, priority: u8) -> Option<LiveFrame> {
        let queue = self.queues.get(usize::from(priority) % PRIORITIES)?;
        self.recorder.read(self.host, queue, Some(priority), self.now).map(|(frame, _)| frame)
    }
    fn send(&mut self, frame: LiveFrame, start: Time, end: Time) {
        // Pauses of the network decide when it sends: its times on a fabric without lateness are
        // not known.
        self.recorder.enter(self.host, frame, (start, end), (start, end));
    }
    fn refuse(&mut self, frame: LiveFrame) {
        self.recorder.network.release(&frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_take_turns() {
        let mut turn = 0;
        let mut order = Vec::new();
        for _ in 0..7 {
            let queue = next_queue(0b1000_1001, turn);
            order.push(queue);
            turn = turn_after(queue);
        }
        assert_eq!(order, [0, 3, 7, 0, 3, 7, 0]);
        assert_eq!(next_queue(0b1, 5), 0);
    }
}
