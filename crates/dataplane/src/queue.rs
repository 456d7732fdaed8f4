//! One output queue: frames in order, with the time each came.

use crate::ingress::Account;
use crate::qcn::CongestionPoint;
use crate::shaper::Shaper;
use crate::{Aqm, QueueCounters, Room};
use std::collections::VecDeque;
use tailrace_units::Time;

#[derive(Debug)]
pub(crate) struct Queue<F> {
    frames: VecDeque<F>,
    arrivals: VecDeque<Time>,
    /// Where each frame is accounted at the ingress; empty where ingress ports do not account.
    accounts: VecDeque<Account>,
    pub(crate) depth_bytes: u64,
    pub(crate) room: Room,
    pub(crate) aqm: Aqm,
    /// The queue sends no faster.
    pub(crate) ceiling: Option<Shaper>,
    /// The queue is served before other weighted queues until it has this rate.
    pub(crate) floor: Option<Shaper>,
    pub(crate) congestion_point: Option<Box<CongestionPoint>>,
    pub(crate) counters: QueueCounters,
    /// Frames that ever entered; with [`Queue::left`] it tells whether a given frame still waits.
    entered: u64,
}

impl<F: crate::Frame> Queue<F> {
    pub(crate) fn new(room: Room, aqm: Aqm) -> Queue<F> {
        Queue {
            frames: VecDeque::new(),
            arrivals: VecDeque::new(),
            accounts: VecDeque::new(),
            depth_bytes: 0,
            room,
            aqm,
            ceiling: None,
            floor: None,
            congestion_point: None,
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
    pub(crate) fn head(&self) -> Option<&F> {
        self.frames.front()
    }

    /// Whether any frame here is accounted to this group of an ingress port.
    pub(crate) fn holds_of(&self, port: u16, group: u8) -> bool {
        self.accounts.contains(&Account { port, group })
    }

    pub(crate) fn push(&mut self, now: Time, frame: F, account: Option<Account>) {
        self.depth_bytes += u64::from(frame.bytes());
        self.counters.depth_max_bytes = self.counters.depth_max_bytes.max(self.depth_bytes);
        self.frames.push_back(frame);
        self.arrivals.push_back(now);
        self.accounts.extend(account);
        self.entered += 1;
    }

    /// The first frame, when it came, and where it is accounted.
    pub(crate) fn pop(&mut self) -> Option<(Time, F, Option<Account>)> {
        let frame = self.frames.pop_front()?;
        let arrived = self.arrivals.pop_front().expect("every frame has its arrival");
        self.depth_bytes -= u64::from(frame.bytes());
        Some((arrived, frame, self.accounts.pop_front()))
    }

    /// A frame of so many wire bytes is sent from here.
    pub(crate) fn charge(&mut self, start: Time, wire_bytes: u64) {
        if let Some(ceiling) = &mut self.ceiling {
            ceiling.charge(start, wire_bytes);
        }
        // What a queue gets beyond its guarantee is not held against it later.
        if let Some(floor) = &mut self.floor
            && floor.conforms_from() <= start
        {
            floor.charge(start, wire_bytes);
        }
    }
}
