//! Communication between a running trial and the thread that waits for it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Progress and cancellation. Neither changes the results of the trial.
#[derive(Debug, Default)]
pub struct Control {
    progress_ppm: AtomicU32,
    is_cancelled: AtomicBool,
}

impl Control {
    /// Share that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        f64::from(self.progress_ppm.load(Ordering::Relaxed)) / 1e6
    }
    /// Requests the trial to end early.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
    pub(crate) fn report(&self, progress: f64) {
        self.progress_ppm.store((progress.clamp(0.0, 1.0) * 1e6) as u32, Ordering::Relaxed);
    }
}
