//! A port with one queue and nothing to choose: every departure is known when the frame arrives.

use super::PortPolicy;
use super::departures::Departures;
use super::judge::{Place, judge_arrival};
use super::transmitter::{Transmitter, count_sent};
use crate::counters::waited;
use crate::queue::Managed;
use crate::{Aqm, Frame, Outputs, QueueCounters, Room, SharedBuffer};
use tailrace_units::Time;

/// The frames themselves are already outside. What every frame touches comes first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Fifo {
    /// Bytes of the frames that wait. The first starts when the transmitter is due, each other when
    /// the one before it is over.
    departures: Departures,
    room: Room,
    aqm: Aqm,
    /// Frames that wait are among those sent, and the time until they start among their waiting.
    counters: QueueCounters,
}

impl Fifo {
    pub(super) fn new(mut policy: PortPolicy) -> Fifo {
        let only = policy.queues.pop().expect("a plain port has one queue");
        Fifo {
            departures: Departures::default(),
            room: only.room,
            aqm: only.aqm,
            counters: QueueCounters::default(),
        }
    }

    /// What has happened by `now`: a frame is sent when its transmission starts.
    pub(super) fn counters(&self, transmitter: &Transmitter, now: Time) -> QueueCounters {
        let mut counters = self.counters.clone();
        for (start, bytes) in self.waiting(transmitter, now) {
            counters.tx_frames -= 1;
            counters.tx_bytes -= u64::from(bytes);
            counters.byte_picoseconds -= waited(bytes, now, start);
        }
        counters
    }

    /// Counts from `now` on. The port must be settled.
    pub(super) fn begin_counting(&mut self, transmitter: &Transmitter, now: Time) {
        let waiting_bytes = transmitter.waiting_bytes;
        self.counters = QueueCounters {
            tx_frames: self.departures.len() as u64,
            tx_bytes: waiting_bytes,
            depth_max_bytes: waiting_bytes,
            byte_picoseconds: self
                .departures(transmitter)
                .map(|(start, bytes)| waited(bytes, now, start))
                .sum(),
            ..QueueCounters::default()
        };
    }

    /// Frames whose transmission has not started by `now`, although it is decided when each does.
    pub(super) fn committed_frames(&self, transmitter: &Transmitter, now: Time) -> usize {
        self.waiting(transmitter, now).count()
    }

    fn waiting(&self, transmitter: &Transmitter, now: Time) -> impl Iterator<Item = (Time, u32)> {
        self.departures(transmitter).filter(move |&(start, _)| start > now)
    }

    /// Start of transmission and bytes of the frames that wait.
    fn departures(&self, transmitter: &Transmitter) -> impl Iterator<Item = (Time, u32)> {
        let mut next = transmitter.due;
        self.departures.iter().map(move |bytes| {
            let start = next;
            next = start + transmitter.time_to_send(bytes);
            (start, bytes)
        })
    }

    /// Frames whose transmission has started leave the queue.
    #[inline(never)]
    pub(super) fn settle<F>(
        &mut self,
        transmitter: &mut Transmitter,
        now: Time,
        buffer: &mut SharedBuffer,
        out: &mut impl Outputs<F>,
    ) {
        if transmitter.is_observed {
            return self.settle_observed(transmitter, now, buffer, out);
        }
        self.depart(transmitter, now, buffer, |_, _| {});
    }

    /// The same where each change of depth is reported.
    #[inline(never)]
    fn settle_observed<F>(
        &mut self,
        transmitter: &mut Transmitter,
        now: Time,
        buffer: &mut SharedBuffer,
        out: &mut impl Outputs<F>,
    ) {
        let port = transmitter.number;
        self.depart(transmitter, now, buffer, |at, bytes| out.depth(at, port, bytes));
    }

    /// Calls `each` with the start of each transmission and the bytes that wait behind it; the
    /// memory of all frames is given back at once.
    #[inline(always)]
    fn depart(
        &mut self,
        transmitter: &mut Transmitter,
        now: Time,
        buffer: &mut SharedBuffer,
        mut each: impl FnMut(Time, u64),
    ) {
        debug_assert!(!now.is_never(), "something may wait");
        let before = transmitter.waiting_bytes;
        let mut start = transmitter.due;
        while start <= now {
            let bytes = self.departures.pop();
            transmitter.waiting_bytes -= u64::from(bytes);
            each(start, transmitter.waiting_bytes);
            start = if self.departures.is_empty() {
                Time::NEVER
            } else {
                start + transmitter.time_to_send(bytes)
            };
        }
        transmitter.due = start;
        buffer.give_back(&self.room, before, before - transmitter.waiting_bytes);
    }

    /// Decides the fate of a frame that arrives now: when its transmission starts and ends, or none
    /// if it is dropped.
    #[inline(always)]
    pub(super) fn commit<F: Frame>(
        &mut self,
        transmitter: &mut Transmitter,
        now: Time,
        frame: &mut F,
        buffer: &mut SharedBuffer,
        out: &mut impl Outputs<F>,
    ) -> Option<(Time, Time)> {
        let bytes = frame.bytes();
        let depth = transmitter.waiting_bytes;
        let start = transmitter.free_at.max(now);
        if start > now
            && let Err(cause) = buffer.admits(&self.room, depth, self.departures.len(), bytes)
        {
            self.counters.count_drop(cause, bytes);
            out.dropped(now, transmitter.number, 0, frame, cause);
            return None;
        }
        let managed =
            Managed { aqm: &mut self.aqm, counters: &mut self.counters, depth_bytes: depth };
        if !judge_arrival(
            managed,
            Place { at: now, port: transmitter.number, queue: 0 },
            frame,
            None,
            out,
        ) {
            return None;
        }
        transmitter.occupy(start, bytes);
        if start > now {
            buffer.take(&self.room, depth, bytes);
            debug_assert_eq!(
                self.departures.is_empty(),
                transmitter.due.is_never(),
                "the port is settled"
            );
            transmitter.due = transmitter.due.min(start);
            self.departures.push(bytes);
            let after = depth + u64::from(bytes);
            self.counters.depth_max_bytes = self.counters.depth_max_bytes.max(after);
            self.counters.byte_picoseconds += waited(bytes, now, start);
            transmitter.waits(now, after, out);
        }
        count_sent(&mut self.counters, bytes);
        Some((start, transmitter.free_at))
    }
}
