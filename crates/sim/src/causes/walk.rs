//! The way back along the critical path: from the completion of a transaction to its start, interval by interval.

use super::frames::{Entry, Frame, FrameId, Frames};
use super::part::{Part, Parts};
use super::wires::Wires;
use super::{Explanation, Loss};
use std::collections::BTreeMap;
use tailrace_units::{Span, Time};

/// What a walk has found so far. The time from `at` to the end is explained.
pub(super) struct Walk<'a> {
    frames: &'a Frames,
    wires: &'a Wires,
    start: Time,
    at: Time,
    /// The path is in a round trip that a window took.
    is_in_round: bool,
    found: Explanation,
}

impl<'a> Walk<'a> {
    /// Explains what lasted from `start` to `end`. `last` is the frame that brought the last byte, and was handed to the transport at
    /// `delivered`; until the end its receiver worked.
    pub(super) fn explain(
        (frames, wires): (&'a Frames, &'a Wires),
        (workload, user): (u32, u32),
        (start, end): (Time, Time),
        last: Option<(Time, FrameId)>,
    ) -> Explanation {
        let found = Explanation {
            workload,
            user,
            start,
            end,
            parts: Parts::default(),
            windowed: Span::ZERO,
            window_rounds: 0,
            queued_at: BTreeMap::new(),
            behind: BTreeMap::new(),
            losses: Vec::new(),
        };
        let mut walk = Walk { frames, wires, start, at: end, is_in_round: false, found };
        match last {
            Some((delivered, frame)) if delivered > start => {
                walk.back_to(delivered, Part::ClientWork);
                walk.follow(frame);
            }
            Some(_) | None => {
                walk.back_to(start, Part::Start);
            }
        }
        let found = walk.found;
        assert_eq!(found.parts.total(), end.since(start), "the parts of a transaction are its whole latency");
        found
    }

    /// The time from `to` until where the walk is belongs to this part, as far as it is the transaction's.
    fn back_to(&mut self, to: Time, part: Part) -> Span {
        assert!(to <= self.at, "the critical path leads back in time: {to:?} is after {:?}, {part:?}", self.at);
        let to = to.max(self.start);
        let span = self.at.since(to);
        self.at = to;
        self.found.parts.add(part, span);
        if self.is_in_round {
            self.found.windowed = self.found.windowed + span;
        }
        span
    }

    /// From the delivery of a frame back to the start.
    fn follow(&mut self, mut id: FrameId) {
        let mut entry = Entry::Delivered;
        while self.at > self.start {
            let Some(&frame) = self.frames.get(id) else {
                self.back_to(self.start, Part::Unknown);
                return;
            };
            if entry == Entry::Delivered {
                self.pass(&frame);
            }
            if let Some((at, wire)) = frame.repeats.and_then(|copy| self.frames.get(copy)?.lost) {
                self.found.losses.push(Loss { at, wire });
            }
            let Some(prior) = frame.prior else {
                self.back_to(self.start, Part::Start);
                return;
            };
            let since = self.moment(prior.frame, prior.entry);
            if since.is_some_and(|since| since <= self.start) && matches!(prior.part, Part::ClientWork | Part::ServerWork) {
                self.is_in_round = false;
                self.back_to(self.start, Part::Start);
                return;
            }
            self.enter_or_leave_round(prior.opens_window, prior.part);
            if let Some(since) = since {
                self.back_to(since, prior.part);
            }
            (id, entry) = (prior.frame, prior.entry);
        }
    }

    /// Round trips that a window takes end, on the way back, at what a program wrote.
    fn enter_or_leave_round(&mut self, opens_window: bool, part: Part) {
        if opens_window {
            self.is_in_round = true;
            self.found.window_rounds += 1;
        } else if matches!(part, Part::ClientWork | Part::ServerWork) {
            self.is_in_round = false;
        }
    }

    fn moment(&self, id: FrameId, entry: Entry) -> Option<Time> {
        let frame = self.frames.get(id)?;
        Some(match entry {
            Entry::Delivered => frame.delivered,
            Entry::Handed => frame.handed,
        })
    }

    /// From the arrival of a frame back to its hand-over to the interface.
    fn pass(&mut self, frame: &Frame) {
        let mut id = frame.last_hop;
        let mut next_wire = None;
        while let Some(&hop) = self.frames.hop(id) {
            match next_wire {
                None => {
                    self.back_to(hop.arrival, Part::Receive);
                }
                Some(wire) => self.queue(wire, hop.arrival),
            }
            self.back_to(hop.end.min(hop.arrival), Part::Propagation);
            self.back_to(hop.start, Part::Serialisation);
            (id, next_wire) = (hop.before, Some(hop.wire));
        }
        let part = if id == 0 { Part::InterfaceQueue } else { Part::Unknown };
        self.back_to(frame.handed, part);
    }

    /// In the queue before a wire, since the frame came there.
    fn queue(&mut self, wire: u32, since: Time) {
        let until = self.at;
        let span = self.back_to(since, Part::SwitchQueue);
        if span == Span::ZERO {
            return;
        }
        let at_wire = self.found.queued_at.entry(wire).or_insert(Span::ZERO);
        *at_wire = *at_wire + span;
        for (workload, sent) in self.wires.occupied(wire, self.at, until) {
            let behind = self.found.behind.entry(workload).or_insert(Span::ZERO);
            *behind = *behind + sent;
        }
    }
}
