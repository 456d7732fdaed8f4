//! Communication between a running trial and the thread that waits for it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Progress and cancellation. Neither changes the results of the trial.
#[derive(Debug, Default)]
pub struct Control {
    progress_ppm: AtomicU32,
    is_cancelled: AtomicBool,
    /// Is told the progress on the run's own thread, and says whether the run is to end.
    listener: Option<fn(f64) -> bool>,
}

impl Control {
    /// Tells this function, where no other thread can look, how much is done; it returns whether the run is to end early.
    pub fn listened_by(listener: fn(f64) -> bool) -> Control {
        Control { listener: Some(listener), ..Control::default() }
    }
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
        if self.listener.is_some_and(|is_to_end| is_to_end(progress)) {
            self.cancel();
        }
    }
}
