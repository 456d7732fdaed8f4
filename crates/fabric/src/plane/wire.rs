//! One direction of a link, with the frames that are on their way.

use crate::frame::LiveFrame;
use std::collections::VecDeque;
use tailrace_sim::Flight;
use tailrace_units::Time;

/// Where a wire ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Switch { switch: usize, port: usize },
    Host(usize),
}

#[derive(Debug)]
pub(super) struct Wire {
    frames: VecDeque<(Time, LiveFrame)>,
    pub(super) end: End,
    flight: Flight,
}

impl Wire {
    pub(super) fn new(end: End, flight: Flight) -> Wire {
        Wire { frames: VecDeque::new(), end, flight }
    }

    /// When a frame that is sent from `start` to `end` arrives.
    #[inline]
    pub(super) fn arrival(&self, start: Time, end: Time) -> Time {
        match self.flight.header_time {
            None => end + self.flight.delay,
            Some(header) => (start + header).min(end) + self.flight.delay,
        }
    }

    /// The same, but neither before `earliest` nor before what is on its way already.
    pub(super) fn arrival_after(&self, start: Time, end: Time, earliest: Time) -> Time {
        let last = self.frames.back().map_or(Time::ZERO, |last| last.0);
        self.arrival(start, end).max(earliest).max(last)
    }

    #[inline]
    pub(super) fn push(&mut self, arrival: Time, frame: LiveFrame) {
        self.frames.push_back((arrival, frame));
    }

    /// When the next frame arrives.
    #[inline]
    pub(super) fn next_arrival(&self) -> Time {
        self.frames.front().map_or(Time::NEVER, |first| first.0)
    }

    /// The next frame, with its arrival.
    #[inline]
    pub(super) fn next_frame(&self) -> Option<&(Time, LiveFrame)> {
        self.frames.front()
    }

    /// Takes the next frame if it has arrived.
    #[inline]
    pub(super) fn pop_arrived(&mut self, now: Time) -> Option<(Time, LiveFrame)> {
        if self.next_arrival() <= now { self.frames.pop_front() } else { None }
    }

    /// Whether frames follow each other.
    #[inline]
    pub(super) fn holds_several(&self) -> bool {
        self.frames.len() > 1
    }

    /// Frames on their way. Pause frames are the switches' own and not counted among the frames of the network.
    pub(super) fn len(&self) -> u64 {
        self.frames.iter().filter(|(_, frame)| !tailrace_dataplane::Frame::is_pause(frame)).count() as u64
    }
}
