//! The way between two ends: a rate, a delay, a queue, and a fate for every frame.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use tailrace_transport::tcp::Transmit;
use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet};

/// The fate of a frame between the two ends.
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

/// Loses the first transmission of the segments of side 0 that begin at these offsets.
pub fn losing(offsets: impl IntoIterator<Item = u64>) -> impl FnMut(usize, u64, &Packet) -> Fate {
    let mut left: BTreeSet<u64> = offsets.into_iter().collect();
    move |side, _, p| {
        if side == 0 && p.payload_bytes > 0 && left.remove(&p.seq) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    }
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
        Path {
            ps_per_byte: 8000_u64.checked_div(gbps).unwrap_or(0),
            delay,
            queue_bytes: u64::MAX,
            mark_bytes: u64::MAX,
        }
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

type FateOf = Box<dyn FnMut(usize, u64, &Packet) -> Fate>;

/// Both directions.
pub struct Link {
    path: [Path; 2],
    free_at: [Time; 2],
    frames: [u64; 2],
    fate: FateOf,
    arrivals: BinaryHeap<Reverse<Arrival>>,
    /// Everything that was handed to the NICs.
    pub sent: Vec<Sent>,
    packets: Vec<Packet>,
    order: u64,
}

impl Link {
    pub fn new(path: Path, fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static) -> Link {
        Link {
            path: [path; 2],
            free_at: [Time::ZERO; 2],
            frames: [0; 2],
            fate: Box::new(fate),
            arrivals: BinaryHeap::new(),
            sent: Vec::new(),
            packets: Vec::new(),
            order: 0,
        }
    }

    /// The NIC of one end, now.
    pub fn nic(&mut self, now: Time, side: usize) -> Nic<'_> {
        Nic { link: self, now, side }
    }

    /// Frames that have been under way so far.
    pub fn frames(&self) -> u64 {
        self.order
    }

    pub fn next_arrival(&self) -> Time {
        self.arrivals.peek().map_or(Time::NEVER, |a| a.0.at)
    }

    /// The next frame that has arrived by `now`, and at which end.
    pub fn take_arrival(&mut self, now: Time) -> Option<(usize, Packet)> {
        if self.next_arrival() > now || self.next_arrival().is_never() {
            return None;
        }
        let arrival = self.arrivals.pop()?.0;
        Some((arrival.side, self.packets[arrival.index]))
    }

    fn arrive(&mut self, at: Time, side: usize, packet: Packet) {
        self.packets.push(packet);
        self.order += 1;
        self.arrivals.push(Reverse(Arrival {
            at,
            order: self.order,
            side,
            index: self.packets.len() - 1,
        }));
    }

    fn send(&mut self, now: Time, side: usize, mut packet: Packet) -> Option<Time> {
        let path = self.path[side];
        let start = self.free_at[side].max(now);
        let waiting = start.since(now).ps().checked_div(path.ps_per_byte).unwrap_or(0);
        let index = self.frames[side];
        self.frames[side] += 1;
        let fate = (self.fate)(side, index, &packet);
        let is_lost =
            fate == Fate::Drop || waiting + u64::from(packet.frame_bytes) > path.queue_bytes;
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

/// The way down of one end.
pub struct Nic<'a> {
    link: &'a mut Link,
    now: Time,
    side: usize,
}

impl Transmit for Nic<'_> {
    fn send(&mut self, packet: Packet) -> Option<Time> {
        self.link.send(self.now, self.side, packet)
    }
}

/// A sent frame for a timeline.
pub fn line(sent: &Sent) -> String {
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
