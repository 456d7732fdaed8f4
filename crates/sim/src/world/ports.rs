//! Ports that decide late, before wires that end in another part of the trial.

use super::World;
use crate::agenda::source_of;
use tailrace_network::{End, Origin};
use tailrace_units::Time;

impl World {
    /// Sends the frames that a port has chosen by `now`.
    pub(crate) fn settle_port(&mut self, now: Time, switch: usize, port: usize) {
        let (node, mut around) = self.switch_and_outputs(switch);
        node.settle(port, now, &mut around.0);
        self.after_switch(now, switch);
    }

    /// For a wire that ends in another part, and begins here at a port that decides late, repeats
    /// the effects of reading it here: the port is settled at the same times as by one thread.
    /// Returns how many frames have left the wire.
    pub(crate) fn read_for_another(&mut self, now: Time, wire: usize) -> usize {
        let Origin::LatePort { switch, port } = self.links.wires[wire].origin else {
            unreachable!("other wires are not kept")
        };
        self.settle_port(now, switch as usize, usize::from(port));
        let link = &mut self.links.wires[wire];
        let mut left = usize::from(link.pop_arrived(now).is_some());
        while matches!(link.end, End::Stage { .. }) && link.pop_arrived(now).is_some() {
            left += 1;
        }
        let is_read_ahead = link.is_read_ahead() && !matches!(link.end, End::Stage { .. });
        let free_at = self.switches[switch as usize].switch.free_at(usize::from(port));
        let choice = if is_read_ahead && free_at > now { free_at } else { Time::NEVER };
        let next = self.links.wires[wire].next_arrival().min(choice);
        self.links.agenda.arm(source_of(wire), next);
        left
    }
}
