//! The processor of a host: cores, each with a run queue, soft interrupts that interrupt tasks,
//! quotas, and a hypervisor that takes cores away.
//!
//! The processor knows the duration of each piece of work and decides when it is done. The host
//! decides the consequences: [`Processor::poll`] returns each finished piece, and the host supplies
//! the next.

mod bandwidth;
mod config;
mod core;
mod counters;
mod dues;
mod log;
mod run_queue;
mod schedule;
pub(crate) mod softirq;
mod task;
#[cfg(test)]
mod tests;
mod virtual_core;

pub use bandwidth::Throttling;
pub use config::{
    CORES_MAX, CoreSet, GroupConfig, ProcessorConfig, SchedulerConfig, Steal, weight_of,
};
pub use counters::{Busy, Depth, OwnerCounters, Switches};
pub use log::{CoreLog, CoreRow, Doing};
pub use task::{KINDS, Kind, NO_OWNER, NewTask, TaskId};

use self::core::Core;
use bandwidth::Bandwidth;
use config::NICE_0_WEIGHT;
use dues::Dues;
use tailrace_units::{Span, Time};
use task::{State, Task};

const FS_PER_PS: u64 = 1_000;

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
    /// When each core must be checked.
    dues: Dues,
    /// Tasks in the queues of all cores.
    queued: usize,
    tasks: Vec<Task>,
    free: Vec<TaskId>,
    bandwidths: Vec<Option<Bandwidth>>,
    has_quotas: bool,
    /// There are quotas, or a log is kept.
    has_aside: bool,
    log: Option<Box<CoreLog>>,
    owners: Vec<OwnerCounters>,
    depth: Depth,
    switches: Switches,
    migrations: u64,
    counted_from: Time,
}

/// Time for so many bytes.
#[inline]
pub(crate) fn time_for(bytes: u64, fs_per_byte: u64) -> Span {
    let ps = match bytes.checked_mul(fs_per_byte) {
        Some(fs) => fs / FS_PER_PS,
        None => (u128::from(bytes) * u128::from(fs_per_byte) / u128::from(FS_PER_PS)) as u64,
    };
    Span::from_ps(ps)
}

impl Processor {
    /// A processor whose tasks are the `ksoftirqd` of each core, asleep.
    pub fn new(config: ProcessorConfig) -> Processor {
        let cores: Vec<Core> = (0..config.cores)
            .map(|core| Core::new(core, config.cores, config.steal.as_ref()))
            .collect();
        let mut dues = Dues::new(config.cores);
        cores
            .iter()
            .enumerate()
            .for_each(|(number, core)| dues.set(number, core.due_after(Time::ZERO, None)));
        let ksoftirqd = |core| Task {
            cores: [core].into_iter().collect(),
            core: core as usize,
            has_run: true,
            kind: Kind::Softirq,
            ..Task::new(NewTask { owner: NO_OWNER, group: 0 }, NICE_0_WEIGHT, CoreSet::default())
        };
        Processor {
            cores,
            dues,
            queued: 0,
            tasks: (0..config.cores as u32).map(ksoftirqd).collect(),
            free: Vec::new(),
            has_quotas: config.groups.iter().any(|group| group.quota.is_some()),
            has_aside: config.groups.iter().any(|group| group.quota.is_some()),
            log: None,
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

    /// The next deadline.
    pub fn poll_timeout(&self) -> Time {
        self.earlier_period(self.dues.first(Time::ZERO).err().unwrap_or(Time::ZERO))
    }

    /// The next piece of work that is done by now. It must be called until nothing is, whenever
    /// something is due.
    pub fn poll(&mut self, now: Time) -> Option<Done> {
        self.next_done(now).ok()
    }

    /// The same; if nothing is done by now, when something is due.
    pub(crate) fn next_done(&mut self, now: Time) -> Result<Done, Time> {
        if self.has_quotas {
            self.renew_quotas(now);
        }
        loop {
            match self.dues.first(now) {
                Err(due) => return Err(self.earlier_period(due)),
                Ok(core) => {
                    if let Some(done) = self.check(core, now) {
                        return Ok(done);
                    }
                }
            }
        }
    }

    /// The next deadline that can have consequences, if the work of these cores has none when it is
    /// done: a core that becomes idle takes no task, because none waits.
    pub(crate) fn due_but(&self, due: Time, is_without: impl FnMut(usize) -> bool) -> Time {
        if self.queued > 0 || self.has_quotas || self.config.steal.is_some() {
            return due;
        }
        self.dues.earliest_but(is_without)
    }

    /// The earlier of a time and the next period of a quota that tasks wait for.
    #[inline]
    fn earlier_period(&self, due: Time) -> Time {
        if !self.has_quotas {
            return due;
        }
        self.bandwidths.iter().flatten().map(Bandwidth::due).fold(due, Time::min)
    }

    /// The task's next piece of work. It must have its core.
    pub fn set_work(&mut self, task: TaskId, kind: Kind, work: Span, now: Time) {
        let Task { core, state, .. } = self.tasks[task as usize];
        debug_assert_eq!(state, State::Running, "work is done on a core");
        self.settle(core, now);
        let own = &mut self.tasks[task as usize];
        (own.left, own.kind, own.is_fresh) = (work, kind, false);
        self.go_on(core, now);
    }

    /// Continues the soft interrupt of a core with this work, or ends it.
    pub fn set_softirq(&mut self, core: usize, work: Option<Span>, now: Time) {
        self.settle(core, now);
        self.cores[core].softirq = work;
        self.go_on(core, now);
    }

    /// A core continues with the work that it has been given. It is checked again when that is
    /// done, or at once if something else may have to be decided.
    #[inline]
    fn go_on(&mut self, number: usize, now: Time) {
        let core = &self.cores[number];
        let due = match self.undisturbed(core) {
            Some(span) if !core.is_stolen && !core.is_held => core.due_after(now, span),
            _ => core.due_at_once(now),
        };
        self.dues.set(number, due);
    }

    /// How long a core continues if there is nothing to decide, without end if it is idle; `None`
    /// if `check` must decide.
    #[inline]
    fn undisturbed(&self, core: &Core) -> Option<Option<Span>> {
        if core.softirq.is_some() {
            return Some(core.softirq);
        }
        if core.must_choose || !core.queue.is_empty() {
            return None;
        }
        let Some(task) = core.task else {
            return (self.queued == 0).then_some(None);
        };
        let task = &self.tasks[task as usize];
        let is_alone = task.left > Span::ZERO && task.vruntime < task.deadline && !self.has_quotas;
        is_alone.then_some(Some(task.left + core.switching))
    }

    /// Checks a core at once, unless it is stolen.
    pub(super) fn check_at_once(&mut self, core: usize, now: Time) {
        self.dues.set(core, self.cores[core].due_at_once(now));
    }

    /// Checks a core again after this span, or when the hypervisor takes it.
    fn check_after(&mut self, core: usize, now: Time, span: Option<Span>) {
        self.dues.set(core, self.cores[core].due_after(now, span));
    }

    /// Whether a core is in a soft interrupt.
    pub fn is_in_softirq(&self, core: usize) -> bool {
        self.cores[core].softirq.is_some()
    }

    /// The task that a core runs, or resumes after its soft interrupt.
    pub(crate) fn task_on(&self, core: usize) -> Option<TaskId> {
        self.cores[core].task
    }

    /// Whether the core would choose another task if it were not in a soft interrupt
    /// (`need_resched`).
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

    #[inline]
    fn settle(&mut self, core: usize, now: Time) {
        if !self.cores[core].is_settled(now) {
            self.settle_indeed(core, now);
        }
    }

    fn settle_indeed(&mut self, core: usize, now: Time) {
        let has_quota = self.has_aside && self.settle_aside(core, now);
        let Processor { cores, tasks, owners, .. } = self;
        cores[core].settle(now, tasks, owners, has_quota);
    }

    /// Returns whether the group of the task that a core runs has a quota. Time that is accounted
    /// for next goes into the log.
    fn settle_aside(&mut self, core: usize, now: Time) -> bool {
        if self.log.is_some() {
            self.note_in_log(core, now);
        }
        let Processor { cores, tasks, bandwidths, .. } = self;
        cores[core]
            .task
            .is_some_and(|task| bandwidths[tasks[task as usize].group as usize].is_some())
    }

    /// Checks a core: the running work continues, or is done.
    fn check(&mut self, number: usize, now: Time) -> Option<Done> {
        self.settle(number, now);
        let core = &mut self.cores[number];
        core.toggle_steal(now, self.config.steal.as_ref());
        if core.is_stolen || core.is_held {
            self.check_after(number, now, None);
            return None;
        }
        if let Some(left) = core.softirq {
            self.check_after(number, now, Some(left));
            return (left == Span::ZERO).then_some(Done::Softirq(number));
        }
        self.end_turn(number, now);
        if self.cores[number].must_choose || self.cores[number].task.is_none() {
            self.choose(number, now);
        }
        let core = &mut self.cores[number];
        let Some(task) = core.task else {
            self.check_after(number, now, None);
            return None;
        };
        let running = &self.tasks[task as usize];
        if running.left == Span::ZERO && (running.is_fresh || core.switching == Span::ZERO) {
            return Some(Done::Task(task));
        }
        let bandwidth = self.bandwidths[running.group as usize].as_ref();
        let stretch = core.stretch(now, running, self.config.scheduler.tick, bandwidth);
        self.check_after(number, now, Some(stretch));
        None
    }
}

/// Counters.
impl Processor {
    /// Completes the counters until `now`.
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

    /// Time of a core by activity.
    pub fn busy(&self, core: usize) -> &Busy {
        &self.cores[core].busy
    }
    /// Time of these kinds on all cores.
    pub fn time_of(&self, kinds: &[Kind]) -> Span {
        let times = self.cores.iter().flat_map(|core| kinds.iter().map(|&kind| core.busy.of(kind)));
        times.fold(Span::ZERO, |sum, time| sum + time)
    }
    /// Counters of a workload.
    pub fn owner(&self, owner: usize) -> &OwnerCounters {
        &self.owners[owner]
    }
    /// Counters of a group with a quota.
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
