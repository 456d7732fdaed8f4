//! The clock of a trial: one of the system's, counted from the trial's time zero.

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::io;
use std::time::Duration;
use tailrace_units::Time;

const NS_PER_S: u64 = 1_000_000_000;

/// Which of the system's clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockKind {
    /// The time of day, which several kernels may share.
    Realtime,
    /// Time since the kernel started.
    Monotonic,
}

/// A clock with a timer.
pub struct Clock {
    kind: ClockKind,
    /// Where time zero is, on the system's clock.
    begin_ns: u64,
    timer: TimerFd,
    /// When the timer expires.
    armed: Time,
}

impl Clock {
    /// Time zero is when this clock of the system shows `begin_ns`.
    ///
    /// # Errors
    /// When the system has no timers.
    pub fn new(kind: ClockKind, begin_ns: u64) -> io::Result<Clock> {
        let id = match kind {
            ClockKind::Realtime => ClockId::CLOCK_REALTIME,
            ClockKind::Monotonic => ClockId::CLOCK_MONOTONIC,
        };
        let timer = TimerFd::new(id, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        Ok(Clock { kind, begin_ns, timer, armed: Time::NEVER })
    }

    /// Time zero is then, as the runner that waits for all hosts has said after the clock was made.
    pub(super) fn begin_at(&mut self, begin_ns: u64) {
        self.begin_ns = begin_ns;
    }

    pub(super) fn timer(&self) -> &TimerFd {
        &self.timer
    }

    /// The time; zero before time zero.
    pub(super) fn now(&self) -> io::Result<Time> {
        let spec = clock_gettime(self.id())?;
        let ns = spec.tv_sec() as u64 * NS_PER_S + spec.tv_nsec() as u64;
        Ok(Time::from_ns(ns.saturating_sub(self.begin_ns)))
    }

    /// Sleeps until time zero.
    pub(super) fn sleep_until_zero(&self) -> io::Result<()> {
        loop {
            match clock_nanosleep(
                self.id(),
                ClockNanosleepFlags::TIMER_ABSTIME,
                &spec_of(self.begin_ns),
            ) {
                Err(Errno::EINTR) => {}
                result => return result.map(drop).map_err(io::Error::from),
            }
        }
    }

    /// The timer expires then.
    pub(super) fn arm(&mut self, at: Time) -> io::Result<()> {
        if at == self.armed {
            return Ok(());
        }
        self.armed = at;
        if at.is_never() {
            return Ok(self.timer.unset()?);
        }
        // A whole nanosecond, and not zero, which would stop the timer.
        let ns = (self.begin_ns + at.ceil_ns()).max(1);
        Ok(self
            .timer
            .set(Expiration::OneShot(spec_of(ns)), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?)
    }

    /// The timer has expired. Returns when it was due.
    pub(super) fn expired(&mut self) -> Time {
        std::mem::replace(&mut self.armed, Time::NEVER)
    }

    fn id(&self) -> nix::time::ClockId {
        match self.kind {
            ClockKind::Realtime => nix::time::ClockId::CLOCK_REALTIME,
            ClockKind::Monotonic => nix::time::ClockId::CLOCK_MONOTONIC,
        }
    }
}

fn spec_of(ns: u64) -> TimeSpec {
    TimeSpec::from_duration(Duration::from_nanos(ns))
}
