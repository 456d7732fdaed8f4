//! The cores that a host's programs share.

use tailrace_units::{Span, Time};

/// Work is done first come, first served, each piece on the core that is free first. So when a piece will be done is
/// known when it is put there.
#[derive(Clone, Debug)]
pub(crate) struct Cores {
    /// When each core is free; empty for as many cores as there is work.
    free_at: Vec<Time>,
    pub(crate) busy: Span,
}

impl Cores {
    /// This many cores, or no limit with 0.
    pub(crate) fn new(cores: u32) -> Cores {
        Cores { free_at: vec![Time::ZERO; cores as usize], busy: Span::ZERO }
    }

    /// Puts work behind what is there and returns when it will be done.
    pub(crate) fn compute(&mut self, now: Time, work: Span) -> Time {
        self.busy += work;
        let Some(first) = self.free_at.iter_mut().min() else { return now + work };
        *first = now.max(*first) + work;
        *first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_the_core_that_is_free_first() {
        let mut cores = Cores::new(2);
        let done: Vec<u64> = [5, 3, 4, 1].map(|ps| cores.compute(Time::ZERO, Span::from_ps(ps)).ps()).to_vec();
        assert_eq!(done, [5, 3, 7, 6]);
        assert_eq!(cores.compute(Time::from_ps(20), Span::from_ps(1)), Time::from_ps(21));
        let mut unlimited = Cores::new(0);
        let done: Vec<u64> = [5, 5, 5].map(|ps| unlimited.compute(Time::ZERO, Span::from_ps(ps)).ps()).to_vec();
        assert_eq!(done, [5, 5, 5]);
    }
}
