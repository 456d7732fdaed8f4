//! The processor of a host: cores, each with a run queue, soft interrupts that interrupt tasks, quotas, and a hypervisor that takes cores
//! away.
//!
//! It knows how long each piece of work takes, and decides when it is done. What follows from it the host decides: it is told that a
//! piece is done ([`Processor::poll`]), and says what comes next.

mod bandwidth;
mod config;
mod core;
mod counters;
mod run_queue;
mod schedule;
mod task;
#[cfg(test)]
mod tests;

pub use bandwidth::Throttling;
pub use config::{CORES_MAX, CoreSet, GroupConfig, ProcessorConfig, SchedulerConfig, Steal, weight_of};
pub use counters::{Busy, Depth, OwnerCounters, Switches};
pub use task::{KINDS, Kind, NO_OWNER, NewTask, TaskId};

use self::core::Core;
use bandwidth::Bandwidth;
use config::NICE_0_WEIGHT;
use tailrace_units::{Span, Time};
use task::{State, Task};

/// A piece of work that is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// That of a task: [`Processor::set_work`] or [`Processor::sleep`] must follow.
    Task(TaskId),
    /// That of the soft interrupt of a core: [`Processor::set_softirq`] must follow.
    Softirq(usize),
}

/// A processor.
#[derive(Debug)]
pub struct Processor {
    config: ProcessorConfig,
    cores: Vec<Core>,
    tasks: Vec<Task>,
    free: Vec<TaskId>,
    bandwidths: Vec<Option<Bandwidth>>,
    owners: Vec<OwnerCounters>,
    depth: Depth,
    switches: Switches,
    migrations: u64,
    counted_from: Time,
}

impl Processor {
    /// A processor whose tasks are the `ksoftirqd` of each core, asleep.
    pub fn new(config: ProcessorConfig) -> Processor {
        let cores = (0..config.cores).map(|core| Core::new(core, config.cores, config.steal.as_ref())).collect();
        let ksoftirqd = |core| Task {
            cores: [core].into_iter().collect(),
            core: core as usize,
            has_run: true,
            kind: Kind::Softirq,
            ..Task::new(NewTask { owner: NO_OWNER, group: 0 }, NICE_0_WEIGHT, CoreSet::default())
        };
        Processor {
            cores,
            tasks: (0..config.cores as u32).map(ksoftirqd).collect(),
            free: Vec::new(),
            bandwidths: config.groups.iter().map(|group| group.quota.map(Bandwidth::new)).collect(),
            owners: vec![OwnerCounters::default(); config.owners],
            depth: Depth::new(config.depth_bin, config.depth_bins),
            switches: Switches::default(),
            migrations: 0,
            counted_from: Time::ZERO,
            config,
        }
    }

    /// Number of cores.
    pub fn cores(&self) -> usize {
        self.cores.len()
    }

    /// Adds a task, which sleeps.
    pub fn add_task(&mut self, new: NewTask) -> TaskId {
        let group = &self.config.groups[new.group as usize];
        let task = Task::new(new, group.weight, group.cores);
        if let Some(number) = self.free.pop() {
            self.tasks[number as usize] = task;
            return number;
        }
        self.tasks.push(task);
        self.tasks.len() as u32 - 1
    }

    /// Whether a task has nothing to do.
    pub fn is_asleep(&self, task: TaskId) -> bool {
        self.tasks[task as usize].state == State::Asleep
    }

    /// When something is due.
    pub fn poll_timeout(&self) -> Time {
        let cores = self.cores.iter().map(|core| core.due);
        let periods = self.bandwidths.iter().flatten().map(Bandwidth::due);
        cores.chain(periods).min().unwrap_or(Time::NEVER)
    }

    /// The next piece of work that is done by now. It must be called until nothing is, whenever something is due.
    pub fn poll(&mut self, now: Time) -> Option<Done> {
        self.renew_quotas(now);
        while let Some(core) = self.cores.iter().position(|core| core.due <= now) {
            if let Some(done) = self.look(core, now) {
                return Some(done);
            }
        }
        None
    }

    /// The task's next piece of work. It must have its core.
    pub fn set_work(&mut self, task: TaskId, kind: Kind, work: Span, now: Time) {
        let Task { core, state, .. } = self.tasks[task as usize];
        debug_assert_eq!(state, State::Running, "work is done on a core");
        self.settle(core, now);
        let own = &mut self.tasks[task as usize];
        (own.left, own.kind, own.is_fresh) = (work, kind, false);
        self.cores[core].look_at(now);
    }

    /// What follows for the soft interrupt of a core: more work, or its end.
    pub fn set_softirq(&mut self, core: usize, work: Option<Span>, now: Time) {
        self.settle(core, now);
        self.cores[core].softirq = work;
        self.cores[core].look_at(now);
    }

    /// Whether a core is in a soft interrupt.
    pub fn is_in_softirq(&self, core: usize) -> bool {
        self.cores[core].softirq.is_some()
    }

    /// Whether the core would choose another task if it were not in a soft interrupt (`need_resched`).
    pub fn must_choose(&self, core: usize) -> bool {
        self.cores[core].must_choose
    }

    /// Tasks that run on a core or wait for it.
    pub fn runnable(&self, core: usize) -> usize {
        self.cores[core].runnable()
    }

    /// The core that a task runs on, or ran on last.
    pub fn core_of(&self, task: TaskId) -> usize {
        self.tasks[task as usize].core
    }

    fn settle(&mut self, core: usize, now: Time) {
        let Processor { cores, tasks, owners, bandwidths, .. } = self;
        let core = &mut cores[core];
        let has_quota = core.task.is_some_and(|task| bandwidths[tasks[task as usize].group as usize].is_some());
        core.settle(now, tasks, owners, has_quota);
    }

    /// Looks at a core: what runs goes on, or is done.
    fn look(&mut self, number: usize, now: Time) -> Option<Done> {
        self.settle(number, now);
        let core = &mut self.cores[number];
        core.toggle_steal(now, self.config.steal.as_ref());
        if core.is_stolen {
            core.look_after(now, None);
            return None;
        }
        if let Some(left) = core.softirq {
            core.look_after(now, Some(left));
            return (left == Span::ZERO).then_some(Done::Softirq(number));
        }
        self.end_turn(number, now);
        if self.cores[number].must_choose || self.cores[number].task.is_none() {
            self.choose(number, now);
        }
        let core = &mut self.cores[number];
        let Some(task) = core.task else {
            core.look_after(now, None);
            return None;
        };
        let running = &self.tasks[task as usize];
        if running.left == Span::ZERO && (running.is_fresh || core.switching == Span::ZERO) {
            return Some(Done::Task(task));
        }
        let bandwidth = self.bandwidths[running.group as usize].as_ref();
        let stretch = core.stretch(now, running, self.config.scheduler.tick, bandwidth);
        core.look_after(now, Some(stretch));
        None
    }
}

/// What it has counted.
impl Processor {
    /// Counts up to `now`.
    pub fn settle_all(&mut self, now: Time) {
        (0..self.cores.len()).for_each(|core| self.settle(core, now));
        self.depth.settle(now);
    }

    /// Counts from `now` on.
    pub fn begin_counting(&mut self, now: Time) {
        self.settle_all(now);
        self.cores.iter_mut().for_each(|core| core.busy = Busy::default());
        self.owners.iter_mut().for_each(|owner| *owner = OwnerCounters::default());
        self.bandwidths.iter_mut().flatten().for_each(|bandwidth| bandwidth.begin_counting(now));
        self.depth.begin_counting(now);
        (self.switches, self.migrations, self.counted_from) = (Switches::default(), 0, now);
    }

    /// What a core has spent its time on.
    pub fn busy(&self, core: usize) -> &Busy {
        &self.cores[core].busy
    }
    /// Time of these kinds on all cores.
    pub fn time_of(&self, kinds: &[Kind]) -> Span {
        let times = self.cores.iter().flat_map(|core| kinds.iter().map(|&kind| core.busy.of(kind)));
        times.fold(Span::ZERO, |sum, time| sum + time)
    }
    /// What was counted for a workload.
    pub fn owner(&self, owner: usize) -> &OwnerCounters {
        &self.owners[owner]
    }
    /// What a group with a quota has counted.
    pub fn throttling(&self, group: usize) -> Option<Throttling> {
        self.bandwidths[group].as_ref().map(|bandwidth| bandwidth.counted)
    }
    /// Tasks that run or wait, over time.
    pub fn depth(&self) -> &Depth {
        &self.depth
    }
    /// Switches of all tasks.
    pub fn switches(&self) -> Switches {
        self.switches
    }
    /// Tasks that went to another core.
    pub fn migrations(&self) -> u64 {
        self.migrations
    }
}
