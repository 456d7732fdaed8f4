//! The counters of a switch, and their reset in the middle of a run (the end of the warm-up).

use super::Switch;
use crate::port::Port;
use crate::{
    DppCounters, Frame, GroupCounters, MtuDrops, PortNo, QueueCounters, QueueNo, TrapCounters,
};
use tailrace_units::Time;
use tailrace_wire::PauseState;

impl<F: Frame> Switch<F> {
    /// Counts from `now` on: every counter becomes zero, and every maximum becomes the present
    /// value. Nothing else changes. The switch must be settled.
    pub fn begin_counting(&mut self, now: Time) {
        self.early = QueueCounters::default();
        self.mtus.iter_mut().for_each(|mtus| mtus.begin_counting());
        self.buffer.begin_counting();
        self.ports.iter_mut().for_each(|port| Port::begin_counting(port, now));
        let ingress = self.ingress.iter_mut().flat_map(|ingress| &mut ingress.ports);
        ingress.for_each(crate::ingress::IngressPort::begin_counting);
    }

    /// Counters of one queue at `now`. The switch must be settled.
    pub fn counters(&self, port: PortNo, queue: QueueNo, now: Time) -> QueueCounters {
        self.ports[port].counters(queue, now)
    }
    /// Frames that a port has given out although their transmission starts after `now`.
    pub fn committed_frames(&self, port: PortNo, now: Time) -> usize {
        self.ports[port].committed_frames(now)
    }
    /// Counters of prioritisation at a port that has it.
    pub fn dpp_counters(&self, port: PortNo) -> Option<&DppCounters> {
        self.ports[port].dpp().map(|dpp| &dpp.counters)
    }
    /// The pauses that a port has received.
    pub fn pause_state(&self, port: PortNo) -> Option<&PauseState> {
        self.ports[port].pause_state()
    }
    /// Storms that the watchdog of a port detected, and that ended.
    pub fn storms(&self, port: PortNo) -> (u64, u64) {
        self.ports[port].storms()
    }
    /// Counters of the elephant trap of a port that has one.
    pub fn elephants(&self, port: PortNo) -> Option<TrapCounters> {
        self.ports[port].elephants()
    }
    /// Notifications sent by the congestion point of a queue, and the sum of their feedback.
    pub fn notifications(&self, port: PortNo, queue: QueueNo) -> (u64, u64) {
        let point = self.ports[port]
            .holding_queues()
            .get(queue)
            .and_then(|queue| queue.congestion_point.as_ref());
        point.map_or((0, 0), |point| (point.sent, point.feedback_sum))
    }
    /// Counters of the ingress groups of a port, with their priorities.
    pub fn groups(&self, port: PortNo) -> Vec<(u8, GroupCounters)> {
        self.ingress
            .as_ref()
            .map_or_else(Vec::new, |ingress| ingress.ports[port].counters().collect())
    }
    /// Frames that were too long for a port, of one that has an MTU. They are among the early
    /// drops.
    pub fn mtu_drops(&self, port: PortNo) -> Option<MtuDrops> {
        self.mtus.as_ref().and_then(|mtus| mtus.drops(port))
    }
    /// Counters of frames that were dropped before any queue: no route, policed, longer than an
    /// MTU, no room at the ingress.
    pub fn early_drops(&self) -> &QueueCounters {
        &self.early
    }
}
