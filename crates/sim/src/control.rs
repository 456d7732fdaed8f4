//! The two wires between a running trial and whoever waits for it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Progress out, cancellation in. Neither changes what the trial computes.
#[derive(Debug, Default)]
pub struct Control {
    progress_ppm: AtomicU32,
    is_cancelled: AtomicBool,
}

impl Control {
    /// How much is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        f64::from(self.progress_ppm.load(Ordering::Relaxed)) / 1e6
    }
    /// Asks the trial to end soon.
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
