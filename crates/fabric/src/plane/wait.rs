//! How long the thread sleeps, and how late it woke.
//!
//! Waking up costs more than handling a frame (13 to 20 us of processor time on a virtual machine,
//! where setting a timer and an idle core both leave it). While frames wait the thread therefore
//! wakes when the next one is due at a host, and not between: at 1 Gbit/s a frame of 9000 bytes
//! lasts 72 us.

use tailrace_units::{Span, Time};

/// Shortest time between two wake-ups while anything waits: frames that follow each other closely
/// are handled together.
pub(crate) const TICK: Span = Span::from_us(50);
/// Longest time between two wake-ups while anything waits, because silent hosts are polled only
/// then: a frame of 9000 bytes at 1 Gbit/s lasts 72 us.
pub(super) const WAKE_UP_MAX: Span = Span::from_us(80);
/// Shortest sleep, however late the last wake-up was.
const SLEEP_MIN: Span = Span::from_us(10);

/// Cost of a wake-up that a host causes by sending while nothing waits. One every so often is about
/// half a core.
const WATCH_PRICE: Span = Span::from_us(28);
/// Wake-ups that may follow each other faster: a millisecond's worth.
const WATCH_CREDIT_MAX: Span = Span::from_ms(1);

/// How the thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wait {
    /// Until the clock shows this, whatever hosts send.
    Tick(Time),
    /// Until a host sends, or until then ([`Time::NEVER`]: without end).
    Watch(Time),
}

impl Wait {
    /// When the thread was to wake if no host sent.
    pub(super) fn until(self) -> Time {
        match self {
            Wait::Tick(at) | Wait::Watch(at) => at,
        }
    }

    /// How much later than meant the thread woke.
    pub(super) fn overslept(self, woke: Time) -> Span {
        woke.since(self.until())
    }

    /// While anything waits: until a frame is `due` at a host, in equal steps if that is far away.
    /// `last` is when the wake-up before this one was meant to be.
    pub(super) fn tick(last: Time, now: Time, due: Time) -> Wait {
        let earliest = (last + TICK).max(now + SLEEP_MIN);
        let wake_ups = due.since(now).ps().div_ceil(WAKE_UP_MAX.ps()).max(1);
        let step =
            if due.is_never() { TICK } else { Span::from_ps(due.since(now).ps() / wake_ups) };
        Wait::Tick((now + step).max(earliest))
    }

    /// While nothing waits: until something is `due`.
    pub(super) fn watch(now: Time, due: Time) -> Wait {
        Wait::Watch(due.max(now + SLEEP_MIN))
    }
}

/// When frames are due at hosts, and which of those times a wake-up should meet: the last one that
/// it may wait for. Frames that are due before it, such as acknowledgements in the other direction,
/// come with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dues {
    window_end: Time,
    last_within: Time,
    first_beyond: Time,
}

impl Dues {
    /// `last` is when the wake-up before was meant to be.
    pub(super) fn new(last: Time) -> Dues {
        Dues { window_end: last + WAKE_UP_MAX, last_within: Time::ZERO, first_beyond: Time::NEVER }
    }

    /// Something is due then.
    #[inline]
    pub(super) fn add(&mut self, due: Time) {
        if due <= self.window_end {
            self.last_within = self.last_within.max(due);
        } else {
            self.first_beyond = self.first_beyond.min(due);
        }
    }

    /// The time that the next wake-up should meet; [`Time::NEVER`] when nothing is due.
    pub(super) fn wake_up(&self) -> Time {
        if self.last_within > Time::ZERO { self.last_within } else { self.first_beyond }
    }
}

/// Whether hosts may still wake the thread by every frame. Many small frames on fast links would
/// otherwise keep it awake without end, each handled alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    credit: Span,
    seen: Time,
}

impl Allowance {
    /// All of it.
    pub(super) fn new() -> Allowance {
        Allowance { credit: WATCH_CREDIT_MAX, seen: Time::ZERO }
    }

    /// Takes the price of a wake-up, if there is so much.
    #[inline]
    pub(super) fn take(&mut self, now: Time) -> bool {
        self.credit = (self.credit + now.since(self.seen)).min(WATCH_CREDIT_MAX);
        self.seen = now;
        let is_enough = self.credit >= WATCH_PRICE;
        if is_enough {
            self.credit = self.credit.less(WATCH_PRICE);
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    /// When the thread wakes up, in microseconds, while one frame after the other is due every
    /// `frame_us`; it wakes on time.
    fn wake_ups(frame_us: u64, count: usize) -> Vec<u64> {
        let (mut now, mut wake_ups) = (us(0), Vec::new());
        for _ in 0..count {
            let due = us((now.ps() / 1_000_000 / frame_us + 1) * frame_us);
            now = Wait::tick(now, now, due).until();
            wake_ups.push(now.ps() / 1_000_000);
        }
        wake_ups
    }

    #[test]
    fn long_frames_are_met_when_they_are_due_and_short_ones_together() {
        assert_eq!(wake_ups(72, 4), [72, 144, 216, 288]);
        assert_eq!(wake_ups(61, 4), [61, 122, 183, 244]);
        assert_eq!(wake_ups(12, 4), [50, 100, 150, 200]);
        assert_eq!(wake_ups(360, 6), [72, 144, 216, 288, 360, 432]);
        assert_eq!(
            wake_ups(90, 4),
            [50, 100, 180, 230],
            "two wake-ups for a frame, and none too early"
        );
    }

    #[test]
    fn a_poll_meets_the_last_frame_that_it_may_wait_for() {
        let wake_up = |dues_us: &[u64]| {
            let mut dues = Dues::new(us(1_000));
            dues_us.iter().for_each(|&due| dues.add(us(due)));
            dues.wake_up()
        };
        assert_eq!(
            wake_up(&[1_072, 1_020]),
            us(1_072),
            "an acknowledgement waits for the frame after it"
        );
        assert_eq!(wake_up(&[1_020, 1_090]), us(1_020));
        assert_eq!(wake_up(&[1_300, 1_200]), us(1_200));
        assert!(wake_up(&[]).is_never());
    }

    #[test]
    fn hosts_may_wake_the_thread_often_and_not_without_end() {
        let mut allowance = Allowance::new();
        let quick = (1..=200).filter(|&n| allowance.take(us(10 * n))).count();
        assert_eq!(quick, 35 + 71, "a millisecond's worth, and what two milliseconds bring");
        assert!(
            (1..=100).all(|n| allowance.take(us(10_000 + 30 * n))),
            "replies on an idle network are not delayed"
        );
    }

    #[test]
    fn a_late_poll_neither_shifts_the_next_nor_is_made_up_for() {
        // Meant for 100 us; it was 30 us late, and so is the frame that follows.
        assert_eq!(Wait::tick(us(100), us(130), us(140)), Wait::Tick(us(150)));
        assert_eq!(Wait::tick(us(100), us(900), us(905)), Wait::Tick(us(910)));
        assert_eq!(Wait::tick(us(100), us(105), Time::NEVER), Wait::Tick(us(155)));
        assert_eq!(Wait::Tick(us(150)).overslept(us(163)), Span::from_us(13));
        assert_eq!(Wait::watch(us(1), us(5)).overslept(us(8)), Span::ZERO, "a host has sent");
        assert_eq!(Wait::watch(us(1), Time::NEVER).overslept(us(8)), Span::ZERO);
    }
}
