//! What the barrier and the mail are made of: `tests/interleavings` has that of loom in its place.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub(super) use std::sync::{Mutex, PoisonError};
pub(super) use std::{hint, thread};

/// Tests delay threads here.
#[cfg(not(test))]
pub(super) fn delay() {}
#[cfg(test)]
pub(super) use super::schedules::delay;
