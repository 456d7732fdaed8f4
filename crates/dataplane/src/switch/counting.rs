//! A new beginning for everything that is counted, in the middle of a run.

use super::Switch;
use crate::port::Port;
use crate::{Frame, QueueCounters};
use tailrace_units::Time;

impl<F: Frame> Switch<F> {
    /// Counts from `now` on: every counter becomes zero, and every maximum becomes what is there now. Nothing else changes.
    /// The switch must be settled. A port that commits to departures has counted them when their frames arrived.
    pub fn begin_counting(&mut self, now: Time) {
        self.early = QueueCounters::default();
        self.buffer.begin_counting();
        self.ports.iter_mut().for_each(|port| Port::begin_counting(port, now));
        let ingress = self.ingress.iter_mut().flat_map(|ingress| &mut ingress.ports);
        ingress.for_each(crate::ingress::IngressPort::begin_counting);
    }
}
