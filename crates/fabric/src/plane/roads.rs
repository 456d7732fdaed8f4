//! What a switch sees of the world: wires to send on, and a record of what happened.

use super::sources::Sources;
use super::wire::{End, Wire};
use crate::frame::{LiveFrame, Pool};
use std::collections::VecDeque;
use tailrace_dataplane::{DropCause, Frame, Notification, Outside, PortNo, QueueNo};
use tailrace_record::Digest;
use tailrace_sim::PortRecord;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// Where the digest's events happen, besides wires.
const DROPS: u64 = 1 << 32;
const MARKS: u64 = 2 << 32;

/// Every frame is in exactly one of these places, or in the network.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Frames {
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) dropped: u64,
}

/// A congestion point's word for the source of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub(super) switch: usize,
    pub(super) port: PortNo,
    pub(super) frame: LiveFrame,
    pub(super) notification: Notification,
}

/// The parts of the network that a frame passes on its way out of a switch.
#[derive(Debug)]
pub(super) struct Roads {
    pub(super) wires: Vec<Wire>,
    /// By host: pauses and notifications for its interface, with their arrival.
    pub(super) mail: Vec<VecDeque<(Time, Packet)>>,
    /// Bytes of frames; none in a replay.
    pub(super) pool: Option<Pool>,
    pub(super) notices: Vec<Notice>,
    pub(super) digest: Digest,
    pub(super) frames: Frames,
    /// Observed ports, in the order of the plan.
    pub(super) records: Vec<PortRecord>,
    /// Whose frames they are, for the records.
    pub(super) sources: Sources,
    /// Start of the measured interval: records count time from here.
    pub(super) begin: Time,
    /// End of its warm-up, from which switches count; its start where there is none.
    pub(super) counted_from: Time,
}

impl Roads {
    /// A frame has left the network: its memory is free.
    #[inline]
    pub(super) fn release(&mut self, frame: &LiveFrame) {
        if let (Some(pool), Some(slot)) = (&mut self.pool, frame.slot) {
            pool.give_back(slot);
        }
    }

    #[inline]
    fn send(&mut self, wire: usize, frame: LiveFrame, start: Time, end: Time) {
        self.digest.add(start, wire as u64, frame.fingerprint());
        let arrival = self.wires[wire].arrival(start, end);
        if let End::Host(host) = self.wires[wire].end
            && frame.packet.flags.intersects(Flags::PAUSE.with(Flags::CNM))
        {
            self.frames.delivered += u64::from(!frame.is_pause());
            return self.mail[host].push_back((arrival, frame.packet));
        }
        self.wires[wire].push(arrival, frame);
    }

    pub(super) fn since_begin(&self, at: Time) -> Time {
        Time::ZERO + at.since(self.begin)
    }

    /// Records begin anew at `now`, with these bytes waiting at each observed port.
    pub(super) fn begin(&mut self, now: Time, empty: &PortRecord, waiting: &[u64]) {
        self.begin = now;
        self.counted_from = now;
        for (record, &bytes) in self.records.iter_mut().zip(waiting) {
            *record = empty.clone();
            record.depth.change(Time::ZERO, bytes);
        }
    }

    /// The warm-up is over: what is no series is counted from `now` on.
    pub(super) fn begin_counting(&mut self, now: Time) {
        self.counted_from = now;
        let at = self.since_begin(now);
        self.records.iter_mut().for_each(|record| record.begin_counting(at));
    }

    /// How long has been counted.
    pub(super) fn counted(&self, now: Time) -> Span {
        now.since(self.counted_from)
    }

    /// How long the measured interval has lasted.
    pub(super) fn measured(&self, now: Time) -> Span {
        now.since(self.begin)
    }
}

/// The world around one switch.
pub(super) struct AroundSwitch<'a> {
    pub(super) roads: &'a mut Roads,
    pub(super) switch: usize,
    /// For each port its wire, and its record if it is observed.
    pub(super) ports: &'a [(usize, Option<usize>)],
}

impl Outside<LiveFrame> for AroundSwitch<'_> {
    #[inline]
    fn transmit(&mut self, port: PortNo, frame: LiveFrame, start: Time, end: Time) {
        let (wire, record) = self.ports[port];
        if let Some(record) = record {
            let at = self.roads.since_begin(start);
            let source = self.roads.sources.of(&frame);
            let record = &mut self.roads.records[record];
            record.tx_bytes.add(at, u64::from(frame.bytes()));
            if let Some(source) = source {
                record.traffic.sent(source, frame.priority(), frame.packet.frame_bytes);
            }
        }
        self.roads.send(wire, frame, start, end);
    }

    fn dropped(&mut self, at: Time, port: PortNo, _queue: QueueNo, frame: &LiveFrame, cause: DropCause) {
        let (wire, record) = self.ports[port];
        self.roads.frames.dropped += 1;
        self.roads.digest.add(at, DROPS | wire as u64, frame.fingerprint());
        if let Some(record) = record {
            let at = self.roads.since_begin(at);
            let source = self.roads.sources.of(frame);
            self.roads.records[record].dropped(at, source, frame, cause);
        }
        self.roads.release(frame);
    }

    fn marked(&mut self, at: Time, port: PortNo, _queue: QueueNo, frame: &LiveFrame) {
        let (wire, record) = self.ports[port];
        self.roads.digest.add(at, MARKS | wire as u64, frame.fingerprint());
        if let Some(record) = record {
            let at = self.roads.since_begin(at);
            self.roads.records[record].mark_frames.add(at, 1);
        }
    }

    fn notify(&mut self, _at: Time, port: PortNo, _queue: QueueNo, frame: &LiveFrame, notification: Notification) {
        if !frame.packet.flags.contains(Flags::CNM) {
            self.roads.notices.push(Notice { switch: self.switch, port, frame: *frame, notification });
        }
    }

    fn depth(&mut self, at: Time, port: PortNo, bytes: u64) {
        if let Some(record) = self.ports[port].1 {
            let at = self.roads.since_begin(at);
            self.roads.records[record].depth.change(at, bytes);
        }
    }
}
