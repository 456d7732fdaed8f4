//! Interface of a processor for virtualisation: a virtual machine, whose cores run only while a
//! hypervisor runs them, and the hypervisor, which changes and queries the work of its tasks.

use super::Processor;
use super::core::Core;
use super::task::{Kind, State, TaskId};
use tailrace_units::{Span, Time};

impl Core {
    /// Whether something wants to run on it.
    pub(super) fn has_work(&self) -> bool {
        self.softirq.is_some() || self.runnable() > 0
    }

    /// The kind of time that passes while a hypervisor does not run it: stolen if it has work, idle
    /// otherwise, as in Linux.
    pub(super) fn kind_when_held(&self) -> Kind {
        if self.has_work() { Kind::Steal } else { Kind::Idle }
    }
}

/// A virtual machine's processor.
impl Processor {
    /// A hypervisor begins, or ceases, to run this core.
    pub fn hold(&mut self, core: usize, is_held: bool, now: Time) {
        self.settle(core, now);
        self.cores[core].is_held = is_held;
        self.check_at_once(core, now);
    }

    /// Whether a core has something to do.
    pub fn has_work(&self, core: usize) -> bool {
        self.cores[core].has_work()
    }

    /// An interrupt has come to a core.
    pub fn note_interrupt(&mut self, core: usize) {
        self.cores[core].was_interrupted = true;
    }

    /// Whether an interrupt has come that was not asked for yet.
    pub fn was_interrupted(&self, core: usize) -> bool {
        self.cores[core].was_interrupted
    }

    /// Whether an interrupt has come to a core since this was asked last.
    pub fn take_interrupt(&mut self, core: usize) -> bool {
        std::mem::take(&mut self.cores[core].was_interrupted)
    }
}

/// A hypervisor's processor.
impl Processor {
    /// Replaces the remaining work of a task that is awake.
    pub fn replace_work(&mut self, task: TaskId, kind: Kind, work: Span, now: Time) {
        match self.tasks[task as usize].state {
            State::Running => self.set_work(task, kind, work, now),
            State::Queued | State::Parked => {
                let own = &mut self.tasks[task as usize];
                (own.left, own.kind, own.is_fresh) = (work, kind, false);
            }
            State::Asleep | State::Gone => debug_assert!(false, "a task that has work is awake"),
        }
    }

    /// A task that has lost its core is notified when it has one again, as if it had woken.
    pub fn tell_again(&mut self, task: TaskId) {
        let own = &mut self.tasks[task as usize];
        debug_assert_ne!(own.state, State::Running, "the task waits");
        (own.left, own.is_fresh) = (Span::ZERO, true);
    }

    /// Whether a task has a core, which may be in a soft interrupt or in the switch to it.
    pub fn has_core(&self, task: TaskId) -> bool {
        self.tasks[task as usize].state == State::Running
    }

    /// Whether a core works on a task, and on nothing else.
    pub fn works_on(&self, task: TaskId) -> bool {
        let Some(core) = self.cores.get(self.core_of(task)).filter(|core| core.task == Some(task))
        else {
            return false;
        };
        core.softirq.is_none() && !core.is_stolen && core.switching == Span::ZERO
    }
}
