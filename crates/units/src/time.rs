//! Points in time and lengths of time, both in integer picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

const PS_PER_NS: u64 = 1_000;

/// A point in time: picoseconds since the start of the run. `u64` holds 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in picoseconds; never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than any event. Additions to it yield `NEVER`.
    pub const NEVER: Time = Time(u64::MAX);

    /// The time `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// The time `n` nanoseconds after the start; [`Time::NEVER`] beyond what fits.
    pub const fn from_ns(n: u64) -> Time {
        Time(n.saturating_mul(PS_PER_NS))
    }
    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds since the start, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / PS_PER_NS
    }
    /// Whole nanoseconds since the start, rounded up; `u64::MAX` for [`Time::NEVER`].
    pub const fn ceil_ns(self) -> u64 {
        if self.is_never() { u64::MAX } else { self.0.div_ceil(PS_PER_NS) }
    }
    /// Seconds since the start, for people; never used where events are decided.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// The span from `earlier` to here, or zero when `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
    /// Whether this is [`Time::NEVER`].
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const FOREVER: Span = Span(u64::MAX);

    /// `n` picoseconds.
    pub const fn from_ps(n: u64) -> Span {
        Span(n)
    }
    /// `n` nanoseconds, saturating.
    pub const fn from_ns(n: u64) -> Span {
        Span(n.saturating_mul(PS_PER_NS))
    }
    /// `n` microseconds.
    pub const fn from_us(n: u64) -> Span {
        Span(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn from_ms(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Span {
        Span(n * 1_000_000_000_000)
    }
    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / PS_PER_NS
    }
    /// Seconds, for people; never used where events are decided.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// This span `n` times, saturating.
    pub const fn times(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }
    /// The `n`-th part of this span, rounded down. `n` must not be zero.
    pub const fn part(self, n: u64) -> Span {
        Span(self.0 / n)
    }
    /// This span less `other`, or zero.
    pub const fn less(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_never() { write!(f, "never") } else { write!(f, "{} ps", self.0) }
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_rounded_down_or_up_and_do_not_overflow() {
        let at = Time::from_ps(2_001);
        assert_eq!((at.ns(), at.ceil_ns(), at.since(Time::ZERO).ns()), (2, 3, 2));
        assert_eq!((Time::from_ns(2), Time::from_ns(2).ceil_ns()), (Time::from_ps(2_000), 2));
        assert_eq!((Time::from_ns(u64::MAX), Time::NEVER.ceil_ns()), (Time::NEVER, u64::MAX));
        assert_eq!(Span::from_ns(u64::MAX), Span::FOREVER);
    }
}
