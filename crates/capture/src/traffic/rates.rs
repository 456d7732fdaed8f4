//! Rates in intervals of 1 s, 10 ms, 1 ms and 100 µs, and bursts.

use super::interval::{Intervals, IntervalsSummary};
use super::series::{Series, SeriesSummary};
use crate::distribution::{Distribution, Summary};
use serde::Serialize;

/// Widths of intervals; the last one is the width of the slots below.
const WIDTHS_NS: [u64; 4] = [1_000_000_000, 10_000_000, 1_000_000, 100_000];
const SLOT_NS: u64 = 100_000;
/// Slots that are open, so that frames may come late by 12.8 ms.
const SLOTS: u64 = 128;
/// A burst is a run of intervals of 100 µs in each of which at least this share of the line is
/// used.
const BURST_PERCENT: u128 = 80;
const NS_PER_S: u128 = 1_000_000_000;

/// Rates of all frames, or of those of one direction.
pub struct Rates {
    intervals: [Intervals; WIDTHS_NS.len()],
    series: Series,
    slots: [(u64, u64); SLOTS as usize],
    /// Number of the first open slot since the origin.
    first: u64,
    /// The last slot that has frames.
    last: u64,
    origin_ns: u64,
    /// Frames that came too late for their slot and were counted in the first open one.
    late_frames: u64,
    burst_bytes_min: Option<u64>,
    /// Slots and bytes of the present burst.
    burst: (u64, u64),
    burst_next: u64,
    burst_duration: Distribution,
    burst_bytes: Distribution,
}

/// Results on rates.
#[derive(Debug, PartialEq, Serialize)]
pub struct RatesSummary {
    intervals: Vec<IntervalsSummary>,
    over_time: SeriesSummary,
    /// Frames that came more than 12.8 ms after later ones.
    late_frames: u64,
    /// Bursts, if the speed of the line is known.
    bursts: Option<BurstsSummary>,
}

/// Runs of intervals of 100 µs with at least 80 % of the line.
#[derive(Debug, PartialEq, Serialize)]
pub struct BurstsSummary {
    bursts: u64,
    duration_ns: Summary,
    line_bytes: Summary,
}

impl Rates {
    /// Rates from this time on, on a line of this speed.
    pub fn new(origin_ns: u64, line_bps: Option<u64>) -> Rates {
        let place_bytes = |bps: u64| {
            (u128::from(bps) * u128::from(SLOT_NS) * BURST_PERCENT / (100 * 8 * NS_PER_S)) as u64
        };
        Rates {
            intervals: WIDTHS_NS.map(|width_ns| Intervals::new(width_ns, line_bps)),
            series: Series::new(SLOT_NS),
            slots: [(0, 0); SLOTS as usize],
            first: 0,
            last: 0,
            origin_ns,
            late_frames: 0,
            burst_bytes_min: line_bps.map(place_bytes),
            burst: (0, 0),
            burst_next: 0,
            burst_duration: Distribution::default(),
            burst_bytes: Distribution::default(),
        }
    }

    /// Counts a frame of this length on the line.
    #[inline]
    pub fn add(&mut self, now_ns: u64, line_bytes: u32) {
        let since = now_ns.saturating_sub(self.origin_ns) / SLOT_NS;
        let slot = if since < self.first || now_ns < self.origin_ns {
            self.late_frames += 1;
            self.first
        } else {
            since
        };
        if slot >= self.first + SLOTS {
            self.advance(slot);
        }
        self.last = self.last.max(slot);
        let (bytes, frames) = &mut self.slots[(slot % SLOTS) as usize];
        *bytes += u64::from(line_bytes);
        *frames += 1;
    }

    /// Closes slots until this one is open.
    fn advance(&mut self, slot: u64) {
        let first = slot - SLOTS + 1;
        for number in self.first..first.min(self.first + SLOTS) {
            self.close(number);
        }
        self.first = first;
    }

    fn close(&mut self, number: u64) {
        let (bytes, frames) = std::mem::take(&mut self.slots[(number % SLOTS) as usize]);
        if frames == 0 {
            return;
        }
        for intervals in &mut self.intervals {
            intervals.add(number * SLOT_NS, bytes, frames);
        }
        self.series.add(number, bytes);
        if self.burst_bytes_min.is_some_and(|min| bytes >= min) {
            if number != self.burst_next {
                self.end_burst();
            }
            self.burst = (self.burst.0 + 1, self.burst.1 + bytes);
            self.burst_next = number + 1;
        }
    }

    fn end_burst(&mut self) {
        let (slots, bytes) = std::mem::take(&mut self.burst);
        if slots > 0 {
            self.burst_duration.add(slots * SLOT_NS);
            self.burst_bytes.add(bytes);
        }
    }

    /// For the results, at the end.
    pub fn summary(mut self) -> RatesSummary {
        for number in self.first..=self.last {
            self.close(number);
        }
        self.end_burst();
        for intervals in &mut self.intervals {
            intervals.close();
        }
        let bursts = self.burst_bytes_min.map(|_| BurstsSummary {
            bursts: self.burst_duration.count(),
            duration_ns: self.burst_duration.summary(),
            line_bytes: self.burst_bytes.summary(),
        });
        RatesSummary {
            intervals: self.intervals.iter().map(Intervals::summary).collect(),
            over_time: self.series.summary(),
            late_frames: self.late_frames,
            bursts,
        }
    }
}
