//! DCTCP's step: frames that arrive when the depth exceeds a threshold are marked (RFC 8257,
//! section 3.1).

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_the_threshold_passes_and_what_finds_a_byte_more_is_marked() {
        let step = Step { threshold_bytes: 30_000 };
        assert_eq!(step.on_arrival(30_000, true), Fate::Pass);
        assert_eq!(step.on_arrival(30_001, true), Fate::Mark);
        assert_eq!(step.on_arrival(30_001, false), Fate::Pass);
    }
}
