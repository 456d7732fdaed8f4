//! The rules of `IntelligentBuffer` in inet-tub/ns3-datacenter (`gen-queue-disc.cc`, ns-3.39),
//! written down anew from what that class does: prioritisation, dynamic thresholds and its form of
//! approximate fair drop, at a port of two queues.
//!
//! Two of its habits are not in its description and matter by number. The call of its drop test has
//! its two arguments exchanged, so the probability is taken for the queue and the queue's number
//! for the probability ([`Form::AsRun`]). And its arrivals are counted by priority although their
//! table is described as one of flows ([`Form::PerFlow`]).

use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{RandomStream, Span, Time};

/// The queue of prioritised packets, and the only other one.
pub const EXPRESS: usize = 0;
const NORMAL: usize = 1;
/// No drop below this depth (150 * 1024 there: Cisco's 150 kB for 10 Gbit/s).
const DROPS_ABOVE_BYTES: u64 = 153_600;
/// Fair bytes at the start.
const FAIR_AT_START: f64 = 4e6;
/// The gains of CCR 33(2), 2003.
const NOW: f64 = 1.8;
const BEFORE: f64 = 1.7;
/// The weight of one arrived byte in the comparison with the fair bytes.
const SCALE: u64 = 15;

/// Which reading of the drop rule is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the class runs, arguments exchanged.
    AsRun,
    /// With the arguments in place: arrivals of the priority.
    PerPriority,
    /// With the arguments in place and a count for each flow.
    PerFlow,
}

/// Settings, under our names.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub buffer_bytes: u64,
    /// Thousandths, for each queue.
    pub alpha_milli: [u64; 2],
    /// A packet is prioritised when its number in the flow, from 1, is below this (DppThreshold).
    pub below_number: u32,
    /// A flow is new after more than this silence (DppWindow).
    pub silence: Span,
    /// The fair bytes are computed anew at the first arrival more than this after the last time
    /// (AfdWindow).
    pub window: Span,
    /// The depth that is wanted (QRefAfd).
    pub wanted_bytes: u64,
    pub form: Form,
}

/// The fate of a packet at the entrance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verdict {
    pub is_express: bool,
    pub is_accepted: bool,
    /// Fair bytes when it came.
    pub fair: f64,
    pub depths: [u64; 2],
}

/// The port: rules, two queues, strict service, a line of 10 Gbit/s with 24 bytes around each
/// frame.
pub struct Port {
    set: Settings,
    random: RandomStream,
    flows: BTreeMap<u32, (u32, Time)>,
    /// Bytes in the last window and in this one, by priority or by flow.
    arrived: BTreeMap<u32, (u64, u64)>,
    fair: f64,
    depth_before: u64,
    window_from: Time,
    queues: [VecDeque<(u64, u32)>; 2],
    depths: [u64; 2],
    free_at: Time,
    /// Packets and their starts, in order.
    pub sent: Vec<(u64, u64)>,
}

impl Port {
    pub fn new(set: Settings) -> Port {
        Port {
            set,
            random: RandomStream::new(1, "reference"),
            flows: BTreeMap::new(),
            arrived: BTreeMap::new(),
            fair: FAIR_AT_START,
            depth_before: 0,
            window_from: Time::ZERO,
            queues: [VecDeque::new(), VecDeque::new()],
            depths: [0; 2],
            free_at: Time::ZERO,
            sent: Vec::new(),
        }
    }

    pub fn handle(&mut self, now: Time, id: u64, flow: u32, bytes: u32) -> Verdict {
        self.settle(now);
        let is_express = {
            self.roll(now);
            self.is_first(now, flow)
        };
        let queue = if is_express { EXPRESS } else { NORMAL };
        let is_struck = !is_express && self.strikes(flow, bytes);
        let is_accepted = self.fits(queue, bytes) && !is_struck;
        if is_accepted {
            self.queues[queue].push_back((id, bytes));
            self.depths[queue] += u64::from(bytes);
        }
        let verdict = Verdict { is_express, is_accepted, fair: self.fair, depths: self.depths };
        if self.free_at <= now {
            self.send(now);
        }
        verdict
    }

    /// Sends the packets that were due by `now`.
    pub fn settle(&mut self, now: Time) {
        while self.free_at <= now && self.depths != [0; 2] {
            self.send(self.free_at);
        }
    }

    fn send(&mut self, at: Time) {
        let Some(queue) = self.queues.iter().position(|queue| !queue.is_empty()) else { return };
        let (id, bytes) = self.queues[queue].pop_front().expect("it is not empty");
        self.depths[queue] -= u64::from(bytes);
        self.sent.push((id, at.ps()));
        self.free_at = at + Span::from_ps(u64::from(bytes + 24) * 800);
    }

    fn is_first(&mut self, now: Time, flow: u32) -> bool {
        let (count, seen) = self.flows.entry(flow).or_insert((0, now));
        if now.since(*seen) > self.set.silence {
            *count = 0;
        }
        (*count, *seen) = (*count + 1, now);
        *count < self.set.below_number
    }

    /// Strictly more than the frame must be free, and the queue with it must not pass alpha times
    /// the free bytes.
    fn fits(&self, queue: usize, bytes: u32) -> bool {
        let (bytes, free) =
            (u64::from(bytes), self.set.buffer_bytes - self.depths[0] - self.depths[1]);
        self.depths[queue] + bytes <= self.set.alpha_milli[queue] * free / 1000 && free > bytes
    }

    fn roll(&mut self, now: Time) {
        if now.since(self.window_from) <= self.set.window {
            return;
        }
        self.window_from = now;
        self.arrived.values_mut().for_each(|(last, this)| (*last, *this) = (*this, 1));
        let wanted = self.set.wanted_bytes as f64;
        let (depth, before) = (self.depths[NORMAL] as f64, self.depth_before as f64);
        self.fair = (self.fair - NOW * (depth - wanted) + BEFORE * (before - wanted)).max(0.0);
        self.depth_before = self.depths[NORMAL];
    }

    fn strikes(&mut self, flow: u32, bytes: u32) -> bool {
        let key = if self.set.form == Form::PerFlow { flow } else { NORMAL as u32 };
        let (last, this) = self.arrived.entry(key).or_insert((0, 0));
        *this += u64::from(bytes);
        *last = (*last).max(1);
        let counted = SCALE * *last;
        let probability = 1.0 - counted.min(self.fair as u64) as f64 / counted as f64;
        match self.set.form {
            // The probability, cut to a whole number, is the queue; the number of the queue is the
            // probability: certain.
            Form::AsRun => self.depths[probability as usize] > DROPS_ABOVE_BYTES,
            Form::PerPriority | Form::PerFlow => {
                let draw = self.random.below(1 << 32) as f64 / (1_u64 << 32) as f64;
                draw < probability && self.depths[NORMAL] > DROPS_ABOVE_BYTES
            }
        }
    }
}
