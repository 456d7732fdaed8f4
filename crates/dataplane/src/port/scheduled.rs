//! A port that chooses when a frame leaves: several queues, prioritisation, shaping, pauses.

use super::judge::{Place, judge_arrival, judge_departure};
use super::line::{Line, count_sent};
use super::policy::QUEUES_MAX;
use super::{Entered, Entrant, PortPolicy, Releases, Watchdog};
use crate::dpp::Dpp;
use crate::etrap::Etrap;
use crate::queue::Queue;
use crate::schedule::Scheduler;
use crate::{DppCounters, DropCause, Frame, Outside, QueueCounters, QueueNo, Service, SharedBuffer};
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
    /// Pause frames of our own, sent before everything else.
    control: VecDeque<(Time, F)>,
    /// Choices before this would find every queue blocked.
    ready_at: Time,
    watchdog: Option<Watchdog>,
    /// For each queue in a storm, since when.
    pub(crate) storms: Vec<Option<Time>>,
    /// Storms detected and ended.
    pub(crate) storms_detected: u64,
    /// See `storms_detected`.
    pub(crate) storms_ended: u64,
}

impl<F: Frame> Scheduled<F> {
    pub(super) fn new(policy: PortPolicy) -> Scheduled<F> {
        assert!((1..=QUEUES_MAX).contains(&policy.queues.len()), "a port has one to {QUEUES_MAX} queues");
        let services: Vec<Service> = policy.queues.iter().map(|queue| queue.service).collect();
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
            queue.counters = QueueCounters { depth_max_bytes: queue.depth_bytes, ..QueueCounters::default() };
            if let Some(point) = &mut queue.congestion_point {
                (point.sent, point.feedback_sum) = (0, 0);
            }
        }
        if let Some(dpp) = &mut self.dpp {
            dpp.counters = DppCounters::default();
        }
        if let Some(etrap) = &mut self.etrap {
            (etrap.elephants, etrap.evictions) = (0, 0);
        }
        self.pause.begin_counting(now);
        (self.storms_detected, self.storms_ended) = (0, 0);
    }

    pub(super) fn can_be_held_back(&self) -> bool {
        self.is_pausable || self.queues.iter().any(|queue| queue.ceiling.is_some())
    }

    /// Notes when the next choice is due.
    #[inline]
    pub(super) fn note_due(&self, line: &mut Line) {
        let data = if line.waiting_bytes > 0 { line.free_at.max(self.ready_at) } else { Time::NEVER };
        let control = self.control.front().map_or(Time::NEVER, |&(ordered, _)| line.free_at.max(ordered));
        line.due = data.min(control);
    }

    pub(super) fn settle(
        &mut self,
        line: &mut Line,
        now: Time,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outside<F>,
    ) {
        while line.due <= now {
            let at = line.due;
            self.step(line, at, buffer, releases, out);
            self.note_due(line);
        }
    }

    /// Sends one frame at `at`, or finds out until when nothing can be sent.
    pub(super) fn step(
        &mut self,
        line: &mut Line,
        at: Time,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outside<F>,
    ) {
        if self.control.front().is_some_and(|&(ordered, _)| ordered <= at) {
            let (_, frame) = self.control.pop_front().expect("it was there");
            line.transmit(at, frame, out);
            return;
        }
        if self.watchdog.is_some() {
            self.watch(line, at, buffer, releases, out);
        }
        match self.choose(line, at) {
            Some(queue) => self.send_head(line, at, queue, buffer, releases, out),
            None => self.ready_at = self.next_ready(at),
        }
    }

    fn choose(&mut self, line: &Line, at: Time) -> Option<QueueNo> {
        let (queues, pause, is_pausable) = (&self.queues, &self.pause, self.is_pausable);
        let head = |queue: QueueNo| {
            let q = &queues[queue];
            let frame = q.head()?;
            let is_ready = (!is_pausable || pause.free_from(at, frame.priority()) <= at)
                && q.ceiling.as_ref().is_none_or(|ceiling| ceiling.conforms_from() <= at);
            is_ready.then(|| u64::from(frame.bytes()) + line.overhead_bytes)
        };
        let is_owed = |queue: QueueNo| queues[queue].floor.as_ref().is_some_and(|floor| floor.conforms_from() <= at);
        self.scheduler.choose(head, is_owed)
    }

    fn send_head(
        &mut self,
        line: &mut Line,
        at: Time,
        queue: QueueNo,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outside<F>,
    ) {
        let (arrived, mut frame) = self.take_head(line, at, queue, buffer, releases, out);
        let place = Place { at, port: line.number, queue };
        let q = &mut self.queues[queue];
        if !judge_departure(q, place, arrived, &mut frame, out) {
            return;
        }
        count_sent(&mut q.counters, frame.bytes(), arrived, at);
        let wire_bytes = line.transmit(at, frame, out);
        q.charge(at, wire_bytes);
    }

    /// The first frame of a queue leaves it and every account.
    fn take_head(
        &mut self,
        line: &mut Line,
        at: Time,
        queue: QueueNo,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outside<F>,
    ) -> (Time, F) {
        let q = &mut self.queues[queue];
        let depth = q.depth_bytes;
        let (arrived, frame, account) = q.pop().expect("the queue has a frame");
        buffer.give_back(&q.room, depth, frame.bytes());
        releases.extend(account.map(|account| (at, account, frame.bytes())));
        line.waits(at, line.waiting_bytes - u64::from(frame.bytes()), out);
        (arrived, frame)
    }

    /// The earliest time at which the first frame of some queue is neither paused nor shaped. After `at`.
    fn next_ready(&self, at: Time) -> Time {
        let ready = self.queues.iter().filter_map(|q| {
            let frame = q.head()?;
            let shaped = q.ceiling.as_ref().map_or(at, |ceiling| ceiling.conforms_from());
            Some(self.pause.free_from(at, frame.priority()).max(shaped))
        });
        let watch = self.watchdog.map_or(Time::NEVER, |watchdog| self.next_watch(at, watchdog));
        ready.min().unwrap_or(Time::NEVER).min(watch)
    }

    pub(super) fn handle_frame(
        &mut self,
        line: &mut Line,
        now: Time,
        entrant: Entrant<F>,
        buffer: &mut SharedBuffer,
        out: &mut impl Outside<F>,
    ) -> Entered {
        let Entrant { mut frame, account } = entrant;
        let queue = self.classify(now, &frame);
        let bytes = frame.bytes();
        let elephant = self.etrap.as_mut().and_then(|etrap| etrap.arrival(now, frame.flow_hash(), bytes));
        let place = Place { at: now, port: line.number, queue };
        let can_send = self.can_send_at_once(line, now, queue, &frame);
        self.restore(now, queue, frame.priority());
        let q = &mut self.queues[queue];
        if self.storms[queue].is_some() {
            q.counters.count_drop(DropCause::Watchdog, bytes);
            out.dropped(now, line.number, queue, &frame, DropCause::Watchdog);
            return Entered::Gone;
        }
        if !can_send && let Err(cause) = buffer.admits(&q.room, q.depth_bytes, q.len(), bytes) {
            q.counters.count_drop(cause, bytes);
            out.dropped(now, line.number, queue, &frame, cause);
            return Entered::Gone;
        }
        if !judge_arrival(q, place, &mut frame, elephant, out) {
            return Entered::Gone;
        }
        if let Some(point) = &mut q.congestion_point
            && let Some(notification) = point.enqueued(bytes, q.depth_bytes + u64::from(bytes))
        {
            out.notify(now, line.number, queue, &frame, notification);
        }
        if can_send {
            count_sent(&mut q.counters, bytes, now, now);
            let wire_bytes = line.transmit(now, frame, out);
            q.charge(now, wire_bytes);
            return Entered::Gone;
        }
        buffer.take(&q.room, q.depth_bytes, bytes);
        q.push(now, frame, account);
        line.waits(now, line.waiting_bytes + u64::from(bytes), out);
        self.ready_at = self.ready_at.min(line.free_at.max(now)); // whatever holds the others back may not hold this one
        Entered::Waits
    }

    /// Nothing waits, the transmitter is free, and neither pause nor shaper holds the frame back.
    #[inline]
    fn can_send_at_once(&self, line: &Line, now: Time, queue: QueueNo, frame: &F) -> bool {
        line.free_at <= now
            && line.waiting_bytes == 0
            && self.control.is_empty()
            && (!self.is_pausable || self.pause.free_from(now, frame.priority()) <= now)
            && self.queues[queue].ceiling.as_ref().is_none_or(|ceiling| ceiling.conforms_from() <= now)
    }

    /// The queue for a frame: its class's own, or the express queue.
    #[inline]
    fn classify(&mut self, now: Time, frame: &F) -> QueueNo {
        let own = usize::from(self.queue_of_class[usize::from(frame.priority()) % PRIORITIES]);
        let Some(dpp) = &mut self.dpp else { return own };
        let normal = &self.queues[own];
        if dpp.prioritises(now, frame.flow_hash(), normal.left(), normal.next_number()) { dpp.policy.express } else { own }
    }

    pub(super) fn handle_pause(&mut self, line: &Line, now: Time, pause: &Pause) {
        self.pause.handle_pause(now, pause, line.pace);
        self.ready_at = now;
    }

    pub(super) fn order(&mut self, at: Time, frame: F) {
        self.control.push_back((at, frame));
    }

    /// When the watchdog must look: at the end of a detection or restoration time.
    fn next_watch(&self, at: Time, watchdog: Watchdog) -> Time {
        let detections = self.queues.iter().zip(&self.storms).filter_map(|(q, storm)| {
            let since = self.pause.paused_since(at, q.head()?.priority())?;
            storm.is_none().then_some(since + watchdog.detection)
        });
        detections.filter(|&due| due > at).min().unwrap_or(Time::NEVER)
    }

    /// Detects storms and flushes their queues; ends storms whose pause is over.
    fn watch(
        &mut self,
        line: &mut Line,
        at: Time,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outside<F>,
    ) {
        let Some(watchdog) = self.watchdog else { return };
        for queue in 0..self.queues.len() {
            let Some(priority) = self.queues[queue].head().map(F::priority) else { continue };
            let stuck = self.pause.paused_since(at, priority).is_some_and(|since| at >= since + watchdog.detection);
            if stuck && self.storms[queue].is_none() {
                self.storms[queue] = Some(at);
                self.storms_detected += 1;
                self.flush(line, at, queue, buffer, releases, out);
            }
        }
    }

    /// A storm is over when the pause has been for long enough; the next frame finds out.
    fn restore(&mut self, now: Time, queue: QueueNo, priority: u8) {
        let Some(watchdog) = self.watchdog else { return };
        if self.storms[queue].is_some() && now >= self.pause.ends_at(priority) + watchdog.restoration {
            self.storms[queue] = None;
            self.storms_ended += 1;
        }
    }

    fn flush(
        &mut self,
        line: &mut Line,
        at: Time,
        queue: QueueNo,
        buffer: &mut SharedBuffer,
        releases: &mut Releases,
        out: &mut impl Outside<F>,
    ) {
        while self.queues[queue].len() > 0 {
            let (_, frame) = self.take_head(line, at, queue, buffer, releases, out);
            self.queues[queue].counters.count_drop(DropCause::Watchdog, frame.bytes());
            out.dropped(at, line.number, queue, &frame, DropCause::Watchdog);
        }
    }
}
