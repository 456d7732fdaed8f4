//! The cores that a host's programs share.

use std::collections::VecDeque;
use tailrace_units::Span;

/// One run queue for all cores; `T` stands for a program. A program runs from its request, or from
/// its turn in the queue, until it has no work, or until its time slice is over while others wait.
/// The queue is first in, first out; a program that has slept joins at the end like all others.
#[derive(Clone, Debug)]
pub struct Cores<T> {
    /// Cores without work; none are counted where there are as many as there is work.
    idle: Option<u32>,
    slice: Span,
    waiting: VecDeque<T>,
    /// Programs that have been granted a core and not yet notified.
    granted: VecDeque<T>,
    /// Work of all programs.
    pub busy: Span,
}

impl<T> Cores<T> {
    /// This many cores, or no limit with 0.
    pub fn new(cores: u32, slice: Span) -> Cores<T> {
        let idle = (cores > 0).then_some(cores);
        Cores { idle, slice, waiting: VecDeque::new(), granted: VecDeque::new(), busy: Span::ZERO }
    }

    /// Whether this program gets a core at once; otherwise it waits.
    pub fn ask(&mut self, program: T) -> bool {
        match &mut self.idle {
            None => true,
            Some(0) => {
                self.waiting.push_back(program);
                false
            }
            Some(idle) => {
                *idle -= 1;
                true
            }
        }
    }

    /// Whether a program that has had a core for this long may go on.
    pub fn goes_on(&self, used: Span) -> bool {
        self.waiting.is_empty() || used < self.slice
    }

    /// A core is released, and granted to the next program in the queue.
    pub fn leave(&mut self) {
        match (self.waiting.pop_front(), &mut self.idle) {
            (Some(next), _) => self.granted.push_back(next),
            (None, Some(idle)) => *idle += 1,
            (None, None) => {}
        }
    }

    /// The next program to be notified that it has a core.
    pub fn poll_granted(&mut self) -> Option<T> {
        self.granted.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_is_left_goes_to_who_waits_longest() {
        let mut cores = Cores::new(2, Span::ZERO);
        assert_eq!([1, 2, 3, 4].map(|socket| cores.ask(socket)), [true, true, false, false]);
        cores.leave();
        assert_eq!((cores.poll_granted(), cores.poll_granted()), (Some(3), None));
        assert!(!cores.ask(5), "4 waits longer");
        cores.leave();
        cores.leave();
        assert_eq!([cores.poll_granted(), cores.poll_granted()], [Some(4), Some(5)]);
        cores.leave();
        assert!(cores.ask(6), "no thread waits");
    }

    #[test]
    fn a_slice_ends_only_when_somebody_waits() {
        let mut cores = Cores::new(1, Span::from_ms(3));
        assert!(cores.ask(1));
        assert!(cores.goes_on(Span::from_ms(50)));
        assert!(!cores.ask(2));
        assert!(cores.goes_on(Span::from_ms(2)));
        assert!(!cores.goes_on(Span::from_ms(3)));
    }

    #[test]
    fn without_a_limit_no_thread_waits() {
        let mut cores = Cores::new(0, Span::ZERO);
        assert!((0..1000).all(|socket| cores.ask(socket)));
        assert!(cores.goes_on(Span::from_ms(50)));
        cores.leave();
        assert_eq!(cores.poll_granted(), None);
    }
}
