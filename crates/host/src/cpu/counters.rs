//! Counters of a processor.

use super::task::{KINDS, Kind};
use tailrace_units::{Span, Time};

/// Times by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Busy([Span; KINDS]);

impl Busy {
    /// How long it was this.
    pub fn of(&self, kind: Kind) -> Span {
        self.0[kind as usize]
    }
    /// All times together.
    pub fn total(&self) -> Span {
        self.0.iter().fold(Span::ZERO, |sum, &span| sum + span)
    }
    pub(super) fn add(&mut self, kind: Kind, span: Span) {
        self.0[kind as usize] += span;
    }
}

/// Switches of context.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Switches {
    /// A task had nothing more to do.
    pub voluntary: u64,
    /// A task had to leave its core to another.
    pub involuntary: u64,
}

/// Counters of the tasks of one workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnerCounters {
    /// Time on a core, by kind.
    pub busy: Busy,
    /// Switches of context.
    pub switches: Switches,
}

/// Tasks that run or wait, over time.
#[derive(Debug)]
pub struct Depth {
    now: u64,
    most: u64,
    since: Time,
    /// Tasks times picoseconds.
    area: u128,
    bin: Span,
    bins: Vec<u64>,
}

impl Depth {
    pub(super) fn new(bin: Span, bins: usize) -> Depth {
        let bins = if bin == Span::ZERO { Vec::new() } else { vec![0; bins] };
        Depth { now: 0, most: 0, since: Time::ZERO, area: 0, bin, bins }
    }

    pub(super) fn change(&mut self, now: Time, more: i64) {
        self.settle(now);
        self.now = self.now.checked_add_signed(more).expect("a task that leaves has come");
        self.most = self.most.max(self.now);
    }

    /// Completes the counters until `now`.
    pub(super) fn settle(&mut self, now: Time) {
        self.area += u128::from(self.now) * u128::from(now.since(self.since).ps());
        while self.since < now && !self.bins.is_empty() {
            let bin = self.since.ps() / self.bin.ps();
            let end = Time::from_ps((bin + 1) * self.bin.ps()).min(now);
            let Some(area) = self.bins.get_mut(bin as usize) else { break };
            *area += self.now * end.since(self.since).ps();
            self.since = end;
        }
        self.since = now;
    }

    pub(super) fn begin_counting(&mut self, now: Time) {
        self.settle(now);
        (self.area, self.most) = (0, self.now);
    }

    /// Most tasks at the same time.
    pub fn most(&self) -> u64 {
        self.most
    }
    /// Tasks times picoseconds since counting began.
    pub fn area_ps(&self) -> u128 {
        self.area
    }
    /// The same in each bin since the start.
    pub fn bins(&self) -> &[u64] {
        &self.bins
    }
}
