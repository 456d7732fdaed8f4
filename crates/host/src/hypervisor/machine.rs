//! Virtual cores: tasks of the hypervisor's cores that run while the machine has work.
//!
//! An idle virtual core halts: an exit, after which its task watches for a while (`halt_poll`) and
//! sleeps. New work wakes the task; a switch and an entry later it runs. When its core does
//! something else, the machine's time is stolen.

use super::{Actor, FOREVER, Hypervisor, HypervisorOutputs};
use crate::cpu::{Kind, TaskId};
use tailrace_units::{Span, Time};

/// Activity of a virtual core, as its hypervisor sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Its task sleeps.
    Halted,
    /// Its task waits for a core, to enter.
    Ready,
    /// The hypervisor enters it.
    Entering,
    /// It runs whenever its core works on it.
    Inside,
    /// It exits, for the hypervisor's work or to halt.
    Exiting,
    /// It has no work, and its task watches for some.
    Watching,
}

/// A virtual core.
#[derive(Debug)]
pub(super) struct VirtualCore {
    pub(super) task: TaskId,
    pub(super) port: usize,
    pub(super) number: usize,
    pub(super) phase: Phase,
    /// Whether it runs, as reported to the machine.
    runs: bool,
}

/// A virtual core begins, or ceases, to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// The port of its machine.
    pub port: usize,
    /// Its number in the machine.
    pub core: usize,
    /// Whether it runs.
    pub runs: bool,
}

impl VirtualCore {
    pub(super) fn new(task: TaskId, port: usize, number: usize) -> VirtualCore {
        VirtualCore { task, port, number, phase: Phase::Halted, runs: false }
    }
}

impl Hypervisor {
    /// Exits of a virtual core are work of its task.
    fn exit(&mut self, index: usize, now: Time) {
        self.counted.exits += 1;
        self.virtual_cores[index].phase = Phase::Exiting;
        let task = self.virtual_cores[index].task;
        self.processor.replace_work(task, Kind::System, self.config.costs.exit, now);
    }

    fn enter(&mut self, index: usize, work: Span, now: Time) {
        self.virtual_cores[index].phase = Phase::Entering;
        let task = self.virtual_cores[index].task;
        self.processor.replace_work(task, Kind::System, work, now);
    }

    /// The task of a virtual core has a core, or has done its work.
    pub(super) fn end_of_virtual_core(
        &mut self,
        index: usize,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let VirtualCore { task, port, number, phase, .. } = self.virtual_cores[index];
        let has_work = out.has_work(port, number);
        match phase {
            Phase::Halted | Phase::Ready => self.enter(index, self.config.costs.entry, now),
            Phase::Entering => {
                self.virtual_cores[index].phase = Phase::Inside;
                self.processor.set_work(task, Kind::User, FOREVER, now);
            }
            Phase::Exiting if has_work => self.enter(index, Span::ZERO, now),
            Phase::Exiting if self.config.halt_poll > Span::ZERO => {
                self.virtual_cores[index].phase = Phase::Watching;
                self.processor.set_work(task, Kind::System, self.config.halt_poll, now);
            }
            Phase::Exiting | Phase::Watching => {
                self.virtual_cores[index].phase = Phase::Halted;
                self.processor.sleep(task, now);
            }
            Phase::Inside => unreachable!("a virtual core runs until something is done about it"),
        }
    }

    /// Wakes, enters or interrupts virtual cores whose machine has begun or ceased to have work.
    /// Returns whether anything followed.
    pub(super) fn advance_virtual_cores(
        &mut self,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) -> bool {
        let mut followed = false;
        for index in 0..self.virtual_cores.len() {
            let VirtualCore { task, port, number, phase, .. } = self.virtual_cores[index];
            let was_interrupted = out.take_interrupt(port, number);
            if was_interrupted {
                self.charge_signal(port);
            }
            let has_work = out.has_work(port, number);
            match phase {
                Phase::Halted if has_work => {
                    self.virtual_cores[index].phase = Phase::Ready;
                    self.processor.wake(task, now);
                }
                Phase::Watching if has_work => self.enter(index, self.config.costs.entry, now),
                Phase::Inside if !has_work || was_interrupted => self.exit(index, now),
                Phase::Halted
                | Phase::Watching
                | Phase::Ready
                | Phase::Entering
                | Phase::Inside
                | Phase::Exiting => continue,
            }
            followed = true;
        }
        followed
    }

    /// A notification of a machine: the virtual core that sends leaves.
    pub(super) fn notify(&mut self, port: usize, now: Time, out: &impl HypervisorOutputs) {
        self.counted.notifications += 1;
        let sender = out.sender(port);
        let is_sender = |virtual_core: &VirtualCore| {
            virtual_core.port == port
                && Some(virtual_core.number) == sender
                && virtual_core.phase == Phase::Inside
        };
        if let Some(index) = self.virtual_cores.iter().position(is_sender) {
            self.exit(index, now);
        }
    }

    /// Notes which virtual cores run by now.
    pub(super) fn update_gates(&mut self) {
        for virtual_core in &mut self.virtual_cores {
            if virtual_core.phase == Phase::Inside && !self.processor.has_core(virtual_core.task) {
                virtual_core.phase = Phase::Ready;
                self.processor.tell_again(virtual_core.task);
                self.counted.preemptions += 1;
            }
            let runs =
                virtual_core.phase == Phase::Inside && self.processor.works_on(virtual_core.task);
            if runs != virtual_core.runs {
                virtual_core.runs = runs;
                self.gates.push(Gate { port: virtual_core.port, core: virtual_core.number, runs });
            }
        }
    }

    /// A soft interrupt finds a virtual core running: it leaves and enters again.
    pub(super) fn interrupted_exit(&mut self, core: usize) -> Span {
        let runs = |virtual_core: &&VirtualCore| {
            virtual_core.phase == Phase::Inside
                && self.processor.core_of(virtual_core.task) == core
                && self.processor.works_on(virtual_core.task)
        };
        if !self.virtual_cores.iter().any(|virtual_core| runs(&virtual_core)) {
            return Span::ZERO;
        }
        self.counted.exits += 1;
        self.config.costs.exit
    }

    /// The interrupt of a machine is work of its sender.
    fn charge_signal(&mut self, port: usize) {
        self.counted.signals += 1;
        let work = self.config.costs.signal + self.config.costs.wake_up;
        match self.sender_to(port) {
            Some(Actor::Vhost(vhost)) => self.vhosts[vhost].debt += work,
            Some(Actor::Polling(thread)) => self.polling[thread].debt += work,
            Some(Actor::VirtualCore(_) | Actor::Neighbour(_)) | None => {}
        }
    }
}
