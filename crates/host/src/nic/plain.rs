//! The transmit side of a network interface: one queue in front of one wire.

use tailrace_units::{Pace, Span, Time};

/// The transmitter of a host. It sends in order and has nothing to choose, so the departure of a
/// frame is known when the frame is handed over.
#[derive(Clone, Debug)]
pub struct PlainNic {
    pace: Pace,
    overhead_bytes: u64,
    free_at: Time,
    /// The queue's limit as time on the wire.
    longest_wait: Span,
    /// Frames that did not fit the queue.
    pub queue_drops: u64,
    /// Frames that it has sent, or will send.
    pub sent_frames: u64,
}

impl PlainNic {
    /// `queue_bytes` may wait; `overhead_bytes` is charged to every frame on the wire.
    pub fn new(pace: Pace, overhead_bytes: u32, queue_bytes: u64) -> PlainNic {
        let longest_wait = pace.time_to_send(queue_bytes);
        PlainNic {
            pace,
            overhead_bytes: u64::from(overhead_bytes),
            free_at: Time::ZERO,
            longest_wait,
            queue_drops: 0,
            sent_frames: 0,
        }
    }

    /// Takes a frame. Returns the start and the end of its transmission, or `None` when the queue
    /// is full.
    #[inline]
    pub fn send(&mut self, now: Time, frame_bytes: u32) -> Option<(Time, Time)> {
        if self.free_at.since(now) > self.longest_wait {
            self.queue_drops += 1;
            return None;
        }
        self.sent_frames += 1;
        let start = self.free_at.max(now);
        self.free_at = start + self.pace.time_to_send(u64::from(frame_bytes) + self.overhead_bytes);
        Some((start, self.free_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;

    #[test]
    fn frames_follow_each_other_and_a_full_queue_drops_the_newcomer() {
        let mut nic = PlainNic::new(BitRate::from_gbps(10).pace(0), 24, 4_000);
        let sent: Vec<_> = (0..4).map(|_| nic.send(Time::ZERO, 1514)).collect();
        let ns = |n| Time::ZERO + Span::from_ns(n) + Span::from_ps(400);
        assert_eq!(sent[0], Some((Time::ZERO, ns(1230))));
        assert_eq!(sent[1].map(|s| s.0), Some(ns(1230)));
        assert_eq!(sent[3], None);
        assert_eq!((nic.queue_drops, nic.sent_frames), (1, 3));
    }
}
