//! The switch as a whole: forwarding, the ports and the memory they share.

use crate::port::Port;
use crate::{
    DppCounters, DropCause, Forwarding, Frame, Limit, Outside, PortNo, PortPolicy, QueueCounters, QueueNo, SharedBuffer,
};
use tailrace_units::{Pace, Time};

/// A switch.
#[derive(Debug)]
pub struct Switch<F> {
    forwarding: Forwarding,
    ports: Vec<Port<F>>,
    buffer: SharedBuffer,
    /// Whether a limit is a share of the free memory, so that every admission must know what waits everywhere.
    has_dynamic_limits: bool,
    /// Frames whose destination no port reaches.
    unroutable: QueueCounters,
}

impl<F: Frame> Switch<F> {
    /// A switch with no ports yet. The buffer holds `buffer_bytes` for all ports together.
    pub fn new(forwarding: Forwarding, buffer_bytes: u64) -> Switch<F> {
        Switch {
            forwarding,
            ports: Vec::new(),
            buffer: SharedBuffer::new(buffer_bytes),
            has_dynamic_limits: false,
            unroutable: QueueCounters::default(),
        }
    }

    /// Adds the next port. `overhead_bytes` is charged to every frame on the wire. `must_choose` makes the port decide
    /// every departure when it is due and not before.
    pub fn add_port(&mut self, pace: Pace, overhead_bytes: u32, policy: PortPolicy, must_choose: bool) -> PortNo {
        let number = self.ports.len();
        self.has_dynamic_limits |= policy.queues.iter().any(|queue| matches!(queue.limit, Limit::Alpha(_)));
        self.ports.push(Port::new(number, pace, overhead_bytes, policy, must_choose));
        number
    }

    /// Reports every change of depth at `port` to [`Outside::depth`].
    pub fn observe(&mut self, port: PortNo) {
        self.ports[port].observe();
    }

    /// The forwarding table, to add routes and pins.
    pub fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    /// A frame has arrived (its tail, or for cut-through its header) and is forwarded now.
    #[inline]
    pub fn handle_frame(&mut self, now: Time, frame: F, out: &mut impl Outside<F>) {
        let Some(port) = self.forwarding.route(&frame) else {
            self.unroutable.count_drop(DropCause::NoRoute, frame.bytes());
            out.dropped(now, 0, 0, &frame, DropCause::NoRoute);
            return;
        };
        if self.has_dynamic_limits || self.buffer.would_be_record(frame.bytes()) {
            self.handle_timeout(now, out);
        }
        self.ports[port].handle_frame(now, frame, &mut self.buffer, out);
    }

    /// Does everything that was due at all ports up to and including `now`.
    pub fn handle_timeout(&mut self, now: Time, out: &mut impl Outside<F>) {
        for port in &mut self.ports {
            port.settle(now, &mut self.buffer, out);
        }
    }

    /// Does everything that was due at one port up to and including `now`.
    #[inline]
    pub fn settle(&mut self, port: PortNo, now: Time, out: &mut impl Outside<F>) {
        self.ports[port].settle(now, &mut self.buffer, out);
    }

    /// The earliest choice that is due at any port, or [`Time::NEVER`].
    pub fn poll_timeout(&self) -> Time {
        self.ports.iter().filter_map(Port::next_choice).min().unwrap_or(Time::NEVER)
    }

    /// Whether this port decides departures late, so that [`Switch::settle`] may start transmissions.
    pub fn chooses_late(&self, port: PortNo) -> bool {
        self.ports[port].chooses_late()
    }

    /// When the transmitter of a port is free, as far as it is settled.
    pub fn free_at(&self, port: PortNo) -> Time {
        self.ports[port].free_at()
    }

    /// Bytes that wait at a port, as far as it is settled.
    pub fn waiting_bytes(&self, port: PortNo) -> u64 {
        self.ports[port].waiting_bytes()
    }
    /// Number of queues of a port.
    pub fn queues(&self, port: PortNo) -> usize {
        self.ports[port].queues().len()
    }
    /// Counters of one queue.
    pub fn counters(&self, port: PortNo, queue: QueueNo) -> &QueueCounters {
        &self.ports[port].queues()[queue].counters
    }
    /// Frames that wait in late-choosing queues of a port (on other ports committed frames are already outside).
    pub fn held_frames(&self, port: PortNo) -> u64 {
        self.ports[port].queues().iter().map(|queue| queue.len() as u64).sum()
    }
    /// Counters of prioritisation at a port that has it.
    pub fn dpp_counters(&self, port: PortNo) -> Option<&DppCounters> {
        self.ports[port].dpp().map(|dpp| &dpp.counters)
    }
    /// Counters of frames without a route.
    pub fn unroutable(&self) -> &QueueCounters {
        &self.unroutable
    }
    /// The shared memory.
    pub fn buffer(&self) -> &SharedBuffer {
        &self.buffer
    }
}
