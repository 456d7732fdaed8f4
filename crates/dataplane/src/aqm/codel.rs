//! Controlled delay (RFC 8289), decided when a frame leaves.

use super::Fate;
use crate::DropCause;
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
    /// Bytes of the largest frame that left so far: nothing is marked or dropped before more than
    /// that waits.
    frame_bytes_max: u64,
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
            frame_bytes_max: 0,
        }
    }

    /// The fate of a frame of so many bytes that leaves at `now` after `waited`; `backlog_bytes`
    /// still wait behind it.
    pub(crate) fn on_departure(
        &mut self,
        now: Time,
        waited: Span,
        backlog_bytes: u64,
        bytes: u64,
        capable: bool,
    ) -> Fate {
        self.frame_bytes_max = self.frame_bytes_max.max(bytes);
        let fate = self.control(now, waited, backlog_bytes, capable);
        if fate == Fate::Pass && capable && self.mark_above > Span::ZERO && waited > self.mark_above
        {
            return Fate::Mark;
        }
        fate
    }

    fn control(&mut self, now: Time, waited: Span, backlog_bytes: u64, capable: bool) -> Fate {
        let above = self.is_above(now, waited, backlog_bytes);
        let action = if self.ecn && capable { Fate::Mark } else { Fate::Drop(DropCause::Codel) };
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
            return action;
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
        action
    }

    /// RFC 8289, section 5.6: a queue of at most one packet of the largest size is never above the
    /// target. That size is learnt from the frames that left, as Linux did (`maxpacket`), so that a
    /// small frame in front of a large one does not lower it.
    fn is_above(&mut self, now: Time, waited: Span, backlog_bytes: u64) -> bool {
        if waited < self.target || backlog_bytes <= self.frame_bytes_max {
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_ms(1);
    const MTU: u64 = 1_500;

    fn codel() -> Codel {
        Codel::new(MS.times(5), MS.times(100), false, Span::ZERO)
    }
    fn at(ms: u64) -> Time {
        Time::ZERO + MS.times(ms)
    }

    /// Milliseconds at which something is dropped when a frame leaves every millisecond after this
    /// wait.
    fn drops(codel: &mut Codel, from_ms: u64, until_ms: u64, waited: Span) -> Vec<u64> {
        let dropped = |&ms: &u64| {
            codel.on_departure(at(ms), waited, 10 * MTU, MTU, false) == Fate::Drop(DropCause::Codel)
        };
        (from_ms..until_ms).filter(dropped).collect()
    }

    #[test]
    fn the_first_drop_comes_when_the_wait_was_above_target_for_an_interval() {
        // 100 ms, then 70.7 ms on
        assert_eq!(drops(&mut codel(), 0, 300, MS.times(6)), [100, 200, 271]);
        assert_eq!(drops(&mut codel(), 0, 300, MS.times(4)), []);
    }

    #[test]
    fn the_last_frame_of_a_queue_always_passes() {
        let mut codel = codel();
        assert!(
            (0..500)
                .all(|ms| codel.on_departure(at(ms), MS.times(50), MTU, MTU, false) == Fate::Pass)
        );
    }

    /// A small frame in front of one of full size: the waiting bytes are not more than the largest
    /// frame, so nothing is dropped.
    #[test]
    fn a_queue_of_one_large_frame_is_never_too_long_whatever_leaves_before_it() {
        let mut codel = codel();
        codel.on_departure(at(0), MS, 0, MTU, false);
        assert!(
            (0..500)
                .all(|ms| codel.on_departure(at(ms), MS.times(50), MTU, 64, false) == Fate::Pass)
        );
        assert!((500..1_000).any(|ms| codel.on_departure(
            at(ms),
            MS.times(50),
            MTU + 1,
            64,
            false
        ) == Fate::Drop(DropCause::Codel)));
    }

    /// RFC 8289, section 5.4: a dropping state that follows soon resumes near the last rate.
    #[test]
    fn a_dropping_state_that_follows_soon_goes_on_at_the_last_pace() {
        for (pause_ms, second_gap_ms) in [(10, 34), (2_000, 100)] {
            let mut codel = codel();
            let first = drops(&mut codel, 0, 600, MS.times(6));
            assert_eq!(first.len(), 10);
            drops(&mut codel, 600, 600 + pause_ms, MS);
            let again = drops(&mut codel, 600 + pause_ms, 1_000 + pause_ms, MS.times(6));
            // Nine drops after the one that began the first state: 100 ms / sqrt(9).
            assert_eq!(again[1] - again[0], second_gap_ms, "after {pause_ms} ms");
        }
    }

    #[test]
    fn capable_frames_are_marked_above_a_threshold_of_their_own() {
        let mut codel = Codel::new(MS.times(5), MS.times(100), true, MS.times(2));
        let mut fate = |waited, capable| codel.on_departure(at(0), waited, 10 * MTU, MTU, capable);
        assert_eq!(fate(MS.times(2), true), Fate::Pass);
        assert_eq!(fate(MS.times(3), true), Fate::Mark);
        assert_eq!(fate(MS.times(3), false), Fate::Pass);
    }
}
