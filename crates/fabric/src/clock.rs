//! Real time as the switch counts it: picoseconds since the lab was ready.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::time::Duration;
use tailrace_units::{Span, Time};

const NS_PER_S: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC from a moment on.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Time begins now.
    pub fn start() -> Clock {
        Clock { origin_ns: read_ns(ClockId::CLOCK_MONOTONIC) }
    }

    /// The time.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_ns(read_ns(ClockId::CLOCK_MONOTONIC) - self.origin_ns)
    }

    /// A moment of this clock as CLOCK_MONOTONIC shows it.
    pub fn monotonic_ns(&self, at: Time) -> u64 {
        self.origin_ns + at.ns()
    }

    /// Waits until then. A signal may end it early.
    pub fn sleep_until(&self, at: Time) {
        let at = Duration::from_nanos(self.origin_ns + at.ns());
        // Interrupted or not: the caller reads the clock.
        let _ = clock_nanosleep(
            ClockId::CLOCK_MONOTONIC,
            ClockNanosleepFlags::TIMER_ABSTIME,
            &TimeSpec::from_duration(at),
        );
    }

    /// The time of day (nanoseconds since 1970) at time zero.
    pub fn epoch_ns(&self) -> u64 {
        read_ns(ClockId::CLOCK_REALTIME) - (read_ns(ClockId::CLOCK_MONOTONIC) - self.origin_ns)
    }
}

/// A span for the system's calls.
pub fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.ns())
}

/// Processor time of the calling thread.
pub fn thread_time() -> Duration {
    Duration::from_nanos(read_ns(ClockId::CLOCK_THREAD_CPUTIME_ID))
}

#[inline]
fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("Linux has this clock");
    time.tv_sec() as u64 * NS_PER_S + time.tv_nsec() as u64
}
