//! When the transmitter before each wire was paused, by priority (IEEE 802.1Qbb, 802.3 annex 31B).

use std::collections::VecDeque;
use tailrace_units::{Pace, Time};
use tailrace_wire::{PRIORITIES, Pause, PauseState};

/// Pauses of a priority that are kept: at a thousand a millisecond, four milliseconds.
const HELD_MAX: usize = 1 << 12;

/// A transmitter that obeys pauses.
#[derive(Debug)]
pub(crate) struct Pausable {
    state: PauseState,
    pace: Pace,
    /// By priority, the intervals in which it was paused.
    held: [VecDeque<(Time, Time)>; PRIORITIES],
}

impl Pausable {
    /// Before its first pause.
    pub(crate) fn new(state: PauseState, pace: Pace) -> Pausable {
        Pausable { state, pace, held: Default::default() }
    }

    /// A pause arrives.
    pub(super) fn note(&mut self, at: Time, pause: &Pause) {
        self.state.handle_pause(at, pause, self.pace);
        for (priority, held) in self.held.iter_mut().enumerate() {
            let (from, until) = self.state.latest(priority);
            if let Some(last) = held.back_mut().filter(|last| last.0 == from) {
                last.1 = until;
            } else if until > from {
                if held.len() == HELD_MAX {
                    held.pop_front();
                }
                held.push_back((from, until));
            }
        }
    }

    /// Pauses of a priority between two moments, in order.
    pub(super) fn between(
        &self,
        priority: u8,
        from: Time,
        to: Time,
    ) -> impl Iterator<Item = (Time, Time)> {
        let held = &self.held[usize::from(priority) % PRIORITIES];
        let first = held.partition_point(|pause| pause.1 <= from);
        held.range(first..)
            .take_while(move |pause| pause.0 < to)
            .map(move |pause| (pause.0.max(from), pause.1.min(to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;
    use tailrace_units::Span;

    #[test]
    fn a_pause_lasts_from_its_response_to_its_end_or_until_it_is_taken_back() {
        let gbps = BitRate::from_bps(1_000_000_000).expect("it is a rate");
        let us = |us: u64| Time::ZERO + Span::from_us(us);
        let mut line =
            Pausable::new(PauseState::new(0b1000, false, Span::from_us(1)), gbps.pace(0));
        let pause = |quanta: u16| Pause {
            classes: 0b1100,
            quanta: [quanta; PRIORITIES],
            is_link_pause: false,
        };
        // A quantum is 512 bits: 512 ns.
        line.note(us(10), &pause(1_000));
        line.note(us(100), &pause(0));
        line.note(us(200), &pause(100));
        let found: Vec<_> = line.between(3, us(50), us(220)).collect();
        assert_eq!(found, [(us(50), us(100)), (us(201), us(220))]);
        let total = found.iter().fold(Span::ZERO, |sum, pause| sum + pause.1.since(pause.0));
        assert_eq!(total, Span::from_us(69));
        assert_eq!(line.between(2, us(0), us(300)).count(), 0, "this priority is not obeyed");
    }
}
