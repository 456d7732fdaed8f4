//! A port that chooses when a frame leaves: several queues, prioritisation, shaping, pauses.

mod watchdog;

use super::judge::{Place, judge_arrival, judge_departure};
use super::policy::QUEUES_MAX;
use super::transmitter::{Transmitter, count_sent};
use super::{PortPolicy, Releases, Verdict, Watchdog};
use crate::dpp::Dpp;
use crate::etrap::Etrap;
use crate::flow_tag::FlowTag;
use crate::ingress::Account;
use crate::progress::Progress;
use crate::queue::Queue;
use crate::schedule::Scheduler;
use crate::{DppCounters, DropCause, Frame, Outputs, QueueNo, Service, SharedBuffer, TrapCounters};
use std::collections::VecDeque;
use tailrace_units::{Span, Time};
use tailrace_wire::{PRIORITIES, Pause, PauseState};

#[derive(Debug)]
pub(crate) struct Scheduled<F> {
    pub(crate) queues: Vec<Queue<F>>,
    queue_of_class: [u8; PRIORITIES],
    scheduler: Scheduler,
    pub(super) dpp: Option<Dpp>,
    pub(crate) etrap: Option<Etrap>,
    pub(super) pause: PauseState,
    is_pausable: bool,
    /// Whether any queue has a ceiling or a floor.
    has_shapers: bool,
    /// Pause frames of this port, sent before all other frames.
    control: VecDeque<(Time, F)>,
    /// All queues are blocked until this time.
    ready_at: Time,
    watchdog: Option<Watchdog>,
    /// For each queue in a storm, since when.
    pub(crate) storms: Vec<Option<Time>>,
    /// Storms detected and ended.
    pub(crate) storms_detected: u64,
    /// See `storms_detected`.
    pub(crate) storms_ended: u64,
}

/// What a departure touches besides its queue.
pub(super) struct Exit<'a, O> {
    pub(super) transmitter: &'a mut Transmitter,
    pub(super) buffer: &'a mut SharedBuffer,
    pub(super) releases: &'a mut Releases,
    pub(super) out: &'a mut O,
}

impl<F: Frame> Scheduled<F> {
    pub(super) fn new(policy: PortPolicy) -> Scheduled<F> {
        assert!(
            (1..=QUEUES_MAX).contains(&policy.queues.len()),
            "a port has one to {QUEUES_MAX} queues"
        );
        let services: Vec<Service> = policy.queues.iter().map(|queue| queue.service).collect();
        let has_shapers =
            policy.queues.iter().any(|queue| queue.ceiling.is_some() || queue.floor.is_some());
        let build = |policy: super::QueuePolicy| {
            let mut queue = Queue::new(policy.room, policy.aqm);
            queue.ceiling = policy.ceiling;
            queue.floor = policy.floor;
            queue.congestion_point = policy.congestion_point.map(Box::new);
            queue
        };
        Scheduled {
            storms: vec![None; policy.queues.len()],
            queues: policy.queues.into_iter().map(build).collect(),
            queue_of_class: policy.queue_of_class,
            scheduler: Scheduler::new(&services),
            dpp: policy.dpp.map(Dpp::new),
            etrap: policy.etrap.map(|(policy, period)| Etrap::new(policy, period)),
            is_pausable: policy.pause.is_some(),
            has_shapers,
            pause: policy.pause.unwrap_or_else(|| PauseState::new(0, false, Span::ZERO)),
            control: VecDeque::new(),
            ready_at: Time::ZERO,
            watchdog: policy.watchdog,
            storms_detected: 0,
            storms_ended: 0,
        }
    }

    /// Counts from `now` on.
    pub(super) fn begin_counting(&mut self, now: Time) {
        for queue in &mut self.queues {
            queue.begin_counting(now);
            if let Some(point) = &mut queue.congestion_point {
                (point.sent, point.feedback_sum) = (0, 0);
            }
        }
        if let Some(dpp) = &mut self.dpp {
            dpp.counters = DppCounters::default();
        }
        if let Some(etrap) = &mut self.etrap {
            etrap.counters = TrapCounters::default();
        }
        self.pause.begin_counting(now);
        (self.storms_detected, self.storms_ended) = (0, 0);
    }

    pub(super) fn can_be_held_back(&self) -> bool {
        self.is_pausable || self.queues.iter().any(|queue| queue.ceiling.is_some())
    }

    /// Notes when the next choice is due.
    #[inline]
    pub(super) fn note_due(&self, transmitter: &mut Transmitter) {
        let data = if transmitter.waiting_bytes > 0 {
            transmitter.free_at.max(self.ready_at)
        } else {
            Time::NEVER
        };
        let control = self
            .control
            .front()
            .map_or(Time::NEVER, |&(ordered, _)| transmitter.free_at.max(ordered));
        transmitter.due = data.min(control);
    }

    #[inline(never)]
    pub(super) fn settle(&mut self, exit: &mut Exit<'_, impl Outputs<F>>, now: Time) {
        let mut progress = Progress::default();
        while exit.transmitter.due <= now {
            let at = exit.transmitter.due;
            debug_assert!(
                progress.is_made(at),
                "port {} has endless work at {at:?}",
                exit.transmitter.number
            );
            self.step(exit, at);
        }
    }

    /// Sends one frame at `at`, or finds out until when nothing can be sent.
    #[inline(always)]
    pub(super) fn step(&mut self, exit: &mut Exit<'_, impl Outputs<F>>, at: Time) {
        if self.control.front().is_some_and(|&(ordered, _)| ordered <= at) {
            let (_, frame) = self.control.pop_front().expect("it was there");
            exit.transmitter.occupy(at, frame.bytes());
            exit.out.transmit(exit.transmitter.number, &frame, at, exit.transmitter.free_at);
        } else {
            if self.watchdog.is_some() {
                self.watch(exit, at);
            }
            match self.choose(exit.transmitter, at) {
                Some(queue) => self.send_head(exit, at, queue),
                None => self.ready_at = self.next_ready(at),
            }
        }
        self.note_due(exit.transmitter);
    }

    #[inline(always)]
    fn choose(&mut self, transmitter: &Transmitter, at: Time) -> Option<QueueNo> {
        let (queues, overhead_bytes) = (&self.queues, transmitter.overhead_bytes());
        let head = |queue: QueueNo| {
            queues[queue].head().map(|frame| u64::from(frame.bytes()) + overhead_bytes)
        };
        if !self.is_pausable && !self.has_shapers {
            return self.scheduler.choose(head);
        }
        let (pause, is_pausable) = (&self.pause, self.is_pausable);
        let ready = |queue: QueueNo| {
            let q = &queues[queue];
            let is_ready = (!is_pausable || pause.free_from(at, q.head()?.priority()) <= at)
                && q.ceiling.as_ref().is_none_or(|ceiling| ceiling.conforms_from() <= at);
            head(queue).filter(|_| is_ready)
        };
        self.scheduler.choose_held(
            ready,
            |queue| queues[queue].head().is_none(),
            |queue| queues[queue].is_owed(at),
        )
    }

    #[inline(always)]
    fn send_head(&mut self, exit: &mut Exit<'_, impl Outputs<F>>, at: Time, queue: QueueNo) {
        let (arrived, bytes) = self.release_head(exit, at, queue);
        let place = Place { at, port: exit.transmitter.number, queue };
        let q = &mut self.queues[queue];
        let mut frame = q.fetch_head();
        if !judge_departure(&mut q.managed(), place, arrived, &mut frame, exit.out) {
            // Bytes below a guaranteed rate are not charged to the deficit.
            if !q.is_owed(at) {
                self.scheduler.refund(queue, u64::from(bytes) + exit.transmitter.overhead_bytes());
            }
            return;
        }
        count_sent(&mut q.counters, bytes);
        let wire_bytes = exit.transmitter.occupy(at, bytes);
        if self.has_shapers {
            q.charge(at, wire_bytes);
        }
        exit.out.transmit(exit.transmitter.number, &frame, at, exit.transmitter.free_at);
    }

    /// The first frame of a queue leaves every account; it is then fetched.
    #[inline(always)]
    fn release_head(
        &mut self,
        exit: &mut Exit<'_, impl Outputs<F>>,
        at: Time,
        queue: QueueNo,
    ) -> (Time, u32) {
        let q = &mut self.queues[queue];
        let depth = q.depth_bytes;
        let (arrived, bytes, account) = q.release_head(at);
        exit.buffer.give_back(&q.room, depth, u64::from(bytes));
        if let Some(account) = account {
            exit.releases.push((at, account, bytes));
        }
        exit.transmitter.waits(at, exit.transmitter.waiting_bytes - u64::from(bytes), exit.out);
        (arrived, bytes)
    }

    /// The earliest time at which the first frame of some queue is neither paused nor shaped. After
    /// `at`.
    fn next_ready(&self, at: Time) -> Time {
        let ready = self.queues.iter().filter_map(|q| {
            let frame = q.head()?;
            let shaped = q.ceiling.as_ref().map_or(at, |ceiling| ceiling.conforms_from());
            Some(self.pause.free_from(at, frame.priority()).max(shaped))
        });
        let watch = self.watchdog.map_or(Time::NEVER, |watchdog| self.next_watch(at, watchdog));
        ready.min().unwrap_or(Time::NEVER).min(watch)
    }

    /// Decides the fate of a frame that arrives now.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        transmitter: &mut Transmitter,
        now: Time,
        frame: &mut F,
        buffer: &mut SharedBuffer,
        out: &mut impl Outputs<F>,
    ) -> Verdict {
        let flow = FlowTag::of(frame.flow_hash());
        let queue = self.classify(now, frame, flow);
        let bytes = frame.bytes();
        let elephant = self.etrap.as_mut().and_then(|etrap| etrap.arrival(now, flow, bytes));
        let place = Place { at: now, port: transmitter.number, queue };
        let can_send = self.can_send_at_once(transmitter, now, queue, frame);
        if self.watchdog.is_some() && self.is_in_storm(now, queue, frame.priority()) {
            self.queues[queue].counters.count_drop(DropCause::Watchdog, bytes);
            out.dropped(now, transmitter.number, queue, frame, DropCause::Watchdog);
            return Verdict::Dropped;
        }
        let q = &mut self.queues[queue];
        if !can_send && let Err(cause) = buffer.admits(&q.room, q.depth_bytes, q.len(), bytes) {
            q.counters.count_drop(cause, bytes);
            out.dropped(now, transmitter.number, queue, frame, cause);
            return Verdict::Dropped;
        }
        if !judge_arrival(q.managed(), place, frame, elephant, out) {
            return Verdict::Dropped;
        }
        if let Some(point) = &mut q.congestion_point
            && let Some(notification) = point.enqueued(bytes, q.depth_bytes + u64::from(bytes))
        {
            out.notify(now, transmitter.number, queue, frame, notification);
        }
        if can_send {
            count_sent(&mut q.counters, bytes);
            let wire_bytes = transmitter.occupy(now, bytes);
            if self.has_shapers {
                q.charge(now, wire_bytes);
            }
            return Verdict::Leaves { start: now, end: transmitter.free_at };
        }
        Verdict::Waits(queue)
    }

    /// Puts a frame into its queue. The next choice may come at once, and not before: whatever
    /// holds the others back may not hold this one.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        queue: QueueNo,
        frame: F,
        account: Option<Account>,
        buffer: &mut SharedBuffer,
    ) {
        let q = &mut self.queues[queue];
        buffer.take(&q.room, q.depth_bytes, frame.bytes());
        q.push(now, frame, account);
        self.ready_at = now;
    }

    /// Nothing waits, the transmitter is free, and neither pause nor shaper holds the frame back.
    #[inline]
    fn can_send_at_once(
        &self,
        transmitter: &Transmitter,
        now: Time,
        queue: QueueNo,
        frame: &F,
    ) -> bool {
        transmitter.free_at <= now
            && transmitter.waiting_bytes == 0
            && self.control.is_empty()
            && (!self.is_pausable || self.pause.free_from(now, frame.priority()) <= now)
            && (!self.has_shapers
                || self.queues[queue]
                    .ceiling
                    .as_ref()
                    .is_none_or(|ceiling| ceiling.conforms_from() <= now))
    }

    /// The queue for a frame: its class's own, or the express queue.
    #[inline]
    fn classify(&mut self, now: Time, frame: &F, flow: FlowTag) -> QueueNo {
        let class = usize::from(frame.priority()) % PRIORITIES;
        let own = usize::from(self.queue_of_class[class]);
        let Some(dpp) = &mut self.dpp else { return own };
        if dpp.policy.classes >> class & 1 == 0 {
            return own;
        }
        let normal = &self.queues[own];
        if dpp.prioritises(now, flow, normal.left(), normal.next_number()) {
            dpp.policy.express
        } else {
            own
        }
    }

    pub(super) fn handle_pause(&mut self, transmitter: &Transmitter, now: Time, pause: &Pause) {
        self.pause.handle_pause(now, pause, transmitter.pace);
        self.ready_at = now;
    }

    pub(super) fn order(&mut self, at: Time, frame: F) {
        self.control.push_back((at, frame));
    }
}
