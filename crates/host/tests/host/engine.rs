//! Two hosts back to back on one cable, and an engine of a few lines: the minimal environment of a
//! host.

use std::collections::{BTreeMap, VecDeque};

use tailrace_host::{Event, Host, Link, Observer, ReceiveRing, Timer, Timers};
use tailrace_transport::tcp::{Limits, TcpStats};
use tailrace_transport::udp::Datagram;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// Propagation.
pub const DELAY: Span = Span::from_us(5);
/// From a first arrival to its poll.
pub const MODERATION: Span = Span::from_us(10);

/// Timers of programs with several sockets have these numbers and above on their side.
pub const PROGRAMS: u32 = 500;

/// Frames on their way to one host.
#[derive(Default)]
pub struct Ring(VecDeque<(Time, Packet)>);

impl ReceiveRing for Ring {
    fn next_arrival(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |frame| frame.0)
    }
    fn second_arrival(&self) -> Time {
        self.0.get(1).map_or(Time::NEVER, |frame| frame.0)
    }
    fn pop(&mut self) -> (Time, Packet) {
        self.0.pop_front().expect("a frame has arrived")
    }
    fn drop_arrived_beyond(&mut self, most: usize, now: Time) -> u64 {
        let arrived = self.0.iter().take_while(|frame| frame.0 <= now).count();
        let dropped = arrived.saturating_sub(most);
        self.0.drain(arrived - dropped..arrived);
        dropped as u64
    }
}

/// The environment of both hosts. A host's place is its side, 0 or 1.
#[derive(Default)]
pub struct Cable {
    rings: [Ring; 2],
    polls: [Option<Time>; 2],
    processors: [Option<Time>; 2],
    sockets: BTreeMap<u32, Time>,
    pub datagrams: Vec<(Time, u32, Datagram)>,
    pub received: BTreeMap<u32, u64>,
    pub completed: Vec<(Time, u32)>,
    pub ring_drops: u64,
    /// Sockets of programs.
    pub opened: u64,
    /// Counters of the closed connections.
    pub closed: TcpStats,
    /// Their limits, with durations.
    pub limits: Limits,
    /// All frames that were sent.
    pub sent: Vec<Packet>,
    /// Resets that were sent.
    pub resets: Vec<Packet>,
    /// Every frame of this number is lost; 0 for none.
    pub loses_every: u64,
    /// Every frame is lost.
    pub is_cut: bool,
    /// Frames that did not fit the queue of an interface, where a test expects some.
    pub queue_drops: Option<u64>,
    frames: u64,
}

impl Cable {
    /// A cable of which queues of interfaces may be full.
    pub fn expecting_drops() -> Cable {
        Cable { queue_drops: Some(0), ..Cable::default() }
    }
}

impl Link for Cable {
    type Place = usize;
    type Ring = Ring;

    fn ring(&mut self, side: &usize) -> &mut Ring {
        &mut self.rings[*side]
    }
    fn poll_after(&mut self, _: &usize, arrival: Time) -> Time {
        arrival + MODERATION
    }
    fn transmit(&mut self, side: &usize, packet: &Packet, _: Time, end: Time) {
        let (peer, arrival) = (1 - *side, end + DELAY);
        self.frames += 1;
        self.sent.push(*packet);
        if packet.flags.contains(Flags::RST) {
            self.resets.push(*packet);
        }
        if self.is_cut || (self.loses_every > 0 && self.frames.is_multiple_of(self.loses_every)) {
            return;
        }
        self.rings[peer].0.push_back((arrival, *packet));
        if self.polls[peer].is_none() {
            self.polls[peer] = Some(arrival + MODERATION);
        }
    }
}

impl Timers<usize> for Cable {
    fn arm(&mut self, side: &usize, timer: Timer, at: Time) {
        let due = Some(at).filter(|at| !at.is_never());
        match timer {
            Timer::Poll => self.polls[*side] = due,
            Timer::Processor => self.processors[*side] = due,
            Timer::Hypervisor | Timer::Interface => {}
            Timer::Socket(number) => {
                self.sockets.insert(number, at);
            }
        }
    }
    fn hasten_socket(&mut self, timer: u32, at: Time) {
        let due = self.sockets.entry(timer).or_insert(Time::NEVER);
        *due = at.min(*due);
    }
}

impl Observer<usize> for Cable {
    fn on_event(&mut self, now: Time, side: &usize, event: Event<'_>) {
        match event {
            Event::FrameDropped { packet } => {
                let drops = self.queue_drops.as_mut();
                *drops.unwrap_or_else(|| {
                    panic!("the interface has no room for {packet:?} at {now:?}")
                }) += 1;
            }
            Event::RingDropped { frames, .. } => self.ring_drops += frames,
            Event::DatagramReceived { owner, datagram, .. } => {
                self.datagrams.push((now, owner, *datagram))
            }
            Event::BytesReceived { owner, bytes } => {
                *self.received.entry(owner).or_default() += bytes
            }
            Event::TransactionCompleted(completion) => self.completed.push((now, completion.owner)),
            Event::ConnectionOpened(opened) => {
                // Owners from 2 on may be on both sides.
                let is_of_side = opened.owner == *side as u32 || opened.owner >= 2;
                assert!(
                    is_of_side && usize::from(opened.peer) == 1 - *side,
                    "programs have their side as owner"
                );
                self.opened += 1;
            }
            Event::ConnectionClosed { stats, limits, .. } => {
                self.closed.add(stats);
                self.limits.add(limits);
            }
            _ => {}
        }
    }
}

/// Runs until nothing is due before `end`. Timers are numbered by side and socket: 1000 times the
/// side, and the socket, or [`PROGRAMS`] and the program.
pub fn run(hosts: &mut [Host<usize>; 2], cable: &mut Cable, end: Time) {
    loop {
        let poll = (0..2).filter_map(|side| cable.polls[side].map(|at| (at, side))).min();
        let socket = cable.sockets.iter().map(|(&timer, &at)| (at, timer)).min();
        let poll_at = poll.map_or(Time::NEVER, |(at, _)| at);
        let socket_at = socket.map_or(Time::NEVER, |(at, _)| at);
        let processor = (0..2).filter_map(|side| cable.processors[side].map(|at| (at, side))).min();
        let now = poll_at.min(socket_at).min(processor.map_or(Time::NEVER, |(at, _)| at));
        if now > end {
            return;
        }
        match (poll, socket) {
            _ if processor.is_some_and(|(at, _)| at == now) => {
                let (_, side) = processor.expect("it is due");
                hosts[side].handle_processor(now, cable);
            }
            (Some((at, side)), _) if at == now => {
                // A poll that is under way keeps its time until the host says when the next is.
                hosts[side].handle_poll(now, cable);
            }
            (_, Some((_, timer))) => {
                let (host, number) = (&mut hosts[timer as usize / 1_000], timer % 1_000);
                match number.checked_sub(PROGRAMS) {
                    Some(program) => host.handle_program_timeout(now, program, cable),
                    None => host.handle_socket_timeout(now, number, cable),
                }
            }
            (_, None) => unreachable!("something is due"),
        }
    }
}
