//! One output port: its queues, its scheduler and its transmitter.
//!
//! Two kinds of port behave the same and differ in when they decide. A port with one queue and nothing to choose at
//! dequeue commits to every departure when the frame arrives and keeps only start times. Any other port chooses when
//! its transmitter becomes free, or later when asked, with the state of that moment: a frame that arrives exactly when
//! the transmitter becomes free is not seen by that choice.
//!
//! A frame leaves its queue, and the shared memory, when its transmission starts.

use crate::aqm::Fate;
use crate::dpp::Dpp;
use crate::queue::Queue;
use crate::schedule::Scheduler;
use crate::{Aqm, DppPolicy, DropCause, Frame, Limit, Outside, PortNo, QueueNo, Service, SharedBuffer};
use std::collections::VecDeque;
use tailrace_units::{Pace, Time};
use tailrace_wire::Ecn;

/// Priorities of a frame (IEEE 802.1Q).
pub(crate) const PRIORITIES: usize = 8;
/// Most queues of one port (Nexus 9000: eight; the paper's express queue is one of them).
pub(crate) const QUEUES_MAX: usize = 8;

/// What one queue does.
#[derive(Clone, Debug)]
pub struct QueuePolicy {
    /// When it is served.
    pub service: Service,
    /// When it is full.
    pub limit: Limit,
    /// Who is marked or dropped before.
    pub aqm: Aqm,
}

/// What one port does.
#[derive(Clone, Debug)]
pub struct PortPolicy {
    /// One to eight queues.
    pub queues: Vec<QueuePolicy>,
    /// The queue of each priority.
    pub queue_of_priority: [u8; PRIORITIES],
    /// Dynamic packet prioritisation.
    pub dpp: Option<DppPolicy>,
}

#[derive(Debug)]
pub(crate) struct Port<F> {
    pace: Pace,
    overhead_bytes: u64,
    /// The transmitter is free from here on, as far as was decided.
    free_at: Time,
    /// When the next of the frames that wait is due to start; [`Time::NEVER`] while none waits.
    due: Time,
    /// Bytes that wait, in all queues together.
    waiting_bytes: u64,
    /// Whether the outside wants to know each change of depth.
    is_observed: bool,
    number: PortNo,
    kind: Kind<F>,
}

#[derive(Debug)]
enum Kind<F> {
    Fifo(Box<Fifo<F>>),
    Scheduled(Box<Scheduled<F>>),
}

/// A port that commits at arrival.
#[derive(Debug)]
struct Fifo<F> {
    /// Start of transmission and bytes of the frames that wait.
    departures: VecDeque<(Time, u32)>,
    queue: Queue<F>,
}

/// A port that chooses at departure.
#[derive(Debug)]
struct Scheduled<F> {
    queues: Vec<Queue<F>>,
    queue_of_priority: [u8; PRIORITIES],
    scheduler: Scheduler,
    dpp: Option<Dpp>,
}

impl<F: Frame> Port<F> {
    /// `must_choose` makes a plain port choose at departure too: for engines that may yet pause it, and for tests.
    pub(crate) fn new(number: PortNo, pace: Pace, overhead_bytes: u32, policy: PortPolicy, must_choose: bool) -> Port<F> {
        assert!((1..=QUEUES_MAX).contains(&policy.queues.len()), "a port has one to eight queues");
        let services: Vec<Service> = policy.queues.iter().map(|queue| queue.service).collect();
        let mut queues: Vec<Queue<F>> = policy.queues.into_iter().map(|queue| Queue::new(queue.limit, queue.aqm)).collect();
        let is_plain = queues.len() == 1 && policy.dpp.is_none() && !queues[0].aqm.decides_at_dequeue();
        let kind = if is_plain && !must_choose {
            let queue = queues.pop().expect("a port has a queue");
            Kind::Fifo(Box::new(Fifo { departures: VecDeque::new(), queue }))
        } else {
            Kind::Scheduled(Box::new(Scheduled {
                queues,
                queue_of_priority: policy.queue_of_priority,
                scheduler: Scheduler::new(&services),
                dpp: policy.dpp.map(Dpp::new),
            }))
        };
        let overhead_bytes = u64::from(overhead_bytes);
        Port { pace, overhead_bytes, free_at: Time::ZERO, due: Time::NEVER, waiting_bytes: 0, is_observed: false, number, kind }
    }

    pub(crate) fn observe(&mut self) {
        self.is_observed = true;
    }
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }
    /// Whether departures are chosen late, so that [`Port::settle`] can start transmissions.
    pub(crate) fn chooses_late(&self) -> bool {
        matches!(self.kind, Kind::Scheduled(_))
    }
    /// When the next choice is due, if frames wait for one.
    pub(crate) fn next_choice(&self) -> Option<Time> {
        (self.chooses_late() && self.waiting_bytes > 0).then_some(self.due)
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

    /// Does everything that was due up to and including `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) {
        if self.due > now {
            return;
        }
        match &mut self.kind {
            Kind::Fifo(_) => self.settle_fifo(now, buffer, out),
            Kind::Scheduled(_) => self.settle_scheduled(now, buffer, out),
        }
    }

    /// Takes a frame that arrives now.
    #[inline]
    pub(crate) fn handle_frame(&mut self, now: Time, frame: F, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) {
        self.settle(now, buffer, out);
        let is_idle = self.free_at <= now;
        match &mut self.kind {
            Kind::Fifo(_) if is_idle => self.send_at_once(now, 0, frame, out),
            Kind::Fifo(_) => self.commit(now, frame, buffer, out),
            Kind::Scheduled(scheduled) => {
                let queue = scheduled.classify(now, &frame);
                if is_idle { self.send_at_once(now, queue, frame, out) } else { self.enqueue(now, queue, frame, buffer, out) }
            }
        }
    }

    fn queue_mut(&mut self, queue: QueueNo) -> &mut Queue<F> {
        match &mut self.kind {
            Kind::Fifo(fifo) => &mut fifo.queue,
            Kind::Scheduled(scheduled) => &mut scheduled.queues[queue],
        }
    }

    /// Nothing waits and the transmitter is free: the frame does not touch the queue.
    fn send_at_once(&mut self, now: Time, queue: QueueNo, mut frame: F, out: &mut impl Outside<F>) {
        let number = self.number;
        let q = self.queue_mut(queue);
        q.depth_bytes = 0;
        if let Fate::Drop = judge_arrival(q, now, number, queue, &mut frame, out) {
            return;
        }
        self.transmit(queue, now, now, frame, out);
    }

    /// Fixes the departure of a frame on a port that has nothing to choose.
    #[inline]
    fn commit(&mut self, now: Time, mut frame: F, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) {
        let Kind::Fifo(fifo) = &mut self.kind else { unreachable!("only plain ports commit") };
        let bytes = frame.bytes();
        let depth = self.waiting_bytes;
        if let Err(cause) = buffer.admits(fifo.queue.limit, depth, fifo.departures.len(), bytes) {
            fifo.queue.counters.count_drop(cause, bytes);
            out.dropped(now, self.number, 0, &frame, cause);
            return;
        }
        fifo.queue.depth_bytes = depth;
        if let Fate::Drop = judge_arrival(&mut fifo.queue, now, self.number, 0, &mut frame, out) {
            return;
        }
        buffer.take(bytes);
        let start = self.free_at;
        self.due = self.due.min(start);
        fifo.departures.push_back((start, bytes));
        self.waiting_bytes = depth + u64::from(bytes);
        let counters = &mut fifo.queue.counters;
        counters.depth_max_bytes = counters.depth_max_bytes.max(self.waiting_bytes);
        if self.is_observed {
            out.depth(now, self.number, self.waiting_bytes);
        }
        self.transmit(0, start, now, frame, out);
    }

    fn enqueue(&mut self, now: Time, queue: QueueNo, mut frame: F, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) {
        let number = self.number;
        let bytes = frame.bytes();
        let q = self.queue_mut(queue);
        if let Err(cause) = buffer.admits(q.limit, q.depth_bytes, q.len(), bytes) {
            q.counters.count_drop(cause, bytes);
            out.dropped(now, number, queue, &frame, cause);
            return;
        }
        if let Fate::Drop = judge_arrival(q, now, number, queue, &mut frame, out) {
            return;
        }
        buffer.take(bytes);
        q.push(now, frame);
        self.waiting_bytes += u64::from(bytes);
        self.due = self.free_at;
        if self.is_observed {
            out.depth(now, number, self.waiting_bytes);
        }
    }

    fn settle_fifo(&mut self, now: Time, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) {
        let Kind::Fifo(fifo) = &mut self.kind else { unreachable!("called for plain ports") };
        self.due = Time::NEVER;
        while let Some(&(start, bytes)) = fifo.departures.front() {
            if start > now {
                self.due = start;
                break;
            }
            fifo.departures.pop_front();
            buffer.give_back(bytes);
            self.waiting_bytes -= u64::from(bytes);
            if self.is_observed {
                out.depth(start, self.number, self.waiting_bytes);
            }
        }
    }

    fn settle_scheduled(&mut self, now: Time, buffer: &mut SharedBuffer, out: &mut impl Outside<F>) {
        while self.waiting_bytes > 0 && self.free_at <= now {
            let start = self.free_at;
            let overhead = self.overhead_bytes;
            let Kind::Scheduled(scheduled) = &mut self.kind else { unreachable!("called for ports that choose") };
            let queues = &scheduled.queues;
            let head = |queue: QueueNo| queues[queue].head_bytes().map(|bytes| u64::from(bytes) + overhead);
            let queue = scheduled.scheduler.choose(head).expect("a frame waits");
            let q = &mut scheduled.queues[queue];
            let (arrived, mut frame) = q.pop().expect("the chosen queue has a frame");
            buffer.give_back(frame.bytes());
            self.waiting_bytes -= u64::from(frame.bytes());
            if self.is_observed {
                out.depth(start, self.number, self.waiting_bytes);
            }
            if let Fate::Pass = judge_departure(q, start, arrived, self.number, queue, &mut frame, out) {
                self.transmit(queue, start, arrived, frame, out);
            }
        }
        self.due = if self.waiting_bytes > 0 { self.free_at } else { Time::NEVER };
    }

    #[inline]
    fn transmit(&mut self, queue: QueueNo, start: Time, arrived: Time, frame: F, out: &mut impl Outside<F>) {
        let bytes = u64::from(frame.bytes());
        let end = start + self.pace.time_to_send(bytes + self.overhead_bytes);
        self.free_at = end;
        let counters = &mut self.queue_mut(queue).counters;
        counters.tx_frames += 1;
        counters.tx_bytes += bytes;
        counters.byte_picoseconds += u128::from(bytes) * u128::from(start.since(arrived).ps());
        out.transmit(self.number, frame, start, end);
    }
}

impl<F: Frame> Scheduled<F> {
    /// The queue for a frame: its class's own, or the express queue.
    fn classify(&mut self, now: Time, frame: &F) -> QueueNo {
        let own = usize::from(self.queue_of_priority[usize::from(frame.priority()) % PRIORITIES]);
        let Some(dpp) = &mut self.dpp else { return own };
        let normal = &self.queues[own];
        if dpp.prioritises(now, frame.flow_hash(), normal.left(), normal.next_number()) { dpp.policy.express } else { own }
    }
}

/// Marks or drops a frame at the entrance. Returns `Pass` or `Drop`.
#[inline]
fn judge_arrival<F: Frame>(
    queue: &mut Queue<F>,
    now: Time,
    port: PortNo,
    number: QueueNo,
    frame: &mut F,
    out: &mut impl Outside<F>,
) -> Fate {
    let capable = frame.ecn() != Ecn::NotEct;
    let fate = queue.aqm.on_arrival(now, queue.depth_bytes, capable);
    carry_out(fate, DropCause::Red, queue, now, port, number, frame, out)
}

/// Marks or drops a frame at the exit. Returns `Pass` or `Drop`.
fn judge_departure<F: Frame>(
    queue: &mut Queue<F>,
    now: Time,
    arrived: Time,
    port: PortNo,
    number: QueueNo,
    frame: &mut F,
    out: &mut impl Outside<F>,
) -> Fate {
    let Aqm::Codel(codel) = &mut queue.aqm else { return Fate::Pass };
    let capable = frame.ecn() != Ecn::NotEct;
    let fate = codel.on_departure(now, now.since(arrived), queue.depth_bytes, u64::from(frame.bytes()), capable);
    carry_out(fate, DropCause::Codel, queue, now, port, number, frame, out)
}

#[expect(clippy::too_many_arguments, reason = "the place of the decision is part of the event")]
fn carry_out<F: Frame>(
    fate: Fate,
    cause: DropCause,
    queue: &mut Queue<F>,
    now: Time,
    port: PortNo,
    number: QueueNo,
    frame: &mut F,
    out: &mut impl Outside<F>,
) -> Fate {
    match fate {
        Fate::Pass => Fate::Pass,
        Fate::Mark => {
            frame.mark();
            queue.counters.marked_frames += 1;
            out.marked(now, port, number, frame);
            Fate::Pass
        }
        Fate::Drop => {
            queue.counters.count_drop(cause, frame.bytes());
            out.dropped(now, port, number, frame, cause);
            Fate::Drop
        }
    }
}
