//! A frame, a notebook and a small switch, for tests.
#![allow(dead_code, reason = "each test uses some of these")]

use tailrace_dataplane::*;
use tailrace_units::{BitRate, Span, Time};
use tailrace_wire::{Ecn, Pause};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestFrame {
    pub id: u64,
    pub bytes: u32,
    pub flow: u32,
    pub destination: u32,
    pub priority: u8,
    pub ecn: Ecn,
    pub pause: Option<Pause>,
}

pub fn frame(id: u64, bytes: u32, flow: u32) -> TestFrame {
    TestFrame { id, bytes, flow, destination: 0, priority: 0, ecn: Ecn::NotEct, pause: None }
}

impl Frame for TestFrame {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    fn destination(&self) -> u32 {
        self.destination
    }
    fn priority(&self) -> u8 {
        self.priority
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn set_priority(&mut self, class: u8) {
        self.priority = class;
    }
    fn is_pause(&self) -> bool {
        self.pause.is_some()
    }
    fn pause(&self) -> Option<Pause> {
        self.pause
    }
    fn new_pause(pause: Pause) -> TestFrame {
        TestFrame { pause: Some(pause), ..frame(u64::MAX, 60, 0) }
    }
    fn fingerprint(&self) -> u64 {
        self.id
    }
}

/// Events, as `(ps, port, what)`.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Notebook {
    pub sent: Vec<(u64, PortNo, TestFrame)>,
    pub dropped: Vec<(u64, PortNo, u64, DropCause)>,
    pub marked: Vec<u64>,
    pub notified: Vec<(u64, Notification)>,
    pub depths: Vec<(u64, PortNo, u64)>,
}

impl Outputs<TestFrame> for Notebook {
    fn transmit(&mut self, port: PortNo, frame: &TestFrame, start: Time, end: Time) {
        assert!(end > start);
        self.sent.push((start.ps(), port, *frame));
    }
    fn dropped(
        &mut self,
        at: Time,
        port: PortNo,
        _queue: QueueNo,
        frame: &TestFrame,
        cause: DropCause,
    ) {
        self.dropped.push((at.ps(), port, frame.id, cause));
    }
    fn marked(&mut self, _at: Time, _port: PortNo, _queue: QueueNo, frame: &TestFrame) {
        self.marked.push(frame.id);
    }
    fn notify(
        &mut self,
        at: Time,
        _port: PortNo,
        _queue: QueueNo,
        _frame: &TestFrame,
        notification: Notification,
    ) {
        self.notified.push((at.ps(), notification));
    }
    fn depth(&mut self, at: Time, port: PortNo, bytes: u64) {
        self.depths.push((at.ps(), port, bytes));
    }
}

impl Notebook {
    /// One line for each event, in order of time.
    pub fn timeline(&self) -> String {
        let mut lines: Vec<(u64, u64, String)> = Vec::new();
        for (at, _, frame) in &self.sent {
            lines.push((*at, frame.id, "SendStarted".into()));
        }
        for (at, _, id, cause) in &self.dropped {
            lines.push((*at, *id, format!("Dropped({cause:?})")));
        }
        lines.sort();
        lines.iter().map(|(at, id, what)| format!("{at:>9} ps  frame {id}  {what}\n")).collect()
    }
}

pub fn queue(service: Service, limit: Limit) -> QueuePolicy {
    let room = Room { reserved_bytes: 0, limit };
    QueuePolicy {
        service,
        room,
        aqm: Aqm::None,
        ceiling: None,
        floor: None,
        congestion_point: None,
    }
}

/// A port with these queues, every class in the first.
pub fn port(queues: Vec<QueuePolicy>) -> PortPolicy {
    PortPolicy {
        queues,
        queue_of_class: [0; 8],
        dpp: None,
        etrap: None,
        pause: None,
        watchdog: None,
    }
}

pub fn fifo(limit: Limit) -> PortPolicy {
    port(vec![queue(Service::Dwrr(1000), limit)])
}

/// Express queue 0 and default queue 1, both of this size; the first `max_packets` are prioritised.
pub fn dpp(limit: Limit, max_packets: u32, reset: DppReset) -> PortPolicy {
    let policy = DppPolicy {
        max_packets,
        age: Span::from_ms(5),
        express: 0,
        reset,
        table_entries: 64,
        when_full: WhenFull::EvictOldest,
        classes: u8::MAX,
    };
    let queues = vec![queue(Service::Strict(1), limit), queue(Service::Dwrr(1000), limit)];
    PortPolicy { queue_of_class: [1; 8], dpp: Some(policy), ..port(queues) }
}

/// A switch whose port `i` leads to destination `i` at 10 Gbit/s.
pub fn switch(
    buffer_bytes: u64,
    policies: Vec<PortPolicy>,
    must_choose: bool,
) -> Switch<TestFrame> {
    let mut forwarding = Forwarding::new(7);
    (0..policies.len()).for_each(|port| forwarding.push_destination(&[port]));
    let mut switch = Switch::new(forwarding, buffer_bytes);
    for policy in policies {
        let port = switch.add_port(BitRate::from_gbps(10).pace(0), 24, policy, must_choose);
        switch.observe(port);
    }
    switch
}
