//! Others on the cores of a hypervisor: tasks that compute, or work and wait for a disk in turn.

use super::{FOREVER, Hypervisor};
use crate::cpu::{Kind, TaskId};
use tailrace_units::{Span, Time};

/// A task of a neighbour.
#[derive(Debug)]
pub(super) struct NeighbourTask {
    pub(super) task: TaskId,
    work: Option<Span>,
    wait: Span,
    /// It is busy.
    is_working: bool,
    /// When its disk answers.
    due: Time,
}

impl NeighbourTask {
    pub(super) fn new(task: TaskId, work: Option<Span>, wait: Span) -> NeighbourTask {
        NeighbourTask { task, work, wait, is_working: false, due: Time::ZERO }
    }
}

impl Hypervisor {
    /// A neighbour's task has its core, or has done its work.
    pub(super) fn end_of_neighbour(&mut self, index: usize, now: Time) {
        let own = &mut self.neighbours[index];
        if !std::mem::replace(&mut own.is_working, true) {
            return self.processor.set_work(own.task, Kind::User, own.work.unwrap_or(FOREVER), now);
        }
        own.is_working = false;
        own.due = now + own.wait;
        self.disks_due = self.disks_due.min(own.due);
        self.processor.sleep(own.task, now);
    }

    /// Disks that answer by now interrupt, and their tasks wake.
    pub(super) fn wake_neighbours(&mut self, now: Time) {
        if self.disks_due > now {
            return;
        }
        for index in 0..self.neighbours.len() {
            let NeighbourTask { task, due, .. } = self.neighbours[index];
            if due > now {
                continue;
            }
            self.neighbours[index].due = Time::NEVER;
            if let Some(core) = self.processor.wake(task, now) {
                let exit = self.interrupted_exit(core);
                self.softirqs[core].debt +=
                    self.config.costs.interrupt + exit + self.config.costs.wake_up;
            }
        }
        self.disks_due = self.neighbours.iter().map(|task| task.due).fold(Time::NEVER, Time::min);
    }
}
