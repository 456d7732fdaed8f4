//! One output port: its queues, its scheduler and its transmitter.
//!
//! Two kinds of port behave the same and differ in when they decide. A port with one queue and nothing to choose at
//! dequeue commits to every departure when the frame arrives and keeps only start times ([`fifo`]). Any other port chooses
//! when its transmitter becomes free, or later when asked, with the state of that moment ([`scheduled`]): a frame that
//! arrives exactly when the transmitter becomes free is not seen by that choice.
//!
//! A frame leaves its queue, and the shared memory, when its transmission starts.

mod fifo;
mod judge;
mod line;
mod policy;
mod scheduled;

pub use policy::{PortPolicy, QueuePolicy, Watchdog};

use crate::dpp::Dpp;
use crate::ingress::{Account, Order};
use crate::queue::Queue;
use crate::{Frame, Outside, PortNo, QueueCounters, QueueNo, SharedBuffer, TrapCounters};
use fifo::Fifo;
use line::Line;
use scheduled::{Exit, Scheduled};
use tailrace_units::{Pace, Time};
use tailrace_wire::{Pause, PauseState};

#[derive(Debug)]
pub(crate) struct Port<F> {
    line: Line,
    kind: Kind<F>,
}

#[derive(Debug)]
enum Kind<F> {
    Fifo(Box<Fifo<F>>),
    Scheduled(Box<Scheduled<F>>),
}

/// What a departure gives back to the ingress side: accounts to be closed, with times and bytes.
pub(crate) type Releases = Vec<(Time, Account, u32)>;

impl<F: Frame> Port<F> {
    /// `must_choose` makes a plain port choose at departure too: for ports that may be paused, and for tests.
    pub(crate) fn new(number: PortNo, pace: Pace, overhead_bytes: u32, policy: PortPolicy, must_choose: bool) -> Port<F> {
        let line = Line::new(number, pace, overhead_bytes);
        let is_plain = policy.is_plain() && !must_choose;
        let kind =
            if is_plain { Kind::Fifo(Box::new(Fifo::new(policy))) } else { Kind::Scheduled(Box::new(Scheduled::new(policy))) };
        Port { line, kind }
    }

    pub(crate) fn observe(&mut self) {
        self.line.is_observed = true;
    }
    /// Counts from `now` on.
    pub(crate) fn begin_counting(&mut self, now: Time) {
        match &mut self.kind {
            Kind::Fifo(fifo) => {
                let depth_max_bytes = self.line.waiting_bytes;
                fifo.queue.counters = QueueCounters { depth_max_bytes, ..QueueCounters::default() };
            }
            Kind::Scheduled(scheduled) => scheduled.begin_counting(now),
        }
    }
    pub(crate) fn free_at(&self) -> Time {
        self.line.free_at
    }
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.line.waiting_bytes
    }
    pub(crate) fn depth_bytes(&self, queue: usize) -> u64 {
        match &self.kind {
            Kind::Fifo(_) => self.line.waiting_bytes,
            Kind::Scheduled(scheduled) => scheduled.queues[queue].depth_bytes,
        }
    }
    /// Whether departures are chosen late, so that [`Port::settle`] can start transmissions.
    pub(crate) fn chooses_late(&self) -> bool {
        matches!(self.kind, Kind::Scheduled(_))
    }
    pub(crate) fn queues(&self) -> &[Queue<F>] {
        match &self.kind {
            Kind::Fifo(fifo) => std::slice::from_ref(&fifo.queue),
            Kind::Scheduled(scheduled) => &scheduled.queues,
        }
    }
    pub(crate) fn dpp(&self) -> Option<&Dpp> {
        match &self.kind {
            Kind::Fifo(_) => None,
            Kind::Scheduled(scheduled) => scheduled.dpp.as_ref(),
        }
    }
    pub(crate) fn scheduled(&self) -> Option<&Scheduled<F>> {
        match &self.kind {
            Kind::Fifo(_) => None,
            Kind::Scheduled(scheduled) => Some(scheduled),
        }
    }
    pub(crate) fn pause_state(&self) -> Option<&PauseState> {
        self.scheduled().map(|scheduled| &scheduled.pause)
    }
    pub(crate) fn pace(&self) -> Pace {
        self.line.pace
    }

    /// Whether a pause or a shaper can hold frames back while the line is idle.
    pub(crate) fn can_be_held_back(&self) -> bool {
        self.scheduled().is_some_and(Scheduled::can_be_held_back)
    }
    pub(crate) fn storms(&self) -> (u64, u64) {
        self.scheduled().map_or((0, 0), |scheduled| (scheduled.storms_detected, scheduled.storms_ended))
    }
    pub(crate) fn elephants(&self) -> Option<TrapCounters> {
        self.scheduled().and_then(|scheduled| scheduled.etrap.as_ref()).map(|etrap| etrap.counters)
    }

    /// When the next choice is due, or [`Time::NEVER`].
    pub(crate) fn next_choice(&self) -> Time {
        if self.chooses_late() { self.line.due } else { Time::NEVER }
    }

    /// When somebody must call although nothing arrives at the other end of the wire until then. While a frame is on the
    /// wire its arrival there is a good time to ask again; only choices after that need a call.
    pub(crate) fn next_wakeup(&self) -> Time {
        let choice = self.next_choice();
        if choice > self.line.free_at { choice } else { Time::NEVER }
    }

    /// Whether something was due by `now`.
    #[inline(always)]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.line.due <= now
    }

    /// Does everything that was due up to and including `now`.
    pub(crate) fn settle(&mut self, now: Time, buffer: &mut SharedBuffer, releases: &mut Releases, out: &mut impl Outside<F>) {
        match &mut self.kind {
            Kind::Fifo(fifo) => fifo.settle(&mut self.line, now, buffer, out),
            Kind::Scheduled(scheduled) => scheduled.settle(&mut Exit { line: &mut self.line, buffer, releases, out }, now),
        }
    }

    /// Does the one thing that is due next, at `at`. Only ports that choose have such things.
    pub(crate) fn step(&mut self, at: Time, buffer: &mut SharedBuffer, releases: &mut Releases, out: &mut impl Outside<F>) {
        if let Kind::Scheduled(scheduled) = &mut self.kind {
            scheduled.step(&mut Exit { line: &mut self.line, buffer, releases, out }, at);
        }
    }

    /// Decides what becomes of a frame that arrives now. The port must be settled. The frame stays where it is until it is
    /// known where it goes, so that it moves once.
    #[inline(always)]
    pub(crate) fn judge(&mut self, now: Time, frame: &mut F, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) -> Verdict {
        match &mut self.kind {
            Kind::Fifo(fifo) => fifo.judge(&mut self.line, now, frame, buffer, out),
            Kind::Scheduled(scheduled) => scheduled.judge(&mut self.line, now, frame, buffer, out),
        }
    }

    /// Puts a frame into the queue that was found for it.
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        queue: QueueNo,
        frame: F,
        account: Option<Account>,
        buffer: &mut SharedBuffer,
        out: &mut impl Outside<F>,
    ) {
        if let Kind::Scheduled(scheduled) = &mut self.kind {
            let waiting_bytes = self.line.waiting_bytes + u64::from(frame.bytes());
            scheduled.enqueue(now, queue, frame, account, buffer);
            self.line.waits(now, waiting_bytes, out);
            scheduled.note_due(&mut self.line);
        }
    }

    /// A pause frame has come from the neighbour.
    pub(crate) fn handle_pause(&mut self, now: Time, pause: &Pause) {
        if let Kind::Scheduled(scheduled) = &mut self.kind {
            scheduled.handle_pause(&self.line, now, pause);
            scheduled.note_due(&mut self.line);
        }
    }

    /// The ingress side of this port orders a pause frame to the neighbour.
    pub(crate) fn order(&mut self, order: &Order) {
        if let Kind::Scheduled(scheduled) = &mut self.kind {
            scheduled.order(order.at, F::new_pause(order.pause));
            scheduled.note_due(&mut self.line);
        }
    }
}

/// What becomes of a frame at the entrance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It was dropped.
    Dropped,
    /// It is sent from `start` to `end`, and need not be kept.
    Leaves { start: Time, end: Time },
    /// It waits in this queue.
    Waits(QueueNo),
}
