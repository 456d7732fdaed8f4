//! Receive soft interrupts as Linux has them (net/core/dev.c `net_rx_action`, kernel/softirq.c
//! `handle_softirqs`).
//!
//! A poll takes up to 64 frames of a queue. A soft interrupt polls the queues of its core in turn
//! until all are empty, its budget of frames is used, or its time is over. If queues are left it
//! starts again, ten times or for two milliseconds, unless a thread waits that should have the
//! core; then `ksoftirqd` goes on, a thread among the others. While that runs, interrupts leave the
//! queues to it (Linux 4.9 to 6.4; later kernels handle those that come meanwhile in place).

use super::queues::{RxQueue, queue_of};
use super::{Context, Threads};
use crate::Host;
use crate::cpu::softirq::{POLL_BUDGET, may_restart};
use crate::environment::{Environment, ReceiveRing as _};
use crate::event::Event;
use crate::gro::Gro;
use crate::table::SocketTable;
use std::collections::VecDeque;
use tailrace_transport::ip::{self, TO_PORT};
use tailrace_units::{Span, Time};
use tailrace_wire::Protocol;

/// The receive soft interrupt of one core.
#[derive(Debug)]
pub(super) struct Softirq {
    /// Queues that have frames, in turn.
    list: VecDeque<usize>,
    pub(super) gro: Gro,
    /// The queue whose frames it works on, and how many it took.
    batch: Option<(usize, usize)>,
    /// Work beside that: interrupts, sending, wake-ups.
    pub(super) debt: Span,
    is_running: bool,
    /// `ksoftirqd` does the work.
    in_thread: bool,
    /// A queue that was empty has frames again: the soft interrupt must start again to see it.
    was_raised: bool,
    budget: u32,
    round_since: Time,
    since: Time,
    restarts: u32,
}

impl Softirq {
    pub(super) fn new(gro_bytes: u32) -> Softirq {
        Softirq {
            list: VecDeque::new(),
            gro: Gro::new(gro_bytes),
            batch: None,
            debt: Span::ZERO,
            is_running: false,
            in_thread: false,
            was_raised: false,
            budget: 0,
            round_since: Time::ZERO,
            since: Time::ZERO,
            restarts: 0,
        }
    }

    /// Whether its present work has no consequences.
    pub(super) fn has_only_debt(&self) -> bool {
        self.list.is_empty()
    }
}

impl Softirq {
    /// Frames that count for a poll that has taken this many.
    fn taken_of(&self, frames: usize, receives_whole: bool) -> usize {
        if receives_whole { self.gro.aggregates().len() } else { frames }
    }
}

impl Threads {
    /// The core that handles the interrupts of a flow.
    pub(crate) fn core_of_flow(&self, flow_hash: u32) -> usize {
        self.queues[queue_of(flow_hash, self.queues.len())].core
    }

    fn raise(&mut self, queue: usize) {
        let RxQueue { core, is_scheduled, .. } = &mut self.queues[queue];
        *is_scheduled = true;
        self.counted.interrupts += 1;
        self.processor.note_interrupt(*core);
        let softirq = &mut self.softirqs[*core];
        softirq.list.push_back(queue);
        softirq.debt += self.costs.per_interrupt;
        let core = *core;
        self.may_start(core);
    }

    /// Whether the soft interrupt of a core has nothing in work and something to do.
    fn is_to_start(&self, core: usize) -> bool {
        let softirq = &self.softirqs[core];
        !softirq.is_running
            && !softirq.in_thread
            && (softirq.debt > Span::ZERO || !softirq.list.is_empty())
    }

    /// Work of the soft interrupt, or its end.
    fn give(&mut self, core: usize, work: Option<Span>, now: Time) {
        self.softirqs[core].is_running = work.is_some();
        let is_silent = !self.softirqs[core].in_thread && self.softirqs[core].has_only_debt();
        self.note_silent(core, is_silent);
        self.processor.give_softirq(core, &mut self.softirqs[core].in_thread, work, now);
    }

    /// Whether the remaining queues may be polled in place. If they may, the next round begins with
    /// a new budget.
    fn goes_on(&mut self, core: usize, now: Time) -> bool {
        let must_choose = self.processor.must_choose(core);
        let softirq = &mut self.softirqs[core];
        let is_over = softirq.budget == 0 || now.since(softirq.round_since) >= self.budget;
        if !is_over && !softirq.was_raised {
            return true;
        }
        self.counted.squeezes += u64::from(is_over);
        softirq.restarts += 1;
        let may_restart = may_restart(softirq.restarts, softirq.since, now, must_choose);
        (softirq.budget, softirq.round_since, softirq.was_raised) =
            (self.budget_frames, now, false);
        softirq.in_thread || may_restart
    }

    /// A poll is done: its queue has more, or its interrupt is on again.
    fn end_poll(&mut self, core: usize, queue: usize, taken: usize) {
        let softirq = &mut self.softirqs[core];
        softirq.budget = softirq.budget.saturating_sub(taken as u32);
        softirq.list.pop_front();
        if taken == POLL_BUDGET {
            softirq.list.push_back(queue);
            return;
        }
        self.queues[queue].is_scheduled = false;
        if !self.queues[queue].is_empty() {
            self.softirqs[core].was_raised = true;
            self.raise(queue);
        }
    }
}

impl<P> Host<P> {
    /// Frames have come: they go to their queues, whose cores are interrupted. Returns when the
    /// interface is checked again.
    #[cold]
    #[inline(never)]
    pub(crate) fn interrupt(&mut self, now: Time, out: &mut impl Environment<Place = P>) -> Time {
        self.catch_up(now, out);
        self.take_frames(now, out);
        self.run_processor(now, out);
        let Host { threads, attachment, .. } = self;
        let threads = threads.as_mut().expect("the host has a processor");
        let is_off = threads.queues.len() == 1 && threads.queues[0].is_scheduled;
        threads.leaves_frames =
            is_off && threads.reported.is_none() && out.holds_unpolled(attachment);
        if threads.leaves_frames {
            return Time::NEVER;
        }
        let next = out.ring(attachment).next_arrival();
        if next.is_never() { next } else { out.poll_after(attachment, next) }
    }

    /// Frames that have arrived go to their queues.
    pub(super) fn take_frames(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        let threads = self.threads.as_mut().expect("the host has a processor");
        while let Some((_, packet)) = out.ring(&self.attachment).pop_arrived(now) {
            let queue = queue_of(packet.flow_hash, threads.queues.len());
            if !threads.queues[queue].push(&packet) {
                self.receive.ring_drops += 1;
                out.on_event(
                    now,
                    &self.attachment,
                    Event::RingDropped { frames: 1, packet: Some(&packet) },
                );
                continue;
            }
            self.receive.frames += 1;
            out.on_event(now, &self.attachment, Event::FrameDelivered { packet: &packet });
            if !threads.queues[queue].is_scheduled {
                threads.raise(queue);
            }
        }
    }

    /// Soft interrupts that have something to do begin.
    #[inline]
    pub(super) fn start_softirqs(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        let threads = self.threads.as_mut().expect("the host has a processor");
        if std::mem::take(&mut threads.may_start) {
            self.start_those_raised(now, out);
        }
    }

    fn start_those_raised(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        while let Some(core) =
            self.threads.as_mut().and_then(|threads| threads.to_start.pop_first())
        {
            let threads = self.threads.as_mut().expect("the host has a processor");
            if threads.is_to_start(core) {
                let softirq = &mut threads.softirqs[core];
                (softirq.since, softirq.round_since, softirq.restarts) = (now, now, 0);
                (softirq.budget, softirq.was_raised) = (threads.budget_frames, false);
                self.go_on(core, now, out);
            }
        }
    }

    /// The frames on which the soft interrupt of a core has worked go up, and it continues.
    pub(super) fn end_softirq_work(
        &mut self,
        core: usize,
        now: Time,
        out: &mut impl Environment<Place = P>,
    ) {
        let threads = self.threads.as_mut().expect("the host has a processor");
        threads.context = Context::Softirq(core);
        if let Some((queue, taken)) = threads.softirqs[core].batch.take() {
            let gro = std::mem::take(&mut threads.softirqs[core].gro);
            let gro = self.deliver_to_threads(now, gro, out);
            self.take_left_frames(now, out);
            let threads = self.threads.as_mut().expect("the host has a processor");
            threads.softirqs[core].gro = gro;
            threads.end_poll(core, queue, taken);
        }
        self.go_on(core, now, out);
    }

    fn go_on(&mut self, core: usize, now: Time, out: &mut impl Environment<Place = P>) {
        let threads = self.threads.as_mut().expect("the host has a processor");
        let debt = std::mem::take(&mut threads.softirqs[core].debt);
        if threads.softirqs[core].list.is_empty() {
            return threads.give(core, (debt > Span::ZERO).then_some(debt), now);
        }
        if !threads.goes_on(core, now) {
            threads.give(core, None, now);
            threads.softirqs[core].debt = debt;
            threads.softirqs[core].in_thread = true;
            threads.counted.handed_over += 1;
            threads.processor.wake(core as u32, now);
            return;
        }
        self.take_left_frames(now, out);
        let work = self.poll_queue(core);
        self.threads.as_mut().expect("the host has a processor").give(core, Some(work + debt), now);
    }

    #[inline]
    fn take_left_frames(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        if self.threads.as_ref().is_some_and(|threads| threads.leaves_frames) {
            self.take_frames(now, out);
        }
    }

    /// Takes frames of the next queue and merges them. Returns the work on them.
    fn poll_queue(&mut self, core: usize) -> Span {
        let Host {
            threads,
            table: SocketTable { sockets, merge_slots, .. },
            connections,
            receive,
            ..
        } = self;
        let threads = threads.as_mut().expect("the host has a processor");
        let softirq = &mut threads.softirqs[core];
        let queue = softirq.list[0];
        let mut taken = 0;
        while softirq.taken_of(taken, threads.receives_whole) < POLL_BUDGET
            && let Some(packet) = threads.queues[queue].pop()
        {
            taken += 1;
            let to = packet.to_endpoint as usize;
            match ip::protocol(&packet) {
                Protocol::Tcp
                    if packet.to_endpoint != TO_PORT && sockets[to].expects == packet.flow_hash =>
                {
                    softirq.gro.add(&packet, &mut merge_slots[to]);
                }
                Protocol::Tcp
                    if packet.to_endpoint != TO_PORT
                        && connections.find(packet.flow_hash).is_none() => {}
                Protocol::Tcp | Protocol::Udp => softirq.gro.add_alone(&packet),
            }
        }
        for aggregate in softirq.gro.aggregates() {
            if let Some(slot) = merge_slots.get_mut(aggregate.packet.to_endpoint as usize) {
                *slot = 0;
            }
        }
        // Of super-frames, each counts as one.
        let taken = match threads.receives_whole {
            true if threads.queues[queue].is_empty() => {
                softirq.gro.aggregates().len().min(POLL_BUDGET - 1)
            }
            true => POLL_BUDGET,
            false => taken,
        };
        softirq.batch = Some((queue, taken));
        threads.counted.polls += 1;
        let work = receive.work_on(softirq.gro.aggregates());
        work + threads.costs.per_poll + threads.costs.per_frame.times(taken as u64)
    }
}
