//! Which task has which core: waking, choosing, preempting, migrating.
//!
//! A task that wakes goes to the core that it was on if that is idle, to any idle core otherwise,
//! and if there is none back to the queue of its own (Linux `select_idle_sibling`, without the
//! distances of caches). A core that becomes idle takes a task that waits for another one
//! (`sched_balance_newidle`).

use super::Processor;
use super::core::entity_of;
use super::run_queue::{Entity, RunQueue, virtual_of};
use super::task::{NO_OWNER, NewTask, State, Task, TaskId};
use super::{CoreSet, Kind, SchedulerConfig};
use tailrace_units::{Span, Time};

/// A task is owed, and owes, at most so many slices or a tick, whichever is longer
/// (`update_entity_lag`).
const LAG_SLICES_MAX: u64 = 2;

impl Task {
    pub(super) fn new(new: NewTask, weight: u32, cores: CoreSet) -> Task {
        Task {
            state: State::Asleep,
            cores,
            weight,
            group: new.group,
            owner: new.owner,
            core: 0,
            has_run: false,
            left: Span::ZERO,
            kind: Kind::System,
            vruntime: 0,
            deadline: 0,
            lag: 0,
            is_leaving: false,
            is_fresh: false,
        }
    }
}

impl Processor {
    /// Gives a task something to do. When it has a core, `poll` reports it as if a piece of its
    /// work were done. Returns the core that it waits for, or `None` if it was awake.
    pub fn wake(&mut self, task: TaskId, now: Time) -> Option<usize> {
        if self.tasks[task as usize].state != State::Asleep {
            return None;
        }
        self.tasks[task as usize].is_fresh = true;
        let core = self.core_for(task);
        self.depth.change(now, 1);
        self.enqueue(task, core, now);
        Some(core)
    }

    /// A task has nothing more to do.
    pub fn sleep(&mut self, task: TaskId, now: Time) {
        let core = self.tasks[task as usize].core;
        self.settle(core, now);
        self.count_switch(task, true);
        self.leave(core, now);
        self.tasks[task as usize].state = State::Asleep;
        self.depth.change(now, -1);
        self.check_at_once(core, now);
        if self.tasks[task as usize].is_leaving {
            self.forget(task);
        }
    }

    /// A task is not needed any more. Its number is given to another when it sleeps. Returns
    /// whether it does.
    pub fn remove(&mut self, task: TaskId) -> bool {
        self.tasks[task as usize].is_leaving = true;
        let sleeps = self.is_asleep(task);
        if sleeps {
            self.forget(task);
        }
        sleeps
    }

    fn forget(&mut self, task: TaskId) {
        self.tasks[task as usize].state = State::Gone;
        self.free.push(task);
    }

    /// The core for a task that wakes.
    fn core_for(&self, task: TaskId) -> usize {
        let task = &self.tasks[task as usize];
        if task.has_run && self.cores[task.core].is_idle() {
            return task.core;
        }
        let allowed = || (0..self.cores.len()).filter(|&core| task.cores.contains(core));
        match allowed().find(|&core| self.cores[core].is_idle()) {
            Some(core) => core,
            None if task.has_run => task.core,
            // A new task goes where the fewest are.
            None => allowed()
                .min_by_key(|&core| (self.cores[core].runnable(), core))
                .expect("a task may run somewhere"),
        }
    }

    /// Puts a task that is in no queue into the queue of a core.
    fn enqueue(&mut self, number: TaskId, core: usize, now: Time) {
        self.settle(core, now);
        let running = self.running_on(core);
        let task = &mut self.tasks[number as usize];
        self.migrations += u64::from(task.has_run && task.core != core);
        (task.core, task.has_run, task.state) = (core, true, State::Queued);
        let to = &mut self.cores[core];
        task.vruntime = to.queue.place(task.lag, task.weight, running.as_ref());
        task.deadline = task.vruntime + virtual_of(self.config.scheduler.slice, task.weight);
        let entity = entity_of(number, task);
        to.queue.push(entity);
        self.queued += 1;
        to.must_choose |= running.is_some_and(|running| preempts(&to.queue, &entity, &running));
        if to.softirq.is_none() {
            // The task that runs has others beside it by now, so that its slice counts.
            self.check_at_once(core, now);
        }
    }

    fn running_on(&self, core: usize) -> Option<Entity> {
        self.cores[core].task.map(|task| entity_of(task, &self.tasks[task as usize]))
    }

    /// The slice of the task that runs is over, or the quota that its group has taken here.
    pub(super) fn end_turn(&mut self, core: usize, now: Time) {
        let Some(number) = self.cores[core].task else { return };
        let task = &mut self.tasks[number as usize];
        if task.vruntime >= task.deadline {
            task.deadline = task.vruntime + virtual_of(self.config.scheduler.slice, task.weight);
            self.cores[core].must_choose |= !self.cores[core].queue.is_empty();
        }
        let group = task.group as usize;
        if self.cores[core].granted > Span::ZERO || self.cores[core].switching > Span::ZERO {
            return;
        }
        let Some(bandwidth) = &mut self.bandwidths[group] else { return };
        self.cores[core].granted = bandwidth.take(now);
        if self.cores[core].granted == Span::ZERO {
            self.count_switch(number, false);
            self.leave(core, now);
            self.park(number, now);
        }
    }

    /// The task of a core leaves it and keeps its lag.
    fn leave(&mut self, core: usize, now: Time) {
        let running = self.running_on(core).expect("a task runs");
        let from = &mut self.cores[core];
        let average = from.queue.average(Some(&running));
        let task = &mut self.tasks[running.task as usize];
        let SchedulerConfig { slice, tick, .. } = self.config.scheduler;
        let limit = virtual_of(slice.times(LAG_SLICES_MAX).max(tick), task.weight);
        task.lag = (average - task.vruntime).clamp(-limit, limit);
        from.task = None;
        from.switching = Span::ZERO;
        let unused = std::mem::take(&mut from.granted);
        if let Some(bandwidth) = &mut self.bandwidths[task.group as usize] {
            bandwidth.give_back(now, unused);
        }
        self.cores[core].must_choose = true;
    }

    fn park(&mut self, number: TaskId, now: Time) {
        let task = &mut self.tasks[number as usize];
        task.state = State::Parked;
        self.bandwidths[task.group as usize]
            .as_mut()
            .expect("the group has a quota")
            .park(now, number);
        self.depth.change(now, -1);
    }

    /// Parked tasks go on where a period has begun.
    pub(super) fn renew_quotas(&mut self, now: Time) {
        for group in 0..self.bandwidths.len() {
            let Some(bandwidth) =
                self.bandwidths[group].as_mut().filter(|bandwidth| bandwidth.due() <= now)
            else {
                continue;
            };
            bandwidth.unpark(now);
            let mut parked = std::mem::take(&mut bandwidth.parked);
            for task in parked.drain(..) {
                self.depth.change(now, 1);
                let core = self.core_for(task);
                self.enqueue(task, core, now);
            }
            self.bandwidths[group].as_mut().expect("the group has a quota").parked = parked;
        }
    }

    /// Chooses the task that runs next.
    pub(super) fn choose(&mut self, core: usize, now: Time) {
        self.cores[core].must_choose = false;
        let (before, switching) = (self.cores[core].task, self.cores[core].switching);
        if let Some(running) = self.running_on(core) {
            if !self.is_beaten(core, &running) {
                return;
            }
            self.leave(core, now);
            self.tasks[running.task as usize].state = State::Queued;
            self.cores[core].queue.push(running);
            self.queued += 1;
            self.cores[core].must_choose = false;
        }
        self.start_next(core, now);
        match before {
            // The groups of those that were to run instead have used their quotas: it goes on.
            Some(_) if before == self.cores[core].task => self.cores[core].switching = switching,
            Some(left) => self.count_switch(left, false),
            None => {}
        }
    }

    /// Gives a core that nothing runs on to the first task that may run.
    fn start_next(&mut self, core: usize, now: Time) {
        while self.queued > 0 {
            let next = self.cores[core].queue.pop_best().or_else(|| self.steal_task(core, now));
            let Some(next) = next else { return };
            self.queued -= 1;
            if self.start(core, next.task, now) {
                return;
            }
        }
    }

    /// Whether a task that waits is to run instead of the one that does.
    fn is_beaten(&self, core: usize, running: &Entity) -> bool {
        let queue = &self.cores[core].queue;
        let best = queue.best(Some(running));
        best.is_some_and(|best| {
            !queue.is_eligible(running.vruntime, Some(running))
                || (best.deadline, best.task) < (running.deadline, running.task)
        })
    }

    /// Gives a core to a task. Returns whether it may run: its group may have used its quota.
    fn start(&mut self, core: usize, number: TaskId, now: Time) -> bool {
        let task = &mut self.tasks[number as usize];
        if let Some(bandwidth) = &mut self.bandwidths[task.group as usize] {
            let granted = bandwidth.take(now);
            if granted == Span::ZERO {
                task.lag = 0;
                self.park(number, now);
                return false;
            }
            self.cores[core].granted = granted;
        }
        task.state = State::Running;
        self.cores[core].task = Some(number);
        self.cores[core].switching = self.config.scheduler.context_switch;
        true
    }

    /// A core that becomes idle takes a task that waits where most do.
    fn steal_task(&mut self, core: usize, now: Time) -> Option<Entity> {
        let Processor { cores, tasks, .. } = &*self;
        let fits = |task: TaskId| tasks[task as usize].cores.contains(core);
        let most =
            (0..cores.len()).filter(|&from| from != core && cores[from].queue.find(fits).is_some());
        let from = most.max_by_key(|&from| (cores[from].queue.len(), std::cmp::Reverse(from)))?;
        let task = cores[from].queue.find(fits)?;
        self.settle(from, now);
        let running = self.running_on(from);
        let average = self.cores[from].queue.average(running.as_ref());
        let entity = self.cores[from].queue.remove(task).expect("it waits there");
        let task = &mut self.tasks[task as usize];
        task.lag = average - entity.vruntime;
        task.core = core;
        self.migrations += 1;
        task.vruntime = self.cores[core].queue.place(task.lag, task.weight, None);
        task.deadline = task.vruntime + (entity.deadline - entity.vruntime);
        Some(entity_of(entity.task, task))
    }

    fn count_switch(&mut self, number: TaskId, is_voluntary: bool) {
        let owner = self.tasks[number as usize].owner;
        let counted = [
            Some(&mut self.switches),
            self.owners.get_mut(owner as usize).map(|owner| &mut owner.switches),
        ];
        debug_assert!(
            owner == NO_OWNER || (owner as usize) < self.config.owners,
            "an owner is counted for"
        );
        for switches in counted.into_iter().flatten() {
            let kind =
                if is_voluntary { &mut switches.voluntary } else { &mut switches.involuntary };
            *kind += 1;
        }
    }
}

/// Whether a task that has woken takes the core from the one that runs: if it is the one that is to
/// run (`check_preempt_wakeup`). With `RUN_TO_PARITY` (on in Linux) a task runs on to the end of
/// its slice unless it has had more than its share.
fn preempts(queue: &RunQueue, woken: &Entity, running: &Entity) -> bool {
    !queue.is_eligible(running.vruntime, Some(running))
        && queue.best(Some(running)).is_some_and(|best| best.task == woken.task)
}
