//! One output queue: frames in order, with the time each came.

use crate::counters::waited;
use crate::ingress::Account;
use crate::qcn::CongestionPoint;
use crate::shaper::Shaper;
use crate::{Aqm, QueueCounters, Room};
use std::collections::VecDeque;
use tailrace_units::Time;

/// The part of a queue that active queue management sees, for any port.
pub(crate) struct Managed<'a> {
    pub(crate) aqm: &'a mut Aqm,
    pub(crate) counters: &'a mut QueueCounters,
    pub(crate) depth_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Queue<F> {
    /// When each frame came, and the frame.
    frames: VecDeque<(Time, F)>,
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
    /// Frames that ever entered; with [`Queue::left`] it shows whether a given frame still waits.
    entered: u64,
}

impl<F: crate::Frame> Queue<F> {
    pub(crate) fn new(room: Room, aqm: Aqm) -> Queue<F> {
        Queue {
            frames: VecDeque::new(),
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

    /// For active queue management.
    #[inline(always)]
    pub(crate) fn managed(&mut self) -> Managed<'_> {
        Managed { aqm: &mut self.aqm, counters: &mut self.counters, depth_bytes: self.depth_bytes }
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
        self.frames.front().map(|(_, frame)| frame)
    }

    /// Whether any frame here is accounted to this group of an ingress port.
    pub(crate) fn holds_of(&self, port: u16, group: u8) -> bool {
        self.accounts.contains(&Account { port, group })
    }

    pub(crate) fn push(&mut self, now: Time, frame: F, account: Option<Account>) {
        self.depth_bytes += u64::from(frame.bytes());
        self.counters.depth_max_bytes = self.counters.depth_max_bytes.max(self.depth_bytes);
        self.frames.push_back((now, frame));
        if let Some(account) = account {
            self.accounts.push_back(account);
        }
        self.entered += 1;
    }

    /// Counters by `now`; waiting frames have waited until then.
    pub(crate) fn counters(&self, now: Time) -> QueueCounters {
        let byte_picoseconds = self.counters.byte_picoseconds.wrapping_add(self.waited_so_far(now));
        QueueCounters { byte_picoseconds, ..self.counters.clone() }
    }

    /// Counts from `now` on. The past waits of the frames here are taken off, and come back when
    /// they leave.
    pub(crate) fn begin_counting(&mut self, now: Time) {
        let byte_picoseconds = self.waited_so_far(now).wrapping_neg();
        self.counters = QueueCounters {
            depth_max_bytes: self.depth_bytes,
            byte_picoseconds,
            ..QueueCounters::default()
        };
    }

    /// Bytes that wait, each times how long, in picoseconds.
    fn waited_so_far(&self, now: Time) -> u128 {
        self.frames.iter().map(|(arrived, frame)| waited(frame.bytes(), *arrived, now)).sum()
    }

    /// The first frame leaves the depth and the accounts: when it came, its bytes, and where it is
    /// accounted. Then it is fetched by [`Queue::fetch_head`], which moves it to where it goes.
    #[inline]
    pub(crate) fn release_head(&mut self, at: Time) -> (Time, u32, Option<Account>) {
        let (arrived, frame) = self.frames.front().expect("the queue has a frame");
        let (arrived, bytes) = (*arrived, frame.bytes());
        self.depth_bytes -= u64::from(bytes);
        self.counters.byte_picoseconds =
            self.counters.byte_picoseconds.wrapping_add(waited(bytes, arrived, at));
        (arrived, bytes, self.accounts.pop_front())
    }

    /// The frame that was released.
    #[inline]
    pub(crate) fn fetch_head(&mut self) -> F {
        self.frames.pop_front().expect("the queue has a frame").1
    }

    /// Whether the queue is below its guaranteed rate.
    pub(crate) fn is_owed(&self, at: Time) -> bool {
        self.floor.as_ref().is_some_and(|floor| floor.conforms_from() <= at)
    }

    /// A frame of so many wire bytes is sent from here.
    pub(crate) fn charge(&mut self, start: Time, wire_bytes: u64) {
        if let Some(ceiling) = &mut self.ceiling {
            ceiling.charge(start, wire_bytes);
        }
        // Service beyond a queue's guarantee is not held against it later.
        if let Some(floor) = &mut self.floor
            && floor.conforms_from() <= start
        {
            floor.charge(start, wire_bytes);
        }
    }
}
