//! Two TCP ends joined by a pipe with a rate, a delay, a queue, and a fate for every frame. Time is virtual; nothing is random.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailrace_endpoint::transport::{Identity, Segment, Tcp, TcpConfig, Wire};
use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet};

/// What happens to a frame between the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Deliver,
    Drop,
    /// Arrives this much later than the others.
    Late(Span),
    /// Arrives twice, the second time this much later.
    Twice(Span),
    /// Is marked if it is capable.
    Mark,
}

/// One direction of the path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Picoseconds per byte; 0 for an infinite rate.
    pub ps_per_byte: u64,
    pub delay: Span,
    /// Bytes that fit the queue before the link; a frame that does not fit is lost.
    pub queue_bytes: u64,
    /// Bytes in the queue above which capable frames are marked.
    pub mark_bytes: u64,
}

impl Path {
    pub fn new(gbps: u64, delay: Span) -> Path {
        Path { ps_per_byte: 8000_u64.checked_div(gbps).unwrap_or(0), delay, queue_bytes: u64::MAX, mark_bytes: u64::MAX }
    }
}

/// A frame as it was handed to the NIC.
#[derive(Clone, Copy)]
pub struct Sent {
    pub at: Time,
    pub side: usize,
    pub packet: Packet,
    pub is_lost: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: Time,
    order: u64,
    side: usize,
    index: usize,
}

struct Aggregate {
    packet: Packet,
    bytes: u32,
    segments: u16,
    hand_up_at: Time,
}

type FateOf = Box<dyn FnMut(usize, u64, &Packet) -> Fate>;

struct Link {
    path: [Path; 2],
    free_at: [Time; 2],
    frames: [u64; 2],
    fate: FateOf,
    arrivals: BinaryHeap<Reverse<Arrival>>,
    sent: Vec<Sent>,
    packets: Vec<Packet>,
    order: u64,
}

impl Link {
    fn arrive(&mut self, at: Time, side: usize, packet: Packet) {
        self.packets.push(packet);
        self.order += 1;
        self.arrivals.push(Reverse(Arrival { at, order: self.order, side, index: self.packets.len() - 1 }));
    }

    fn send(&mut self, now: Time, side: usize, mut packet: Packet) -> Option<Time> {
        let path = self.path[side];
        let start = self.free_at[side].max(now);
        let waiting = start.since(now).ps().checked_div(path.ps_per_byte).unwrap_or(0);
        let index = self.frames[side];
        self.frames[side] += 1;
        let fate = (self.fate)(side, index, &packet);
        let is_lost = fate == Fate::Drop || waiting + u64::from(packet.frame_bytes) > path.queue_bytes;
        self.sent.push(Sent { at: now, side, packet, is_lost });
        if waiting + u64::from(packet.frame_bytes) > path.queue_bytes {
            return None;
        }
        let departs = start + Span::from_ps(path.ps_per_byte * u64::from(packet.frame_bytes));
        self.free_at[side] = departs;
        if (fate == Fate::Mark || waiting > path.mark_bytes) && packet.ecn == Ecn::Ect0 {
            packet.ecn = Ecn::Ce;
        }
        let at = departs + path.delay;
        match fate {
            Fate::Drop => {}
            Fate::Deliver | Fate::Mark => self.arrive(at, 1 - side, packet),
            Fate::Late(by) => self.arrive(at + by, 1 - side, packet),
            Fate::Twice(by) => {
                self.arrive(at, 1 - side, packet);
                self.arrive(at + by, 1 - side, packet);
            }
        }
        Some(departs)
    }
}

struct Nic<'a> {
    link: &'a mut Link,
    now: Time,
    side: usize,
}

impl Wire for Nic<'_> {
    fn send(&mut self, packet: Packet) -> Option<Time> {
        self.link.send(self.now, self.side, packet)
    }
}

/// Two ends, A = 0 and B = 1. A opens.
pub struct World {
    pub now: Time,
    pub ends: [Tcp; 2],
    pub readable: [u64; 2],
    pub acked: [u64; 2],
    pub connected: [Option<Time>; 2],
    /// How long the receivers wait for more frames to merge, and the most that they merge.
    pub merge: (Span, u32),
    link: Link,
    held: [Option<Aggregate>; 2],
}

impl World {
    pub fn new(config: &TcpConfig, path: Path) -> World {
        World::with_fate(config, path, |_, _, _| Fate::Deliver)
    }

    pub fn with_fate(config: &TcpConfig, path: Path, fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static) -> World {
        World::between(config, config, path, fate)
    }

    pub fn between(a: &TcpConfig, b: &TcpConfig, path: Path, fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static) -> World {
        let identity = |to| Identity { flow_hash: to, to_endpoint: to, to_host: to as u16, priority: 0, dscp: 0 };
        World {
            now: Time::ZERO,
            ends: [Tcp::new(a, identity(1)), Tcp::new(b, identity(0))],
            readable: [0; 2],
            acked: [0; 2],
            connected: [None; 2],
            merge: (Span::ZERO, 0),
            link: Link {
                path: [path; 2],
                free_at: [Time::ZERO; 2],
                frames: [0; 2],
                fate: Box::new(fate),
                arrivals: BinaryHeap::new(),
                sent: Vec::new(),
                packets: Vec::new(),
                order: 0,
            },
            held: [None, None],
        }
    }

    pub fn connect(&mut self) {
        let mut nic = Nic { link: &mut self.link, now: self.now, side: 0 };
        self.ends[0].connect(self.now, &mut nic);
    }

    pub fn write(&mut self, side: usize, bytes: u64) {
        let mut nic = Nic { link: &mut self.link, now: self.now, side };
        self.ends[side].write(self.now, bytes, &mut nic);
    }

    pub fn resume_reading(&mut self, side: usize) {
        let mut nic = Nic { link: &mut self.link, now: self.now, side };
        self.readable[side] += self.ends[side].resume_reading(&mut nic);
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
            let has_failed = self.ends.iter().any(Tcp::has_failed);
            if has_failed || !self.step() {
                return;
            }
        }
    }

    /// Both ends sleep for `span`: what arrives meanwhile is lost, and their timers are called late.
    pub fn stall(&mut self, span: Span) {
        self.now += span;
        while self.link.arrivals.peek().is_some_and(|a| a.0.at <= self.now) {
            self.link.arrivals.pop();
        }
        for side in 0..2 {
            let mut nic = Nic { link: &mut self.link, now: self.now, side };
            self.ends[side].handle_timeout(self.now, &mut nic);
            self.ends[side].handle_timeout(self.now, &mut nic);
            assert!(self.ends[side].poll_timeout() > self.now, "a deadline in the past after handling it");
            self.check(side);
        }
    }

    fn next_event(&self) -> Time {
        let arrival = self.link.arrivals.peek().map_or(Time::NEVER, |a| a.0.at);
        let held = self.held.iter().flatten().map(|h| h.hand_up_at).min().unwrap_or(Time::NEVER);
        arrival.min(held).min(self.ends[0].poll_timeout()).min(self.ends[1].poll_timeout())
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
        if self.link.arrivals.peek().is_some_and(|a| a.0.at <= next) {
            let arrival = self.link.arrivals.pop().expect("peeked").0;
            self.take(arrival.side, self.link.packets[arrival.index]);
            return true;
        }
        for side in 0..2 {
            if self.ends[side].poll_timeout() <= next {
                let mut nic = Nic { link: &mut self.link, now: next, side };
                self.ends[side].handle_timeout(next, &mut nic);
                assert!(self.ends[side].poll_timeout() > next, "a deadline in the past after handling it");
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

    /// Merges what follows what is held, as GRO does; hands up what does not fit.
    fn take(&mut self, side: usize, packet: Packet) {
        let (wait, most) = self.merge;
        if let Some(held) = &mut self.held[side] {
            let follows = held.packet.seq + u64::from(held.bytes) == packet.seq && packet.payload_bytes > 0;
            let agrees =
                held.packet.ecn == packet.ecn && held.packet.ack == packet.ack && !held.packet.flags.contains(Flags::PSH);
            if follows && agrees && held.bytes + u32::from(packet.payload_bytes) <= most {
                held.bytes += u32::from(packet.payload_bytes);
                held.segments += 1;
                held.packet.flags = packet.flags;
                return;
            }
            self.hand_up(side);
        }
        let hand_up_at = self.now + wait;
        self.held[side] = Some(Aggregate { packet, bytes: u32::from(packet.payload_bytes), segments: 1, hand_up_at });
        if wait == Span::ZERO || packet.payload_bytes == 0 {
            self.hand_up(side);
        }
    }

    fn hand_up(&mut self, side: usize) {
        let held = self.held[side].take().expect("something is held");
        let segment = Segment { packet: &held.packet, payload_bytes: held.bytes, segments: held.segments };
        let mut nic = Nic { link: &mut self.link, now: self.now, side };
        let progress = self.ends[side].handle_segment(self.now, &segment, &mut nic);
        self.readable[side] += progress.readable;
        self.acked[side] += progress.acked;
        if progress.connected {
            assert!(self.connected[side].is_none(), "connected twice");
            self.connected[side] = Some(self.now);
        }
        self.check(side);
    }

    /// Recounting is slow, so long windows are recounted now and then.
    fn check(&self, side: usize) {
        if self.ends[side].in_flight() < 100 || self.link.order.is_multiple_of(128) {
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

    /// What was sent from `from` on, as lines.
    pub fn timeline(&self, from: Time) -> String {
        self.link.sent.iter().filter(|s| s.at >= from).map(line).collect()
    }
}

fn line(sent: &Sent) -> String {
    let p = &sent.packet;
    let side = ["A", "B"][sent.side];
    let fate = if sent.is_lost { " lost" } else { "" };
    let mut text = format!("{:>8.1} us {side} ", sent.at.ps() as f64 / 1e6);
    if p.payload_bytes > 0 || p.flags.contains(Flags::SYN) {
        text += &format!("{}+{} ", p.seq, p.payload_bytes);
    }
    text += &format!("ack {} {:?}", p.ack, p.flags);
    if !p.flags.contains(Flags::SYN) {
        for block in p.sack.iter().filter(|b| b.bytes > 0) {
            let start = p.ack as i64 + i64::from(block.offset);
            text += &format!(" [{start}..{}]", start + i64::from(block.bytes));
        }
    }
    text + fate + "\n"
}
