//! The clock tick: when a timer of Linux expires (kernel/time/timer.c, `calc_wheel_index`).

use tailrace_units::{Span, Time};

/// The tick of a kernel with HZ = 250, as Debian's.
pub(crate) const TICK: Span = Span::from_ms(4);

/// Levels of the timer wheel: a timer of so many ticks or more is only as fine as eight times more.
const FINE: u64 = 63;
const LEVELS: u32 = 8;
/// Ticks before time 0: a multiple of the period of the last level, so that all times are after the
/// first tick.
const BEFORE: u64 = 1 << (3 * LEVELS);

/// When a timer expires that was set at `armed` for `deadline`; the ticks of its host are `phase`
/// after multiples of `tick`.
///
/// The time is rounded up to whole ticks, which count from the last tick, and it never expires
/// early: at the end of the tick in which it falls. With ticks of 4 ms, a timer of 3 ms takes
/// between 4 and 8. From 63 ticks on, what counts is eight of them, from 504 on 64.
pub(crate) fn expiry(armed: Time, deadline: Time, tick: Span, phase: Span) -> Time {
    let wanted = deadline.since(armed).ps().div_ceil(tick.ps());
    let level = (0..LEVELS).find(|level| wanted < FINE << (3 * level)).unwrap_or(LEVELS);
    let grain = 1 << (3 * level);
    let last = (armed + tick.times(BEFORE)).since(Time::ZERO + phase).ps() / tick.ps();
    let expires = ((last + wanted + grain) / grain) * grain;
    Time::ZERO + phase + Span::from_ps((expires - BEFORE) * tick.ps())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_us(us: u64) -> Time {
        Time::from_ps(us * 1_000_000)
    }

    fn taken_us(armed_us: u64, wanted_us: u64, phase_us: u64) -> u64 {
        let armed = at_us(armed_us);
        expiry(armed, at_us(armed_us + wanted_us), TICK, Span::from_us(phase_us)).since(armed).ps()
            / 1_000_000
    }

    #[test]
    fn a_timer_takes_up_to_two_ticks_more_than_it_should() {
        assert_eq!(taken_us(4_000, 3_000, 0), 8_000);
        assert_eq!(taken_us(7_999, 3_000, 0), 4_001);
        assert_eq!(taken_us(7_999, 4_001, 0), 8_001);
        assert_eq!(taken_us(4_000, 40_000, 0), 44_000);
        assert_eq!(taken_us(4_000, 3_000, 1_000), 5_000, "the last tick was at 1 ms");
    }

    #[test]
    fn long_timers_are_coarser() {
        assert_eq!(taken_us(0, 62 * 4_000, 0), 63 * 4_000);
        assert_eq!(taken_us(0, 63 * 4_000, 0), 64 * 4_000);
        assert_eq!(taken_us(4_000, 64 * 4_000, 0), (72 - 1) * 4_000);
        assert_eq!(taken_us(0, 504 * 4_000, 0), 512 * 4_000);
        assert_eq!(taken_us(0, 513 * 4_000, 0), 576 * 4_000);
    }
}
