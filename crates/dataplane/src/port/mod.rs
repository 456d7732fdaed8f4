//! One output port: its queues, its scheduler and its transmitter.
//!
//! Two kinds of port behave the same and differ in when they decide. A port with one queue and
//! nothing to choose at dequeue commits to every departure when the frame arrives and keeps only
//! start times ([`fifo`]). Any other port chooses when its transmitter becomes free, or later when
//! asked, with the state of that moment ([`scheduled`]): a frame that arrives exactly when the
//! transmitter becomes free is not seen by that choice.
//!
//! A frame leaves its queue, and the shared memory, when its transmission starts.

mod departures;
mod fifo;
mod judge;
mod policy;
mod scheduled;
mod transmitter;

pub use policy::{PortPolicy, QueuePolicy, Watchdog};

use crate::dpp::Dpp;
use crate::ingress::{Account, PauseOrder};
use crate::queue::Queue;
use crate::{Frame, Outputs, PortNo, QueueCounters, QueueNo, SharedBuffer, TrapCounters};
use fifo::Fifo;
use scheduled::{Exit, Scheduled};
use tailrace_units::{Pace, Time, prefetch_all};
use tailrace_wire::{Pause, PauseState};
use transmitter::Transmitter;

/// What a frame touches of a plain port lies in its first 160 bytes, which begin at a cache line:
/// there are thousands of ports, and a frame seldom finds the port that it comes to in a cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port<F> {
    transmitter: Transmitter,
    queueing: Queueing<F>,
}

const _: () =
    assert!(size_of::<Port<tailrace_wire::Packet>>() == 192, "a port takes three cache lines");

/// A plain port stands in the port, not behind a pointer: most ports are plain, and a hop waits for
/// one line less.
#[derive(Debug)]
enum Queueing<F> {
    Fifo(Fifo),
    Scheduled(Box<Scheduled<F>>),
}

/// Departures reported to the ingress side: accounts to be closed, with times and bytes.
pub(crate) type Releases = Vec<(Time, Account, u32)>;

impl<F: Frame> Port<F> {
    /// `must_choose` makes a plain port choose at departure too: for ports that may be paused, and
    /// for tests.
    pub(crate) fn new(
        number: PortNo,
        pace: Pace,
        overhead_bytes: u32,
        policy: PortPolicy,
        must_choose: bool,
    ) -> Port<F> {
        let transmitter = Transmitter::new(number, pace, overhead_bytes);
        let is_plain = policy.is_plain() && !must_choose;
        let queueing = if is_plain {
            Queueing::Fifo(Fifo::new(policy))
        } else {
            Queueing::Scheduled(Box::new(Scheduled::new(policy)))
        };
        Port { transmitter, queueing }
    }

    /// What a frame touches is wanted soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch_all(self);
    }
    pub(crate) fn observe(&mut self) {
        self.transmitter.is_observed = true;
    }
    /// Counts from `now` on.
    pub(crate) fn begin_counting(&mut self, now: Time) {
        match &mut self.queueing {
            Queueing::Fifo(fifo) => fifo.begin_counting(&self.transmitter, now),
            Queueing::Scheduled(scheduled) => scheduled.begin_counting(now),
        }
    }
    pub(crate) fn free_at(&self) -> Time {
        self.transmitter.free_at
    }
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.transmitter.waiting_bytes
    }
    pub(crate) fn depth_bytes(&self, queue: usize) -> u64 {
        match &self.queueing {
            Queueing::Fifo(_) => self.transmitter.waiting_bytes,
            Queueing::Scheduled(scheduled) => scheduled.queues[queue].depth_bytes,
        }
    }
    /// Whether departures are chosen late, so that [`Port::settle`] can start transmissions.
    pub(crate) fn chooses_late(&self) -> bool {
        matches!(self.queueing, Queueing::Scheduled(_))
    }
    /// Number of queues.
    pub(crate) fn queue_count(&self) -> usize {
        match &self.queueing {
            Queueing::Fifo(_) => 1,
            Queueing::Scheduled(scheduled) => scheduled.queues.len(),
        }
    }
    /// Counters of one queue. The port must be settled.
    pub(crate) fn counters(&self, queue: QueueNo, now: Time) -> QueueCounters {
        match &self.queueing {
            Queueing::Fifo(fifo) => fifo.counters(&self.transmitter, now),
            Queueing::Scheduled(scheduled) => scheduled.queues[queue].counters(now),
        }
    }
    /// Frames that were given out although their transmission starts after `now`.
    pub(crate) fn committed_frames(&self, now: Time) -> usize {
        match &self.queueing {
            Queueing::Fifo(fifo) => fifo.committed_frames(&self.transmitter, now),
            Queueing::Scheduled(_) => 0,
        }
    }
    /// Queues that hold frames. A plain port has committed to all departures, and holds none.
    pub(crate) fn holding_queues(&self) -> &[Queue<F>] {
        self.scheduled().map_or(&[], |scheduled| &scheduled.queues)
    }
    pub(crate) fn dpp(&self) -> Option<&Dpp> {
        match &self.queueing {
            Queueing::Fifo(_) => None,
            Queueing::Scheduled(scheduled) => scheduled.dpp.as_ref(),
        }
    }
    pub(crate) fn scheduled(&self) -> Option<&Scheduled<F>> {
        match &self.queueing {
            Queueing::Fifo(_) => None,
            Queueing::Scheduled(scheduled) => Some(scheduled),
        }
    }
    pub(crate) fn pause_state(&self) -> Option<&PauseState> {
        self.scheduled().map(|scheduled| &scheduled.pause)
    }
    pub(crate) fn pace(&self) -> Pace {
        self.transmitter.pace
    }

    /// Whether a pause or a shaper can hold frames back while the line is idle.
    pub(crate) fn can_be_held_back(&self) -> bool {
        self.scheduled().is_some_and(Scheduled::can_be_held_back)
    }
    pub(crate) fn storms(&self) -> (u64, u64) {
        self.scheduled()
            .map_or((0, 0), |scheduled| (scheduled.storms_detected, scheduled.storms_ended))
    }
    pub(crate) fn elephants(&self) -> Option<TrapCounters> {
        self.scheduled().and_then(|scheduled| scheduled.etrap.as_ref()).map(|etrap| etrap.counters)
    }

    /// When the next choice is due, or [`Time::NEVER`].
    pub(crate) fn next_choice(&self) -> Time {
        if self.chooses_late() { self.transmitter.due } else { Time::NEVER }
    }

    /// When the engine must call although nothing arrives at the other end of the wire until then.
    /// While a frame is on the wire its arrival there is a good time to ask again; only choices
    /// after that need a call.
    pub(crate) fn next_wakeup(&self) -> Time {
        let choice = self.next_choice();
        if choice > self.transmitter.free_at { choice } else { Time::NEVER }
    }

    /// When something is due, or [`Time::NEVER`].
    #[inline(always)]
    pub(crate) fn due(&self) -> Time {
        self.transmitter.due
    }

    /// Whether a frame that arrives now is sent at once, so that it takes no memory. A port that
    /// chooses does not say.
    #[inline]
    pub(crate) fn sends_at_once(&self, now: Time) -> bool {
        self.transmitter.free_at <= now && !self.chooses_late()
    }

    /// Does everything that was due up to and including `now`.
    pub(crate) fn settle(
        &mut self,
        now: Time,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outputs<F>,
    ) {
        match &mut self.queueing {
            Queueing::Fifo(fifo) => fifo.settle(&mut self.transmitter, now, buffer, out),
            Queueing::Scheduled(scheduled) => scheduled.settle(
                &mut Exit { transmitter: &mut self.transmitter, buffer, releases, out },
                now,
            ),
        }
    }

    /// Does the one thing that is due next, at `at`. Only ports that choose have such things.
    pub(crate) fn step(
        &mut self,
        at: Time,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outputs<F>,
    ) {
        if let Queueing::Scheduled(scheduled) = &mut self.queueing {
            scheduled
                .step(&mut Exit { transmitter: &mut self.transmitter, buffer, releases, out }, at);
        }
    }

    /// Does what was due by now, and decides the fate of a frame that arrives now. The frame stays
    /// where it is until it is known where it goes, so that it moves once.
    pub(crate) fn admit(
        &mut self,
        now: Time,
        frame: &mut F,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outputs<F>,
    ) -> Verdict {
        if !self.chooses_late() {
            let times = self.commit(now, frame, buffer, releases, out);
            return times.map_or(Verdict::Dropped, |(start, end)| Verdict::Leaves { start, end });
        }
        // With accounts nothing is due any more: the entrance has settled all ports.
        if self.due() <= now {
            self.settle(now, buffer, releases, out);
        }
        let Queueing::Scheduled(scheduled) = &mut self.queueing else {
            unreachable!("the port chooses")
        };
        scheduled.admit(&mut self.transmitter, now, frame, buffer, out)
    }

    /// The same at a port that does not choose: when the frame is sent from and to, or none if it is
    /// dropped.
    #[inline(always)]
    pub(crate) fn commit(
        &mut self,
        now: Time,
        frame: &mut F,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outputs<F>,
    ) -> Option<(Time, Time)> {
        if self.due() <= now {
            self.settle(now, buffer, releases, out);
        }
        let Queueing::Fifo(fifo) = &mut self.queueing else {
            unreachable!("only ports that do not choose are asked")
        };
        fifo.commit(&mut self.transmitter, now, frame, buffer, out)
    }

    /// Puts a frame into the queue that was found for it.
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        queue: QueueNo,
        frame: F,
        account: Option<Account>,
        buffer: &mut SharedBuffer,
        out: &mut impl Outputs<F>,
    ) {
        if let Queueing::Scheduled(scheduled) = &mut self.queueing {
            let waiting_bytes = self.transmitter.waiting_bytes + u64::from(frame.bytes());
            scheduled.enqueue(now, queue, frame, account, buffer);
            self.transmitter.waits(now, waiting_bytes, out);
            scheduled.note_due(&mut self.transmitter);
        }
    }

    /// A pause frame has come from the neighbour.
    pub(crate) fn handle_pause(&mut self, now: Time, pause: &Pause) {
        if let Queueing::Scheduled(scheduled) = &mut self.queueing {
            scheduled.handle_pause(&self.transmitter, now, pause);
            scheduled.note_due(&mut self.transmitter);
        }
    }

    /// The ingress side of this port orders a pause frame to the neighbour.
    pub(crate) fn order(&mut self, order: &PauseOrder) {
        if let Queueing::Scheduled(scheduled) = &mut self.queueing {
            scheduled.order(order.at, F::new_pause(order.pause));
            scheduled.note_due(&mut self.transmitter);
        }
    }
}

/// The fate of a frame at enqueue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It was dropped.
    Dropped,
    /// It is sent from `start` to `end`, and need not be kept.
    Leaves { start: Time, end: Time },
    /// It waits in this queue.
    Waits(QueueNo),
}
