//! Delivered frames in a few bytes each: the fields that a walk needs, as differences of numbers of
//! variable length.
//!
//! Most of a record waits for the end of a transaction that may need it. Its times are close to
//! each other, and its numbers to those of its prior frames: of 300 bytes some 45 are left.

use super::{Entry, Frame, FrameId, Hop, NOT_KEPT, PIECE, Prior, Record, Window};
use crate::causes::part::Part;
use tailrace_units::{Span, Time};

/// A piece of the ring of frames. Frames that are kept whole beside it have no bytes here.
#[derive(Debug)]
pub(super) struct Packed {
    /// By index in the piece, where its bytes begin.
    begins: Box<[u32]>,
    bytes: Box<[u8]>,
    /// When the first of them was handed over.
    since: Time,
    /// When the last of them was delivered.
    pub(super) over_at: Time,
}

/// Stands for one that has no bytes.
const NONE: u32 = u32::MAX;
/// Numbers are written and read as words, of which some bytes are used.
const WORD_BYTES: usize = 8;
const NUMBER_BITS: u32 = 61;

const FOLLOWS: u8 = 1;
const REPEATS: u8 = 1 << 1;
const IS_PIECE: u8 = 1 << 2;
/// Its prior frame is entered where it was handed over.
const AT_HANDED: u8 = 1 << 3;
/// There was a wait for a core or a worker.
const WAITED: u8 = 1 << 4;
/// All of its hops are there.
const IS_WHOLE: u8 = 1 << 5;
/// The window that it opens: that of the receiver, or that of congestion control.
const OPENS: u8 = 0b11 << 6;

/// Writes a piece from its first frame on.
#[derive(Debug, Default)]
pub(super) struct Packer {
    begins: Vec<u32>,
    bytes: Vec<u8>,
    since: Time,
    over_at: Time,
}

impl Packer {
    /// The next frame is kept elsewhere.
    pub(super) fn skip(&mut self) {
        self.begins.push(NONE);
    }

    /// The next frame, with its hops from the last to the first.
    pub(super) fn add(&mut self, id: FrameId, frame: &Frame, hops: &[Hop], is_whole: bool) {
        self.begins.push(self.bytes.len() as u32);
        self.over_at = self.over_at.max(frame.delivered);
        let prior = frame.prior.as_ref();
        let has_waited =
            prior.is_some_and(|prior| (prior.core_wait, prior.waited) != (Span::ZERO, Span::ZERO));
        let opens = match prior.and_then(|prior| prior.opens) {
            None => 0,
            Some(Window::Receiver) => 1 << 6,
            Some(Window::Congestion) => 2 << 6,
        };
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        self.bytes.push(
            flag(prior.is_some(), FOLLOWS)
                | flag(frame.repeats.is_some(), REPEATS)
                | flag(frame.of != NOT_KEPT, IS_PIECE)
                | flag(prior.is_some_and(|prior| prior.entry == Entry::Handed), AT_HANDED)
                | flag(has_waited, WAITED)
                | flag(is_whole, IS_WHOLE)
                | opens,
        );
        if self.bytes.len() == 1 {
            self.since = frame.handed;
        }
        self.difference(self.since.ps(), frame.handed.ps());
        self.number(frame.delivered.ps().wrapping_sub(frame.handed.ps()));
        if let Some(prior) = prior {
            self.difference(id, prior.frame);
            self.bytes.push(prior.part as u8);
            if has_waited {
                self.number(prior.core_wait.ps());
                self.number(prior.waited.ps());
            }
        }
        if let Some(copy) = frame.repeats {
            self.difference(id, copy);
        }
        if frame.of != NOT_KEPT {
            self.difference(id, frame.of);
        }
        self.number(frame.packet.to_host.into());
        self.bytes.extend(frame.packet.flow_hash.to_le_bytes());
        self.number(hops.len() as u64);
        let mut after = frame.delivered;
        for hop in hops {
            self.number((u64::from(hop.wire) << 8) | u64::from(hop.class));
            self.difference(after.ps(), hop.arrival.ps());
            self.difference(hop.arrival.ps(), hop.end.ps());
            self.difference(hop.end.ps(), hop.start.ps());
            after = hop.start;
        }
    }

    /// The piece, after as many frames as one has.
    pub(super) fn finish(&mut self) -> Packed {
        self.bytes.extend([0; WORD_BYTES]);
        let packed = Packed {
            begins: self.begins.as_slice().into(),
            bytes: self.bytes.as_slice().into(),
            since: self.since,
            over_at: self.over_at,
        };
        self.begins.clear();
        self.bytes.clear();
        self.over_at = Time::ZERO;
        packed
    }

    /// Three bits say how many bytes follow the first.
    fn number(&mut self, number: u64) {
        assert!(number < 1 << NUMBER_BITS, "a trial lasts less than 13 days");
        let more = (NUMBER_BITS + 2 - ((number << 3) | 1).leading_zeros()) / 8;
        let end = self.bytes.len() + 1 + more as usize;
        self.bytes.extend(((number << 3) | u64::from(more)).to_le_bytes());
        self.bytes.truncate(end);
    }

    /// The signed difference of two numbers.
    fn difference(&mut self, from: u64, to: u64) {
        let less = from.wrapping_sub(to) as i64;
        self.number(((less << 1) ^ (less >> 63)) as u64);
    }
}

/// The unread bytes.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().expect("it was written whole");
        self.0 = rest;
        first
    }

    #[inline]
    fn number(&mut self) -> u64 {
        let word =
            u64::from_le_bytes(*self.0.first_chunk().expect("a word follows what was written"));
        let bytes = (word & 7) as usize + 1;
        self.0 = &self.0[bytes..];
        let rest = u64::BITS - 8 * bytes as u32;
        word << rest >> rest >> 3
    }

    fn less_than(&mut self, from: u64) -> u64 {
        let less = self.number();
        from.wrapping_sub((less >> 1) ^ (less & 1).wrapping_neg())
    }

    fn before(&mut self, time: Time) -> Time {
        Time::from_ps(self.less_than(time.ps()))
    }

    fn span(&mut self) -> Span {
        Span::from_ps(self.number())
    }

    fn prior(&mut self, id: FrameId, flags: u8) -> Prior {
        let frame = self.less_than(id);
        let part = Part::ALL[usize::from(self.byte())];
        let has_waited = flags & WAITED != 0;
        let (core_wait, waited) =
            if has_waited { (self.span(), self.span()) } else { (Span::ZERO, Span::ZERO) };
        let entry = if flags & AT_HANDED != 0 { Entry::Handed } else { Entry::Delivered };
        let opens = [None, Some(Window::Receiver), Some(Window::Congestion)]
            [usize::from((flags & OPENS) >> 6)];
        Prior { frame, entry, part, core_wait, waited, opens }
    }
}

impl Packed {
    /// The frame with this number, if it is here; with its hops from the last to the first, if they
    /// are asked for.
    pub(super) fn read(&self, id: FrameId, hops: Option<&mut Vec<Hop>>) -> Option<Record> {
        let begins = *self.begins.get(id as usize % PIECE)?;
        let mut bytes = Bytes(self.bytes.get(begins as usize..)?);
        let flags = bytes.byte();
        let handed = bytes.before(self.since);
        let delivered = Time::from_ps(handed.ps().wrapping_add(bytes.number()));
        let prior = (flags & FOLLOWS != 0).then(|| bytes.prior(id, flags));
        let repeats = (flags & REPEATS != 0).then(|| bytes.less_than(id));
        let of = if flags & IS_PIECE != 0 { bytes.less_than(id) } else { NOT_KEPT };
        let to_host = bytes.number() as u16;
        let flow_hash = u32::from_le_bytes(std::array::from_fn(|_| bytes.byte()));
        if let Some(hops) = hops {
            let mut after = delivered;
            for _ in 0..bytes.number() {
                let number = bytes.number();
                let arrival = bytes.before(after);
                let end = bytes.before(arrival);
                let start = bytes.before(end);
                hops.push(Hop {
                    before: 0,
                    wire: (number >> 8) as u32,
                    class: number as u8,
                    start,
                    end,
                    arrival,
                });
                after = start;
            }
        }
        let is_whole = flags & IS_WHOLE != 0;
        Some(Record {
            handed,
            delivered,
            prior,
            repeats,
            lost: None,
            of,
            to_host,
            flow_hash,
            is_whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::Packet;

    #[test]
    fn what_is_packed_is_read_as_it_was() {
        let ps = Time::from_ps;
        let packet = Packet { to_host: 700, flow_hash: 0xfedc_ba98, ..Packet::default() };
        let hop = |wire, class, stamps: [u64; 3]| {
            let [start, end, arrival] = stamps.map(ps);
            Hop { before: 0, wire, class, start, end, arrival }
        };
        let prior = |frame, entry, part, waits: [u64; 2], opens| {
            let [core_wait, waited] = waits.map(Span::from_ps);
            Some(Prior { frame, entry, part, core_wait, waited, opens })
        };
        let base = 3 * PIECE as FrameId;
        let mut packer = Packer::default();
        let priors = [
            None,
            prior(base - 900, Entry::Delivered, Part::Unknown, [0, 0], Some(Window::Congestion)),
            prior(NOT_KEPT, Entry::Handed, Part::EntryWait, [1, 1 << 50], Some(Window::Receiver)),
            prior(base, Entry::Handed, Part::Start, [0, 0], None),
        ];
        let hops = [hop(super::super::VHOST, 0, [40, 47, u64::MAX]), hop(4, 7, [1 << 41, 9, 8])];
        let frames: Vec<Frame> = (0..)
            .zip(priors)
            .map(|(at, prior)| Frame {
                delivered: ps((1 << 40) + 90 + at),
                repeats: (at == 2).then_some(base),
                of: if at == 3 { base + 7 } else { NOT_KEPT },
                ..Frame::new(ps(1 << 40), packet, prior)
            })
            .collect();
        for (id, frame) in (base..).zip(&frames) {
            packer.add(id, frame, &hops[(id - base) as usize % 3..], id != base);
        }
        packer.skip();
        let packed = packer.finish();
        assert_eq!(packed.over_at, ps((1 << 40) + 93));
        for (id, frame) in (base..).zip(&frames) {
            let mut found = Vec::new();
            let record = packed.read(id, Some(&mut found)).expect("it is there");
            assert_eq!(record, Record { is_whole: id != base, ..Record::of(frame) });
            assert_eq!(found, hops[(id - base) as usize % 3..]);
        }
        assert_eq!(packed.read(base + 4, None), None, "it is kept elsewhere");
    }
}
