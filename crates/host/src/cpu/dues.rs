//! When each core must be checked. Cores for which nothing is due cost no time, however many there
//! are.

use tailrace_units::Time;

const WORD_BITS: usize = u64::BITS as usize;

/// A time for each core.
#[derive(Debug)]
pub(super) struct Dues {
    at: Vec<Time>,
    /// Cores whose time is not [`Time::NEVER`], a bit for each.
    pending: Vec<u64>,
}

impl Dues {
    /// Nothing is due.
    pub(super) fn new(cores: usize) -> Dues {
        Dues { at: vec![Time::NEVER; cores], pending: vec![0; cores.div_ceil(WORD_BITS)] }
    }

    /// Sets the time of a core, earlier or later; [`Time::NEVER`] for nothing.
    #[inline]
    pub(super) fn set(&mut self, core: usize, at: Time) {
        self.at[core] = at;
        let (word, bit) = (&mut self.pending[core / WORD_BITS], 1 << (core % WORD_BITS));
        *word = if at.is_never() { *word & !bit } else { *word | bit };
    }

    /// The first core that is due by now, or else when one will be.
    #[inline]
    pub(super) fn first(&self, now: Time) -> Result<usize, Time> {
        let mut earliest = Time::NEVER;
        for (number, &word) in self.pending.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let core = number * WORD_BITS + left.trailing_zeros() as usize;
                let at = self.at[core];
                if at <= now {
                    return Ok(core);
                }
                earliest = earliest.min(at);
                left &= left - 1;
            }
        }
        Err(earliest)
    }

    /// The earliest time of the cores for which this does not hold.
    pub(super) fn earliest_but(&self, mut is_left_out: impl FnMut(usize) -> bool) -> Time {
        let mut earliest = Time::NEVER;
        for (number, &word) in self.pending.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let core = number * WORD_BITS + left.trailing_zeros() as usize;
                if self.at[core] < earliest && !is_left_out(core) {
                    earliest = self.at[core];
                }
                left &= left - 1;
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two words of cores: the first that is due goes first, whatever the order of their times.
    #[test]
    fn the_first_core_that_is_due_is_found_and_otherwise_the_earliest_time() {
        let at = Time::from_ps;
        let mut dues = Dues::new(70);
        assert_eq!(dues.first(at(9)), Err(Time::NEVER));
        dues.set(69, at(3));
        dues.set(2, at(5));
        assert_eq!(dues.first(at(2)), Err(at(3)));
        assert_eq!(dues.first(at(4)), Ok(69));
        assert_eq!(dues.first(at(5)), Ok(2));
        dues.set(2, Time::NEVER);
        assert_eq!(dues.first(at(9)), Ok(69));
        dues.set(69, Time::NEVER);
        assert_eq!(dues.first(at(9)), Err(Time::NEVER));
    }
}
