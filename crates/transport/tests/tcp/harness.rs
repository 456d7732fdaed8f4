//! Two TCP ends joined by a pipe. Time is virtual; nothing is random.

use tailrace_transport::tcp::{Identity, Segment, Tcp, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, Tag};

use crate::pipe::{Fate, Link, Path, Sent, line};

struct Aggregate {
    packet: Packet,
    bytes: u32,
    segments: u16,
    hand_up_at: Time,
}

/// Two ends, A = 0 and B = 1. A opens.
pub struct World {
    pub now: Time,
    pub ends: [Tcp; 2],
    pub readable: [u64; 2],
    pub acked: [u64; 2],
    pub connected: [Option<Time>; 2],
    /// When each end learnt that its peer had closed.
    pub ended: [Option<Time>; 2],
    /// How long the receivers wait for more frames to merge, and the most that they merge.
    pub merge: (Span, u32),
    link: Link,
    held: [Option<Aggregate>; 2],
}

impl World {
    pub fn new(config: &TcpConfig, path: Path) -> World {
        World::with_fate(config, path, |_, _, _| Fate::Deliver)
    }

    pub fn with_fate(
        config: &TcpConfig,
        path: Path,
        fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static,
    ) -> World {
        World::between(config, config, path, fate)
    }

    pub fn between(
        a: &TcpConfig,
        b: &TcpConfig,
        path: Path,
        fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static,
    ) -> World {
        let identity = |to| Identity {
            flow_hash: to,
            to_endpoint: to,
            to_host: to as u16,
            tag: Tag::default(),
            dscp: 0,
        };
        World {
            now: Time::ZERO,
            ends: [Tcp::new(a, identity(1)), Tcp::new(b, identity(0))],
            readable: [0; 2],
            acked: [0; 2],
            connected: [None; 2],
            ended: [None; 2],
            merge: (Span::ZERO, 0),
            link: Link::new(path, fate),
            held: [None, None],
        }
    }

    pub fn connect(&mut self) {
        let mut nic = self.link.nic(self.now, 0);
        self.ends[0].connect(self.now, &mut nic);
    }

    pub fn write(&mut self, side: usize, bytes: u64) {
        let mut nic = self.link.nic(self.now, side);
        self.ends[side].write(self.now, bytes, &mut nic);
    }

    /// The application of this end has written all that it will.
    pub fn shut_down(&mut self, side: usize) {
        let mut nic = self.link.nic(self.now, side);
        self.ends[side].shut_down(self.now, &mut nic);
    }

    /// The application of this end neither writes nor reads any more.
    pub fn close(&mut self, side: usize) {
        let mut nic = self.link.nic(self.now, side);
        self.ends[side].close(self.now, &mut nic);
    }

    /// A segment that the other end has not sent comes to this end.
    pub fn inject(&mut self, side: usize, packet: &Packet) {
        let mut nic = self.link.nic(self.now, side);
        self.ends[side].handle_segment(self.now, &Segment::single(packet), &mut nic);
    }

    /// From now on arriving bytes wait in the receive buffer of this end until they are read.
    pub fn leave_unread(&mut self, side: usize) {
        self.ends[side].leave_unread();
    }

    /// The application of this end reads some of the bytes that have arrived.
    pub fn read(&mut self, side: usize, bytes: u64) {
        let mut nic = self.link.nic(self.now, side);
        self.ends[side].read(self.now, bytes, &mut nic);
    }

    /// Opens and runs until both ends are established and quiet.
    pub fn open(&mut self) {
        self.connect();
        while self.connected[0].is_none() || self.connected[1].is_none() {
            assert!(self.step(), "the opening got stuck");
        }
    }

    /// As [`World::open`], but one end may give up.
    pub fn open_or_fail(&mut self) {
        self.connect();
        while self.connected[0].is_none() || self.connected[1].is_none() {
            let has_failed = self.ends.iter().any(|end| end.failure().is_some());
            if has_failed || !self.step() {
                return;
            }
        }
    }

    /// Both ends sleep for `span`: segments that arrive meanwhile are lost, and their timers are
    /// called late.
    pub fn stall(&mut self, span: Span) {
        self.now += span;
        while self.link.take_arrival(self.now).is_some() {}
        for side in 0..2 {
            let mut nic = self.link.nic(self.now, side);
            self.ends[side].handle_timeout(self.now, &mut nic);
            self.ends[side].handle_timeout(self.now, &mut nic);
            assert!(
                self.ends[side].poll_timeout() > self.now,
                "a deadline in the past after handling it"
            );
            self.check(side);
        }
    }

    fn next_event(&self) -> Time {
        let held = self.held.iter().flatten().map(|h| h.hand_up_at).min().unwrap_or(Time::NEVER);
        self.link
            .next_arrival()
            .min(held)
            .min(self.ends[0].poll_timeout())
            .min(self.ends[1].poll_timeout())
    }

    /// Handles the next event; returns whether there was one.
    pub fn step(&mut self) -> bool {
        let next = self.next_event();
        if next.is_never() {
            return false;
        }
        assert!(next >= self.now, "an event in the past: {next:?} at {:?}", self.now);
        self.now = next;
        for side in 0..2 {
            if self.held[side].as_ref().is_some_and(|h| h.hand_up_at <= next) {
                self.hand_up(side);
                return true;
            }
        }
        if let Some((side, packet)) = self.link.take_arrival(next) {
            self.take(side, packet);
            return true;
        }
        for side in 0..2 {
            if self.ends[side].poll_timeout() <= next {
                let mut nic = self.link.nic(next, side);
                self.ends[side].handle_timeout(next, &mut nic);
                assert!(
                    self.ends[side].poll_timeout() > next,
                    "a deadline in the past after handling it"
                );
                self.check(side);
            }
        }
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.next_event() <= end {
            self.step();
        }
        self.now = end;
    }

    pub fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    /// Runs until nothing more will happen. `limit` events are a stuck loop.
    pub fn run_to_quiet(&mut self, limit: u32) {
        for _ in 0..limit {
            if !self.step() {
                return;
            }
        }
        panic!("not quiet after {limit} events, at {:?}", self.now);
    }

    /// Merges a segment that follows the held ones, as GRO does; hands up one that does not fit.
    fn take(&mut self, side: usize, packet: Packet) {
        let (wait, most) = self.merge;
        if let Some(held) = &mut self.held[side] {
            let follows =
                held.packet.seq + u64::from(held.bytes) == packet.seq && packet.payload_bytes > 0;
            let agrees = held.packet.ecn == packet.ecn
                && held.packet.ack == packet.ack
                && !held.packet.flags.contains(Flags::PSH);
            if follows && agrees && held.bytes + u32::from(packet.payload_bytes) <= most {
                held.bytes += u32::from(packet.payload_bytes);
                held.segments += 1;
                held.packet.flags = packet.flags;
                return;
            }
            self.hand_up(side);
        }
        let hand_up_at = self.now + wait;
        self.held[side] = Some(Aggregate {
            packet,
            bytes: u32::from(packet.payload_bytes),
            segments: 1,
            hand_up_at,
        });
        if wait == Span::ZERO || packet.payload_bytes == 0 {
            self.hand_up(side);
        }
    }

    fn hand_up(&mut self, side: usize) {
        let held = self.held[side].take().expect("something is held");
        let segment =
            Segment { packet: &held.packet, payload_bytes: held.bytes, segments: held.segments };
        let mut nic = self.link.nic(self.now, side);
        let progress = self.ends[side].handle_segment(self.now, &segment, &mut nic);
        self.readable[side] += progress.readable;
        self.acked[side] += progress.acked;
        if progress.connected {
            assert!(self.connected[side].is_none(), "connected twice");
            self.connected[side] = Some(self.now);
        }
        if progress.ended {
            assert!(self.ended[side].is_none(), "closed twice");
            self.ended[side] = Some(self.now);
        }
        self.check(side);
    }

    /// Recounting is slow, so long windows are recounted now and then.
    fn check(&self, side: usize) {
        if self.ends[side].in_flight() < 100 || self.link.frames().is_multiple_of(128) {
            assert!(self.ends[side].is_consistent(), "counters differ from a recount");
        }
    }

    /// Everything that was handed to the NICs.
    pub fn sent(&self) -> &[Sent] {
        &self.link.sent
    }

    /// Frames with payload from `side`.
    pub fn data_from(&self, side: usize) -> impl Iterator<Item = &Sent> {
        self.link.sent.iter().filter(move |s| s.side == side && s.packet.payload_bytes > 0)
    }

    /// Frames without payload from `side`, without the opening.
    pub fn acks_from(&self, side: usize) -> impl Iterator<Item = &Sent> {
        let is_ack = |p: &Packet| p.payload_bytes == 0 && !p.flags.contains(Flags::SYN);
        self.link.sent.iter().filter(move |s| s.side == side && is_ack(&s.packet))
    }

    /// Segments that were sent from `from` on, as lines.
    pub fn timeline(&self, from: Time) -> String {
        self.link.sent.iter().filter(|s| s.at >= from).map(line).collect()
    }
}
