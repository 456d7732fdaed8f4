//! Pause frames and their effect on a transmitter: IEEE 802.1Qbb (per priority) and 802.3 annex 31B
//! (the whole link).

use tailrace_units::{Pace, Span, Time};

/// Priorities of a frame (IEEE 802.1Q).
pub const PRIORITIES: usize = 8;
/// One pause quantum is 512 bit times (802.3 annex 31B): the time of 64 bytes.
pub const QUANTUM_BYTES: u64 = 64;
/// The longest pause that one frame can request.
pub const QUANTA_MAX: u16 = u16::MAX;

/// The content of a pause frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause {
    /// The priorities that it is about, a bit each. A link pause (802.3x) is about all.
    pub classes: u8,
    /// For each priority, the quanta for which to stop sending; 0 ends a pause.
    pub quanta: [u16; PRIORITIES],
    /// An 802.3x frame, which stops the whole link.
    pub is_link_pause: bool,
}

impl Pause {
    /// Stops (`QUANTA_MAX`) or resumes (0) some priorities.
    pub fn new(classes: u8, quanta: u16, is_link_pause: bool) -> Pause {
        let classes = if is_link_pause { u8::MAX } else { classes };
        let each =
            std::array::from_fn(|priority| if classes >> priority & 1 == 1 { quanta } else { 0 });
        Pause { classes, quanta: each, is_link_pause }
    }
}

/// The time that this many quanta take on a line.
pub fn quanta_time(pace: Pace, quanta: u16) -> Span {
    pace.time_to_send(u64::from(quanta) * QUANTUM_BYTES)
}

/// The paused priorities of a transmitter, and the ends of their pauses.
#[derive(Clone, Debug)]
pub struct PauseState {
    /// Bit mask of priorities that are obeyed.
    obeys: u8,
    /// Whether 802.3x pauses are obeyed.
    obeys_link_pause: bool,
    /// From the arrival of a pause frame until it must have effect.
    response: Span,
    from: [Time; PRIORITIES],
    until: [Time; PRIORITIES],
    /// Pause frames that arrived, by priority.
    pub received: [u64; PRIORITIES],
    /// Time for which each priority was paused, counted ahead when the pause is set; see
    /// [`PauseState::paused_by`].
    paused: [Span; PRIORITIES],
}

impl PauseState {
    /// Obeys pauses of the priorities in the mask, `response` after they arrive (802.3 annex
    /// 31B.3.7 limits it).
    pub fn new(obeys: u8, obeys_link_pause: bool, response: Span) -> PauseState {
        PauseState {
            obeys,
            obeys_link_pause,
            response,
            from: [Time::ZERO; PRIORITIES],
            until: [Time::ZERO; PRIORITIES],
            received: [0; PRIORITIES],
            paused: [Span::ZERO; PRIORITIES],
        }
    }

    /// A pause frame has arrived on a line of this pace.
    pub fn handle_pause(&mut self, now: Time, pause: &Pause, pace: Pace) {
        for priority in 0..PRIORITIES {
            let spoken_of = pause.classes >> priority & 1 == 1;
            if !spoken_of {
                continue;
            }
            self.received[priority] += 1;
            let obeyed = if pause.is_link_pause {
                self.obeys_link_pause
            } else {
                self.obeys >> priority & 1 == 1
            };
            if obeyed {
                self.set(now, priority, quanta_time(pace, pause.quanta[priority]));
            }
        }
    }

    fn set(&mut self, now: Time, priority: usize, length: Span) {
        // A second frame within the response time does not put the effect of the first one off.
        let is_asked = now < self.until[priority];
        let old_end = self.until[priority].max(now);
        if !is_asked {
            self.from[priority] = now + self.response;
        }
        self.until[priority] = now + length;
        let new_end = self.until[priority];
        let paused = &mut self.paused[priority];
        *paused = if new_end >= old_end {
            *paused + new_end.since(old_end)
        } else {
            paused.less(old_end.since(new_end))
        };
    }

    /// Counts frames and paused time from `now` on; pauses that hold go on.
    pub fn begin_counting(&mut self, now: Time) {
        self.received = [0; PRIORITIES];
        self.paused = std::array::from_fn(|priority| self.until[priority].since(now));
    }

    /// Time for which each priority was requested to pause until `now`, including response times.
    pub fn paused_by(&self, now: Time) -> [Span; PRIORITIES] {
        std::array::from_fn(|priority| self.paused[priority].less(self.until[priority].since(now)))
    }

    /// When this priority may be sent, asked at `at`: `at` itself unless it is paused.
    #[inline]
    pub fn free_from(&self, at: Time, priority: u8) -> Time {
        let priority = usize::from(priority) % PRIORITIES;
        if self.from[priority] <= at && at < self.until[priority] {
            self.until[priority]
        } else {
            at
        }
    }

    /// From when until when the latest pause of this priority has effect.
    pub fn latest(&self, priority: usize) -> (Time, Time) {
        (self.from[priority], self.until[priority])
    }

    /// When the latest pause of this priority ended, or will end.
    pub fn ends_at(&self, priority: u8) -> Time {
        self.until[usize::from(priority) % PRIORITIES]
    }

    /// Since when this priority has been paused without a break, if it is at `at`.
    pub fn paused_since(&self, at: Time, priority: u8) -> Option<Time> {
        let priority = usize::from(priority) % PRIORITIES;
        (self.from[priority] <= at && at < self.until[priority]).then_some(self.from[priority])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;

    #[test]
    fn the_longest_pause_is_that_of_the_standard() {
        // 65 535 quanta: 33.55 ms at 1 Gbit/s, 3.355 ms at 10, 0.336 ms at 100.
        for (gbps, us) in [(1, 33_553), (10, 3_355), (25, 1_342), (40, 838), (100, 335)] {
            let time = quanta_time(BitRate::from_gbps(gbps).pace(0), QUANTA_MAX);
            assert_eq!(time.ps() / 1_000_000, us);
        }
    }

    #[test]
    fn a_pause_takes_effect_after_the_response_time_and_ends_by_itself_or_by_a_zero() {
        let pace = BitRate::from_gbps(10).pace(0);
        let ns = |n| Time::ZERO + Span::from_ns(n);
        let mut state = PauseState::new(0b1000, false, Span::from_ns(100));
        state.handle_pause(ns(0), &Pause::new(0b1001, 100, false), pace); // 100 quanta are 5120 ns
        assert_eq!(state.free_from(ns(50), 3), ns(50));
        assert_eq!(state.free_from(ns(100), 3), ns(5120));
        assert_eq!(state.free_from(ns(100), 0), ns(100)); // not obeyed
        state.handle_pause(ns(4000), &Pause::new(0b1000, 100, false), pace); // refreshed
        assert_eq!(state.free_from(ns(4001), 3), ns(9120));
        state.handle_pause(ns(6000), &Pause::new(0b1000, 0, false), pace);
        assert_eq!(state.free_from(ns(6000), 3), ns(6000));
        assert_eq!(state.paused_by(ns(6000))[3], Span::from_ns(6000));
        assert_eq!(state.received, [1, 0, 0, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn counting_anew_keeps_the_pause_that_holds() {
        let pace = BitRate::from_gbps(10).pace(0);
        let ns = |n| Time::ZERO + Span::from_ns(n);
        let mut state = PauseState::new(0b1, false, Span::ZERO);
        state.handle_pause(ns(0), &Pause::new(1, 100, false), pace); // 5120 ns
        state.begin_counting(ns(5000));
        assert_eq!((state.received[0], state.free_from(ns(5000), 0)), (0, ns(5120)));
        assert_eq!(state.paused_by(ns(6000))[0], Span::from_ns(120));
    }

    #[test]
    fn a_renewed_pause_does_not_put_its_effect_off() {
        let pace = BitRate::from_gbps(10).pace(0);
        let ns = |n| Time::ZERO + Span::from_ns(n);
        let mut state = PauseState::new(0b1, false, Span::from_ns(100));
        state.handle_pause(ns(0), &Pause::new(1, 100, false), pace);
        state.handle_pause(ns(90), &Pause::new(1, 100, false), pace);
        assert_eq!(state.free_from(ns(100), 0), ns(90 + 5120));
        // what is still to come does not count
        assert_eq!(state.paused_by(ns(100))[0], Span::from_ns(100));
    }

    #[test]
    fn a_link_pause_stops_every_priority_of_who_obeys_it_and_nothing_else() {
        let pace = BitRate::from_gbps(10).pace(0);
        for (obeys, obeys_link) in [(0, true), (u8::MAX, false)] {
            let mut state = PauseState::new(obeys, obeys_link, Span::ZERO);
            state.handle_pause(Time::ZERO, &Pause::new(0, 100, true), pace);
            let stopped = (0..8)
                .filter(|&priority| state.free_from(Time::ZERO, priority) > Time::ZERO)
                .count();
            assert_eq!(stopped, if obeys_link { 8 } else { 0 });
        }
    }

    #[test]
    fn priorities_are_paused_each_for_itself() {
        let pace = BitRate::from_gbps(10).pace(0);
        let mut state = PauseState::new(u8::MAX, false, Span::ZERO);
        state.handle_pause(Time::ZERO, &Pause::new(0b0010_0000, 100, false), pace);
        state.handle_pause(Time::ZERO, &Pause::new(0b0000_0001, 0, false), pace);
        let stopped: Vec<u8> =
            (0..8).filter(|&priority| state.free_from(Time::ZERO, priority) > Time::ZERO).collect();
        assert_eq!(stopped, [5]);
    }
}
