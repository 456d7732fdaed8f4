//! The network interface of a host, as far as the fabric plays it: a real program's frames leave the host no faster than
//! its link sends them. Not reading is how the interface makes the host wait.

use tailrace_units::{Pace, Span, Time};

/// How far behind the clock a line may send what waited: beyond it the fabric was held up, and does not catch up.
pub(super) const CREDIT_MAX: Span = Span::from_ms(5);

/// The transmitter of a host.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pace: Pace,
    overhead_bytes: u64,
    free_at: Time,
    /// Nothing waited at the last look: the next frame came after it.
    was_empty: bool,
}

impl Line {
    /// `overhead_bytes` is charged to every frame.
    pub(super) fn new(pace: Pace, overhead_bytes: u32) -> Line {
        Line { pace, overhead_bytes: u64::from(overhead_bytes), free_at: Time::ZERO, was_empty: true }
    }

    /// Whether the next frame may be read.
    #[inline]
    pub(super) fn is_free(&self, now: Time) -> bool {
        self.free_at <= now
    }

    /// Nothing waits in the host.
    #[inline]
    pub(super) fn found_empty(&mut self) {
        self.was_empty = true;
    }

    /// A frame was read: when its transmission starts and ends. One that has waited follows the one before it, however
    /// late the reading.
    #[inline]
    pub(super) fn send(&mut self, now: Time, frame_bytes: u32) -> (Time, Time) {
        let earliest = if self.was_empty { now } else { now - CREDIT_MAX };
        let start = self.free_at.max(earliest);
        self.was_empty = false;
        self.free_at = start + self.pace.time_to_send(u64::from(frame_bytes) + self.overhead_bytes);
        (start, self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    #[test]
    fn a_late_reader_loses_no_time_of_a_busy_line() {
        let mut line = Line::new(BitRate::from_gbps(1).pace(0), 24); // 976 bytes take 8 us
        assert_eq!(line.send(us(0), 976), (us(0), us(8)));
        assert!(!line.is_free(us(7)));
        // Read 92 us late: the frames follow each other as if they had been read in time.
        let mut starts = Vec::new();
        while line.is_free(us(100)) {
            starts.push(line.send(us(100), 976).0);
        }
        assert_eq!((starts[0], starts.len()), (us(8), 12));
        line.found_empty();
        assert_eq!(line.send(us(500), 976).0, us(500));
    }

    #[test]
    fn a_line_that_was_held_up_for_long_does_not_catch_up() {
        let mut line = Line::new(BitRate::from_gbps(1).pace(0), 24);
        line.send(us(0), 976);
        assert_eq!(line.send(us(100_000), 976).0, us(95_000));
    }
}
