//! The run queue of one core: earliest eligible virtual deadline first (EEVDF), as in Linux 6.6 to
//! 6.11 (kernel/sched/fair.c).
//!
//! Virtual time of a task passes as fast as time divided by its weight. A task is eligible if it
//! has had no more than the weighted average; of the eligible tasks, the one with the earliest
//! deadline runs, which is the end of its requested slice. The lag of a task, the time that it is
//! owed, is kept from the moment at which it leaves until it returns.

use super::config::NICE_0_WEIGHT;
use super::task::TaskId;
use tailrace_units::Span;

/// A task that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entity {
    pub(super) task: TaskId,
    pub(super) weight: u32,
    pub(super) vruntime: i64,
    pub(super) deadline: i64,
}

/// Tasks that wait for one core.
#[derive(Debug, Default)]
pub(super) struct RunQueue {
    waiting: Vec<Entity>,
    /// Sum of the weights of those that wait.
    load: i128,
    /// Sum of weight times virtual time of those that wait.
    moment: i128,
    /// The average, as it was last.
    average: i64,
}

/// Time as virtual time of a task of this weight.
#[inline]
pub(super) fn virtual_of(span: Span, weight: u32) -> i64 {
    if weight == NICE_0_WEIGHT {
        return span.ps() as i64;
    }
    (u128::from(span.ps()) * u128::from(NICE_0_WEIGHT) / u128::from(weight)) as i64
}

/// Time in which so much virtual time passes, rounded up.
pub(super) fn time_of(virtual_time: i64, weight: u32) -> Span {
    let time =
        (virtual_time.max(0) as u128 * u128::from(weight)).div_ceil(u128::from(NICE_0_WEIGHT));
    Span::from_ps(time as u64)
}

/// Moment over load, rounded down. Divisions of 128 bits take long, and the numbers of the first
/// hours fit into 64.
fn quotient(moment: i128, load: i128) -> i64 {
    match (i64::try_from(moment), i64::try_from(load)) {
        (Ok(moment), Ok(load)) => moment.div_euclid(load),
        _ => moment.div_euclid(load) as i64,
    }
}

/// `value * above / below`, rounded towards zero.
fn scaled(value: i64, above: i128, below: i128) -> i64 {
    let product = i128::from(value) * above;
    match (i64::try_from(product), i64::try_from(below)) {
        (Ok(product), Ok(below)) => product / below,
        _ => (product / below) as i64,
    }
}

impl RunQueue {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The weighted average of virtual times, with the task that runs.
    pub(super) fn average(&mut self, running: Option<&Entity>) -> i64 {
        if self.waiting.is_empty()
            && let Some(running) = running
        {
            self.average = running.vruntime; // without a division
            return self.average;
        }
        let (load, moment) = self.sums(running);
        if load > 0 {
            self.average = quotient(moment, load);
        }
        self.average
    }

    fn sums(&self, running: Option<&Entity>) -> (i128, i128) {
        running.map_or((self.load, self.moment), |entity| {
            let weight = i128::from(entity.weight);
            (self.load + weight, self.moment + weight * i128::from(entity.vruntime))
        })
    }

    /// Whether a task has had no more than the average.
    pub(super) fn is_eligible(&self, vruntime: i64, running: Option<&Entity>) -> bool {
        let (load, moment) = self.sums(running);
        i128::from(vruntime) * load <= moment
    }

    /// Where the virtual time of a task begins that comes with this lag (`place_entity`): its own
    /// weight pulls the average, so that the lag is stretched.
    pub(super) fn place(&mut self, lag: i64, weight: u32, running: Option<&Entity>) -> i64 {
        let average = self.average(running);
        let (load, _) = self.sums(running);
        if load == 0 {
            return average - lag;
        }
        average - scaled(lag, load + i128::from(weight), load)
    }

    pub(super) fn push(&mut self, entity: Entity) {
        self.load += i128::from(entity.weight);
        self.moment += i128::from(entity.weight) * i128::from(entity.vruntime);
        self.waiting.push(entity);
    }

    fn take(&mut self, at: usize) -> Entity {
        let entity = self.waiting.swap_remove(at);
        self.load -= i128::from(entity.weight);
        self.moment -= i128::from(entity.weight) * i128::from(entity.vruntime);
        entity
    }

    /// The eligible task with the earliest deadline; among equal ones that with the lower number.
    pub(super) fn best(&self, running: Option<&Entity>) -> Option<Entity> {
        let eligible = |entity: &&Entity| self.is_eligible(entity.vruntime, running);
        self.waiting
            .iter()
            .filter(eligible)
            .min_by_key(|entity| (entity.deadline, entity.task))
            .copied()
    }

    /// Takes the eligible task with the earliest deadline. Nothing runs meanwhile, so that there is
    /// one unless none waits.
    pub(super) fn pop_best(&mut self) -> Option<Entity> {
        let best = self.best(None)?;
        self.average(None);
        self.remove(best.task)
    }

    pub(super) fn remove(&mut self, task: TaskId) -> Option<Entity> {
        let at = self.waiting.iter().position(|entity| entity.task == task)?;
        Some(self.take(at))
    }

    /// The task that has waited in the queue the longest for which this holds: to be taken by
    /// another core.
    pub(super) fn find(&self, mut fits: impl FnMut(TaskId) -> bool) -> Option<TaskId> {
        self.waiting.iter().map(|entity| entity.task).find(|&task| fits(task))
    }
}
