//! A switch with its place in the network. It owns the data plane, the records of its ports, and
//! the notices that its congestion points have not sent yet.

use crate::{NetworkFrame, PortEvent, PortRecord, notification};
use tailrace_dataplane::{DropCause, Notification, Outputs, PortNo, QueueNo, Switch};
use tailrace_plan::RawObserve;
use tailrace_units::Time;
use tailrace_wire::Flags;

/// The interface of an engine to the switches of its network: wires for sending, and a record of
/// events of frames.
pub trait Medium<F> {
    /// A frame may be sent on a wire soon.
    #[inline(always)]
    fn prepare(&self, _wire: usize) {}
    /// A frame occupies a wire from `start` to `end`.
    fn send(&mut self, wire: usize, frame: &F, start: Time, end: Time);
    /// A frame was dropped at the port before a wire.
    fn dropped(&mut self, at: Time, wire: usize, frame: &F, cause: DropCause);
    /// A frame was marked at the port before a wire.
    fn marked(&mut self, at: Time, wire: usize, frame: &F);
    /// The source of traffic that a frame belongs to, for records; none for frames that switches
    /// make.
    fn source_of(&self, frame: &F) -> Option<usize>;
}

/// A switch of the network.
#[derive(Debug)]
pub struct SwitchNode<F> {
    /// The data plane.
    pub switch: Switch<F>,
    outside: Outside<F>,
}

/// What is around the data plane.
#[derive(Debug)]
struct Outside<F> {
    /// By port: the wire behind it.
    wires: Vec<u32>,
    /// By port: its record if it is observed. None where no port is.
    records: Vec<Option<Box<PortRecord>>>,
    seldom: Seldom<F>,
}

/// What few calls of a switch touch.
#[derive(Debug)]
struct Seldom<F> {
    notices: Vec<Notice<F>>,
    /// By source of traffic.
    losses: Vec<Losses>,
}

/// Frames of one source that a switch dropped, for whatever reason, and those of them for which no
/// queue is to blame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// All of them.
    pub frames: u64,
    /// Those above a rate.
    pub policed_frames: u64,
    /// Those longer than the MTU of a port.
    pub too_long_frames: u64,
}

/// A notice of a congestion point for the source of a sampled frame.
#[derive(Clone, Copy, Debug)]
pub struct Notice<F> {
    /// The port of the congested queue.
    pub port: PortNo,
    /// The sampled frame.
    pub sampled: F,
    /// The feedback.
    pub notification: Notification,
}

impl<F: NetworkFrame> SwitchNode<F> {
    /// For each port its wire, and its record if it is observed.
    pub(crate) fn new(
        switch: Switch<F>,
        ports: impl Iterator<Item = (u32, Option<PortRecord>)>,
    ) -> SwitchNode<F> {
        let (wires, mut records): (Vec<u32>, Vec<_>) =
            ports.map(|(wire, record)| (wire, record.map(Box::new))).unzip();
        if records.iter().all(Option::is_none) {
            records = Vec::new();
        }
        let seldom = Seldom { notices: Vec::new(), losses: Vec::new() };
        SwitchNode { switch, outside: Outside { wires, records, seldom } }
    }

    /// The data plane, and what it sends to.
    #[inline]
    pub fn split<'a, M>(
        &'a mut self,
        medium: &'a mut M,
    ) -> (&'a mut Switch<F>, SwitchOutputs<'a, F, M>) {
        let SwitchNode { switch, outside } = self;
        (switch, SwitchOutputs { medium, outside })
    }

    /// The port and the wire of a frame for a destination are wanted soon. Returns the wire.
    #[inline(always)]
    pub fn prefetch_port(&self, destination: usize, flow_hash: u32) -> Option<usize> {
        let port = self.switch.prefetch_port(destination, flow_hash)?;
        self.outside.wires.get(port).map(|&wire| wire as usize)
    }

    /// The latest notice that was not sent. An engine takes all of them after every call of the
    /// switch.
    pub fn poll_notice(&mut self) -> Option<Notice<F>> {
        self.outside.seldom.notices.pop()
    }

    /// Whether there are notices to send.
    #[inline]
    pub fn has_notices(&self) -> bool {
        !self.outside.seldom.notices.is_empty()
    }

    /// Sends a notice of a congestion point to the host that sent the sampled frame.
    pub fn send_notice(
        &mut self,
        now: Time,
        notice: &Notice<F>,
        source_host: u32,
        medium: &mut impl Medium<F>,
    ) {
        let mut frame = notification(&notice.sampled, source_host, notice.notification);
        let (switch, mut outputs) = self.split(medium);
        switch.handle_frame(now, notice.port, &mut frame, &mut outputs);
    }

    /// Brings the depths of observed ports up to `now`. The switch must be settled.
    pub fn record_depths(&mut self, now: Time) {
        for (port, record) in self.outside.records.iter_mut().enumerate() {
            if let Some(record) = record {
                record.depth(now, self.switch.waiting_bytes(port));
            }
        }
    }

    /// By port: its wire, and the frames that are on it already although their transmission starts
    /// after `now`.
    pub(crate) fn committed_frames(&self, now: Time) -> impl Iterator<Item = (usize, u64)> + '_ {
        let ports = self.outside.wires.iter().enumerate();
        ports.map(move |(port, &wire)| {
            (wire as usize, self.switch.committed_frames(port, now) as u64)
        })
    }

    /// Counts from `now` on, but for series. The switch must be settled.
    pub fn begin_counting(&mut self, now: Time) {
        self.switch.begin_counting(now);
        self.outside.seldom.losses.clear();
        self.records_mut().for_each(|record| record.begin_counting(now));
    }

    /// Resets counters and records at `now`, from which their times count. The switch must be
    /// settled.
    pub fn begin(&mut self, observe: &RawObserve, sources: usize, now: Time) {
        self.switch.begin_counting(now);
        self.outside.seldom.losses.clear();
        let empty = PortRecord::new(observe, sources);
        for (port, record) in self.outside.records.iter_mut().enumerate() {
            if let Some(record) = record {
                record.begin(&empty, now, self.switch.waiting_bytes(port));
            }
        }
    }

    /// Frames that wait in queues of ports that choose late.
    pub fn held_frames(&self) -> u64 {
        (0..self.outside.wires.len()).map(|port| self.switch.held_frames(port)).sum()
    }

    /// What it dropped of a source of traffic.
    pub fn losses(&self, source: usize) -> Losses {
        self.outside.seldom.losses.get(source).copied().unwrap_or_default()
    }

    /// The record of a port that is observed.
    pub fn record(&self, port: PortNo) -> Option<&PortRecord> {
        self.outside.records.get(port)?.as_deref()
    }

    /// Keeps every event of the observed ports from now on. Memory grows with the run: for tests.
    pub fn keep_events(&mut self) {
        self.records_mut().for_each(PortRecord::keep_events);
    }

    /// By observed port, in order, what was kept.
    pub fn events(&self) -> Vec<&[PortEvent]> {
        self.outside.records.iter().filter_map(Option::as_deref).map(PortRecord::events).collect()
    }

    fn records_mut(&mut self) -> impl Iterator<Item = &mut PortRecord> {
        self.outside.records.iter_mut().filter_map(Option::as_deref_mut)
    }
}

/// What a switch hands out, on its way to wires and records.
pub struct SwitchOutputs<'a, F, M> {
    medium: &'a mut M,
    outside: &'a mut Outside<F>,
}

impl<F, M> SwitchOutputs<'_, F, M> {
    #[inline(always)]
    fn record(&mut self, port: PortNo) -> Option<&mut PortRecord> {
        self.outside.records.get_mut(port)?.as_deref_mut()
    }
}

impl<F: NetworkFrame, M: Medium<F>> SwitchOutputs<'_, F, M> {
    #[inline]
    fn note_sent(&mut self, port: PortNo, frame: &F, start: Time, end: Time) {
        if let Some(record) = &mut self.outside.records[port] {
            record.sent((start, end), self.medium.source_of(frame), frame);
        }
    }
}

impl<F> Seldom<F> {
    fn lost(&mut self, source: usize, cause: DropCause) {
        if self.losses.len() <= source {
            self.losses.resize(source + 1, Losses::default());
        }
        let own = &mut self.losses[source];
        own.frames += 1;
        own.policed_frames += u64::from(cause == DropCause::Policed);
        own.too_long_frames += u64::from(cause == DropCause::Mtu);
    }
}

impl<F: NetworkFrame, M: Medium<F>> Outputs<F> for SwitchOutputs<'_, F, M> {
    #[inline(always)]
    fn prepare(&self, port: PortNo) {
        self.medium.prepare(self.outside.wires[port] as usize);
    }

    #[inline(always)]
    fn transmit(&mut self, port: PortNo, frame: &F, start: Time, end: Time) {
        if !self.outside.records.is_empty() {
            self.note_sent(port, frame, start, end);
        }
        self.medium.send(self.outside.wires[port] as usize, frame, start, end);
    }

    #[inline(never)]
    fn dropped(&mut self, at: Time, port: PortNo, _queue: QueueNo, frame: &F, cause: DropCause) {
        let source = self.medium.source_of(frame);
        if let Some(source) = source {
            self.outside.seldom.lost(source, cause);
        }
        if let Some(record) = self.record(port) {
            record.dropped(at, source, frame, cause);
        }
        self.medium.dropped(at, self.outside.wires[port] as usize, frame, cause);
    }

    #[inline(never)]
    fn marked(&mut self, at: Time, port: PortNo, _queue: QueueNo, frame: &F) {
        if let Some(record) = self.record(port) {
            record.marked(at, frame);
        }
        self.medium.marked(at, self.outside.wires[port] as usize, frame);
    }

    #[inline(never)]
    fn notify(
        &mut self,
        at: Time,
        port: PortNo,
        _queue: QueueNo,
        frame: &F,
        notification: Notification,
    ) {
        if frame.packet().flags.contains(Flags::CNM) {
            return; // a notification has no source to slow down
        }
        if let Some(record) = self.record(port) {
            record.notified(at, frame, notification);
        }
        self.outside.seldom.notices.push(Notice { port, sampled: *frame, notification });
    }

    #[inline]
    fn depth(&mut self, at: Time, port: PortNo, bytes: u64) {
        if let Some(record) = self.record(port) {
            record.depth(at, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::observe;
    use tailrace_dataplane::{Aqm, Forwarding, Limit, PortPolicy, QueuePolicy, Room, Service};
    use tailrace_units::{BitRate, Span};
    use tailrace_wire::Packet;

    /// Keeps nothing.
    struct Nowhere;

    impl Medium<Packet> for Nowhere {
        fn send(&mut self, _: usize, _: &Packet, _: Time, _: Time) {}
        fn dropped(&mut self, _: Time, _: usize, _: &Packet, _: DropCause) {}
        fn marked(&mut self, _: Time, _: usize, _: &Packet) {}
        fn source_of(&self, _: &Packet) -> Option<usize> {
            None
        }
    }

    /// One port of 10 Gbit/s, with one queue.
    fn node(observe: &RawObserve) -> SwitchNode<Packet> {
        let mut forwarding = Forwarding::new(1);
        forwarding.push_destination(&[0]);
        let mut switch = Switch::new(forwarding, 1 << 20);
        let room = Room { reserved_bytes: 0, limit: Limit::Bytes(1 << 20) };
        let service = Service::Dwrr(1_000);
        let queue = QueuePolicy {
            service,
            room,
            aqm: Aqm::None,
            ceiling: None,
            floor: None,
            congestion_point: None,
        };
        let policy = PortPolicy {
            queues: vec![queue],
            queue_of_class: [0; 8],
            dpp: None,
            etrap: None,
            pause: None,
            watchdog: None,
        };
        let port = switch.add_port(BitRate::from_gbps(10).pace(0), 24, policy, false);
        switch.observe(port);
        SwitchNode::new(switch, std::iter::once((0, Some(PortRecord::new(observe, 0)))))
    }

    #[test]
    fn records_that_begin_anew_begin_with_what_waits() {
        let observe = observe();
        let (mut node, mut nowhere) = (node(&observe), Nowhere);
        for _ in 0..4 {
            let (switch, mut outputs) = node.split(&mut nowhere);
            switch.handle_frame(
                Time::ZERO,
                0,
                &mut Packet { frame_bytes: 1_500, ..Packet::default() },
                &mut outputs,
            );
        }
        // Each takes 1.22 us. For a microsecond all but the first wait.
        let now = Time::ZERO + Span::from_ns(100);
        node.begin(&observe, 0, now);
        let end = now + Span::from_us(1);
        node.record_depths(end);
        assert_eq!(node.record(0).expect("it is observed").depth.bins()[0], (4_500.0, 4_500));
    }
}
