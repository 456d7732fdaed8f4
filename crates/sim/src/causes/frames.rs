//! The latest frames of a run with their stamps, in two rings of bounded size.
//!
//! Frames that can be part of no explanation any more are forgotten as well: with a few operations
//! in progress the rings stay as small as a processor's cache, instead of growing to their bounds.

mod packed;
mod ring;

use super::loss::Loss;
use super::number::SocketNumber;
use super::part::Part;
use packed::{Packed, Packer};
use ring::{PIECE, Ring};
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Frames that are kept; older ones are forgotten.
const FRAMES_MAX: usize = 1 << 20;
/// Hops of frames that are not packed: two for each, as around one switch.
const HOPS_MAX: usize = 2 * FRAMES_MAX;
/// Answers that are kept: the cause of a retry is searched among them.
const ANSWERS_MAX: usize = 1 << 16;

/// A frame's number in the order of sending.
pub(crate) type FrameId = u64;
/// Stands for a frame that no explained connection has sent: it only takes time on wires.
pub(super) const NOT_KEPT: FrameId = FrameId::MAX;
/// A hop's number; 0 is none.
pub(super) type HopId = u64;

/// The moment at which a walk back enters an earlier frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// When it was handed to the transport of its receiver.
    Delivered,
    /// When its sender handed it to the interface.
    Handed,
}

/// A window that was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Window {
    /// The receiver's window.
    Receiver,
    /// The congestion window, including loss recovery.
    Congestion,
}

/// The reason for the time at which a frame was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prior {
    /// The frame without which this one would not have been sent then.
    pub(super) frame: FrameId,
    pub(super) entry: Entry,
    /// The part of the time between that frame and this one.
    pub(super) part: Part,
    /// Of that time, a program's wait for a core.
    pub(super) core_wait: Span,
    /// Of that time, the wait for a worker, which is the first. Of [`Part::EntryWait`], the wait of
    /// the sender, which has no prior frame.
    pub(super) waited: Span,
    /// The window for which the released bytes had waited.
    pub(super) opens: Option<Window>,
}

/// A frame that a host sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The socket that sent it; `u32::MAX` where it is not known.
    pub(super) sender: SocketNumber,
    pub(super) packet: Packet,
    pub(super) handed: Time,
    pub(super) delivered: Time,
    /// `None` of a frame without a prior one: the first of a connection.
    pub(super) prior: Option<Prior>,
    pub(super) last_hop: HopId,
    /// The copy that was sent before, of a repetition.
    pub(super) repeats: Option<FrameId>,
    pub(super) lost: Option<Loss>,
    /// Of a fragment, the first of its datagram that was sent; of the last fragment to come, the
    /// first that came.
    pub(super) of: FrameId,
}

impl Frame {
    /// A frame that is handed to the interface now.
    pub(super) fn new(handed: Time, packet: Packet, prior: Option<Prior>) -> Frame {
        Frame {
            sender: SocketNumber::MAX,
            packet,
            handed,
            delivered: Time::NEVER,
            prior,
            last_hop: 0,
            repeats: None,
            lost: None,
            of: NOT_KEPT,
        }
    }
}

/// The fields of a frame that a walk needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub(super) handed: Time,
    pub(super) delivered: Time,
    pub(super) prior: Option<Prior>,
    pub(super) repeats: Option<FrameId>,
    pub(super) lost: Option<Loss>,
    pub(super) of: FrameId,
    pub(super) to_host: u16,
    pub(super) flow_hash: u32,
    /// All of its hops are there.
    pub(super) is_whole: bool,
}

impl Record {
    fn of(frame: &Frame) -> Record {
        let &Frame { packet, handed, delivered, prior, repeats, lost, of, .. } = frame;
        let Packet { to_host, flow_hash, .. } = packet;
        Record { handed, delivered, prior, repeats, lost, of, to_host, flow_hash, is_whole: true }
    }
}

/// A frame that is kept whole when those around it are packed, with its hops: it is on its way, or
/// was lost.
#[derive(Debug)]
struct Held {
    frame: Frame,
    /// From the first to the last.
    hops: Vec<Hop>,
}

/// Stands for a wire in a hop that is work of a virtual switch: from the beginning of the work
/// until its end without interruptions, and its real end.
pub(super) const SWITCHING: u32 = u32::MAX;
/// The same of a vhost thread.
pub(super) const VHOST: u32 = u32::MAX - 1;

/// One wire that a frame passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hop {
    pub(super) before: HopId,
    pub(super) wire: u32,
    /// The class in which it was sent there.
    pub(super) class: u8,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) arrival: Time,
}

/// Frames that are kept though no operation in progress can need them: acknowledgements are
/// compared with the frames that they acknowledge.
const FRAMES_MIN: u64 = 1 << 15;
/// Losses of forgotten frames that are kept, for their repetitions.
const LOSSES_MAX: usize = 1 << 16;

/// Complete pieces of frames that are not packed.
const LOOSE_PIECES: usize = 2;

/// The rings, and the packed frames before them.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Packing is off: packets of frames are needed.
    pub(super) keeps_packets: bool,
    packed: VecDeque<Packed>,
    held: BTreeMap<FrameId, Held>,
    packer: Packer,
    frames: Ring<Frame>,
    hops: Ring<Hop>,
    /// The first hop that a frame of each piece can have, from the oldest piece on.
    first_hops: VecDeque<u64>,
    /// Frames of the oldest piece of the ring that are known to be over before `over_by`.
    over: usize,
    /// Frames below this number were over by `over_by`; other missing ones were forgotten for lack
    /// of room.
    over_below: FrameId,
    over_by: Time,
    losses: BTreeMap<FrameId, Loss>,
    /// By the first frame of a query as a datagram, that of the answer to it.
    answers: BTreeMap<FrameId, FrameId>,
}

impl Frames {
    pub(super) fn add(&mut self, frame: Frame) -> FrameId {
        if self.next().is_multiple_of(PIECE as u64) {
            if self.kept() == FRAMES_MAX as u64 {
                self.forget_piece();
            }
            self.first_hops.push_back(self.hops.next());
        }
        self.frames.push(frame, FRAMES_MAX)
    }

    /// Packs old frames at the end of an event: within the event, delivered frames are still needed
    /// and may change.
    #[inline]
    pub(super) fn pack_old(&mut self) {
        while !self.keeps_packets
            && self.next() - self.frames.first() > ((LOOSE_PIECES + 1) * PIECE) as u64
        {
            self.pack();
        }
    }

    /// Packs the oldest piece of the ring. Frames that are on their way or lost may still change,
    /// and are kept whole.
    #[cold]
    fn pack(&mut self) {
        let first = self.frames.first();
        let (mut packer, mut hops) = (std::mem::take(&mut self.packer), Vec::new());
        for (frame, id) in self.frames.oldest().iter().zip(first..) {
            hops.clear();
            let is_whole = self.hops_of(frame, &mut hops);
            if frame.delivered == Time::NEVER || frame.lost.is_some() {
                packer.skip();
                hops.reverse();
                self.held.insert(id, Held { frame: *frame, hops: hops.clone() });
            } else {
                packer.add(id, frame, &hops, is_whole);
            }
        }
        self.packed.push_back(packer.finish());
        self.packer = packer;
        self.forget_loose();
    }

    /// The oldest piece of the ring is forgotten, with its hops.
    fn forget_loose(&mut self) {
        self.frames.forget_oldest();
        self.first_hops.pop_front();
        self.over = 0;
        if let Some(&first_hop) = self.first_hops.front() {
            self.hops.forget_below(first_hop);
        }
    }

    /// The oldest piece of all is forgotten.
    fn forget_piece(&mut self) {
        if self.packed.is_empty() {
            return self.forget_loose();
        }
        self.held = self.held.split_off(&(self.first() + PIECE as u64));
        self.packed.pop_front();
    }

    /// The number of the oldest frame that is kept, packed or not.
    fn first(&self) -> FrameId {
        self.frames.first() - (self.packed.len() * PIECE) as u64
    }

    /// How many are kept.
    fn kept(&self) -> u64 {
        self.next() - self.first()
    }

    /// The number of the next frame.
    pub(super) fn next(&self) -> FrameId {
        self.frames.next()
    }

    /// Whether there are frames that [`Frames::forget`] may forget.
    pub(super) fn has_old(&self) -> bool {
        self.kept() > FRAMES_MIN
    }

    /// No operation now or later began before `by`: frames that were over before it, and older
    /// ones, are forgotten as far as no frame between them is still on its way.
    pub(super) fn forget(&mut self, by: Time) {
        while self.has_old() && self.is_oldest_over(by) {
            let end = self.first() + PIECE as u64;
            let loose = if self.packed.is_empty() { self.frames.oldest() } else { &[] };
            let held = self.held.range(..end).map(|(&id, held)| (id, &held.frame));
            for (id, frame) in held.chain((self.frames.first()..).zip(loose)) {
                if let Some(lost) = frame.lost {
                    // Of a datagram the first one counts.
                    self.losses
                        .entry(if frame.of == NOT_KEPT { id } else { frame.of })
                        .or_insert(lost);
                }
            }
            self.forget_piece();
            while self.losses.len() > LOSSES_MAX {
                self.losses.pop_first();
            }
            (self.over_below, self.over_by) = (end, by.max(self.over_by));
        }
    }

    /// Whether all frames of the oldest piece were over before.
    fn is_oldest_over(&mut self, by: Time) -> bool {
        let is_over =
            |frame: &Frame| frame.delivered < by || frame.lost.is_some_and(|lost| lost.at < by);
        let end = self.first() + PIECE as u64;
        if let Some(packed) = self.packed.front() {
            return packed.over_at < by
                && self.held.range(..end).all(|(_, held)| is_over(&held.frame));
        }
        self.over +=
            self.frames.oldest()[self.over..].iter().take_while(|frame| is_over(frame)).count();
        self.over == PIECE
    }

    /// Whether a frame that is not there was over at this time.
    pub(super) fn was_over(&self, id: FrameId, at: Time) -> bool {
        id < self.over_below && self.over_by <= at
    }

    /// A frame that is not packed.
    #[inline]
    pub(super) fn get(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(id).or_else(|| self.held.get(&id).map(|held| &held.frame))
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Frame> {
        self.frames.get_mut(id).or_else(|| self.held.get_mut(&id).map(|held| &mut held.frame))
    }

    /// The fields of a frame that a walk needs.
    pub(super) fn read(&self, id: FrameId) -> Option<Record> {
        self.get(id).map(Record::of).or_else(|| self.packed_of(id)?.read(id, None))
    }

    /// The same with its hops, from the last to the first.
    pub(super) fn read_with_hops(&self, id: FrameId, hops: &mut Vec<Hop>) -> Option<Record> {
        hops.clear();
        if let Some(frame) = self.frames.get(id) {
            return Some(Record { is_whole: self.hops_of(frame, hops), ..Record::of(frame) });
        }
        if let Some(held) = self.held.get(&id) {
            hops.extend(held.hops.iter().rev());
            return Some(Record::of(&held.frame));
        }
        self.packed_of(id)?.read(id, Some(hops))
    }

    fn packed_of(&self, id: FrameId) -> Option<&Packed> {
        self.packed.get((id.checked_sub(self.first())? / PIECE as u64) as usize)
    }

    /// The hops of a frame of the ring, from the last to the first. Returns whether all are there.
    fn hops_of(&self, frame: &Frame, hops: &mut Vec<Hop>) -> bool {
        let mut id = frame.last_hop;
        while let Some(&hop) = self.hop(id) {
            hops.push(hop);
            id = hop.before;
        }
        id == 0
    }

    /// A query is answered: the first frames of both.
    pub(super) fn note_answer(&mut self, query: FrameId, answer: FrameId) {
        if self.answers.len() == ANSWERS_MAX {
            self.answers.pop_first();
        }
        self.answers.insert(query, answer);
    }

    /// The loss of a copy that was repeated: of one of its frames, or, if the query arrived
    /// completely, of a frame of the answer.
    pub(super) fn loss_of(&self, copy: FrameId) -> Option<Loss> {
        self.loss_among(copy).or_else(|| self.loss_among(*self.answers.get(&copy)?))
    }

    /// The first loss among the frames of a datagram, or of a segment, also of one that is
    /// forgotten.
    fn loss_among(&self, first: FrameId) -> Option<Loss> {
        let Some(frame) = self.read(first) else { return self.losses.get(&first).copied() };
        if frame.lost.is_some() || frame.of == NOT_KEPT {
            return frame.lost;
        }
        let others = (first + 1..).map_while(|id| self.read(id).filter(|other| other.of == first));
        others.filter_map(|other| other.lost).next()
    }

    pub(super) fn add_hop(&mut self, id: FrameId, mut hop: Hop) {
        if let Some(frame) = self.frames.get_mut(id) {
            hop.before = frame.last_hop;
            frame.last_hop = self.hops.push(hop, HOPS_MAX) + 1;
        } else if let Some(held) = self.held.get_mut(&id) {
            held.hops.push(hop);
        }
    }

    /// The latest hop of a frame that is not packed.
    pub(super) fn last_hop_mut(&mut self, id: FrameId) -> Option<&mut Hop> {
        match self.frames.get(id) {
            Some(frame) => self.hops.get_mut(frame.last_hop.checked_sub(1)?),
            None => self.held.get_mut(&id)?.hops.last_mut(),
        }
    }

    /// The wire of the latest hop over a wire of a frame.
    pub(super) fn last_wire(&self, id: FrameId) -> Option<u32> {
        let mut hops = Vec::new();
        self.read_with_hops(id, &mut hops)?;
        hops.iter().map(|hop| hop.wire).find(|&wire| wire < VHOST)
    }

    fn hop(&self, id: HopId) -> Option<&Hop> {
        self.hops.get(id.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests;
