//! The order of `tailrace blast`.

use serde::Deserialize;
use std::path::PathBuf;
use tailrace_plan::RawDistribution;

/// Most threads: more than a machine has cores for.
const THREADS_MAX: usize = 64;
/// Most frames of a round: each thread has them in memory of its own.
const FRAMES_MAX: usize = 512;
/// Most rounds, one for each size of a sweep.
const ROUNDS_MAX: usize = 256;
/// The kernel takes no frame without a header (`dev_validate_header`), and an MTU of 9216 is the
/// largest of a plan; two VLAN tags.
const FRAME_BYTES_MIN: usize = 14;
const FRAME_BYTES_MAX: usize = 9_216 + 14 + 8;
/// An hour.
const LIMIT_NS_MAX: u64 = 3_600_000_000_000;
/// 802.1Q.
const PRIORITY_MAX: u8 = 7;
/// A thread that pauses for longer would not see the end of its time.
const DELAY_NS_MAX: u64 = 10_000_000_000;

/// Frames of each round.
pub(crate) type Rounds = Vec<Vec<Vec<u8>>>;

/// The frames of a blast, and their pace.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlastSpec {
    /// Its network namespace; the caller's where there is none.
    pub(crate) namespace: Option<PathBuf>,
    /// Name of the interface there.
    pub(crate) interface: String,
    /// The interface may be one of the machine.
    pub(crate) is_machine_allowed: bool,
    /// Frames of each round, in hexadecimal.
    pub(crate) rounds: Vec<Vec<String>>,
    pub(crate) threads: usize,
    /// Pause of a thread after each of its frames.
    pub(crate) delay_ns: u64,
    /// From one frame to the next of a thread; 0 for as fast as it can.
    pub(crate) interval_ps: u64,
    /// Frames of all threads in a round; 0 for no limit.
    pub(crate) count: u64,
    /// Length of a round.
    pub(crate) limit_ns: u64,
    /// By the queue of the interface, not past it.
    pub(crate) is_queued: bool,
    /// Further work of the threads of a workload of a scenario.
    pub(crate) workload: Option<Work>,
}

/// A workload of kind `frames`: its frames carry marks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Work {
    /// Its name, which names its random numbers.
    pub(crate) name: String,
    pub(crate) seed: u64,
    /// When it begins (CLOCK_REALTIME).
    pub(crate) begin_ns: u64,
    /// Of its frames.
    pub(crate) priority: u8,
    /// Least time of a thread for a frame before the lock, and under it (picoseconds).
    pub(crate) cost: RawDistribution,
    pub(crate) locked: RawDistribution,
}

impl BlastSpec {
    /// Reads JSON.
    ///
    /// # Errors
    /// The fault in it.
    pub(crate) fn parse(text: &str) -> Result<(BlastSpec, Rounds), String> {
        let order: BlastSpec = serde_json::from_str(text).map_err(|error| error.to_string())?;
        in_range("threads", order.threads, 1..=THREADS_MAX)?;
        in_range("rounds", order.rounds.len(), 1..=ROUNDS_MAX)?;
        in_range("limit_ns", order.limit_ns, 1..=LIMIT_NS_MAX)?;
        in_range("delay_ns", order.delay_ns, 0..=DELAY_NS_MAX)?;
        if let Some(work) = &order.workload {
            in_range("priority", work.priority, 0..=PRIORITY_MAX)?;
        }
        let rounds =
            order.rounds.iter().map(|frames| read_frames(frames)).collect::<Result<_, _>>()?;
        Ok((order, rounds))
    }

    /// Frames of one thread, so that all of them together are `count`.
    pub(crate) fn count_of(&self, thread: usize) -> u64 {
        if self.count == 0 {
            return u64::MAX;
        }
        let (threads, thread) = (self.threads as u64, thread as u64);
        self.count / threads + u64::from(thread < self.count % threads)
    }
}

fn in_range<T: PartialOrd + std::fmt::Display>(
    key: &str,
    value: T,
    range: std::ops::RangeInclusive<T>,
) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{key} must be {} to {}, not {value}", range.start(), range.end()))
}

fn read_frames(frames: &[String]) -> Result<Vec<Vec<u8>>, String> {
    in_range("frames", frames.len(), 1..=FRAMES_MAX)?;
    frames
        .iter()
        .map(|text| {
            let frame = bytes_of(text).ok_or_else(|| format!("{text:?} is not hexadecimal"))?;
            in_range("bytes of a frame", frame.len(), FRAME_BYTES_MIN..=FRAME_BYTES_MAX)?;
            Ok(frame)
        })
        .collect()
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(changes: &[(&str, serde_json::Value)]) -> Result<(BlastSpec, Rounds), String> {
        let mut order = serde_json::json!({
            "namespace": null, "interface": "eth0", "is_machine_allowed": false, "rounds": [["00".repeat(60)]], "threads": 4,
            "delay_ns": 0, "interval_ps": 0, "count": 10, "limit_ns": 1, "is_queued": false, "workload": null,
        });
        for (key, value) in changes {
            order[*key] = value.clone();
        }
        BlastSpec::parse(&order.to_string())
    }

    #[test]
    fn the_threads_share_the_count() {
        let (order, rounds) = order(&[]).expect("it is sound");
        assert_eq!((0..4).map(|thread| order.count_of(thread)).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert_eq!(rounds, [[[0; 60]]]);
    }

    #[test]
    fn an_order_outside_its_limits_is_refused() {
        let cases = [
            ("threads", 0.into(), "threads must be 1 to 64, not 0"),
            ("rounds", serde_json::json!([["00"]]), "bytes of a frame must be 14"),
            ("rounds", serde_json::json!([["0g".repeat(20)]]), "not hexadecimal"),
            ("rounds", serde_json::json!([[]]), "frames must be 1"),
            ("limit_ns", 0.into(), "limit_ns must be 1"),
            ("delay_ns", u64::MAX.into(), "delay_ns must be 0"),
            ("method", "slow".into(), "unknown field"),
        ];
        for (key, value, part) in cases {
            let error = order(&[(key, value)]).expect_err(key);
            assert!(error.contains(part), "{error}");
        }
    }
}
