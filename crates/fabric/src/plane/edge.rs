//! The network interface of a host, as far as the fabric plays it: a real program's frames leave
//! the host no faster than its link sends them. Not reading is how the interface makes the host
//! wait.

use tailrace_units::{Pace, Span, Time};

/// How far behind the clock a line may send waiting frames: beyond it the fabric was held up, and
/// does not catch up.
pub(super) const CREDIT_MAX: Span = Span::from_ms(5);

/// When a frame's transmission starts and ends.
pub(super) type Sending = (Time, Time);

/// The transmitter of a host.
#[derive(Clone, Debug)]
pub(super) struct HostLine {
    pace: Pace,
    overhead_bytes: u64,
    free_at: Time,
    /// When it would be free if the fabric had always been in time.
    on_time_free_at: Time,
    /// Nothing waited at the last wake-up: the next frame came after it.
    was_empty: bool,
}

impl HostLine {
    /// `overhead_bytes` is charged to every frame.
    pub(super) fn new(pace: Pace, overhead_bytes: u32) -> HostLine {
        HostLine {
            pace,
            overhead_bytes: u64::from(overhead_bytes),
            free_at: Time::ZERO,
            on_time_free_at: Time::ZERO,
            was_empty: true,
        }
    }

    /// A wake-up begins that was in time: earlier losses of the line are final, and senders that
    /// have more to send than it takes have adapted to it. Later frames of theirs are not late for
    /// it.
    #[inline]
    pub(super) fn give_up_lost_time(&mut self) {
        self.on_time_free_at = self.free_at;
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

    /// A frame was read: when its transmission starts and ends, and when it would have on a fabric
    /// without lateness. One that has waited follows the one before it, however late the reading.
    ///
    /// `offered` is when the host offered it; `None` where its kernel does not stamp frames: then
    /// it came by the time at which the present wake-up was `meant` to be, or waits since the
    /// wake-up before.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Time,
        meant: Time,
        offered: Option<Time>,
        frame_bytes: u32,
    ) -> (Sending, Sending) {
        let earliest = if self.was_empty { now } else { now - CREDIT_MAX };
        let offered = offered.unwrap_or(if self.was_empty { meant } else { Time::ZERO });
        let start = self.free_at.max(earliest);
        let punctual_start = self.on_time_free_at.max(offered);
        let on_wire = self.pace.time_to_send(u64::from(frame_bytes) + self.overhead_bytes);
        self.was_empty = false;
        self.free_at = start + on_wire;
        self.on_time_free_at = punctual_start + on_wire;
        ((start, self.free_at), (punctual_start, self.on_time_free_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    /// A frame that takes 8 us is read in time.
    fn send(line: &mut HostLine, now: Time) -> Sending {
        line.send(now, now, None, 976).0
    }

    #[test]
    fn a_late_reader_loses_no_time_of_a_busy_line() {
        let mut line = HostLine::new(BitRate::from_gbps(1).pace(0), 24); // 976 bytes take 8 us
        assert_eq!(send(&mut line, us(0)), (us(0), us(8)));
        assert!(!line.is_free(us(7)));
        // Read 92 us late: the frames follow each other as if they had been read in time.
        let mut starts = Vec::new();
        while line.is_free(us(100)) {
            starts.push(send(&mut line, us(100)).0);
        }
        assert_eq!((starts[0], starts.len()), (us(8), 12));
        line.found_empty();
        assert_eq!(send(&mut line, us(500)).0, us(500));
    }

    #[test]
    fn a_line_that_was_held_up_for_long_does_not_catch_up() {
        let mut line = HostLine::new(BitRate::from_gbps(1).pace(0), 24);
        send(&mut line, us(0));
        assert_eq!(send(&mut line, us(100_000)).0, us(95_000));
    }

    #[test]
    fn a_punctual_line_sends_a_frame_when_it_was_offered() {
        let mut line = HostLine::new(BitRate::from_gbps(1).pace(0), 24);
        // Offered at 10 us and read at 3 010 us: the line starts it when it is read, one without
        // lateness at once.
        let (real, on_time) = line.send(us(3_010), us(3_000), Some(us(10)), 976);
        assert_eq!((real.0, on_time), (us(3_010), (us(10), us(18))));
        // The next was offered while the first was on the wire without lateness.
        let (real, on_time) = line.send(us(3_010), us(3_000), Some(us(12)), 976);
        assert_eq!((real.0, on_time.0), (us(3_018), us(18)));
    }

    #[test]
    fn time_that_a_line_lost_for_good_is_counted_once() {
        let mut line = HostLine::new(BitRate::from_gbps(1).pace(0), 24);
        send(&mut line, us(0));
        // Held up for 9 ms, of which 5 are made up for: these two frames were offered at the
        // beginning.
        let late = |line: &mut HostLine, now: Time| line.send(now, us(8), Some(us(1)), 976);
        assert_eq!(late(&mut line, us(9_008)), ((us(4_008), us(4_016)), (us(8), us(16))));
        assert_eq!(late(&mut line, us(9_008)).1.0, us(16));
        // The next wake-up is in time, and frames still wait: they follow each other as they would
        // on any line.
        line.give_up_lost_time();
        let (real, on_time) = late(&mut line, us(9_010));
        assert_eq!(real, on_time);
    }

    #[test]
    fn without_a_stamp_a_frame_came_by_the_time_of_the_intended_poll() {
        let mut line = HostLine::new(BitRate::from_gbps(1).pace(0), 24);
        let (real, on_time) = line.send(us(3_010), us(50), None, 976);
        assert_eq!((real.0, on_time.0), (us(3_010), us(50)));
        // A frame that waited behind it came before that wake-up, and follows it.
        assert_eq!(line.send(us(3_010), us(50), None, 976).1.0, us(58));
    }
}
