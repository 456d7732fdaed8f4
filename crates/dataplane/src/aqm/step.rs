//! DCTCP's step: everything that finds more than a threshold waiting is marked (RFC 8257, section 3.1).

use super::Fate;

/// Marks capable frames above an instantaneous depth. Frames that are not capable pass.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Depth in bytes (K).
    pub threshold_bytes: u64,
}

impl Step {
    #[inline]
    pub(crate) fn on_arrival(self, depth_bytes: u64, capable: bool) -> Fate {
        if capable && depth_bytes > self.threshold_bytes { Fate::Mark } else { Fate::Pass }
    }
}
