//! Activity of cores in windows of time, for engines that show it.
//!
//! A processor accounts for the activity of a core whenever something changes there; the log keeps
//! these accounts. A processor without a log pays nothing for it: both log and quotas are behind
//! one check.

use super::Processor;
use super::core::Core;
use super::task::{Kind, NO_OWNER, Task, TaskId};
use tailrace_units::Time;

/// Intervals that are kept: 20 MB.
const ROWS_MAX: usize = 1 << 19;

/// Activity of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// The hypervisor ran something else, or, on a virtual core with work, did not run it.
    Stolen,
    /// A soft interrupt.
    Softirq,
    /// The switch to a task.
    Switch {
        /// The task.
        task: TaskId,
        /// The owner for which it works, or `NO_OWNER`.
        owner: u32,
    },
    /// Work of a task.
    Work {
        /// The task.
        task: TaskId,
        /// The owner for which it works, or `NO_OWNER`.
        owner: u32,
        /// Kind of the activity.
        kind: Kind,
    },
}

/// One interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreRow {
    /// The core.
    pub core: usize,
    /// From when.
    pub from: Time,
    /// Until when.
    pub to: Time,
    /// The activity.
    pub doing: Doing,
}

/// The log of a processor.
#[derive(Debug)]
pub struct CoreLog {
    /// From, to; in order, and apart from each other.
    windows: Vec<(Time, Time)>,
    rows: Vec<CoreRow>,
    /// By core, its latest interval.
    latest: Vec<Option<usize>>,
    left_out: u64,
}

impl CoreLog {
    fn new(windows: Vec<(Time, Time)>, cores: usize) -> CoreLog {
        CoreLog { windows, rows: Vec::new(), latest: vec![None; cores], left_out: 0 }
    }

    /// The intervals in the order of their ends. Those of a core follow each other where it was not
    /// idle.
    pub fn rows(&self) -> &[CoreRow] {
        &self.rows
    }

    /// Intervals that found no room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn note(&mut self, row: CoreRow) {
        let is_wanted = row.from < row.to
            && self.windows.iter().any(|&(from, to)| row.from < to && from < row.to);
        if !is_wanted {
            return;
        }
        let latest = self.latest[row.core].map(|at| &mut self.rows[at]);
        if let Some(latest) =
            latest.filter(|latest| latest.to == row.from && latest.doing == row.doing)
        {
            latest.to = row.to;
        } else if self.rows.len() < ROWS_MAX {
            self.latest[row.core] = Some(self.rows.len());
            self.rows.push(row);
        } else {
            self.left_out += 1;
        }
    }
}

impl Core {
    /// The activity between two moments without a change in between: first the switch to the task.
    fn did(&self, tasks: &[Task], from: Time, to: Time) -> [Option<(Doing, Time, Time)>; 2] {
        let whole = |doing| [Some((doing, from, to)), None];
        if self.is_stolen {
            return whole(Doing::Stolen);
        }
        if self.is_held {
            return if self.has_work() { whole(Doing::Stolen) } else { [None, None] };
        }
        if self.softirq.is_some() {
            return whole(Doing::Softirq);
        }
        let Some(task) = self.task else { return [None, None] };
        let Task { owner, kind, .. } = tasks[task as usize];
        if kind == Kind::Softirq && owner == NO_OWNER {
            return whole(Doing::Softirq); // of its ksoftirqd
        }
        let switched = (from + self.switching).min(to);
        [
            Some((Doing::Switch { task, owner }, from, switched)),
            Some((Doing::Work { task, owner, kind }, switched, to)),
        ]
    }
}

impl Processor {
    /// Keeps from now on the activity of its cores in these windows (from, to), which are in order
    /// and disjoint.
    pub fn keep_log(&mut self, windows: Vec<(Time, Time)>) {
        self.log = Some(Box::new(CoreLog::new(windows, self.cores.len())));
        self.has_aside = true;
    }

    /// The activity of the cores.
    pub fn log(&self) -> Option<&CoreLog> {
        self.log.as_deref()
    }

    /// Notes the activity of a core until `now`, before it is accounted for.
    #[cold]
    pub(super) fn note_in_log(&mut self, core: usize, now: Time) {
        let Processor { cores, tasks, log, .. } = self;
        let Some(log) = log else { return };
        let of = &cores[core];
        for (doing, from, to) in of.did(tasks, of.settled_at(), now).into_iter().flatten() {
            log.note(CoreRow { core, from, to, doing });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(core: usize, from: u64, to: u64, doing: Doing) -> CoreRow {
        CoreRow { core, from: Time::from_ps(from), to: Time::from_ps(to), doing }
    }

    #[test]
    fn intervals_of_one_thing_are_one_and_only_those_in_windows_are_kept() {
        let mut log = CoreLog::new(vec![(Time::from_ps(10), Time::from_ps(20))], 2);
        log.note(row(0, 0, 10, Doing::Softirq));
        log.note(row(0, 10, 12, Doing::Softirq));
        log.note(row(1, 11, 12, Doing::Softirq));
        log.note(row(0, 12, 14, Doing::Softirq));
        log.note(row(0, 14, 14, Doing::Stolen));
        log.note(row(0, 15, 25, Doing::Softirq));
        log.note(row(0, 25, 30, Doing::Stolen));
        let softirq = |core, from, to| row(core, from, to, Doing::Softirq);
        assert_eq!(log.rows(), [softirq(0, 10, 14), softirq(1, 11, 12), softirq(0, 15, 25)]);
    }
}
