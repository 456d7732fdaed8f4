//! The world: nodes, wires and the agenda, and the main loop.

mod ahead;
mod bridging;
pub(crate) mod connection;
pub(crate) mod generate;
mod hosted;
mod hypervisors;
mod ports;
mod settling;
mod sockets;
mod sources;

pub(crate) use sources::{SourceCounts, Sources};

pub use hosted::HostedProgram;

use crate::agenda::{Source, source_of};
use crate::attachment::Attachment;
use crate::control::Control;
use crate::generator::Generator;
use crate::huge_pages::HugePages;
use crate::hypervisors::HypervisorNode;
use crate::interfaces::InterfaceSeries;
use crate::links::Links;
use crate::trigger::Trigger;
use crate::windows::Windows;
use tailrace_dataplane::Switch;
use tailrace_host::Host;
use tailrace_network::{End, OnWires, Origin, SwitchNode, SwitchOutputs, Wire};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Events between two checks of the control (a fraction of a millisecond).
pub(crate) const EVENTS_PER_REPORT: u32 = 1 << 15;

/// Everything that exists in one trial. Sources of the agenda are, in order: wires, generators,
/// members of data-centre bridging, processors of hosts, hypervisors, programs with several
/// sockets, sockets of one program each.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) stop_at: Time,
    /// When the warm-up ends, if that is still to come.
    pub(crate) warm_up: Option<Time>,
    /// From when on switches, hosts and workloads without end have counted.
    pub(crate) counted_from: Time,
    /// The frames that were on the wires then.
    pub(crate) on_wires: OnWires,
    pub(crate) events: u64,
    /// Of these, calls of switches at the time to which a frame was held back. When a port finds
    /// such a time depends on when it is settled, which is no property of the trial: they are not
    /// reported.
    pub(crate) wakeups: u64,
    pub(crate) is_cancelled: bool,
    /// Ends the run on one thread, where several are faster.
    pub(crate) trigger: Option<Trigger>,
    pub(crate) links: Links,
    pub(crate) switches: Vec<SwitchNode<Packet>>,
    /// Switches that must learn of every flow: a network has a thousand, and flows come and go.
    pub(crate) learners: Vec<u32>,
    pub(crate) hosts: Vec<Host<Attachment>>,
    /// By workload, the port of its server.
    pub(crate) server_ports: Vec<u16>,
    pub(crate) generators: Vec<Generator>,
    /// Where each program with several sockets is.
    pub(crate) programs: Vec<ProgramId>,
    /// Hosts with a processor, in the order of their agenda sources.
    pub(crate) processors: Vec<u32>,
    /// Hypervisors, in the order of their agenda sources.
    pub(crate) hypervisors: Vec<HypervisorNode>,
    /// Where each socket is, in the order in which their connections were opened.
    pub(crate) sockets: Vec<HostSocket>,
    /// Even sockets whose pair can be used again.
    pub(crate) free_sockets: Vec<u32>,
    /// Windows over time, if they are wanted.
    pub(crate) windows: Option<Windows>,
    /// The counters of interfaces over time, if they are wanted.
    pub(crate) interface_series: Option<InterfaceSeries>,
    /// Numbers in the agenda.
    pub(crate) sources: Sources,
    pub(crate) huge_pages: HugePages,
}

/// A program of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramId {
    pub(crate) host: u32,
    pub(crate) number: u32,
}

/// A socket of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostSocket {
    pub(crate) host: u32,
    pub(crate) number: u32,
}

impl World {
    /// Runs until all finite workloads are complete, this time is over, or the trial is cancelled.
    /// It can be called again with a later time.
    pub(crate) fn run_until(&mut self, until: Time, control: &Control) {
        if let Some(end) = self.warm_up
            && end <= until
        {
            self.advance_or_record(end, control);
            self.settle_processors();
            // A run that ends within its warm-up has nothing to report of workloads without end.
            self.begin_counting(self.now);
            self.warm_up = None;
            if self.is_done() || self.is_cancelled {
                return;
            }
        }
        self.advance_or_record(until, control);
    }

    fn advance_or_record(&mut self, until: Time, control: &Control) {
        match self.links.observe.recorder {
            None => self.advance(until, control),
            Some(_) => self.advance_recorded(until, control),
        }
    }

    /// The loop of events of a run that is only counted. It has the handling of events in itself,
    /// with the way of a frame through a switch: the calls in between are some thirty of 700
    /// instructions on each packet-hop.
    #[inline(never)]
    fn advance(&mut self, until: Time, control: &Control) {
        self.repeat(until, control, Self::handle);
    }

    /// That of a run of which everything is recorded.
    #[inline(never)]
    fn advance_recorded(&mut self, until: Time, control: &Control) {
        self.repeat(until, control, |world, at, source| {
            world.begin_event(at, source);
            world.handle_aside(at, source);
            world.end_event();
        });
    }

    #[inline(always)]
    fn repeat(
        &mut self,
        until: Time,
        control: &Control,
        handle: impl Fn(&mut World, Time, Source),
    ) {
        control.begin(until);
        loop {
            for count in 0..EVENTS_PER_REPORT {
                let (at, source) = self.links.agenda.next();
                if control.is_behind(at) {
                    self.events += u64::from(count);
                    if at > until {
                        self.now = until;
                    } else {
                        self.is_cancelled = true;
                    }
                    return self.settle_switches();
                }
                debug_assert!(at >= self.now, "time does not run backwards");
                self.now = at;
                handle(self, at, source);
                if self.is_done() {
                    self.events += u64::from(count) + 1;
                    return self.settle_switches();
                }
            }
            self.events += u64::from(EVENTS_PER_REPORT);
            self.check_huge_pages();
            if self.is_cancelled_by(control) {
                return self.settle_switches();
            }
        }
    }

    /// Memory grows, and is put on huge pages now and then.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_huge_pages(&mut self) {
        let (hosts, wires) = (&self.hosts, &self.links.wires);
        self.huge_pages.check(wires.len(), || {
            let of_hosts = hosts.iter().map(|host| host.sockets().as_ptr() as usize);
            let of_frames = wires.iter().filter_map(Wire::memory);
            of_hosts.chain(of_frames).chain([wires.as_ptr() as usize, hosts.as_ptr() as usize])
        });
    }

    /// Reports the progress of the run, and returns whether it is to end early.
    pub(crate) fn is_cancelled_by(&mut self, control: &Control) -> bool {
        control.report(self.progress());
        let (events, now, progress) = (self.events, self.now, self.progress());
        let is_to_be_divided =
            self.trigger.as_mut().is_some_and(|trigger| trigger.is_due(events, now, progress));
        self.is_cancelled |= control.is_cancelled() || is_to_be_divided;
        self.is_cancelled
    }

    /// Whether everything finite is complete, in a run that ends then.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.links.observe.is_done
    }

    fn progress(&self) -> f64 {
        let in_time = self.now.as_secs_f64() / self.stop_at.as_secs_f64();
        in_time.max(self.links.observe.progress().unwrap_or(0.0))
    }

    /// Brings every switch up to now, so that counters and depths are whole.
    #[inline(never)]
    pub(crate) fn settle_switches(&mut self) {
        self.settle_these_switches(0..self.switches.len());
    }

    /// Accounts for every processor up to now, so that its times are complete. Work without
    /// consequences is finished when its time is accounted for, so a run that is only sampled must
    /// not do this.
    #[inline(never)]
    pub(crate) fn settle_processors(&mut self) {
        self.settle_these_processors(0..self.hosts.len() as u32, 0..self.hypervisors.len() as u32);
    }

    /// The same for loops with more to do, which share one copy of it.
    #[inline(never)]
    pub(crate) fn handle_aside(&mut self, now: Time, source: Source) {
        self.handle(now, source);
    }

    #[inline(always)]
    fn handle(&mut self, now: Time, source: Source) {
        if source < self.sources.generators {
            self.read_wire(now, source as usize);
        } else if source < self.sources.members {
            self.generate(now, (source - self.sources.generators) as usize);
        } else if source >= self.sources.sockets {
            self.wake_socket(now, source - self.sources.sockets);
        } else if source >= self.sources.programs {
            self.wake_hosted(now, source - self.sources.programs);
        } else if source >= self.sources.processors {
            self.wake_processor(now, source - self.sources.processors);
        } else {
            self.wake_member(now, (source - self.sources.members) as usize);
        }
    }

    /// Something arrives at the end of a wire.
    #[inline(always)]
    fn read_wire(&mut self, now: Time, wire: usize) {
        match self.links.wires[wire].origin {
            Origin::LatePort { switch, port } => {
                self.read_late_wire(now, wire, (switch as usize, usize::from(port)))
            }
            Origin::Settled => self.read_settled_wire(now, wire),
        }
    }

    #[inline(never)]
    fn read_late_wire(&mut self, now: Time, wire: usize, origin: (usize, usize)) {
        let is_read = self.settle_origin(now, wire, origin);
        if !is_read {
            self.read_settled_wire(now, wire);
        }
    }

    #[inline(always)]
    fn read_settled_wire(&mut self, now: Time, wire: usize) {
        match self.links.wires[wire].end {
            End::Switch { switch, port } => {
                self.enter_switch(now, wire, switch as usize, usize::from(port))
            }
            End::Host(host) => {
                self.poll_host(now, host);
                if ahead::is_wanted(&self.links) {
                    ahead::bring(&self.links, &self.switches, &self.hosts, source_of(wire));
                }
            }
            End::Stage { hypervisor, port, is_switched } => {
                self.enter_stage(now, wire, (hypervisor, usize::from(port)), is_switched);
            }
            End::Bonded(host) => self.poll_bonded(now, wire, host),
        }
    }

    /// The port before a wire may have sent something by now. Returns whether the wire was read
    /// too.
    #[inline(always)]
    fn settle_origin(&mut self, now: Time, wire: usize, (switch, port): (usize, usize)) -> bool {
        if self.switches[switch].switch.is_due(port, now) {
            self.settle_due_port(now, (switch, port));
        }
        let link = &self.links.wires[wire];
        if link.is_read_ahead() {
            self.read_ahead(now, wire, (switch, port));
            return true;
        }
        if let End::Host(host) | End::Bonded(host) = link.end
            && self.links.control_until(wire) > now
        {
            self.poll_behind_control(now, wire, host);
            return true;
        }
        false
    }

    #[inline(never)]
    fn settle_due_port(&mut self, now: Time, (switch, port): (usize, usize)) {
        let (node, mut around) = self.switch_and_outputs(switch);
        node.settle(port, now, &mut around.0);
        self.after_switch(now, switch);
    }

    /// Polls a host while a frame for its interface is being sent: the wire may be empty then, and
    /// frames that wait in the port behind that frame wake nothing up, so the wire wakes up when
    /// the frame is over.
    #[cold]
    #[inline(never)]
    fn poll_behind_control(&mut self, now: Time, wire: usize, host: u32) {
        match self.links.wires[wire].end {
            End::Bonded(host) => self.poll_bonded(now, wire, host),
            End::Host(_) | End::Stage { .. } | End::Switch { .. } => self.poll_host(now, host),
        }
        let control_until = self.links.control_until(wire);
        self.links.wake_wire(wire, control_until);
    }

    /// Reads a header from a port that chooses late. The frame is still being sent, so the port's
    /// next choice comes after this: the wire is checked again when the transmitter is free.
    #[inline(never)]
    fn read_ahead(&mut self, now: Time, wire: usize, (switch, port): (usize, usize)) {
        let End::Switch { switch: next, port: in_port } = self.links.wires[wire].end else {
            unreachable!("only switches read ahead")
        };
        let arrived = self.links.wires[wire].pop_arrived(now);
        let free_at = self.switches[switch].switch.free_at(port);
        let choice = if free_at > now { free_at } else { Time::NEVER };
        self.links.agenda.arm(source_of(wire), self.links.wires[wire].next_arrival().min(choice));
        if let Some((_, mut packet)) = arrived {
            let (node, mut around) = self.switch_and_outputs(next as usize);
            node.handle_frame(now, usize::from(in_port), &mut packet, &mut around.0);
            self.after_switch(now, next as usize);
        }
    }

    #[inline(always)]
    fn enter_switch(&mut self, now: Time, wire: usize, switch: usize, port: usize) {
        let World { switches, links, hosts, .. } = self;
        let link = &mut links.wires[wire];
        let mut packet = Packet::default();
        link.pop_to(&mut packet);
        let next = link.next_arrival();
        links.agenda.postpone_wire(source_of(wire), next);
        if ahead::is_wanted(links) {
            ahead::bring(links, switches, hosts, source_of(wire));
        }
        let (node, mut outputs) = switches[switch].split(links);
        node.handle_frame(now, port, &mut packet, &mut outputs);
        self.after_switch(now, switch);
    }

    /// Polls one interface of a host that has several: its ring is the wire that ends there.
    #[inline(never)]
    fn poll_bonded(&mut self, now: Time, wire: usize, host: u32) {
        let model = &mut self.hosts[host as usize];
        model.attachment_mut().wire_in = wire as u32;
        let before = model.counters().rx_frames;
        self.poll_host(now, host);
        let model = &mut self.hosts[host as usize];
        let taken = model.counters().rx_frames - before;
        let place =
            self.links.bonds[host as usize].iter().position(|link| link.into as usize == wire);
        if let (Some(bond), Some(interface)) = (model.nic_mut().bonded_mut(), place) {
            bond.count_received(interface, taken);
        }
    }

    #[inline(always)]
    fn poll_host(&mut self, now: Time, host: u32) {
        let (host, out) = self.host_and_links(host);
        host.handle_poll(now, out);
        if !self.links.observe.host_events.is_empty() {
            self.handle_host_events();
        }
    }

    /// A switch and its environment at this time.
    #[inline]
    pub(crate) fn switch_and_outputs(
        &mut self,
        index: usize,
    ) -> (&mut Switch<Packet>, (SwitchOutputs<'_, Packet, Links>, Time)) {
        let World { switches, links, now, .. } = self;
        let (switch, outputs) = switches[index].split(links);
        (switch, (outputs, *now))
    }

    /// A host, and the links around it.
    #[inline]
    pub(crate) fn host_and_links(&mut self, host: u32) -> (&mut Host<Attachment>, &mut Links) {
        (&mut self.hosts[host as usize], &mut self.links)
    }
}

/// Frames that are somewhere between the hosts.
pub(crate) fn frames_in_network(world: &World) -> u64 {
    let on_wires: u64 = world.links.wires.iter().map(Wire::frames).sum();
    let held: u64 = world.switches.iter().map(SwitchNode::held_frames).sum();
    let in_interfaces: u64 = world.hosts.iter().map(|host| host.nic().waiting_frames()).sum();
    let switched: u64 = world.hypervisors.iter().map(|node| node.model.frames()).sum();
    switched + on_wires + held + in_interfaces + world.links.bridging.notifications()
}

/// The span from the end of the warm-up to the end of a run.
pub(crate) fn counted(world: &World) -> Span {
    world.now.since(world.counted_from)
}
