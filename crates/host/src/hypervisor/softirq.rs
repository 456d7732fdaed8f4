//! Switching in the kernel: soft interrupts take frames from uplinks and from vhost threads, one
//! after the other, and switch them.
//!
//! As on a [host](crate), a poll takes at most 64 frames, and work that lasts too long is left to
//! `ksoftirqd`.

use super::lane::Lane;
use super::{Hypervisor, HypervisorOutputs, Passage, SOFTIRQ_FRAMES_MAX};
use crate::cpu::softirq::{POLL_BUDGET, may_restart};
use std::collections::VecDeque;
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Where a soft interrupt takes frames from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// A receive queue of an uplink.
    Uplink(usize),
    /// Frames that vhost threads on this core have handed over.
    Backlog,
}

/// A receive queue of an uplink.
#[derive(Debug)]
pub(super) struct UplinkQueue {
    pub(super) port: usize,
    pub(super) core: usize,
    pub(super) lane: Lane,
    /// Its interrupt is off: its core has it on its list.
    pub(super) is_scheduled: bool,
    /// When it interrupts.
    pub(super) interrupt_at: Time,
}

/// The soft interrupt of one core.
#[derive(Debug)]
pub(super) struct Softirq {
    list: VecDeque<Source>,
    /// Frames that vhost threads on this core have handed over, and of each super-frame its port
    /// and its size.
    handed: VecDeque<Packet>,
    backlog: VecDeque<(usize, usize)>,
    has_backlog: bool,
    /// The frames in work, and the port at which they came in.
    batch: Vec<Packet>,
    batch_port: usize,
    taken: usize,
    pub(super) debt: Span,
    is_running: bool,
    in_thread: bool,
    budget: u32,
    since: Time,
    restarts: u32,
}

impl Softirq {
    pub(super) fn new() -> Softirq {
        Softirq {
            list: VecDeque::new(),
            handed: VecDeque::new(),
            backlog: VecDeque::new(),
            has_backlog: false,
            batch: Vec::new(),
            batch_port: 0,
            taken: 0,
            debt: Span::ZERO,
            is_running: false,
            in_thread: false,
            budget: 0,
            since: Time::ZERO,
            restarts: 0,
        }
    }

    /// Frames that it holds.
    pub(super) fn frames(&self) -> usize {
        self.handed.len() + self.batch.len()
    }
}

impl Hypervisor {
    /// An uplink interrupts its core.
    pub(super) fn raise_uplink(&mut self, queue: usize) {
        let own = &mut self.uplinks[queue];
        (own.is_scheduled, own.interrupt_at) = (true, Time::NEVER);
        let core = own.core;
        self.counted.interrupts += 1;
        let exit = self.interrupted_exit(core);
        let softirq = &mut self.softirqs[core];
        softirq.list.push_back(Source::Uplink(queue));
        softirq.debt += self.config.costs.interrupt + exit;
    }

    /// A vhost thread hands a super-frame of its machine to the soft interrupt of its core. Returns
    /// whether it fits.
    pub(super) fn push_backlog(&mut self, core: usize, port: usize, frames: &[Packet]) -> bool {
        let softirq = &mut self.softirqs[core];
        if softirq.backlog.len() >= self.config.backlog_frames {
            self.counted.backlog_overruns += frames.len() as u64;
            return false;
        }
        softirq.backlog.push_back((port, frames.len()));
        softirq.handed.extend(frames);
        if !std::mem::replace(&mut softirq.has_backlog, true) {
            softirq.list.push_back(Source::Backlog);
        }
        true
    }

    /// Soft interrupts that have something to do begin.
    pub(super) fn start_softirqs(&mut self, now: Time, out: &mut impl HypervisorOutputs) {
        for core in 0..self.softirqs.len() {
            let softirq = &mut self.softirqs[core];
            if softirq.is_running
                || softirq.in_thread
                || (softirq.list.is_empty() && softirq.debt == Span::ZERO)
            {
                continue;
            }
            (softirq.since, softirq.restarts, softirq.budget) = (now, 0, SOFTIRQ_FRAMES_MAX);
            self.go_on(core, now, out);
        }
    }

    /// The frames in work are switched, and it continues.
    pub(super) fn end_softirq_work(
        &mut self,
        core: usize,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let batch = std::mem::take(&mut self.softirqs[core].batch);
        let port = self.softirqs[core].batch_port;
        self.waker = core;
        batch.iter().for_each(|packet| out.forward(now, port, packet));
        self.softirqs[core].batch = batch;
        self.softirqs[core].batch.clear();
        self.go_on(core, now, out);
    }

    fn give(&mut self, core: usize, work: Option<Span>, now: Time) {
        self.softirqs[core].is_running = work.is_some();
        self.processor.give_softirq(core, &mut self.softirqs[core].in_thread, work, now);
    }

    /// Whether another frame may be taken in place.
    fn may_go_on(&mut self, core: usize, now: Time) -> bool {
        let must_choose = self.processor.must_choose(core);
        let softirq = &mut self.softirqs[core];
        if softirq.budget > 0 {
            return true;
        }
        self.counted.squeezes += 1;
        softirq.restarts += 1;
        softirq.budget = SOFTIRQ_FRAMES_MAX;
        softirq.in_thread || may_restart(softirq.restarts, softirq.since, now, must_choose)
    }

    fn go_on(&mut self, core: usize, now: Time, out: &mut impl HypervisorOutputs) {
        let debt = std::mem::take(&mut self.softirqs[core].debt);
        while let Some(&source) = self.softirqs[core].list.front() {
            if !self.may_go_on(core, now) {
                self.give(core, None, now);
                self.softirqs[core].debt = debt;
                self.softirqs[core].in_thread = true;
                self.counted.handed_over += 1;
                self.processor.wake(core as u32, now);
                return;
            }
            if let Some(work) = self.take_next(core, source) {
                out.passed(now, &self.softirqs[core].batch, Passage::Switching(work + debt));
                return self.give(core, Some(work + debt), now);
            }
        }
        self.give(core, (debt > Span::ZERO).then_some(debt), now);
    }

    /// Takes the next frame of a source. Returns the work on it, or `None` if the source is empty
    /// and its interrupt on again.
    fn take_next(&mut self, core: usize, source: Source) -> Option<Span> {
        let Hypervisor { softirqs, uplinks, config, .. } = self;
        let softirq = &mut softirqs[core];
        let has_taken = match source {
            Source::Uplink(queue) => {
                softirq.batch_port = uplinks[queue].port;
                uplinks[queue].lane.take(&mut softirq.batch)
            }
            Source::Backlog => softirq.backlog.pop_front().is_some_and(|(port, frames)| {
                softirq.batch_port = port;
                softirq.batch.extend(softirq.handed.drain(..frames));
                true
            }),
        };
        if !has_taken {
            softirq.list.pop_front();
            softirq.taken = 0;
            match source {
                Source::Uplink(queue) => uplinks[queue].is_scheduled = false,
                Source::Backlog => softirq.has_backlog = false,
            }
            return None;
        }
        softirq.budget -= 1;
        softirq.taken += 1;
        if softirq.taken == POLL_BUDGET {
            softirq.taken = 0;
            softirq.list.rotate_left(1);
        }
        let merged = if source == Source::Backlog { 0 } else { softirq.batch.len() as u64 - 1 };
        Some(config.costs.switch + config.costs.merge.times(merged))
    }
}
