//! Both ends of flows of datagrams: queries, complete datagrams, and frames inside of nodes.

use super::ends::SocketId;
use super::frames::{FrameId, NOT_KEPT, Prior};
use super::inside::Inside;
use super::loss::DroppedBy;
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{Span, Time};
use tailrace_wire::{Fragment, Packet};

/// Complete datagrams of a socket that are kept: a server may act on a datagram this many later.
const WHOLES_MAX: usize = 1 << 12;
/// Fragments for a socket that are kept after they were handed up: more than a poll takes.
const FRAGMENTS_MAX: usize = 1 << 8;
/// Queries of a socket that are kept until they are answered; this limit also forgets unanswered
/// ones.
const ASKED_MAX: usize = 1 << 12;
/// Incomplete datagrams that are kept: a lost fragment leaves one.
const PIECES_MAX: usize = 1 << 14;

/// A flow of datagrams: sockets for datagrams have numbers of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatagramEnds {
    pub(crate) workload: u32,
    /// The client's and the server's; of datagrams in one direction the sender's first.
    pub(crate) ends: [SocketId; 2],
}

/// A datagram that came whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) at: Time,
    number: u64,
    /// Its last frame.
    pub(super) frame: FrameId,
    /// Waits for a core for it, on a host without a processor.
    pub(super) core_wait: Span,
}

/// The cause of a program's datagram.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sending {
    pub(super) prior: Option<Prior>,
    /// The first frame of the copy before it.
    pub(super) repeats: Option<FrameId>,
}

/// One socket for datagrams.
#[derive(Debug)]
pub(super) struct UdpEnd {
    pub(super) workload: u32,
    /// It is the client, or the sender.
    pub(super) is_client: bool,
    pub(super) peer: SocketId,
    /// Frames for it inside of nodes.
    pub(super) inside: Inside,
    /// On a host with a processor, frames for it that have come to the interface.
    pub(super) arrived: VecDeque<FrameId>,
    wholes: VecDeque<Whole>,
    /// The latest fragments that were handed up: those that their host refuses are searched among
    /// them.
    fragments: VecDeque<FrameId>,
    /// By number, the first frame of the latest copy of every query that was not answered.
    asked: BTreeMap<u64, FrameId>,
    pub(super) sending: Sending,
    /// The first frame of the datagram that is handed to the interface.
    pub(super) first: FrameId,
}

impl UdpEnd {
    fn new(flow: &DatagramEnds, side: usize) -> UdpEnd {
        UdpEnd {
            workload: flow.workload,
            is_client: side == 0,
            peer: flow.ends[1 - side],
            inside: Inside::default(),
            arrived: VecDeque::new(),
            wholes: VecDeque::new(),
            fragments: VecDeque::new(),
            asked: BTreeMap::new(),
            sending: Sending::default(),
            first: NOT_KEPT,
        }
    }

    /// A datagram has come whole. The first answer to a query ends it; later ones, to its copies,
    /// are ignored.
    pub(super) fn note_whole(&mut self, at: Time, number: u64, frame: FrameId) {
        if self.is_client && self.asked.remove(&number).is_none() {
            return;
        }
        if self.wholes.len() == WHOLES_MAX {
            self.wholes.pop_front();
        }
        self.wholes.push_back(Whole { at, number, frame, core_wait: Span::ZERO });
    }

    /// The latest datagram of this number that had come by then: a server answers each copy of a
    /// query.
    pub(super) fn whole(&self, number: u64, by: Time) -> Option<&Whole> {
        self.wholes.iter().rev().find(|whole| whole.number == number && whole.at <= by)
    }

    /// A program has waited for a core for it.
    pub(super) fn note_core_wait(&mut self, number: u64, by: Time, wait: Span) {
        if let Some(whole) =
            self.wholes.iter_mut().rev().find(|whole| whole.number == number && whole.at <= by)
        {
            whole.core_wait += wait;
        }
    }

    /// A fragment is handed up.
    pub(super) fn note_fragment(&mut self, frame: FrameId) {
        if self.fragments.len() == FRAGMENTS_MAX {
            self.fragments.pop_front();
        }
        self.fragments.push_back(frame);
    }

    /// Fragments that were handed up, from the latest.
    pub(super) fn fragments(&self) -> impl Iterator<Item = FrameId> {
        self.fragments.iter().rev().copied()
    }

    /// A query is handed to the interface.
    pub(super) fn note_asked(&mut self, number: u64, frame: FrameId) {
        if self.asked.len() == ASKED_MAX {
            self.asked.pop_first();
        }
        self.asked.insert(number, frame);
    }

    /// The first frame of the latest copy of a query that has no answer.
    pub(super) fn asked(&self, number: u64) -> Option<FrameId> {
        self.asked.get(&number).copied()
    }
}

/// Lost datagrams by workload, wire and dropper, as in [`Loss`](super::Loss).
pub(crate) type LostDatagrams = BTreeMap<(u32, u32, DroppedBy), u64>;

/// Progress of a datagram in fragments.
#[derive(Clone, Copy, Default, Debug)]
struct Pieces {
    /// Its first frame to arrive.
    first: Option<FrameId>,
    bytes: u32,
    /// All bytes, known once the last fragment has arrived.
    length: Option<u32>,
    is_lost: bool,
}

/// All sockets for datagrams that are explained, and the datagrams on their way between them.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    ends: Vec<Vec<Option<Box<UdpEnd>>>>,
    /// By the first frame that was sent, each incomplete datagram.
    pieces: BTreeMap<FrameId, Pieces>,
    /// By workload, the receiving end of datagrams in one direction.
    receivers: BTreeMap<u32, SocketId>,
}

impl Datagrams {
    /// A flow is explained.
    pub(super) fn open(&mut self, flow: &DatagramEnds) {
        self.receivers.insert(flow.workload, flow.ends[1]);
        for (side, (host, number)) in flow.ends.into_iter().enumerate() {
            let (host, number) = (usize::from(host), number as usize);
            self.ends.resize_with(self.ends.len().max(host + 1), Vec::new);
            let of_host = &mut self.ends[host];
            of_host.resize_with(of_host.len().max(number + 1), || None);
            of_host[number] = Some(Box::new(UdpEnd::new(flow, side)));
        }
    }

    pub(super) fn get(&self, (host, number): SocketId) -> Option<&UdpEnd> {
        self.ends.get(usize::from(host))?.get(number as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, (host, number): SocketId) -> Option<&mut UdpEnd> {
        self.ends.get_mut(usize::from(host))?.get_mut(number as usize)?.as_deref_mut()
    }

    /// The socket that receives the datagrams of a workload.
    pub(super) fn receiver_of(&self, workload: u32) -> Option<SocketId> {
        self.receivers.get(&workload).copied()
    }

    /// A fragment of the datagram with this first frame has come. Returns the first frame to arrive
    /// if the datagram is complete.
    pub(super) fn put(
        &mut self,
        whole: FrameId,
        fragment: &Fragment,
        frame: FrameId,
    ) -> Option<FrameId> {
        let pieces = self.pieces_of(whole);
        let first = *pieces.first.get_or_insert(frame);
        pieces.bytes += fragment.bytes;
        if !fragment.more {
            pieces.length = Some(fragment.offset + fragment.bytes);
        }
        if pieces.is_lost || pieces.length != Some(pieces.bytes) {
            return None;
        }
        self.pieces.remove(&whole);
        Some(first)
    }

    /// A frame of the datagram with this first frame is lost. Returns whether it is the first of
    /// it.
    pub(super) fn lose(&mut self, whole: FrameId) -> bool {
        !std::mem::replace(&mut self.pieces_of(whole).is_lost, true)
    }

    fn pieces_of(&mut self, whole: FrameId) -> &mut Pieces {
        if self.pieces.len() == PIECES_MAX && !self.pieces.contains_key(&whole) {
            self.pieces.pop_first();
        }
        self.pieces.entry(whole).or_default()
    }
}

/// The number of the datagram to which a packet belongs.
pub(super) fn number_of(packet: &Packet) -> u64 {
    Fragment::of(packet).map_or(packet.seq, |fragment| fragment.undo(packet).seq)
}
