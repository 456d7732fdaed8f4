//! One core: its present activity, and its time by activity.

use super::bandwidth::Bandwidth;
use super::config::Steal;
use super::counters::{Busy, OwnerCounters};
use super::run_queue::{Entity, RunQueue, time_of, virtual_of};
use super::task::{Kind, NO_OWNER, Task, TaskId};
use tailrace_units::{Span, Time};

/// A core. Each item of this list interrupts those below it: the hypervisor, a soft interrupt, the
/// task.
#[derive(Debug)]
pub(super) struct Core {
    /// The hypervisor has it.
    pub(super) is_stolen: bool,
    /// It belongs to a virtual machine, and the hypervisor does not run it.
    pub(super) is_held: bool,
    /// An interrupt has come that its hypervisor has not seen.
    pub(super) was_interrupted: bool,
    /// When the hypervisor takes it, or gives it back.
    steal_at: Time,
    /// Remaining work of the soft interrupt.
    pub(super) softirq: Option<Span>,
    pub(super) task: Option<TaskId>,
    /// Remaining time of the switch to the task.
    pub(super) switching: Span,
    /// The task that has it must be chosen anew.
    pub(super) must_choose: bool,
    pub(super) queue: RunQueue,
    /// Remaining quota of its task's group on this core.
    pub(super) granted: Span,
    /// The time until which its counters are complete.
    settled: Time,
    pub(super) busy: Busy,
}

impl Core {
    pub(super) fn new(number: usize, cores: usize, steal: Option<&Steal>) -> Core {
        let phase = |steal: &Steal| Time::from_ps(steal.every.ps() / cores as u64 * number as u64);
        let steal_at = steal.map_or(Time::NEVER, phase);
        Core {
            is_stolen: false,
            is_held: false,
            was_interrupted: false,
            steal_at,
            softirq: None,
            task: None,
            switching: Span::ZERO,
            must_choose: false,
            queue: RunQueue::default(),
            granted: Span::ZERO,
            settled: Time::ZERO,
            busy: Busy::default(),
        }
    }

    /// Tasks that wait for it or run on it.
    pub(super) fn runnable(&self) -> usize {
        self.queue.len() + usize::from(self.task.is_some())
    }

    /// Whether nothing runs on it or waits for it.
    pub(super) fn is_idle(&self) -> bool {
        self.runnable() == 0 && self.softirq.is_none() && !self.is_stolen
    }

    /// Whether its counters are complete until `now`.
    #[inline]
    pub(super) fn is_settled(&self, now: Time) -> bool {
        self.settled == now
    }

    /// The time until which its counters are complete.
    pub(super) fn settled_at(&self) -> Time {
        self.settled
    }

    /// Accounts for the time until `now`.
    pub(super) fn settle(
        &mut self,
        now: Time,
        tasks: &mut [Task],
        owners: &mut [OwnerCounters],
        has_quota: bool,
    ) {
        let elapsed = now.since(self.settled);
        self.settled = now;
        if self.is_stolen {
            return self.busy.add(Kind::Steal, elapsed);
        }
        if self.is_held {
            return self.busy.add(self.kind_when_held(), elapsed);
        }
        if let Some(left) = &mut self.softirq {
            *left = left.less(elapsed);
            return self.busy.add(Kind::Softirq, elapsed);
        }
        let Some(number) = self.task else { return self.busy.add(Kind::Idle, elapsed) };
        let task = &mut tasks[number as usize];
        let switched = shorter(elapsed, self.switching);
        let worked = elapsed.less(switched);
        self.switching = self.switching.less(switched);
        for (kind, span) in [(Kind::System, switched), (task.kind, worked)] {
            self.busy.add(kind, span);
            if task.owner != NO_OWNER {
                owners[task.owner as usize].busy.add(kind, span);
            }
        }
        task.left = task.left.less(worked);
        task.vruntime += virtual_of(worked, task.weight);
        if has_quota {
            self.granted = self.granted.less(worked);
        }
    }

    /// Takes the core away from the host, or gives it back, if that is due.
    pub(super) fn toggle_steal(&mut self, now: Time, steal: Option<&Steal>) {
        let Some(steal) = steal.filter(|_| now >= self.steal_at) else { return };
        self.is_stolen = !self.is_stolen;
        self.steal_at += if self.is_stolen {
            steal.slice
        } else {
            Span::from_ps(steal.every.ps() - steal.slice.ps())
        };
    }

    /// When it is checked again: after this span, or when the hypervisor takes it.
    #[inline]
    pub(super) fn due_after(&self, now: Time, span: Option<Span>) -> Time {
        span.map_or(Time::NEVER, |span| now + span).min(self.steal_at)
    }

    /// When it is checked if that should happen at once: a stolen core is checked later.
    #[inline]
    pub(super) fn due_at_once(&self, now: Time) -> Time {
        if self.is_stolen { self.steal_at } else { now }
    }

    /// How long its task, after the switch to it, may go on before something else must be decided:
    /// its work is done, its slice is over while others wait (seen at a tick), or its group has
    /// used what this core took.
    pub(super) fn stretch(
        &self,
        now: Time,
        task: &Task,
        tick: Span,
        bandwidth: Option<&Bandwidth>,
    ) -> Span {
        let mut stretch = task.left;
        if !self.queue.is_empty() {
            let end = now + self.switching + time_of(task.deadline - task.vruntime, task.weight);
            let seen = if tick == Span::ZERO {
                end
            } else {
                Time::from_ps(end.ps().div_ceil(tick.ps()) * tick.ps())
            };
            stretch = shorter(stretch, seen.since(now + self.switching));
        }
        if bandwidth.is_some() {
            stretch = shorter(stretch, self.granted);
        }
        stretch + self.switching
    }
}

/// The shorter of two.
pub(super) fn shorter(a: Span, b: Span) -> Span {
    if a < b { a } else { b }
}

/// A task as its queue knows it.
pub(super) fn entity_of(number: TaskId, task: &Task) -> Entity {
    Entity { task: number, weight: task.weight, vruntime: task.vruntime, deadline: task.deadline }
}
