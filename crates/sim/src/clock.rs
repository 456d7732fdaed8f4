//! The duration of a run, on the machine that ran it.

use std::time::Duration;

/// It starts when it is made.
pub(crate) struct Stopwatch {
    #[cfg(not(target_arch = "wasm32"))]
    started: std::time::Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch {
            #[cfg(not(target_arch = "wasm32"))]
            started: std::time::Instant::now(),
        }
    }

    /// Zero where there is no clock, as in WebAssembly.
    pub(crate) fn elapsed(&self) -> Duration {
        #[cfg(target_arch = "wasm32")]
        return Duration::ZERO;
        #[cfg(not(target_arch = "wasm32"))]
        self.started.elapsed()
    }
}
