//! Silent work: its end has no consequence but an idle core, so the engine need not be notified
//! when it is due. It is brought to its end, at the time that was due, before anything else happens
//! to the processor.
//!
//! Such work follows from sending, or from waking a thread, with nothing after it.

use super::{Operation, Threads, Who};
use crate::Host;
use crate::environment::Environment;
use tailrace_units::Time;

impl Threads {
    /// A core works; its end may be one of these.
    pub(super) fn note_silent(&mut self, core: usize, is_silent: bool) {
        if is_silent {
            self.silent.insert(core);
        } else {
            self.silent.remove(core);
        }
    }

    /// The next deadline of which the engine must know.
    pub(super) fn due_aloud(&self) -> Time {
        if self.reported.is_some() {
            return self.due; // its hypervisor learns of every end
        }
        self.processor
            .due_but(self.due, |core| self.silent.contains(core) && self.ends_silently(core))
    }

    fn ends_silently(&self, core: usize) -> bool {
        let task = self.processor.task_on(core);
        if self.processor.is_in_softirq(core) {
            return task.is_none() && self.softirqs[core].has_only_debt();
        }
        let at = task.and_then(|task| (task as usize).checked_sub(self.processor.cores()));
        at.is_some_and(|at| {
            let thread = &self.list[at];
            matches!((thread.who, thread.running), (Who::Socket(_), Some(Operation::Overhead(_))))
                && thread.operations.is_empty()
                && thread.inbox.is_empty()
        })
    }
}

impl<P> Host<P> {
    /// Finishes the silent work that was due before `now`. It is called before anything else
    /// happens at `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        if self.threads.as_ref().is_some_and(|threads| threads.due < now) {
            self.catch_up_indeed(now, out);
        }
    }

    #[inline(never)]
    fn catch_up_indeed(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        while let Some(due) =
            self.threads.as_ref().map(|threads| threads.due).filter(|&due| due < now)
        {
            self.run_at(due, out);
        }
    }

    /// All work until `now` is done, and arrived frames are in the receive queues: counters may be
    /// read.
    pub fn settle(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        self.catch_up(now, out);
        self.ip.settle(now);
        if self.threads.as_ref().is_some_and(|threads| threads.leaves_frames) {
            self.take_frames(now, out);
        }
        if let Some(threads) = &mut self.threads {
            threads.processor.settle_all(now);
        }
    }
}
