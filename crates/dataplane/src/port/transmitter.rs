//! The transmitter of a port.

use crate::{Outputs, PortNo, QueueCounters};
use tailrace_units::{Pace, Span, Time};

/// In 48 bytes, so that there is room in its cache line for what most frames need of the queue.
#[derive(Debug)]
pub(super) struct Transmitter {
    pub(super) number: PortNo,
    pub(super) pace: Pace,
    overhead_bytes: u32,
    /// Whether the outside wants to know each change of depth.
    pub(super) is_observed: bool,
    /// The transmitter is free from here on, as far as was decided.
    pub(super) free_at: Time,
    /// When the port has something to do next: a start that was committed to, or a choice.
    /// [`Time::NEVER`] for nothing.
    pub(super) due: Time,
    /// Bytes that wait, in all queues together.
    pub(super) waiting_bytes: u64,
}

impl Transmitter {
    pub(super) fn new(number: PortNo, pace: Pace, overhead_bytes: u32) -> Transmitter {
        Transmitter {
            number,
            pace,
            overhead_bytes,
            free_at: Time::ZERO,
            due: Time::NEVER,
            waiting_bytes: 0,
            is_observed: false,
        }
    }

    /// Bytes that every frame has on the wire in addition to its own.
    #[inline]
    pub(super) fn overhead_bytes(&self) -> u64 {
        u64::from(self.overhead_bytes)
    }

    /// How long a frame of so many bytes occupies the wire.
    #[inline(always)]
    pub(super) fn time_to_send(&self, frame_bytes: u32) -> Span {
        self.pace.time_to_send(u64::from(frame_bytes) + self.overhead_bytes())
    }

    /// A frame of so many bytes occupies the wire from `start` until [`Transmitter::free_at`].
    /// Returns its wire bytes.
    #[inline(always)]
    pub(super) fn occupy(&mut self, start: Time, frame_bytes: u32) -> u64 {
        let wire_bytes = u64::from(frame_bytes) + self.overhead_bytes();
        self.free_at = start + self.pace.time_to_send(wire_bytes);
        wire_bytes
    }

    /// The number of waiting bytes changes to this.
    #[inline]
    pub(super) fn waits<F>(&mut self, at: Time, bytes: u64, out: &mut impl Outputs<F>) {
        self.waiting_bytes = bytes;
        if self.is_observed {
            out.depth(at, self.number, bytes);
        }
    }
}

/// Counts a transmission that was decided.
#[inline]
pub(super) fn count_sent(counters: &mut QueueCounters, bytes: u32) {
    counters.tx_frames += 1;
    counters.tx_bytes += u64::from(bytes);
}
