//! Progress of a trial, for the process that waits for it.

use std::io::{self, Write};
use std::time::{Duration, Instant};
use tailrace_units::Time;

/// Interval between two reports.
const EVERY: Duration = Duration::from_millis(200);
/// The clock is read only every so many turns: reading it costs as much as a small turn.
const TURNS: u32 = 256;

/// Reports the completed share of a trial's time, as lines on standard output.
#[derive(Debug)]
pub(crate) struct ProgressReport {
    begin: Time,
    stop: Time,
    turns: u32,
    reported_at: Instant,
}

impl ProgressReport {
    /// Of a trial from `begin` to `stop`.
    pub(crate) fn new(begin: Time, stop: Time) -> ProgressReport {
        ProgressReport { begin, stop, turns: 0, reported_at: Instant::now() }
    }

    /// A turn at this time.
    pub(crate) fn turn(&mut self, now: Time) {
        self.turns += 1;
        if self.turns < TURNS {
            return;
        }
        self.turns = 0;
        if self.reported_at.elapsed() < EVERY {
            return;
        }
        self.reported_at = Instant::now();
        let share = now.since(self.begin.min(now)).ps() as f64
            / self.stop.since(self.begin).ps().max(1) as f64;
        // The waiting process may have ended.
        let _ = writeln!(io::stdout(), "{{\"progress\":{share:.4}}}");
    }
}
