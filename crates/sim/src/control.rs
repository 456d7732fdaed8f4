//! Communication between a running trial and the thread that waits for it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tailrace_units::Time;

/// Progress and cancellation. Neither changes the results of the trial.
#[derive(Debug, Default)]
pub struct Control {
    progress_ppm: AtomicU32,
    is_cancelled: AtomicBool,
    /// Events before this (picoseconds) are handled; 0 when the trial is to end. The loop of events
    /// compares each event with its end anyway, so that a request to end is seen before the next
    /// event at no cost, however long events take.
    end_ps: AtomicU64,
    /// Receives the progress on the run's own thread, and returns whether the run is to end.
    listener: Option<fn(f64) -> bool>,
}

impl Control {
    /// Calls this function with the progress (0 to 1), where no other thread can read it; it
    /// returns whether the run is to end early.
    pub fn listened_by(listener: fn(f64) -> bool) -> Control {
        Control { listener: Some(listener), ..Control::default() }
    }
    /// Share that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        f64::from(self.progress_ppm.load(Ordering::Relaxed)) / 1e6
    }
    /// Requests the trial to end early.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        self.end_ps.store(0, Ordering::SeqCst);
    }
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
    /// From now on events up to this time are handled.
    pub(crate) fn begin(&self, until: Time) {
        self.end_ps.store(until.ps().saturating_add(1), Ordering::SeqCst);
        // A request that has come just before was overwritten.
        if self.is_cancelled.load(Ordering::SeqCst) {
            self.end_ps.store(0, Ordering::SeqCst);
        }
    }
    /// Whether an event at this time must not be handled: it is beyond the end, or the trial is to
    /// end.
    #[inline(always)]
    pub(crate) fn is_behind(&self, at: Time) -> bool {
        at.ps() >= self.end_ps.load(Ordering::Relaxed)
    }
    pub(crate) fn report(&self, progress: f64) {
        self.progress_ppm.store((progress.clamp(0.0, 1.0) * 1e6) as u32, Ordering::Relaxed);
        if self.listener.is_some_and(|is_to_end| is_to_end(progress)) {
            self.cancel();
        }
    }
}
