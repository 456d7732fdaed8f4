//! One part of a trial on its thread: it handles the events that are due before the end of a
//! window, hands over frames for other parts, and waits.

use super::barrier::{Barrier, WindowReport};
use super::mailboxes::{Board, CrossingFrame, Mailboxes};
use super::receivers::{FlowEndpoints, note_arriving};
use super::whole::{LateWire, Own};
use crate::agenda::{Source, source_of};
use crate::boundary::{Opening, PartNo};
use crate::control::Control;
use crate::links::prefetch_wires;
use crate::part_flows::FlowEnd;
use crate::workload_events::EventKey;
use crate::world::connection::EndNumbers;
use crate::world::{EVENTS_PER_REPORT, World};
use tailrace_network::Wire;
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Windows between two checks of the control.
const WINDOWS_PER_REPORT: usize = 1 << 8;
/// Remaining flows below which the parts stop after each that ends, so that none continues after
/// the last.
const ENDING_MAX: u64 = 16;
/// Entries of a log after which the threads end, so that it is merged: some 64 MiB.
const ENTRIES_MAX: usize = 1 << 20;

/// State that all parts share.
pub(super) struct Shared<'a> {
    pub(super) barrier: Barrier,
    pub(super) mailboxes: Mailboxes,
    pub(super) flows: Board<FlowEnd>,
    /// Numbers that hosts give the two ends of the flow that opens.
    pub(super) numbers: Board<(usize, EndNumbers)>,
    /// Where programs open connections.
    pub(super) openings: Option<Board<Opening>>,
    pub(super) control: &'a Control,
    /// No frame arrives in another part earlier than this after its transmission began.
    pub(super) lookahead: Span,
    /// Events from here on are not handled.
    pub(super) bound: (Time, Source),
    /// The last event of the trial, if it is known.
    pub(super) end: Option<EventKey>,
    /// When this many users have finished, everything may be done.
    pub(super) users: Option<u64>,
    /// Whether that is an end of a flow.
    pub(super) ends_with_flows: bool,
    /// Whether processors are brought up to date at the bound.
    pub(super) settles_processors: bool,
}

/// Why the threads have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    /// Everything before the bound was handled.
    AtBound,
    /// There are logs to be merged, or the trial was cancelled.
    Early,
}

/// A part.
pub(super) struct Part<'a> {
    pub(super) number: PartNo,
    pub(super) world: &'a mut World,
    ports: &'a mut LatePorts,
    own: &'a Own,
    crossing: Vec<Vec<CrossingFrame>>,
    /// Counts all barriers.
    pub(super) window: usize,
    /// Windows in which a flow gets its numbers, and no time passes.
    pub(super) exchanges: usize,
    /// The first window before which the control is checked.
    reports_at: usize,
    /// Events that it has handled in this window.
    handled: u64,
    /// Over all windows so far, the sum of the most events of a part.
    longest: u64,
    /// The trial was cancelled within a window.
    is_stopped: bool,
    /// When the first of the frames that were handed over in this window arrives.
    handed_over: Time,
    /// The last event of the trial was one of this part.
    pub(super) is_over: bool,
    /// Few flows are left, so that the end of each of them is anticipated.
    pub(super) is_ending: bool,
    /// Time until which ports that decide late have decided.
    decided: Time,
    /// Time until which everything is handled.
    pub(super) handled_until: Time,
    /// The end of the window before.
    pub(super) bound: (Time, Source),
    /// The same in all parts.
    pub(super) flow_endpoints: &'a FlowEndpoints,
}

/// Wires over the boundary of a part whose ports decide late.
#[derive(Debug)]
pub(super) struct LatePorts {
    /// Wires that begin here.
    pub(super) out: Vec<LateWire>,
    /// By wire: its index among those, or its other kind. Empty where there are no such wires.
    pub(super) kinds: Vec<Kind>,
    /// By index, the frames on it that have been handed over.
    pub(super) handed_over: Vec<usize>,
}

/// The role of a wire for a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Usual,
    /// It begins here at a port that decides late, and ends elsewhere.
    Out(u32),
    /// It begins elsewhere at such a port and ends here: the event of its reading counts there.
    In,
}

impl<'a> Part<'a> {
    pub(super) fn new(
        number: usize,
        world: &'a mut World,
        (ports, own): (&'a mut LatePorts, &'a Own),
        flow_endpoints: &'a FlowEndpoints,
        parts: usize,
    ) -> Part<'a> {
        let crossing = vec![Vec::new(); parts];
        Part {
            number: number as PartNo,
            world,
            ports,
            own,
            crossing,
            window: 0,
            exchanges: 0,
            reports_at: 0,
            handled: 0,
            longest: 0,
            is_stopped: false,
            handed_over: Time::NEVER,
            is_over: false,
            is_ending: false,
            decided: Time::ZERO,
            handled_until: Time::ZERO,
            bound: (Time::ZERO, 0),
            flow_endpoints,
        }
    }

    /// Windows so far.
    pub(super) fn windows(&self) -> usize {
        self.window - self.exchanges
    }

    /// Over all windows, the sum of the most events of a part.
    pub(super) fn longest(&self) -> u64 {
        self.longest
    }

    /// Runs window by window. Returns why it has ended.
    pub(super) fn run(&mut self, shared: &Shared<'_>) -> Ended {
        let _guard = shared.barrier.guard();
        (self.decided, self.handled_until) = (self.world.now, self.world.now);
        loop {
            let together = self.meet(shared);
            if together.next > shared.bound.0 {
                return Ended::AtBound;
            }
            if together.is_to_pause || shared.users.is_some_and(|users| together.finished >= users)
            {
                return Ended::Early;
            }
            let opening = self.open_flows(shared);
            let window = (together.next + shared.lookahead, 0)
                .min(shared.bound)
                .min(opening)
                .min(together.flow_end);
            self.advance(shared, window);
            self.bound = window;
            if self.is_stopped {
                // Frames in the network stay on their wires.
                self.post(shared);
            } else {
                self.hand_over(shared, window);
            }
            if window == shared.bound {
                let together = self.meet(shared);
                return if together.is_to_pause { Ended::Early } else { Ended::AtBound };
            }
        }
    }

    /// Brings the part up to `now`, when no event before is left.
    pub(super) fn settle(&mut self, shared: &Shared<'_>, now: Time) {
        let _guard = shared.barrier.guard();
        self.world.now = now;
        let Own { hosts, switches, hypervisors } = self.own;
        self.world.settle_these_switches(switches.iter().map(|&switch| switch as usize));
        if shared.settles_processors {
            self.world.settle_these_processors(hosts.iter().copied(), hypervisors.iter().copied());
        }
        self.post(shared);
        self.meet(shared);
    }

    /// Waits for the other parts, and takes the frames that they have handed over.
    fn meet(&mut self, shared: &Shared<'_>) -> WindowReport {
        let is_to_report = self.number == 0 && self.window >= self.reports_at;
        if is_to_report {
            self.reports_at = self.window + WINDOWS_PER_REPORT;
        }
        let is_cancelled =
            self.is_stopped || is_to_report && self.world.is_cancelled_by(shared.control);
        let flow_end = self.next_flow_end(shared);
        let log = self.world.links.observe.log.as_ref().expect("a part has a log");
        let report = WindowReport {
            next: if self.is_over { self.handed_over } else { self.next_due() },
            finished: log.finished,
            events: self.handled,
            is_to_pause: log.entries.len() >= ENTRIES_MAX || is_cancelled,
            flow_end,
        };
        let together = shared.barrier.meet(usize::from(self.number), self.window, report);
        self.is_ending = shared.ends_with_flows
            && shared.users.is_some_and(|users| users <= together.finished + ENDING_MAX);
        self.handed_over = Time::NEVER;
        self.longest += together.events;
        self.handled = 0;
        self.world.is_cancelled |= together.is_to_pause && shared.control.is_cancelled();
        if !self.flow_endpoints.openers.is_empty() {
            let mut ended = shared.flows.read(self.window);
            ended.sort_by_key(|flow| flow.event);
            ended.iter().for_each(|flow| self.world.settle_flow(flow));
        }
        if let Some(openings) = &shared.openings {
            openings.read(self.window).iter().for_each(|opening| self.world.learn_opening(opening));
        }
        let sockets_from = self.world.sources.sockets;
        let World { links, hosts, .. } = &mut *self.world;
        shared.mailboxes.collect(usize::from(self.number), self.window, |crossing| {
            for (at, frame) in crossing.iter().enumerate() {
                prefetch_wires(
                    &links.wires,
                    crossing[at..].iter().map(|frame| frame.wire),
                    Wire::prefetch_last,
                );
                let link = &mut links.wires[frame.wire as usize];
                let is_first = link.next_arrival().is_never();
                link.push_at(frame.arrival, &frame.packet);
                if is_first {
                    links.agenda.arm_idle_wire(frame.wire, frame.arrival);
                }
                if !self.flow_endpoints.openers.is_empty() && frame.packet.payload_bytes > 0 {
                    note_arriving(links, hosts, &frame.packet, sockets_from);
                }
            }
        });
        self.window += 1;
        together
    }

    /// Handles everything before this time and source.
    fn advance(&mut self, shared: &Shared<'_>, bound: (Time, Source)) {
        if self.is_over {
            return;
        }
        let has_late = !self.ports.kinds.is_empty();
        let mut events = 0;
        while let Some((at, source)) = self.world.links.agenda.next_before(bound) {
            self.world.now = at;
            let log = self.world.links.observe.log.as_mut().expect("a part has a log");
            log.begin(at, source);
            let is_last = shared.end == Some(log.event);
            let kind = if has_late { self.ports.kinds.get(source as usize).copied() } else { None };
            events += u64::from(kind != Some(Kind::In));
            if let Some(Kind::Out(place)) = kind {
                self.ports.handed_over[place as usize] -=
                    self.world.read_for_another(at, source as usize);
            } else {
                self.world.handle_aside(at, source);
            }
            if is_last {
                self.is_over = true;
                break;
            }
            let is_check_due = events.is_multiple_of(u64::from(EVENTS_PER_REPORT))
                || shared.control.is_cancelled();
            if is_check_due && kind != Some(Kind::In) && self.is_to_stop(shared) {
                break;
            }
        }
        self.handled = events;
        let reports = |events: u64| events / u64::from(EVENTS_PER_REPORT);
        let before = reports(self.world.events);
        self.world.events += events;
        if reports(self.world.events) > before {
            self.world.check_huge_pages();
        }
    }

    /// Checks the control within a window, which can be long: the first part reports the progress.
    #[cold]
    #[inline(never)]
    fn is_to_stop(&mut self, shared: &Shared<'_>) -> bool {
        self.is_stopped = if self.number == 0 {
            self.world.is_cancelled_by(shared.control)
        } else {
            shared.control.is_cancelled()
        };
        self.is_stopped
    }

    /// Hands over the frames of a window.
    fn hand_over(&mut self, shared: &Shared<'_>, window: (Time, Source)) {
        // Everything before the end of the window is handled, and the frames that ports choose
        // until then are sent. A choice at a time of which only some events are handled is sent
        // with the others.
        let is_whole = window == shared.bound && window.1 > 0;
        let last = if is_whole { window.0 } else { Time::from_ps(window.0.ps().saturating_sub(1)) };
        self.handled_until = last;
        if !self.ports.out.is_empty() {
            self.decided = last;
            for at in 0..self.ports.out.len() {
                let LateWire { wire, switch, port, .. } = self.ports.out[at];
                if !self.world.links.agenda.due(source_of(wire as usize)).is_never() {
                    self.world.settle_port(last, switch as usize, usize::from(port));
                }
            }
        }
        self.post(shared);
    }

    /// The earliest next event that this part causes.
    fn next_due(&self) -> Time {
        self.world.links.agenda.peek().min(self.handed_over).min(self.next_decision())
    }

    /// When a port that decides late can begin a transmission to another part, of a frame that
    /// waits already. Such a decision is no event of the agenda: it is made when the frame before
    /// it is read. The release of a frame that is held back for longer is an event.
    fn next_decision(&self) -> Time {
        let decision = |late: &LateWire| {
            let (switch, port) =
                (&self.world.switches[late.switch as usize].switch, usize::from(late.port));
            let free_at = switch.free_at(port);
            if free_at > self.decided && switch.waiting_bytes(port) > 0 {
                free_at
            } else {
                Time::NEVER
            }
        };
        self.ports.out.iter().map(decision).min().unwrap_or(Time::NEVER)
    }

    fn post(&mut self, shared: &Shared<'_>) {
        if !self.flow_endpoints.openers.is_empty() {
            let flows =
                &mut self.world.links.boundary.as_mut().expect("a part has a boundary").flows;
            let is_last = |at: Time, source: Source| (at, source + 1) == self.bound;
            for &FlowEnd { event: (at, source, _), .. } in
                flows.ended.iter().filter(|flow| flow.is_shared)
            {
                assert!(
                    is_last(at, source),
                    "the end of a flow of another part is known before it comes"
                );
            }
            shared.flows.post(usize::from(self.number), self.window, &mut flows.ended);
        }
        let Part { world, ports, crossing, handed_over, .. } = self;
        let links = &mut world.links;
        let boundary = links.boundary.as_mut().expect("a part has a boundary");
        if let Some(openings) = &shared.openings {
            openings.post(usize::from(self.number), self.window, &mut boundary.openings);
        }
        let filled = boundary.take_filled();
        for (at, &wire) in filled.iter().enumerate() {
            prefetch_wires(&links.wires, filled[at..].iter().copied(), Wire::prefetch);
            let (crossing, link) =
                (&mut crossing[boundary.end_of(wire)], &mut links.wires[wire as usize]);
            *handed_over = link.next_arrival().min(*handed_over);
            while !link.next_arrival().is_never() {
                let (arrival, packet) = link.pop();
                crossing.push(CrossingFrame { wire, arrival, packet });
            }
        }
        boundary.reuse(filled);
        for (late, count) in ports.out.iter().zip(&mut ports.handed_over) {
            let link: &Wire<Packet> = &links.wires[late.wire as usize];
            for (arrival, packet) in link.frames_from(*count) {
                *handed_over = arrival.min(*handed_over);
                crossing[usize::from(late.to)].push(CrossingFrame {
                    wire: late.wire,
                    arrival,
                    packet,
                });
                *count += 1;
            }
        }
        for (to, crossing) in crossing.iter_mut().enumerate() {
            shared.mailboxes.post((usize::from(self.number), to), self.window, crossing);
        }
    }
}

impl LatePorts {
    /// `into`: the numbers of wires that end here and begin at such a port elsewhere.
    pub(super) fn new(out: Vec<LateWire>, wires: usize, into: &[u32]) -> LatePorts {
        let mut kinds = Vec::new();
        if !out.is_empty() || !into.is_empty() {
            kinds = vec![Kind::Usual; wires];
            out.iter()
                .zip(0..)
                .for_each(|(late, place)| kinds[late.wire as usize] = Kind::Out(place));
            into.iter().for_each(|&wire| kinds[wire as usize] = Kind::In);
        }
        LatePorts { handed_over: vec![0; out.len()], out, kinds }
    }
}
