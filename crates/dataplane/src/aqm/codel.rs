//! Controlled delay (RFC 8289), decided when a frame leaves.

use super::Fate;
use tailrace_units::{Span, Time};

/// Controlled delay. The control law's square root is taken in integers.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    ecn: bool,
    /// Every capable frame that waited longer than this is marked; zero for never.
    mark_above: Span,
    first_above: Time,
    dropping: bool,
    drop_next: Time,
    count: u64,
    last_count: u64,
}

impl Codel {
    /// RFC 8289 recommends a target of 5 ms and an interval of 100 ms.
    pub fn new(target: Span, interval: Span, ecn: bool, mark_above: Span) -> Codel {
        Codel {
            target,
            interval,
            ecn,
            mark_above,
            first_above: Time::NEVER,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// The fate of a frame that leaves at `now` after `waited`; `backlog_bytes` is what still waits behind it.
    pub(crate) fn on_departure(&mut self, now: Time, waited: Span, backlog_bytes: u64, mtu: u64, capable: bool) -> Fate {
        let fate = self.control(now, waited, backlog_bytes, mtu, capable);
        if fate == Fate::Pass && capable && self.mark_above > Span::ZERO && waited > self.mark_above {
            return Fate::Mark;
        }
        fate
    }

    fn control(&mut self, now: Time, waited: Span, backlog_bytes: u64, mtu: u64, capable: bool) -> Fate {
        let above = self.is_above(now, waited, backlog_bytes, mtu);
        let strike = if self.ecn && capable { Fate::Mark } else { Fate::Drop };
        if self.dropping {
            if !above {
                self.dropping = false;
                return Fate::Pass;
            }
            if now < self.drop_next {
                return Fate::Pass;
            }
            self.count += 1;
            self.drop_next += self.gap();
            return strike;
        }
        if !above {
            return Fate::Pass;
        }
        self.dropping = true;
        // Section 5.4: resume near the last rate when the last dropping state was recent.
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next) < self.interval.times(16);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + self.gap();
        strike
    }

    fn is_above(&mut self, now: Time, waited: Span, backlog_bytes: u64, mtu: u64) -> bool {
        if waited < self.target || backlog_bytes <= mtu {
            self.first_above = Time::NEVER;
            return false;
        }
        if self.first_above.is_never() {
            self.first_above = now + self.interval;
            return false;
        }
        now >= self.first_above
    }

    /// The interval divided by the square root of the count, in 2^-16 steps of the root.
    fn gap(&self) -> Span {
        let root = (self.count << 32).isqrt();
        Span::from_ps((u128::from(self.interval.ps()) * (1 << 16) / u128::from(root)) as u64)
    }
}
