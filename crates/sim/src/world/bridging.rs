//! Members of data-centre bridging in the world: it wakes them, and calls switches again.

use super::World;
use crate::bridging::AgendaMember;
use tailrace_units::Time;
use tailrace_wire::Packet;

impl World {
    /// A member of data-centre bridging is due.
    #[inline(never)]
    pub(crate) fn wake_member(&mut self, now: Time, index: usize) {
        match self.links.bridging.members[index] {
            AgendaMember::Interface(interface) => {
                let interface = &mut self.links.bridging.interfaces[interface as usize];
                let index = interface.host;
                let read = interface.read(now, &mut self.hosts[index as usize]);
                self.links.observe.frames.delivered += read;
                let (host, out) = self.host_and_links(index);
                host.handle_timeout(now, out);
            }
            AgendaMember::Switch(switch) => {
                self.wakeups += 1;
                let (node, mut around) = self.switch_and_outputs(switch as usize);
                node.handle_timeout(now, &mut around.0);
                self.after_switch(now, switch as usize);
            }
        }
    }

    /// A switch was called: sends its notices, and notes when it must be called again.
    #[inline(always)]
    pub(crate) fn after_switch(&mut self, now: Time, switch: usize) {
        if self.links.bridging.is_used {
            self.call_again(now, switch);
        }
    }

    #[inline(never)]
    fn call_again(&mut self, now: Time, switch: usize) {
        while let Some(notice) = self.switches[switch].poll_notice() {
            let source_host = self.source_host(&notice.sampled);
            self.links.observe.frames.sent += 1;
            self.switches[switch].send_notice(now, &notice, source_host, &mut self.links);
        }
        if let Some(source) = self.links.bridging.source_of_switch(switch) {
            let due = self.switches[switch].switch.poll_wakeup();
            self.links.agenda.arm(source, due);
        }
    }

    /// The host that sent a frame: its source address, which packets do not carry.
    fn source_host(&self, packet: &Packet) -> u32 {
        u32::from(self.links.observe.endpoint(packet).source)
    }
}
