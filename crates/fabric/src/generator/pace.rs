//! When frames are due. A sender that was paused does not catch up in a burst: its unsent frames
//! are late, and the trial is reported as invalid.

use std::time::{Duration, Instant};

/// A sender that was away for longer has a gap. Sending a batch takes up to 0.1 ms; a core that a
/// hypervisor or another program takes is away for milliseconds.
const GAP: Duration = Duration::from_millis(1);
const PS_PER_NS: u128 = 1_000;

/// Times at which the sender was away.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Gaps {
    pub(crate) count: u64,
    pub(super) longest: Duration,
    /// The schedule is later by all of them.
    pub(crate) total: Duration,
}

/// How many frames, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// From one frame to the next; 0 for as fast as it can.
    pub(crate) interval_ps: u64,
    /// How many.
    pub(crate) frames: u64,
    /// It ends then, even if not all frames were sent.
    pub(crate) limit_ns: u64,
}

/// The times of frames.
#[derive(Debug)]
pub(crate) struct Pace {
    schedule: Schedule,
    start: Instant,
    last: Instant,
    pub(crate) sent: u64,
    pub(crate) gaps: Gaps,
}

impl Pace {
    /// The first frame is due at once.
    pub(crate) fn new(schedule: Schedule, start: Instant) -> Pace {
        Pace { schedule, start, last: start, sent: 0, gaps: Gaps::default() }
    }

    /// How many frames are due and not sent; `None` at the end.
    pub(crate) fn due(&mut self, now: Instant) -> Option<usize> {
        let since_last = now.duration_since(self.last);
        if since_last > GAP {
            self.gaps.count += 1;
            self.gaps.longest = self.gaps.longest.max(since_last);
            self.gaps.total += since_last;
        }
        self.last = now;
        let elapsed = now.duration_since(self.start);
        if self.sent >= self.schedule.frames
            || elapsed.as_nanos() >= u128::from(self.schedule.limit_ns)
        {
            return None;
        }
        let passed_ps = elapsed.saturating_sub(self.gaps.total).as_nanos() * PS_PER_NS;
        let due = passed_ps
            .checked_div(u128::from(self.schedule.interval_ps))
            .map_or(u128::MAX, |frames| frames + 1);
        let due = u64::try_from(due).unwrap_or(u64::MAX).min(self.schedule.frames);
        Some(usize::try_from(due - self.sent.min(due)).unwrap_or(usize::MAX))
    }

    /// How long it has been sending.
    pub(crate) fn elapsed(&self) -> Duration {
        self.last.duration_since(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(interval_ps: u64) -> Schedule {
        Schedule { interval_ps, frames: 1_000, limit_ns: 1_000_000_000 }
    }

    #[test]
    fn frames_are_due_at_their_interval() {
        let start = Instant::now();
        let mut pace = Pace::new(schedule(10_000_000), start); // 10 us
        assert_eq!(pace.due(start), Some(1));
        pace.sent = 1;
        assert_eq!(pace.due(start + Duration::from_nanos(9_999)), Some(0));
        assert_eq!(pace.due(start + Duration::from_micros(10)), Some(1));
        assert_eq!(pace.due(start + Duration::from_micros(55)), Some(5));
        assert_eq!(pace.gaps, Gaps::default());
        assert_eq!(Pace::new(schedule(0), start).due(start), Some(1_000));
    }

    #[test]
    fn a_pause_is_a_gap_and_is_not_made_up_for() {
        let start = Instant::now();
        let mut pace = Pace::new(schedule(10_000_000), start);
        pace.sent = 1;
        assert_eq!(pace.due(start + Duration::from_millis(5)), Some(0));
        assert_eq!(
            pace.gaps,
            Gaps { count: 1, longest: Duration::from_millis(5), total: Duration::from_millis(5) }
        );
        assert_eq!(pace.due(start + Duration::from_millis(5) + Duration::from_micros(20)), Some(2));
    }

    #[test]
    fn it_ends_with_the_last_frame_or_at_the_limit() {
        let start = Instant::now();
        let mut pace = Pace::new(schedule(1), start);
        assert_eq!(pace.due(start + Duration::from_secs(1)), None);
        pace.sent = 1_000;
        assert_eq!(pace.due(start), None);
    }
}
