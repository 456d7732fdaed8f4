//! Bringing nodes up to now.

use super::World;

impl World {
    /// [`World::settle_switches`] for some of them.
    pub(crate) fn settle_these_switches(&mut self, switches: impl Iterator<Item = usize> + Clone) {
        for index in switches.clone() {
            let (node, mut around) = self.switch_and_outputs(index);
            let now = around.1;
            node.handle_timeout(now, &mut around.0);
            // A run that continues must know the next deadline.
            self.after_switch(now, index);
        }
        let now = self.now;
        switches.for_each(|index| self.switches[index].record_depths(now));
    }

    /// [`World::settle_processors`] for some hosts and hypervisors.
    pub(crate) fn settle_these_processors(
        &mut self,
        hosts: impl Iterator<Item = u32>,
        hypervisors: impl Iterator<Item = u32>,
    ) {
        let now = self.now;
        for host in hosts {
            let (host, out) = self.host_and_links(host);
            host.settle(now, out);
        }
        hypervisors.for_each(|number| {
            self.hypervisors[number as usize].model.processor_mut().settle_all(now)
        });
    }
}
