//! Primitives of the barrier and the mailboxes: `tests/interleavings` replaces them with those of
//! loom.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub(super) use std::sync::{Mutex, PoisonError};
pub(super) use std::{hint, thread};

#[cfg(test)]
pub(super) use super::schedules::Schedule;

/// Tests delay threads by one.
#[cfg(not(test))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule;

#[cfg(not(test))]
impl Schedule {
    pub(super) fn of_this_thread() -> Schedule {
        Schedule
    }

    #[inline]
    pub(super) fn delay(self, _part: usize, _meeting: (usize, bool)) {}
}
