//! The way back along the critical path: from the completion of a transaction to its start, interval by interval.

use super::frames::{Entry, Frame, FrameId, Frames, Lost, Window};
use super::part::{Part, Parts};
use super::pauses::total;
use super::wires::Wires;
use super::{Explanation, Loss, Step};
use std::collections::BTreeMap;
use tailrace_units::{Span, Time};

/// What something that is complete follows from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Last {
    /// A frame that was handed to the transport then. Its receiver has worked since, or has waited for a core.
    Frame { at: Time, frame: FrameId, core_wait: Span },
    /// Nothing that came: this has lasted since then.
    Own(Time, Part),
    /// It is not known what.
    Nothing,
}

/// What a walk has found so far. The time from `at` to the end is explained.
pub(super) struct Walk<'a> {
    frames: &'a Frames,
    wires: &'a Wires,
    start: Time,
    /// What the time is before the first frame of the path.
    own: Part,
    at: Time,
    /// The path is in a round trip that this window took.
    round: Option<Window>,
    found: Explanation,
}

impl<'a> Walk<'a> {
    /// Explains what lasted from `start` to `end`. What came before the first frame of the path is `own` time.
    pub(super) fn explain(
        (frames, wires): (&'a Frames, &'a Wires),
        (workload, user): (u32, u32),
        (start, end): (Time, Time),
        (last, own): (Last, Part),
    ) -> Explanation {
        let found = Explanation {
            workload,
            user,
            start,
            end,
            parts: Parts::default(),
            windowed: Span::ZERO,
            receive_windowed: Span::ZERO,
            window_rounds: 0,
            queued_at: BTreeMap::new(),
            behind: BTreeMap::new(),
            losses: Vec::new(),
            steps: Vec::new(),
        };
        let mut walk = Walk { frames, wires, start, own, at: end, round: None, found };
        match last {
            Last::Frame { at, frame, core_wait } if at > start => {
                walk.split(core_wait, Part::CoreWait, at, Part::ClientWork);
                walk.follow(frame);
            }
            Last::Own(since, part) => {
                walk.back_to(since, part);
                walk.back_to(start, walk.own);
            }
            Last::Frame { .. } | Last::Nothing => {
                walk.back_to(start, walk.own);
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
        if span > Span::ZERO {
            self.found.steps.push(Step { part, from: to, to: self.at, wire: None });
        }
        self.at = to;
        self.found.parts.add(part, span);
        if let Some(window) = self.round {
            self.found.windowed += span;
            if window == Window::Receiver {
                self.found.receive_windowed += span;
            }
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
            if let Some(Lost { at, wire, in_ring }) = frame.repeats.and_then(|copy| self.frames.get(copy)?.lost) {
                self.found.losses.push(Loss { at, wire, in_ring });
            }
            let Some(prior) = frame.prior else {
                self.back_to(self.start, self.own);
                return;
            };
            let since = self.moment(prior.frame, prior.entry);
            if since.is_some_and(|since| since <= self.start)
                && matches!(prior.part, Part::ClientWork | Part::ServerWork | Part::Device)
            {
                self.round = None;
                self.back_to(self.start, self.own);
                return;
            }
            self.enter_or_leave_round(prior.opens, prior.part);
            if let Some(since) = since {
                self.split(prior.core_wait, Part::CoreWait, since, prior.part);
            }
            (id, entry) = (prior.frame, prior.entry);
        }
    }

    /// Round trips that a window takes end, on the way back, at what a program wrote.
    fn enter_or_leave_round(&mut self, opens: Option<Window>, part: Part) {
        if opens.is_some() {
            self.round = opens;
            self.found.window_rounds += 1;
        } else if matches!(part, Part::ClientWork | Part::ServerWork | Part::Device) {
            self.round = None;
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
        let mut next = None;
        while let Some(&hop) = self.frames.hop(id) {
            match next {
                None => {
                    self.back_to(hop.arrival, Part::Receive);
                }
                Some(next) => self.queue(next, hop.arrival),
            }
            self.back_to(hop.end.min(hop.arrival), Part::Propagation);
            self.back_to(hop.start, Part::Serialisation);
            (id, next) = (hop.before, Some((hop.wire, hop.class)));
        }
        match next {
            Some((wire, class)) if id == 0 => {
                let pauses = self.wires.paused(wire, class, frame.handed.max(self.start), self.at);
                self.split(total(&pauses), Part::Paused, frame.handed, Part::InterfaceQueue);
            }
            _ => {
                self.back_to(frame.handed, Part::Unknown);
            }
        }
    }

    /// Time of a part since then, of which so much at most was another part.
    fn split(&mut self, other: Span, other_part: Part, since: Time, part: Part) -> Span {
        let began = since.max(self.start);
        let own = self.back_to((began + other).min(self.at), part);
        self.back_to(began, other_part);
        own
    }

    /// In the queue of a class before a wire, since the frame came there.
    fn queue(&mut self, (wire, class): (u32, u8), since: Time) {
        let (began, until) = (since.max(self.start), self.at);
        let pauses = self.wires.paused(wire, class, began, until);
        let span = self.split(total(&pauses), Part::Paused, since, Part::SwitchQueue);
        if span == Span::ZERO {
            return;
        }
        if let Some(step) = self.found.steps.last_mut() {
            step.wire = Some(wire);
        }
        let at_wire = self.found.queued_at.entry((wire, class)).or_insert(Span::ZERO);
        *at_wire += span;
        let free_since = std::iter::once(began).chain(pauses.iter().map(|pause| pause.1));
        let free_until = pauses.iter().map(|pause| pause.0).chain([until]);
        for (from, to) in free_since.zip(free_until) {
            for (workload, sent) in self.wires.occupied(wire, from, to) {
                let behind = self.found.behind.entry(workload).or_insert(Span::ZERO);
                *behind += sent;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::{Hop, Prior};
    use super::super::wires::Node;
    use super::*;
    use tailrace_wire::Packet;

    const PS: fn(u64) -> Time = Time::from_ps;

    /// A frame that passes one switch: handed, then start, end and arrival on both wires, then delivered.
    fn add(frames: &mut Frames, prior: Option<Prior>, stamps: [u64; 8]) -> FrameId {
        let [handed, start, end, arrival, next_start, next_end, next_arrival, delivered] = stamps.map(PS);
        let id = frames.add(Frame { delivered, ..Frame::new(handed, Packet::default(), prior) });
        frames.add_hop(id, Hop { before: 0, wire: 0, class: 0, start, end, arrival });
        frames.add_hop(id, Hop { before: 0, wire: 1, class: 0, start: next_start, end: next_end, arrival: next_arrival });
        id
    }

    fn after(frame: FrameId, entry: Entry, part: Part) -> Option<Prior> {
        Some(Prior { frame, entry, part, core_wait: Span::ZERO, opens: None })
    }

    fn parts(explanation: &Explanation) -> Vec<(Part, u64)> {
        let all = Part::ALL.iter().map(|&part| (part, explanation.parts.of(part).ps()));
        all.filter(|part| part.1 > 0).collect()
    }

    #[test]
    fn every_stamp_divides_the_way_of_a_request_and_its_response() {
        let mut frames = Frames::default();
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0), Node::Host(1), Node::Switch(0)]);
        let request = add(&mut frames, None, [10, 11, 21, 24, 29, 39, 42, 47]);
        let prior = after(request, Entry::Delivered, Part::ServerWork);
        let response = add(&mut frames, prior, [147, 150, 170, 174, 204, 224, 228, 236]);
        wires.push(1, (PS(160), PS(204), PS(207)), 9, 5);
        let found = Walk::explain(
            (&frames, &wires),
            (3, 4),
            (PS(7), PS(240)),
            (Last::Frame { at: PS(236), frame: response, core_wait: Span::ZERO }, Part::Start),
        );
        let expected = [
            (Part::Start, 3),
            (Part::ClientWork, 4),
            (Part::ServerWork, 100),
            (Part::InterfaceQueue, 1 + 3),
            (Part::SwitchQueue, 5 + 30),
            (Part::Serialisation, 10 + 10 + 20 + 20),
            (Part::Propagation, 3 + 3 + 4 + 4),
            (Part::Receive, 5 + 8),
        ];
        assert_eq!(parts(&found), expected);
        assert_eq!(found.behind, BTreeMap::from([(5, Span::from_ps(30))]), "it stood behind workload 5");
    }

    #[test]
    fn a_repetition_is_waited_for_since_the_first_copy_was_handed_over() {
        let mut frames = Frames::default();
        let wires = Wires::new(&[]);
        let lost = frames.add(Frame {
            lost: Some(Lost { at: PS(110), wire: 6, in_ring: false }),
            ..Frame::new(PS(100), Packet::default(), None)
        });
        let again = add(&mut frames, after(lost, Entry::Handed, Part::Timeout), [300, 300, 310, 311, 311, 321, 322, 322]);
        frames.get_mut(again).expect("it is kept").repeats = Some(lost);
        let found = Walk::explain(
            (&frames, &wires),
            (0, 0),
            (PS(90), PS(322)),
            (Last::Frame { at: PS(322), frame: again, core_wait: Span::ZERO }, Part::Start),
        );
        assert_eq!(parts(&found), [(Part::Start, 10), (Part::Serialisation, 20), (Part::Propagation, 2), (Part::Timeout, 200)]);
        assert_eq!(found.losses, [Loss { at: PS(110), wire: 6, in_ring: false }]);
    }

    #[test]
    fn a_round_trip_for_a_window_is_counted_until_what_the_program_wrote() {
        let mut frames = Frames::default();
        let wires = Wires::new(&[]);
        let request = add(&mut frames, None, [0, 0, 1, 2, 2, 3, 4, 4]);
        let data = add(&mut frames, after(request, Entry::Delivered, Part::ServerWork), [10, 10, 11, 12, 12, 13, 14, 14]);
        let ack = add(&mut frames, after(data, Entry::Delivered, Part::DelayedAck), [54, 54, 55, 56, 56, 57, 58, 58]);
        let released = Prior {
            frame: ack,
            entry: Entry::Delivered,
            part: Part::SenderHold,
            core_wait: Span::ZERO,
            opens: Some(Window::Congestion),
        };
        let rest = add(&mut frames, Some(released), [58, 58, 59, 60, 60, 61, 62, 62]);
        let found = Walk::explain(
            (&frames, &wires),
            (0, 0),
            (PS(0), PS(62)),
            (Last::Frame { at: PS(62), frame: rest, core_wait: Span::ZERO }, Part::Start),
        );
        assert_eq!(
            parts(&found),
            [(Part::ServerWork, 6), (Part::Serialisation, 8), (Part::Propagation, 8), (Part::DelayedAck, 40)]
        );
        assert_eq!((found.windowed.ps(), found.window_rounds), (48, 1), "from the write at 10 to the release at 58");
    }

    #[test]
    fn what_was_forgotten_is_unknown() {
        let mut frames = Frames::default();
        let wires = Wires::new(&[]);
        let prior = after(99, Entry::Delivered, Part::ServerWork);
        let only = add(&mut frames, prior, [50, 50, 51, 52, 52, 53, 54, 54]);
        let found = Walk::explain(
            (&frames, &wires),
            (0, 0),
            (PS(0), PS(54)),
            (Last::Frame { at: PS(54), frame: only, core_wait: Span::ZERO }, Part::Start),
        );
        assert_eq!(parts(&found), [(Part::Serialisation, 2), (Part::Propagation, 2), (Part::Unknown, 50)]);
    }
}
