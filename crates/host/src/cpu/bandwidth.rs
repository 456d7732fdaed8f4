//! Quotas of control groups (Linux CFS bandwidth control, Documentation/scheduler/sched-bwc.rst).
//!
//! In every period a group has its quota, which its cores take in slices. When none is left its
//! tasks are parked until the next period.

use super::task::TaskId;
use tailrace_units::{Span, Time};

/// Quota that a core takes at a time (Linux `sched_cfs_bandwidth_slice_us`: 5 ms).
const SLICE: Span = Span::from_ms(5);

/// Counters of a group with a quota, as in `cpu.stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Throttling {
    /// Periods in which its tasks ran, or waited.
    pub periods: u64,
    /// Periods in which they were parked.
    pub throttled: u64,
    /// How long any of them was parked.
    pub time: Span,
}

/// The quota of one group.
#[derive(Debug)]
pub(super) struct Bandwidth {
    quota: Span,
    period: Span,
    /// Not yet taken by cores in this period.
    left: Span,
    ends: Time,
    /// Tasks that wait for the next period.
    pub(super) parked: Vec<TaskId>,
    since: Time,
    pub(super) counted: Throttling,
}

impl Bandwidth {
    pub(super) fn new((quota, period): (Span, Span)) -> Bandwidth {
        let (parked, counted) = (Vec::new(), Throttling::default());
        Bandwidth {
            quota,
            period,
            left: Span::ZERO,
            ends: Time::ZERO,
            parked,
            since: Time::NEVER,
            counted,
        }
    }

    /// Begins the period of `now` if it has not begun.
    fn renew(&mut self, now: Time) {
        if now < self.ends {
            return;
        }
        let periods = now.ps() / self.period.ps() + 1;
        self.ends = Time::from_ps(periods * self.period.ps());
        self.left = self.quota;
        self.counted.periods += 1;
    }

    /// A core takes a slice; nothing if the quota is used.
    pub(super) fn take(&mut self, now: Time) -> Span {
        self.renew(now);
        let taken = if self.left < SLICE { self.left } else { SLICE };
        self.left = self.left.less(taken);
        taken
    }

    /// A core gives back the unused quota of its task.
    pub(super) fn give_back(&mut self, now: Time, unused: Span) {
        if now < self.ends {
            self.left += unused;
        }
    }

    /// A task waits for the next period.
    pub(super) fn park(&mut self, now: Time, task: TaskId) {
        if self.parked.is_empty() {
            self.since = now;
            self.counted.throttled += 1;
        }
        self.parked.push(task);
    }

    /// When parked tasks may go on.
    pub(super) fn due(&self) -> Time {
        if self.parked.is_empty() { Time::NEVER } else { self.ends }
    }

    /// The next period has begun: the tasks are no longer parked.
    pub(super) fn unpark(&mut self, now: Time) {
        self.counted.time += now.since(self.since);
        self.since = now;
    }

    /// Counts from `now` on.
    pub(super) fn begin_counting(&mut self, now: Time) {
        self.counted = Throttling::default();
        if !self.parked.is_empty() {
            self.since = now;
        }
    }
}
