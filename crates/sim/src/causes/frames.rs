//! The latest frames of a run with their stamps, in two rings of bounded size.
//!
//! What can be part of no explanation any more is forgotten as well: with a few operations in progress the rings stay as small as a
//! processor's cache, instead of growing to their bounds.

mod ring;

use super::loss::Loss;
use super::number::SocketNumber;
use super::part::Part;
use ring::{PIECE, Ring};
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Frames that are kept; older ones are forgotten. With their hops less than 300 MB.
const FRAMES_MAX: usize = 1 << 20;
/// Hops that are kept: two for each frame, as around one switch.
const HOPS_MAX: usize = 2 * FRAMES_MAX;
/// Answers that are kept: what retries waited for is looked for among them.
const ANSWERS_MAX: usize = 1 << 16;

/// A frame's number in the order of sending.
pub(crate) type FrameId = u64;
/// Stands for a frame that no explained connection has sent: only its place on wires counts.
pub(super) const NOT_KEPT: FrameId = FrameId::MAX;
/// A hop's number; 0 is none.
pub(super) type HopId = u64;

/// Where the life of an earlier frame is entered on the way back.
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
    /// That of the receiver.
    Receiver,
    /// That of congestion control, with what repairs losses.
    Congestion,
}

/// Why a frame was sent when it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prior {
    /// The frame without which this one would not have been sent then.
    pub(super) frame: FrameId,
    pub(super) entry: Entry,
    /// What the time between that frame and this one is.
    pub(super) part: Part,
    /// Of that time, a program's wait for a core.
    pub(super) core_wait: Span,
    /// Of that time, the wait for a worker, which is the first. Of [`Part::EntryWait`], for how long the sender waited; it follows from no frame.
    pub(super) waited: Span,
    /// The window for which what it released had waited.
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
    /// `None` where it was sent without a frame before it: the first of a connection.
    pub(super) prior: Option<Prior>,
    pub(super) last_hop: HopId,
    /// The copy that was sent before, of a repetition.
    pub(super) repeats: Option<FrameId>,
    pub(super) lost: Option<Loss>,
    /// Of a fragment, the first of its datagram that was sent; of the one that came last, the first that came.
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

/// Stands for a wire in a hop that is work of a virtual switch: from when it is worked on until that is done if nothing interrupts it, and when
/// it was done.
pub(super) const SWITCHING: u32 = u32::MAX;
/// The same of a vhost thread.
pub(super) const VHOST: u32 = u32::MAX - 1;

/// One wire that a frame passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) before: HopId,
    pub(super) wire: u32,
    /// The class in which it was sent there.
    pub(super) class: u8,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) arrival: Time,
}

/// Frames that are kept though no operation in progress can need them: acknowledgements are compared with what they answer.
const FRAMES_MIN: u64 = 1 << 15;
/// Losses of forgotten frames that are kept, for their repetitions.
const LOSSES_MAX: usize = 1 << 16;

/// The rings.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: Ring<Frame>,
    hops: Ring<Hop>,
    /// The first hop that a frame of each piece can have, from the oldest piece on.
    first_hops: VecDeque<u64>,
    /// Frames of the oldest piece that are known to be over before `over_by`.
    over: usize,
    /// Frames below this number were over by `over_by`; others that are not there were forgotten for want of room.
    over_below: FrameId,
    over_by: Time,
    losses: BTreeMap<FrameId, Loss>,
    /// By the first frame of a query as a datagram, that of the answer to it.
    answers: BTreeMap<FrameId, FrameId>,
}

impl Frames {
    pub(super) fn add(&mut self, frame: Frame) -> FrameId {
        let id = self.frames.push(frame, FRAMES_MAX);
        if id.is_multiple_of(PIECE as u64) {
            self.first_hops.push_back(self.hops.next());
        }
        id
    }

    /// The number of the next frame.
    pub(super) fn next(&self) -> FrameId {
        self.frames.next()
    }

    /// Whether there are frames that [`Frames::forget`] may forget.
    pub(super) fn has_old(&self) -> bool {
        self.next() - self.frames.first() > FRAMES_MIN
    }

    /// Nothing that lasts now, or begins later, began before `by`: frames that were over before it, and older ones, are forgotten as
    /// far as no frame between them is still under way.
    pub(super) fn forget(&mut self, by: Time) {
        let is_over = |frame: &Frame| frame.delivered < by || frame.lost.is_some_and(|lost| lost.at < by);
        while self.has_old() {
            let first = self.frames.first();
            // Pieces that were forgotten for want of room took theirs with them.
            let (dropped, piece) = (self.first_piece_of(first), self.frames.oldest());
            self.first_hops.drain(..dropped);
            self.over = if dropped > 0 { 0 } else { self.over };
            self.over += piece[self.over..].iter().take_while(|frame| is_over(frame)).count();
            if self.over < PIECE {
                return;
            }
            for (frame, id) in piece.iter().zip(first..) {
                if let Some(lost) = frame.lost {
                    // Of a datagram the first one counts.
                    self.losses.entry(if frame.of == NOT_KEPT { id } else { frame.of }).or_insert(lost);
                }
            }
            while self.losses.len() > LOSSES_MAX {
                self.losses.pop_first();
            }
            self.frames.forget_oldest();
            self.first_hops.pop_front();
            (self.over, self.over_below, self.over_by) = (0, first + PIECE as u64, by.max(self.over_by));
            if let Some(&first_hop) = self.first_hops.front() {
                self.hops.forget_below(first_hop);
            }
        }
    }

    /// How many pieces of `first_hops` are older than the piece that begins with this frame.
    fn first_piece_of(&self, first: FrameId) -> usize {
        let pieces = (self.next() - first).div_ceil(PIECE as u64) as usize;
        self.first_hops.len() - pieces
    }

    /// Whether a frame that is not there was over at this time.
    pub(super) fn was_over(&self, id: FrameId, at: Time) -> bool {
        id < self.over_below && self.over_by <= at
    }

    pub(super) fn get(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(id)
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Frame> {
        self.frames.get_mut(id)
    }

    /// A query is answered: the first frames of both.
    pub(super) fn note_answer(&mut self, query: FrameId, answer: FrameId) {
        if self.answers.len() == ANSWERS_MAX {
            self.answers.pop_first();
        }
        self.answers.insert(query, answer);
    }

    /// What was lost of a copy that was repeated: a frame of it, or, where all of a query came, a frame of the answer.
    pub(super) fn loss_of(&self, copy: FrameId) -> Option<Loss> {
        self.loss_among(copy).or_else(|| self.loss_among(*self.answers.get(&copy)?))
    }

    /// The first loss among the frames of a datagram, or of a segment, also of one that is forgotten.
    fn loss_among(&self, first: FrameId) -> Option<Loss> {
        let Some(frame) = self.get(first) else { return self.losses.get(&first).copied() };
        if frame.lost.is_some() || frame.of == NOT_KEPT {
            return frame.lost;
        }
        let others = (first + 1..).map_while(|id| self.get(id).filter(|other| other.of == first));
        others.filter_map(|other| other.lost).next()
    }

    pub(super) fn add_hop(&mut self, id: FrameId, mut hop: Hop) {
        let Some(frame) = self.frames.get_mut(id) else { return };
        hop.before = frame.last_hop;
        frame.last_hop = self.hops.push(hop, HOPS_MAX) + 1;
    }

    /// The latest hop of a frame.
    pub(super) fn last_hop_mut(&mut self, id: FrameId) -> Option<&mut Hop> {
        let hop = self.frames.get(id)?.last_hop;
        self.hops.get_mut(hop.checked_sub(1)?)
    }

    /// The wire of the latest hop of a frame that was one over a wire.
    pub(super) fn last_wire(&self, id: FrameId) -> Option<u32> {
        let mut hop = self.hop(self.frames.get(id)?.last_hop)?;
        while hop.wire >= VHOST {
            hop = self.hop(hop.before)?;
        }
        Some(hop.wire)
    }

    pub(super) fn hop(&self, id: HopId) -> Option<&Hop> {
        self.hops.get(id.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::loss::DroppedBy;
    use super::*;

    const PS: fn(u64) -> Time = Time::from_ps;

    /// So many frames, each delivered 10 after it was handed over, and with a hop; one is not delivered.
    fn frames(count: u64, under_way: u64) -> Frames {
        let mut frames = Frames::default();
        for at in 0..count {
            let delivered = if at == under_way { Time::NEVER } else { PS(at + 10) };
            let id = frames.add(Frame { delivered, ..Frame::new(PS(at), Packet::default(), None) });
            frames.add_hop(id, Hop { before: 0, wire: 7, class: 0, start: PS(at), end: PS(at + 1), arrival: PS(at + 2) });
        }
        frames
    }

    #[test]
    fn frames_that_were_over_are_forgotten_with_their_hops_and_the_others_keep_theirs() {
        let count = 3 * FRAMES_MIN;
        let mut frames = frames(count, u64::MAX);
        let by = PS(count / 2);
        frames.forget(by);
        let first = frames.frames.first();
        assert!(first > count / 2 - 2 * PIECE as u64 && first < count / 2, "{first} of {count}");
        assert!(frames.was_over(first - 1, by) && !frames.was_over(first, by));
        assert!(!frames.was_over(first - 1, PS(count / 2 - 1)), "for what began earlier it is not known");
        for id in [first, count - 1] {
            let last_hop = frames.get(id).expect("it is kept").last_hop;
            assert_eq!(frames.hop(last_hop).map(|hop| hop.start), Some(PS(id)));
        }
        assert_eq!(frames.hops.first(), first, "one hop each");
    }

    #[test]
    fn a_frame_under_way_keeps_those_behind_it_and_some_are_always_kept() {
        let mut frames = frames(3 * FRAMES_MIN, 5 * PIECE as u64 + 3);
        frames.forget(Time::NEVER);
        assert_eq!(frames.frames.first(), 5 * PIECE as u64);
        frames.get_mut(5 * PIECE as u64 + 3).expect("it is kept").lost =
            Some(Loss { at: PS(9), wire: 1, by: DroppedBy::Interface });
        frames.forget(Time::NEVER);
        assert_eq!(frames.next() - frames.frames.first(), FRAMES_MIN);
        assert_eq!(frames.loss_of(5 * PIECE as u64 + 3).map(|lost| lost.wire), Some(1), "its repetition asks for it");
    }

    #[test]
    fn what_found_no_room_is_not_taken_for_over() {
        let mut frames = frames(FRAMES_MAX as u64 + 2 * PIECE as u64, 3);
        frames.forget(PS(100));
        assert_eq!(frames.frames.first(), 2 * PIECE as u64);
        assert!(!frames.was_over(5, Time::NEVER));
        frames.forget(Time::NEVER);
        assert_eq!(frames.next() - frames.frames.first(), FRAMES_MIN);
    }

    #[test]
    fn the_loss_of_a_fragment_is_that_of_its_datagram_also_when_both_are_forgotten() {
        let mut frames = frames(3 * FRAMES_MIN, u64::MAX);
        let lost = Loss { at: PS(9), wire: 1, by: DroppedBy::Interface };
        for id in 5..8 {
            frames.get_mut(id).expect("it is kept").of = 5;
        }
        frames.get_mut(7).expect("it is kept").lost = Some(lost);
        assert_eq!(frames.loss_of(5), Some(lost));
        frames.forget(Time::NEVER);
        assert!(frames.get(7).is_none());
        assert_eq!(frames.loss_of(5), Some(lost));
    }
}
