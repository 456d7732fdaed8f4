//! A rate for one queue: a ceiling (shape max) or a floor (shape min), in wire bytes.

use tailrace_units::{Pace, Span, Time};

/// A token bucket, kept as the time at which the next byte conforms.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    pace: Pace,
    /// How far conformance may lag behind: the burst as time at the rate.
    burst: Span,
    next: Time,
}

impl Shaper {
    /// A rate with a burst of so many bytes.
    pub fn new(pace: Pace, burst_bytes: u64) -> Shaper {
        Shaper { pace, burst: pace.time_to_send(burst_bytes), next: Time::ZERO }
    }

    /// When the next frame conforms.
    #[inline]
    pub fn conforms_from(&self) -> Time {
        self.next
    }

    /// A frame of so many wire bytes started at `at`.
    #[inline]
    pub fn charge(&mut self, at: Time, wire_bytes: u64) {
        let earliest = at - self.burst;
        self.next = self.next.max(earliest) + self.pace.time_to_send(wire_bytes);
    }
}
