//! Which queue waits for which: an observer of several switches needs it to find cycles of pauses
//! (deadlocks).

use super::Switch;
use crate::{Frame, PortNo, QueueNo};
use tailrace_units::Time;

impl<F: Frame> Switch<F> {
    /// Queues of a port whose first frame is paused at `now`, with its priority. The switch must be
    /// settled.
    pub fn paused_queues(&self, port: PortNo, now: Time) -> impl Iterator<Item = (QueueNo, u8)> {
        let state = self.ports[port].pause_state();
        self.ports[port].holding_queues().iter().enumerate().filter_map(move |(number, queue)| {
            let priority = queue.head()?.priority();
            (state?.free_from(now, priority) > now).then_some((number, priority))
        })
    }

    /// Queues that hold frames of the group for which `in_port` has made its neighbour pause this
    /// priority; `None` when the neighbour may send.
    pub fn waits_for(&self, in_port: PortNo, priority: u8) -> Option<Vec<(PortNo, QueueNo)>> {
        let group = self.ingress.as_ref()?.ports[in_port].pausing_group(priority)?;
        let holds = |port: PortNo, queue: QueueNo| {
            self.ports[port].holding_queues()[queue].holds_of(in_port as u16, group)
        };
        let queues = (0..self.ports.len()).flat_map(|port| {
            (0..self.ports[port].holding_queues().len()).map(move |queue| (port, queue))
        });
        Some(queues.filter(|&(port, queue)| holds(port, queue)).collect())
    }
}
