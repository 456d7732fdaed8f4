//! Progress checks: in builds with assertions, a loop over due work that makes no progress is
//! detected.

use tailrace_units::Time;

/// Actions that are due at one moment, at most. A transmission makes its line busy; the others are
/// calls without effect, one for each port, and drops at the exit, of which a queue has a few in a
/// row.
const AT_ONE_MOMENT_MAX: u32 = 1 << 16;

/// Where a loop over due work stands.
#[derive(Default)]
pub(crate) struct Progress {
    at: Time,
    things: u32,
}

impl Progress {
    /// Something is due at `at`. Returns whether that is still plausible.
    pub(crate) fn is_made(&mut self, at: Time) -> bool {
        self.things = if at == self.at { self.things + 1 } else { 0 };
        self.at = at;
        self.things <= AT_ONE_MOMENT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::Span;

    #[test]
    fn a_loop_that_stands_still_is_found_and_one_that_goes_on_is_not() {
        let mut progress = Progress::default();
        let mut now = Time::ZERO;
        for _ in 0..10 * AT_ONE_MOMENT_MAX {
            now += Span::from_ps(1);
            assert!(progress.is_made(now));
        }
        assert_eq!((0..AT_ONE_MOMENT_MAX + 1).filter(|_| !progress.is_made(now)).count(), 1);
    }
}
