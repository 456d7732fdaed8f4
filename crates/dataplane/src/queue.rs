//! One output queue: frames in order, with the time each came.

use crate::{Aqm, Limit, QueueCounters};
use std::collections::VecDeque;
use tailrace_units::Time;

#[derive(Debug)]
pub(crate) struct Queue<F> {
    frames: VecDeque<F>,
    arrivals: VecDeque<Time>,
    pub(crate) depth_bytes: u64,
    pub(crate) limit: Limit,
    pub(crate) aqm: Aqm,
    pub(crate) counters: QueueCounters,
    /// Frames that ever entered; with [`Queue::left`] it tells whether a given frame still waits.
    entered: u64,
}

impl<F: crate::Frame> Queue<F> {
    pub(crate) fn new(limit: Limit, aqm: Aqm) -> Queue<F> {
        Queue {
            frames: VecDeque::new(),
            arrivals: VecDeque::new(),
            depth_bytes: 0,
            limit,
            aqm,
            counters: QueueCounters::default(),
            entered: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }
    /// The number that the next frame to enter will have.
    pub(crate) fn next_number(&self) -> u64 {
        self.entered
    }
    /// All frames with a lower number have left.
    pub(crate) fn left(&self) -> u64 {
        self.entered - self.frames.len() as u64
    }
    pub(crate) fn head_bytes(&self) -> Option<u32> {
        self.frames.front().map(F::bytes)
    }

    pub(crate) fn push(&mut self, now: Time, frame: F) {
        self.depth_bytes += u64::from(frame.bytes());
        self.counters.depth_max_bytes = self.counters.depth_max_bytes.max(self.depth_bytes);
        self.frames.push_back(frame);
        self.arrivals.push_back(now);
        self.entered += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, F)> {
        let frame = self.frames.pop_front()?;
        let arrived = self.arrivals.pop_front().expect("every frame has its arrival");
        self.depth_bytes -= u64::from(frame.bytes());
        Some((arrived, frame))
    }
}
