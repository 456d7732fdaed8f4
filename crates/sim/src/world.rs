//! The world: nodes, wires and the agenda, and the loop that carries out what comes next.

use crate::agenda::Source;
use crate::control::Control;
use crate::cores::Cores;
use crate::generate::Generator;
use crate::observe::Observe;
use crate::receive::Polled;
use crate::socket::Socket;
use crate::surroundings::{Roads, Uplink};
use tailrace_dataplane::Switch;
use tailrace_endpoint::nic::Nic;
use tailrace_endpoint::transport::{Segment, TcpConfig};
use tailrace_network::{End, Origin, SwitchNode, SwitchOutputs, Wire};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// Events between two looks at the control (a fraction of a millisecond).
const EVENTS_PER_REPORT: u32 = 1 << 15;

/// Everything that exists in one trial. Sources of the agenda are, in order: wires, generators, members of
/// data-centre bridging, sockets.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) stop_at: Time,
    /// When the warm-up ends, if that is still to come.
    pub(crate) warm_up: Option<Time>,
    /// From when on switches, hosts and workloads without end have counted.
    pub(crate) counted_from: Time,
    pub(crate) events: u64,
    pub(crate) is_cancelled: bool,
    pub(crate) roads: Roads,
    pub(crate) switches: Vec<SwitchNode<Packet>>,
    /// Switches that must be told of every flow: a network has a thousand, and flows come and go.
    pub(crate) learners: Vec<u32>,
    pub(crate) hosts: Vec<HostNode>,
    pub(crate) generators: Vec<Generator>,
    pub(crate) sockets: Vec<Socket>,
    /// Receive merging: one slot for each socket.
    pub(crate) merge_slots: Vec<u32>,
    /// Even sockets whose pair can be used again.
    pub(crate) free_sockets: Vec<u32>,
    pub(crate) tcp: Vec<TcpConfig>,
    /// Next ephemeral port of each host.
    pub(crate) next_port: Vec<u16>,
    pub(crate) first_generator_source: Source,
    pub(crate) first_member_source: Source,
    pub(crate) first_socket_source: Source,
    pub(crate) header_bytes: u32,
    /// Whether the run ends when its finite workloads do.
    pub(crate) ends_when_done: bool,
}

/// A host: its way out, and where its programs run.
#[derive(Debug)]
pub(crate) struct HostNode {
    pub(crate) index: u32,
    pub(crate) nic: Nic,
    /// The wire behind the interface.
    pub(crate) wire: u32,
    /// Whether frames of VLANs carry their tag on its link.
    pub(crate) is_tagged: bool,
    pub(crate) cores: Cores,
}

/// The index of a wire is its source in the agenda.
pub(crate) fn source_of(wire: usize) -> Source {
    wire as Source
}

impl World {
    /// Runs until everything finite is done, the time is over, or somebody cancels.
    pub(crate) fn run(&mut self, control: &Control) {
        self.run_until(self.stop_at, control);
    }

    /// The same, but not beyond this time. It can be called again with a later one.
    pub(crate) fn run_until(&mut self, until: Time, control: &Control) {
        if let Some(end) = self.warm_up
            && end <= until
        {
            self.advance(end, control);
            // A run that ends within its warm-up has nothing to report of workloads without end.
            self.begin_counting(self.now);
            self.warm_up = None;
            if self.is_done() || self.is_cancelled {
                return;
            }
        }
        self.advance(until, control);
    }

    fn advance(&mut self, until: Time, control: &Control) {
        loop {
            for _ in 0..EVENTS_PER_REPORT {
                let (at, source) = self.roads.agenda.next();
                if at > until {
                    self.now = until;
                    return self.settle_all();
                }
                debug_assert!(at >= self.now, "time does not run backwards");
                self.now = at;
                self.events += 1;
                self.handle(at, source);
                if self.is_done() {
                    return self.settle_all();
                }
            }
            control.report(self.progress());
            if control.is_cancelled() {
                self.is_cancelled = true;
                return self.settle_all();
            }
        }
    }

    /// Whether everything finite is complete, in a run that ends then.
    pub(crate) fn is_done(&self) -> bool {
        self.ends_when_done && self.roads.observe.unfinished == 0
    }

    fn progress(&self) -> f64 {
        let in_time = self.now.as_secs_f64() / self.stop_at.as_secs_f64();
        in_time.max(self.roads.observe.progress().unwrap_or(0.0))
    }

    /// Brings every switch up to the end of the run, so that counters and depths are whole.
    #[inline(never)]
    fn settle_all(&mut self) {
        for index in 0..self.switches.len() {
            let (node, mut around) = self.switch_and_surroundings(index);
            let now = around.1;
            node.handle_timeout(now, &mut around.0);
            // A run that goes on must hear of what is due next.
            self.after_switch(now, index);
        }
        let now = self.now;
        self.switches.iter_mut().for_each(|node| node.record_depths(now));
    }

    #[inline]
    pub(crate) fn handle(&mut self, now: Time, source: Source) {
        if source < self.first_generator_source {
            self.read_wire(now, source as usize);
        } else if source < self.first_member_source {
            self.generate(now, (source - self.first_generator_source) as usize);
        } else if source >= self.first_socket_source {
            self.wake_socket(now, source - self.first_socket_source);
        } else {
            self.wake_member(now, (source - self.first_member_source) as usize);
        }
    }

    /// Something arrives at the end of a wire.
    #[inline]
    fn read_wire(&mut self, now: Time, wire: usize) {
        if let Origin::LatePort { switch, port } = self.roads.wires[wire].origin {
            let is_read = self.settle_origin(now, wire, (switch as usize, usize::from(port)));
            if is_read {
                return;
            }
        }
        match self.roads.wires[wire].end {
            End::Switch { switch, port } => self.enter_switch(now, wire, switch as usize, usize::from(port)),
            End::Host(host) => self.poll_host(now, wire, host),
        }
    }

    /// The port before a wire may have sent something by now. Returns whether the wire was read too.
    #[inline(never)]
    fn settle_origin(&mut self, now: Time, wire: usize, (switch, port): (usize, usize)) -> bool {
        let (node, mut around) = self.switch_and_surroundings(switch);
        node.settle(port, now, &mut around.0);
        self.after_switch(now, switch);
        let road = &self.roads.wires[wire];
        if road.is_read_ahead() {
            self.read_ahead(now, wire, (switch, port));
            return true;
        }
        if let End::Host(host) = road.end
            && road.posted_until > now
        {
            self.poll_behind_posted(now, wire, host);
            return true;
        }
        false
    }

    /// Polls a host while a frame for its interface is being sent: the wire may be empty then, and what waits in the port
    /// behind that frame makes nobody look, so the wire is looked at again when the frame is over.
    #[cold]
    #[inline(never)]
    fn poll_behind_posted(&mut self, now: Time, wire: usize, host: u32) {
        self.poll_host(now, wire, host);
        let posted_until = self.roads.wires[wire].posted_until;
        self.roads.look_again(wire, posted_until);
    }

    /// Reads a header from a port that chooses late. The frame is still being sent, so the port's next choice comes after
    /// this: the wire is looked at again when the transmitter is free.
    #[inline(never)]
    fn read_ahead(&mut self, now: Time, wire: usize, (switch, port): (usize, usize)) {
        let End::Switch { switch: next, port: in_port } = self.roads.wires[wire].end else {
            unreachable!("only switches read ahead")
        };
        let arrived = self.roads.wires[wire].pop_arrived(now);
        let free_at = self.switches[switch].switch.free_at(port);
        let choice = if free_at > now { free_at } else { Time::NEVER };
        self.roads.agenda.arm(source_of(wire), self.roads.wires[wire].next_arrival().min(choice));
        if let Some((_, packet)) = arrived {
            let (node, mut around) = self.switch_and_surroundings(next as usize);
            node.handle_frame(now, usize::from(in_port), packet, &mut around.0);
            self.after_switch(now, next as usize);
        }
    }

    #[inline]
    fn enter_switch(&mut self, now: Time, wire: usize, switch: usize, port: usize) {
        let road = &mut self.roads.wires[wire];
        let (_, packet) = road.pop();
        let next = road.next_arrival();
        self.roads.agenda.postpone_wire(source_of(wire), next);
        let (node, mut around) = self.switch_and_surroundings(switch);
        node.handle_frame(now, port, packet, &mut around.0);
        self.after_switch(now, switch);
    }

    fn poll_host(&mut self, now: Time, wire: usize, host: u32) {
        let Roads { wires, stages, agenda, .. } = &mut self.roads;
        let (stage, road) = (&mut stages[host as usize], &mut wires[wire]);
        if let Some(next) = stage.after_single(road, now) {
            let (arrival, packet) = road.pop();
            stage.frames += 1;
            // What follows from the frame cannot change what is on the wire to this host.
            agenda.postpone_wire(source_of(wire), next);
            return self.take_single(now, arrival, &packet);
        }
        let due = self.poll_many(now, wire, host);
        self.roads.agenda.arm(source_of(wire), due);
    }

    /// Hands up the only frame of a poll.
    #[inline]
    fn take_single(&mut self, now: Time, arrival: Time, packet: &Packet) {
        self.roads.observe.delivered(packet);
        if packet.flags.contains(Flags::UDP) {
            receive_datagram(&mut self.roads.observe, arrival, packet);
        } else {
            self.deliver_segment(now, &Segment::single(packet));
        }
    }

    /// Takes and merges what has arrived, or hands up what was worked on. Returns when the wire's source is due next.
    #[inline(never)]
    fn poll_many(&mut self, now: Time, wire: usize, host: u32) -> Time {
        let World { roads: Roads { wires, stages, observe, .. }, merge_slots, sockets, .. } = self;
        let stage = &mut stages[host as usize];
        let drops_before = stage.ring_drops;
        let polled = stage.poll(now, &mut wires[wire], |arrival, packet, gro| {
            observe.delivered(packet);
            if packet.flags.contains(Flags::UDP) {
                receive_datagram(observe, arrival, packet);
            } else if sockets[packet.to_endpoint as usize].expects == packet.flow_hash {
                gro.add(packet, &mut merge_slots[packet.to_endpoint as usize]);
            }
        });
        observe.frames.dropped += stage.ring_drops - drops_before;
        match polled {
            Polled::WorkUntil(done) => done,
            Polled::Deliver => {
                self.deliver(now, host);
                self.roads.stages[host as usize].next_poll(&self.roads.wires[wire], now)
            }
        }
    }

    /// A switch, and what surrounds it with the time.
    #[inline]
    pub(crate) fn switch_and_surroundings(
        &mut self,
        index: usize,
    ) -> (&mut Switch<Packet>, (SwitchOutputs<'_, Packet, Roads>, Time)) {
        let World { switches, roads, now, .. } = self;
        let (switch, outputs) = switches[index].split(roads);
        (switch, (outputs, *now))
    }

    /// A socket and its host's way out.
    #[inline]
    pub(crate) fn socket_and_uplink(&mut self, index: u32, now: Time) -> (&mut Socket, Uplink<'_>) {
        let World { sockets, hosts, roads, .. } = self;
        let socket = &mut sockets[index as usize];
        let host = &mut hosts[socket.host as usize];
        (socket, Uplink { roads, host, now })
    }

    /// A host's way out.
    pub(crate) fn uplink(&mut self, host: u32, now: Time) -> Uplink<'_> {
        Uplink { roads: &mut self.roads, host: &mut self.hosts[host as usize], now }
    }
}

/// A datagram's delay is measured on the wire, before the host's moderation.
#[inline(never)]
fn receive_datagram(observe: &mut Observe, arrival: Time, packet: &Packet) {
    let record = &mut observe.workloads[packet.to_endpoint as usize];
    record.received(arrival, u64::from(packet.payload_bytes));
    let sent = Time::from_ps(packet.ack);
    record.measured(0, sent, arrival.since(sent));
}

/// Frames that are somewhere between the hosts.
pub(crate) fn frames_in_network(world: &World) -> u64 {
    let on_wires: u64 = world.roads.wires.iter().map(Wire::frames).sum();
    let held: u64 = world.switches.iter().map(SwitchNode::held_frames).sum();
    on_wires + held + world.roads.bridging.frames()
}

/// The span from the end of the warm-up to the end of a run.
pub(crate) fn counted(world: &World) -> Span {
    world.now.since(world.counted_from)
}
