//! A task of a core: a thread of a program, or the kernel thread that does a core's soft
//! interrupts.

use super::config::CoreSet;
use tailrace_units::Span;

/// The number of a task on its host. The first tasks are the `ksoftirqd` of each core.
pub type TaskId = u32;

/// The owner of tasks that work for no workload.
pub const NO_OWNER: u32 = u32::MAX;

/// Activity of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The program's own work.
    User,
    /// System calls, copies, wake-ups and context switches.
    System,
    /// Soft interrupts, also those that `ksoftirqd` does.
    Softirq,
    /// The hypervisor runs something else.
    Steal,
    /// Nothing.
    Idle,
}

/// Number of kinds.
pub const KINDS: usize = 5;

/// Where a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It has no work.
    Asleep,
    /// In the run queue of its core.
    Queued,
    /// On its core.
    Running,
    /// Its control group has used its quota.
    Parked,
    /// The slot is free.
    Gone,
}

/// A task.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) state: State,
    pub(super) cores: CoreSet,
    pub(super) weight: u32,
    pub(super) group: u32,
    pub(super) owner: u32,
    /// Where it runs, or ran last.
    pub(super) core: usize,
    /// It has run before, so that its core is known.
    pub(super) has_run: bool,
    /// Remaining present work.
    pub(super) left: Span,
    pub(super) kind: Kind,
    /// Virtual time that it has received (EEVDF), and until when it asked for in this turn.
    pub(super) vruntime: i64,
    pub(super) deadline: i64,
    /// Virtual time that it was owed when it left its queue.
    pub(super) lag: i64,
    /// It leaves when its present work is done.
    pub(super) is_leaving: bool,
    /// It has woken and not been given work. It is notified that it has a core when the switch to
    /// it begins, so that both are one stretch.
    pub(super) is_fresh: bool,
}

/// A task to be added.
#[derive(Clone, Copy, Debug)]
pub struct NewTask {
    /// The owner for which it works.
    pub owner: u32,
    /// Its control group.
    pub group: u32,
}
