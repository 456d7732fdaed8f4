//! The walk back along the critical path: from the completion of a transaction to its start,
//! interval by interval.

use super::cached_path::{CachedPath, Found, Visit, add_to};
use super::frames::{
    Entry, FrameId, Frames, Hop, NOT_KEPT, Prior, Record, SWITCHING, VHOST, Window,
};
use super::part::{Part, Parts};
use super::wires::{Wires, add};
use super::{Explanation, TimedPart};
use std::collections::BTreeMap;
use tailrace_units::{Span, Time};

/// The cause of a completion.
#[derive(Clone, Copy, Debug)]
pub(super) enum Last {
    /// A frame that was handed to the transport then. Its receiver has worked since, or has waited
    /// for a core.
    Frame { at: Time, frame: FrameId, core_wait: Span, work: Part },
    /// No input: this has lasted since then.
    Own(Time, Part),
    /// Unknown.
    Nothing,
}

/// State of a walk. The time from `at` to the end is explained.
pub(super) struct Walk<'a> {
    frames: &'a Frames,
    wires: &'a Wires,
    /// The steps of the path are wanted, too.
    keeps_steps: bool,
    /// The cached path of the user's earlier transactions, through which this one may pass.
    cached: Option<&'a mut CachedPath>,
    start: Time,
    /// The part of the time before the first frame of the path.
    own: Part,
    at: Time,
    /// The path is in a round trip that this window took.
    round: Option<Window>,
    /// Workloads whose frames were sent while it stood in queues of switches, and of interfaces,
    /// and for how long: a handful.
    behind: [Vec<(u32, Span)>; 2],
    /// Of the frame that was read, from the last to the first.
    hops: Vec<Hop>,
    found: Explanation,
}

impl<'a> Walk<'a> {
    /// Explains the time from `start` to `end`. The time before the first frame of the path is
    /// `own` time.
    pub(super) fn explain(
        (frames, wires, keeps_steps): (&'a Frames, &'a Wires, bool),
        cached: Option<&'a mut CachedPath>,
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
        let mut walk = Walk {
            frames,
            wires,
            keeps_steps,
            cached,
            start,
            own,
            at: end,
            round: None,
            behind: [Vec::new(), Vec::new()],
            hops: Vec::new(),
            found,
        };
        match last {
            Last::Frame { at, frame, core_wait, work } if at > start => {
                walk.split(core_wait, Part::CoreWait, at, work);
                if let Some(cached) = &mut walk.cached {
                    cached.begin(start);
                }
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
        let mut found = walk.found;
        for (part, sums) in [Part::SwitchQueue, Part::InterfaceQueue].into_iter().zip(walk.behind) {
            for (workload, sent) in sums {
                add_to(&mut found.behind, (part, workload), sent);
            }
        }
        assert_eq!(
            found.parts.total(),
            end.since(start),
            "the parts of a transaction are its whole latency"
        );
        found
    }

    /// Adds the time from `to` until the position of the walk to this part, as far as it is the
    /// transaction's.
    fn back_to(&mut self, to: Time, part: Part) -> Span {
        assert!(
            to <= self.at,
            "the critical path leads back in time: {to:?} is after {:?}, {part:?}",
            self.at
        );
        let to = to.max(self.start);
        let span = self.at.since(to);
        if self.keeps_steps && span > Span::ZERO {
            self.found.steps.push(TimedPart { part, from: to, to: self.at, wire: None });
        }
        self.at = to;
        self.found.parts.add(part, span);
        if span > Span::ZERO {
            self.note(Found::Part(part), span);
        }
        if let Some(window) = self.round {
            if span > Span::ZERO {
                self.note(Found::Windowed(window), span);
            }
            self.found.windowed += span;
            if window == Window::Receiver {
                self.found.receive_windowed += span;
            }
        }
        span
    }

    /// For the user's next transaction, whose path may pass here.
    fn note(&mut self, found: Found, span: Span) {
        if let Some(cached) = &mut self.cached {
            cached.note(found, span);
        }
    }

    /// From the delivery of a frame back to the start.
    fn follow(&mut self, frame: FrameId) {
        let mut next = Some((frame, Entry::Delivered));
        while let Some((frame, entry)) = next
            && self.at > self.start
        {
            let (round, from) = (self.round, self.at);
            if let Some(cached) = &mut self.cached {
                if cached.passes(frame, entry, round, from) {
                    cached.follow(&mut self.found, self.own);
                    self.at = self.start;
                    return;
                }
                cached.visit();
            }
            let (prior, passed) = self.visit((frame, entry));
            let is_after_work = prior.is_some_and(|prior| is_work(prior.part));
            if let Some(cached) = &mut self.cached {
                cached.leave(Visit {
                    frame,
                    entry,
                    round,
                    from,
                    passed,
                    is_after_work,
                    to: self.at,
                    times: 0,
                    losses: 0,
                });
            }
            next = prior.map(|prior| (prior.frame, prior.entry));
        }
        if let Some(cached) = &mut self.cached {
            cached.replace();
        }
    }

    /// From the point where a frame is entered to its prior frame, or to the start. Also returns
    /// where its own path ends.
    fn visit(&mut self, (id, entry): (FrameId, Entry)) -> (Option<Prior>, Time) {
        let record = match entry {
            Entry::Delivered => self.frames.read_with_hops(id, &mut self.hops),
            Entry::Handed => self.frames.read(id),
        };
        let Some(frame) = record else {
            self.back_to(self.start, Part::Unknown);
            return (None, self.at);
        };
        if entry == Entry::Delivered {
            self.pass_all(id, &frame);
        }
        let passed = self.at;
        if let Some(loss) = frame.repeats.and_then(|copy| self.frames.loss_of(copy)) {
            self.found.losses.push(loss);
            if let Some(cached) = &mut self.cached {
                cached.note_loss(loss);
            }
        }
        let Some(prior) = frame.prior else {
            self.begin();
            return (None, passed);
        };
        if prior.part == Part::EntryWait {
            self.round = None;
            self.back_to(
                Time::from_ps(frame.handed.ps().saturating_sub(prior.waited.ps())),
                Part::EntryWait,
            );
            self.begin();
            return (None, passed);
        }
        let since = self.moment(prior.frame, prior.entry);
        if since.is_some_and(|since| since <= self.start) && is_work(prior.part) {
            self.begin();
            return (None, passed);
        }
        self.enter_or_leave_round(prior.opens, prior.part);
        if let Some(since) = since {
            let taken_up = since + prior.waited;
            self.split(prior.core_wait, Part::CoreWait, taken_up.min(self.at), prior.part);
            self.back_to(since, Part::WorkerWait);
        }
        (Some(prior), passed)
    }

    /// The time before the first frame of the path: no round trip takes it.
    fn begin(&mut self) {
        self.round = None;
        self.back_to(self.start, self.own);
    }

    /// Round trips that a window takes end, on the way back, at a program's write.
    fn enter_or_leave_round(&mut self, opens: Option<Window>, part: Part) {
        if opens.is_some() {
            self.round = opens;
            self.found.window_rounds += 1;
            self.note(Found::Round, Span::ZERO);
        } else if is_work(part) {
            self.round = None;
        }
    }

    /// When a frame was delivered or handed over: at the start at the latest, of one that is
    /// forgotten because it was over by then.
    fn moment(&self, id: FrameId, entry: Entry) -> Option<Time> {
        let Some(frame) = self.frames.read(id) else {
            let known = self.cached.as_deref().and_then(|cached| cached.moment(id, entry));
            return known.or_else(|| self.frames.was_over(id, self.start).then_some(self.start));
        };
        Some(match entry {
            Entry::Delivered => frame.delivered,
            Entry::Handed => frame.handed,
        })
    }

    /// The same as `pass`, of a datagram: follows the fragment that came first, and counts the
    /// others as waits.
    fn pass_all(&mut self, id: FrameId, frame: &Record) {
        if frame.of == NOT_KEPT || frame.of == id {
            return self.pass(frame);
        }
        match self.frames.read_with_hops(frame.of, &mut self.hops) {
            Some(first) => {
                self.back_to(first.delivered, Part::Reassembly);
                self.pass(&first);
            }
            None => {
                let was_over = self.frames.was_over(frame.of, self.start);
                self.back_to(self.start, if was_over { Part::Reassembly } else { Part::Unknown });
            }
        }
    }

    /// From the arrival of a frame, whose hops were read, back to its hand-over to the interface.
    fn pass(&mut self, frame: &Record) {
        let mut next = None;
        let hops = std::mem::take(&mut self.hops);
        for hop in &hops {
            match next {
                None => self.receive(frame, hop.arrival),
                Some((SWITCHING, _)) => {
                    self.back_to(hop.arrival, Part::VirtualSwitchWait);
                }
                Some((VHOST, _)) => {
                    self.back_to(hop.arrival, Part::VhostWait);
                }
                Some(next) => self.queue(Part::SwitchQueue, next, hop.arrival),
            }
            match hop.wire {
                SWITCHING => self.work(hop, Part::VirtualSwitch, Part::VirtualSwitchWait),
                VHOST => self.work(hop, Part::Vhost, Part::VhostWait),
                _ => {
                    self.back_to(hop.end.min(hop.arrival), Part::Propagation);
                    self.back_to(hop.start, Part::Serialisation);
                }
            }
            next = Some((hop.wire, hop.class));
        }
        self.hops = hops;
        match next {
            Some((wire, class)) if frame.is_whole && wire < VHOST => {
                self.queue(Part::InterfaceQueue, (wire, class), frame.handed)
            }
            _ => {
                self.back_to(frame.handed, Part::Unknown);
            }
        }
    }

    /// From the hand-over to the transport back to the arrival at the host. In a virtual machine,
    /// the core that takes the frame must run.
    fn receive(&mut self, frame: &Record, since: Time) {
        let &Record { to_host, flow_hash, .. } = frame;
        let closed = self.wires.closed(to_host, flow_hash, since.max(self.start), self.at);
        self.alternate(&closed, Part::VirtualCoreWait, since, Part::Receive);
    }

    /// Work inside a hypervisor, from its end back to its beginning. The excess of its duration
    /// over its work is time in which its core did something else.
    fn work(&mut self, hop: &Hop, part: Part, wait: Part) {
        let rest = hop.arrival.since(hop.end.min(hop.arrival));
        self.split(rest, wait, hop.start, part);
    }

    /// Time of a part since then, of which another part comes before.
    fn split(&mut self, other: Span, other_part: Part, since: Time, part: Part) {
        self.back_to((since + other).min(self.at), part);
        self.back_to(since, other_part);
    }

    /// Time of a part since then, interrupted by another.
    fn alternate(&mut self, others: &[(Time, Time)], other_part: Part, since: Time, part: Part) {
        for &(from, to) in others.iter().rev() {
            self.back_to(to, part);
            self.back_to(from, other_part);
        }
        self.back_to(since, part);
    }

    /// In the queue of a class before a wire, of a switch or an interface, since the frame came
    /// there.
    fn queue(&mut self, part: Part, queue: (u32, u8), since: Time) {
        let pauses = self.wires.paused(queue.0, queue.1, since.max(self.start), self.at);
        for &(from, to) in pauses.iter().rev() {
            self.queue_unpaused(part, queue, to);
            self.stand(Part::Paused, queue, from);
        }
        self.queue_unpaused(part, queue, since);
    }

    fn queue_unpaused(&mut self, part: Part, queue: (u32, u8), since: Time) {
        let (wires, until) = (self.wires, self.at);
        if self.stand(part, queue, since) == Span::ZERO {
            return;
        }
        let place = usize::from(part == Part::InterfaceQueue);
        if self.cached.is_none() {
            return wires.add_occupied(queue.0, self.at, until, &mut self.behind[place]);
        }
        for (workload, sent, sent_by) in wires.occupied(queue.0, self.at, until) {
            self.note(Found::Behind(part, workload, sent_by), sent);
            add(&mut self.behind[place], workload, sent);
        }
    }

    /// Time of a part before a wire in a class.
    fn stand(&mut self, part: Part, (wire, class): (u32, u8), since: Time) -> Span {
        let span = self.back_to(since, part);
        if span > Span::ZERO {
            if let Some(step) = self.found.steps.last_mut().filter(|_| part == Part::SwitchQueue) {
                step.wire = Some(wire);
            }
            add_to(&mut self.found.queued_at, (part, wire, class), span);
            self.note(Found::Queued(part, wire, class), span);
        }
        span
    }
}

/// Whether the part is work of programs and devices.
fn is_work(part: Part) -> bool {
    matches!(part, Part::ClientWork | Part::ServerWork | Part::Device)
}

#[cfg(test)]
mod tests;
