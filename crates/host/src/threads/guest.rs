//! A host that is a virtual machine: its cores run when its hypervisor runs them, and the
//! hypervisor is called when they come to have, or cease to have, something to do.

use super::{Context, Threads};
use crate::Host;
use crate::environment::Environment;
use tailrace_units::Time;

/// The state that was last reported to the hypervisor.
#[derive(Debug, Default)]
pub(super) struct Effects {
    has_work: Vec<bool>,
    received: usize,
}

impl Effects {
    pub(super) fn new(cores: usize) -> Effects {
        Effects { has_work: vec![false; cores], received: 0 }
    }
}

impl Threads {
    /// The core that acts now.
    fn current_core(&self) -> usize {
        match self.context {
            Context::Softirq(core) => core,
            Context::Task(task) => self.processor.core_of(task),
        }
    }

    fn received(&self) -> usize {
        self.queues.iter().map(super::queues::RxQueue::len).sum()
    }

    /// Whether there are changes to report to a hypervisor.
    pub(super) fn has_changes(&mut self) -> bool {
        let received = self.received();
        let Threads { reported, processor, .. } = self;
        let Some(reported) = reported else { return false };
        let mut has_changes = received < reported.received;
        reported.received = received;
        for (core, had_work) in reported.has_work.iter_mut().enumerate() {
            has_changes |= std::mem::replace(had_work, processor.has_work(core)) != *had_work
                || processor.was_interrupted(core);
        }
        has_changes
    }
}

/// A virtual machine, as its hypervisor sees it.
impl<P> Host<P> {
    /// This host is a virtual machine: no core runs until its hypervisor runs it.
    pub fn become_guest(&mut self) {
        if let Some(threads) = &mut self.threads {
            let cores = threads.processor.cores();
            threads.reported = Some(Effects::new(cores));
            (0..cores).for_each(|core| threads.processor.hold(core, true, Time::ZERO));
            // The engine asks when it is due before anything happens.
            threads.due = threads.processor.poll_timeout();
            threads.armed = threads.due;
        }
    }

    /// Its hypervisor begins, or ceases, to run one of its cores.
    pub fn handle_gate(
        &mut self,
        now: Time,
        core: usize,
        runs: bool,
        out: &mut impl Environment<Place = P>,
    ) {
        if let Some(threads) = &mut self.threads {
            threads.processor.hold(core, !runs, now);
            self.run_processor(now, out);
        }
    }

    /// Whether one of its cores has something to do.
    pub fn has_work(&self, core: usize) -> bool {
        self.threads.as_ref().is_some_and(|threads| threads.processor.has_work(core))
    }

    /// Whether an interrupt has come to a core since this was asked last.
    pub fn take_interrupt(&mut self, core: usize) -> bool {
        self.threads.as_mut().is_some_and(|threads| threads.processor.take_interrupt(core))
    }

    /// The core that sends now.
    pub fn sending_core(&self) -> Option<usize> {
        self.threads.as_ref().map(|threads| threads.current_core())
    }

    /// Frames that the interface has received and no poll has taken.
    pub fn received_frames(&self) -> usize {
        self.threads.as_ref().map_or(0, |threads| threads.received())
    }
}
