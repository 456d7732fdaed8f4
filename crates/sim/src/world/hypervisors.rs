//! Hypervisors in the world: it hands them frames, and carries out their effects on their switch
//! and their machines.

use super::World;
use crate::attachment::Attachment;
use crate::hypervisors::{HypervisorNode, Machine, source_of_hypervisor};
use crate::links::Links;
use tailrace_host::Host;
use tailrace_host::hypervisor::{HypervisorOutputs, Passage};
use tailrace_network::SwitchNode;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// The environment of one hypervisor.
struct Around<'a> {
    hypervisor: u32,
    /// Of its switch.
    number: u32,
    switch: &'a mut SwitchNode<Packet>,
    links: &'a mut Links,
    hosts: &'a mut [Host<Attachment>],
    machines: &'a [Option<Machine>],
}

impl Around<'_> {
    fn machine(&self, port: usize) -> Machine {
        self.machines[port].expect("a machine is at this port")
    }
    fn host(&self, port: usize) -> &Host<Attachment> {
        &self.hosts[self.machine(port).host as usize]
    }
}

impl HypervisorOutputs for Around<'_> {
    fn forward(&mut self, now: Time, port: usize, packet: &Packet) {
        self.links.observe.switched(self.hypervisor, self.number, packet);
        let (switch, mut outputs) = self.switch.split(self.links);
        switch.handle_frame(now, port, &mut { *packet }, &mut outputs);
    }
    fn deliver(&mut self, now: Time, port: usize, packet: &Packet) {
        let ring = self.machine(port).ring;
        if let Some(recorder) = &mut self.links.observe.recorder {
            recorder.put_into_ring(self.hypervisor, ring, packet);
        }
        self.links.wires[ring as usize].push_at(now, packet);
        self.links.agenda.arm(ring, now);
    }
    fn dropped(&mut self, now: Time, port: usize, packet: &Packet) {
        let wire = self.machines[port].map_or(u64::MAX >> 32, |machine| u64::from(machine.wire));
        self.links.observe.overran(now, self.hypervisor, wire, packet);
    }
    fn passed(&mut self, _: Time, frames: &[Packet], passage: Passage) {
        if let Some(recorder) = &mut self.links.observe.recorder {
            recorder.passed(self.hypervisor, frames, passage);
        }
    }
    fn received(&self, port: usize) -> usize {
        let Machine { ring, .. } = self.machine(port);
        self.links.wires[ring as usize].frames() as usize + self.host(port).received_frames()
    }
    fn has_work(&self, port: usize, core: usize) -> bool {
        self.host(port).has_work(core)
    }
    fn take_interrupt(&mut self, port: usize, core: usize) -> bool {
        let host = self.machine(port).host;
        self.hosts[host as usize].take_interrupt(core)
    }
    fn sender(&self, port: usize) -> Option<usize> {
        self.host(port).sending_core()
    }
}

impl World {
    /// Frames have come to a port of a hypervisor: from outside, or from its switch to a machine.
    #[cold]
    #[inline(never)]
    pub(crate) fn enter_stage(
        &mut self,
        now: Time,
        wire: usize,
        (hypervisor, port): (u32, usize),
        is_switched: bool,
    ) {
        while let Some((_, packet)) = self.links.wires[wire].pop_arrived(now) {
            if let Some(recorder) = &mut self.links.observe.recorder {
                recorder.came(wire as u32);
            }
            let World { hypervisors, switches, links, hosts, .. } = self;
            let HypervisorNode { model, switch, machines } = &mut hypervisors[hypervisor as usize];
            let mut around = Around {
                hypervisor,
                number: *switch,
                switch: &mut switches[*switch as usize],
                links,
                hosts,
                machines,
            };
            if is_switched {
                model.handle_switched(port, &packet, now, &mut around);
            } else {
                model.handle_frame(port, &packet, now, &mut around);
            }
        }
        let next = self.links.wires[wire].next_arrival();
        self.links.agenda.arm(wire as u32, next);
        self.wake_hypervisor(now, hypervisor);
    }

    /// Something is due at a hypervisor, or one of its machines has come to want something.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake_hypervisor(&mut self, now: Time, hypervisor: u32) {
        let source = source_of_hypervisor(self.sources.hypervisors, hypervisor);
        let World { hypervisors, switches, links, hosts, .. } = self;
        let HypervisorNode { model, switch, machines } = &mut hypervisors[hypervisor as usize];
        let mut around = Around {
            hypervisor,
            number: *switch,
            switch: &mut switches[*switch as usize],
            links,
            hosts,
            machines,
        };
        model.run(now, &mut around);
        self.links.agenda.arm(source, model.poll_timeout());
        let switch = *switch as usize;
        // A machine that runs again may call the hypervisor, at once.
        while let Some(gate) = self.hypervisors[hypervisor as usize].model.poll_gate() {
            let machine = self.hypervisors[hypervisor as usize].machines[gate.port]
                .expect("a machine is at this port");
            if let Some(recorder) = &mut self.links.observe.recorder {
                recorder.gate(machine.host as u16, gate.core, gate.runs);
            }
            let (host, out) = self.host_and_links(machine.host);
            host.handle_gate(now, gate.core, gate.runs, out);
            self.handle_host_events();
        }
        self.after_switch(now, switch);
    }
}
