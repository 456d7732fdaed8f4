//! The order for one trial.

use super::frame::{FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use super::pace::Schedule;
use serde::Deserialize;

/// Most frames of one trial: each takes one bit, 256 MiB in all. At 14.88 million a second this is
/// 144 s.
pub(crate) const FRAMES_MAX: u64 = 1 << 31;
/// Longest trial: RFC 2544 asks for 60 and 120 s.
const LIMIT_NS_MAX: u64 = 120_000_000_000;

/// One trial.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialSpec {
    /// With the check sequence, as RFC 2544 counts.
    pub(crate) frame_bytes: u32,
    /// From one frame to the next; 0 for as fast as it can.
    pub(crate) interval_ps: u64,
    /// How many.
    pub(crate) frames: u64,
    /// It ends then, even if not all frames were sent.
    pub(crate) limit_ns: u64,
    /// Distinguishes its frames from those of other trials.
    pub(crate) trial: u16,
    /// Whether frames that are still under way are awaited at the end.
    pub(crate) awaits: bool,
}

impl TrialSpec {
    /// How many frames, and when.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule { interval_ps: self.interval_ps, frames: self.frames, limit_ns: self.limit_ns }
    }

    /// Reads a line of JSON.
    ///
    /// # Errors
    /// The fault in it.
    pub(crate) fn parse(line: &str) -> Result<TrialSpec, String> {
        let order: TrialSpec = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if !(FRAME_BYTES_MIN..=FRAME_BYTES_MAX).contains(&order.frame_bytes) {
            return Err(format!("frame_bytes must be {FRAME_BYTES_MIN} to {FRAME_BYTES_MAX}"));
        }
        if !(1..=FRAMES_MAX).contains(&order.frames) {
            return Err(format!("frames must be 1 to {FRAMES_MAX}"));
        }
        if !(1..=LIMIT_NS_MAX).contains(&order.limit_ns) {
            return Err(format!("limit_ns must be 1 to {LIMIT_NS_MAX}"));
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_outside_its_limits_is_refused() {
        let of = |bytes: u32, frames: u64, limit: u64| {
            TrialSpec::parse(&format!(
                r#"{{"frame_bytes":{bytes},"interval_ps":0,"frames":{frames},"limit_ns":{limit},"trial":1,"awaits":true}}"#
            ))
        };
        assert!(of(64, 1, 1).is_ok());
        assert!(of(63, 1, 1).expect_err("too short").contains("frame_bytes"));
        assert!(of(64, 0, 1).expect_err("none").contains("frames"));
        assert!(of(64, 1, u64::MAX).expect_err("too long").contains("limit_ns"));
        assert!(TrialSpec::parse("{}").is_err());
    }
}
