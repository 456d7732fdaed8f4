//! Intervals of one width: how much each carried.

use crate::distribution::{Distribution, Summary};
use serde::Serialize;

/// Shares of the line that are asked for, in percent.
const LINE_PERCENT: [u64; 3] = [50, 80, 95];
const NS_PER_S: u128 = 1_000_000_000;

/// All intervals of one width, of which one is open.
#[derive(Debug)]
pub(super) struct Intervals {
    width_ns: u64,
    /// Bytes of the line in one interval.
    line_bytes: Option<u64>,
    open: u64,
    bytes: u64,
    frames: u64,
    all_bytes: Distribution,
    all_frames: Distribution,
    above: [u64; LINE_PERCENT.len()],
}

/// Results on the intervals of one width.
#[derive(Debug, PartialEq, Serialize)]
pub struct IntervalsSummary {
    /// Width of each interval.
    width_ns: u64,
    /// Intervals, also those without frames. The last one may reach beyond the capture.
    intervals: u64,
    /// Bytes on the line in an interval.
    line_bytes: Summary,
    /// Frames in an interval.
    frames: Summary,
    /// Bits per second of the line in an interval.
    max_bps: f64,
    p50_bps: f64,
    p99_bps: f64,
    mean_bps: f64,
    /// Share of the intervals in which more of the line was used than this, if its speed is known.
    share_above_50_percent: Option<f64>,
    share_above_80_percent: Option<f64>,
    share_above_95_percent: Option<f64>,
}

impl Intervals {
    pub(super) fn new(width_ns: u64, line_bps: Option<u64>) -> Intervals {
        let line_bytes =
            line_bps.map(|bps| (u128::from(bps) * u128::from(width_ns) / (8 * NS_PER_S)) as u64);
        Intervals {
            width_ns,
            line_bytes,
            open: 0,
            bytes: 0,
            frames: 0,
            all_bytes: Distribution::default(),
            all_frames: Distribution::default(),
            above: [0; LINE_PERCENT.len()],
        }
    }

    /// Adds the bytes at this time after the beginning, not before the open interval.
    pub(super) fn add(&mut self, at_ns: u64, bytes: u64, frames: u64) {
        let number = at_ns / self.width_ns;
        if number > self.open {
            self.close();
            let silent = number - self.open - 1;
            self.all_bytes.add_times(0, silent);
            self.all_frames.add_times(0, silent);
            self.open = number;
        }
        self.bytes += bytes;
        self.frames += frames;
    }

    /// Counts the open interval.
    pub(super) fn close(&mut self) {
        self.all_bytes.add(self.bytes);
        self.all_frames.add(self.frames);
        if let Some(line) = self.line_bytes {
            for (count, percent) in self.above.iter_mut().zip(LINE_PERCENT) {
                *count += u64::from(
                    u128::from(self.bytes) * 100 > u128::from(line) * u128::from(percent),
                );
            }
        }
        (self.bytes, self.frames) = (0, 0);
    }

    pub(super) fn summary(&self) -> IntervalsSummary {
        let bytes = self.all_bytes.summary();
        let bps = |bytes: f64| bytes * 8.0 * NS_PER_S as f64 / self.width_ns as f64;
        let intervals = bytes.count.max(1) as f64;
        let share = |place: usize| self.line_bytes.map(|_| self.above[place] as f64 / intervals);
        IntervalsSummary {
            width_ns: self.width_ns,
            intervals: bytes.count,
            max_bps: bps(bytes.max as f64),
            p50_bps: bps(bytes.p50 as f64),
            p99_bps: bps(bytes.p99 as f64),
            mean_bps: bps(bytes.mean),
            line_bytes: bytes,
            frames: self.all_frames.summary(),
            share_above_50_percent: share(0),
            share_above_80_percent: share(1),
            share_above_95_percent: share(2),
        }
    }
}
