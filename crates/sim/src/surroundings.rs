//! What a switch and a socket see of the world: wires to send on.

use crate::agenda::Agenda;
use crate::bridging::Bridging;
use crate::observe::Observe;
use crate::receive::ReceiveStage;
use crate::world::{HostNode, source_of};
use tailrace_dataplane::Frame;
use tailrace_endpoint::transport;
use tailrace_network::{End, Medium, NetworkFrame, Wire};
use tailrace_units::Time;
use tailrace_wire::Packet;

/// The parts of the world that a frame passes on its way out of a node.
#[derive(Debug)]
pub(crate) struct Roads {
    pub(crate) wires: Vec<Wire<Packet>>,
    pub(crate) agenda: Agenda,
    /// What frames come to at each host.
    pub(crate) stages: Vec<ReceiveStage>,
    pub(crate) observe: Observe,
    /// Interfaces and switches of data-centre bridging.
    pub(crate) bridging: Bridging,
}

impl Roads {
    /// Most frames follow another one on their wire, where there is room: then nobody need be told. Everything else is a last
    /// call, so that this way needs no register that outlives a call.
    #[inline]
    fn send(&mut self, wire: usize, packet: &Packet, start: Time, end: Time) {
        self.observe.sent(start, wire, packet.fingerprint());
        let road = &mut self.wires[wire];
        if packet.is_control() || road.is_full() {
            return self.send_slowly(wire, packet, start, end);
        }
        if let Some(arrival) = road.push(packet, start, end) {
            self.announce(wire, arrival);
        }
    }

    /// For frames that may end at a host's interface, and for wires that need memory.
    #[cold]
    #[inline(never)]
    fn send_slowly(&mut self, wire: usize, packet: &Packet, start: Time, end: Time) {
        let road = &mut self.wires[wire];
        if packet.is_control()
            && let End::Host(host) = road.end
        {
            let arrival = road.arrival(start, end);
            road.posted_until = arrival;
            self.look_again(wire, arrival);
            self.post(host, arrival, *packet);
        } else if let Some(arrival) = road.push(packet, start, end) {
            self.announce(wire, arrival);
        }
    }

    /// The first frame on a wire makes it due.
    #[inline(never)]
    fn announce(&mut self, wire: usize, arrival: Time) {
        let due = match self.wires[wire].end {
            End::Switch { .. } => arrival,
            End::Host(host) => self.stages[host as usize].poll_after(arrival),
        };
        // A poll that is under way keeps its time: it will find the frame.
        if self.agenda.due(source_of(wire)).is_never() {
            self.agenda.arm(source_of(wire), due);
        }
    }
}

impl Roads {
    /// A pause or a notification goes to a host's interface, if that takes part; any other ignores it.
    #[cold]
    fn post(&mut self, host: u32, arrival: Time, packet: Packet) {
        let Some(interface) = self.bridging.interface_of(host) else {
            self.observe.frames.delivered += u64::from(!packet.is_pause());
            return;
        };
        interface.control.push(arrival, packet);
        let (source, due) = interface.due();
        self.agenda.arm(source, due);
    }

    /// Frames may wait behind one that was posted: the wire is looked at when that one is over, as it is for any other.
    #[cold]
    pub(crate) fn look_again(&mut self, wire: usize, arrival: Time) {
        if self.agenda.due(source_of(wire)).is_never() {
            self.agenda.arm(source_of(wire), arrival);
        }
    }
}

impl Medium<Packet> for Roads {
    #[inline]
    fn send(&mut self, wire: usize, packet: &Packet, start: Time, end: Time) {
        self.send(wire, packet, start, end);
    }

    fn dropped(&mut self, at: Time, wire: usize, packet: &Packet) {
        self.observe.dropped(at, wire as u64, packet.fingerprint());
    }

    fn marked(&mut self, at: Time, wire: usize, packet: &Packet) {
        self.observe.marked(at, wire as u64, packet.fingerprint());
    }

    fn source_of(&self, packet: &Packet) -> Option<usize> {
        self.observe.source_of(packet)
    }
}

/// What a socket has of its host: the way out, and the cores.
pub(crate) struct Uplink<'a> {
    pub(crate) roads: &'a mut Roads,
    pub(crate) host: &'a mut HostNode,
    pub(crate) now: Time,
}

impl transport::Wire for Uplink<'_> {
    #[inline]
    fn send(&mut self, packet: Packet) -> Option<Time> {
        self.roads.observe.frames.sent += 1;
        if self.roads.bridging.interface_of(self.host.index).is_some() {
            return self.enqueue(packet);
        }
        let Some((start, end)) = self.host.nic.send(self.now, packet.bytes()) else {
            self.roads.observe.dropped(self.now, u64::from(self.host.wire), packet.fingerprint());
            return None;
        };
        self.roads.send(self.host.wire as usize, &packet, start, end);
        Some(end)
    }
}

impl Uplink<'_> {
    /// Hands a frame to an interface that chooses when to send it.
    fn enqueue(&mut self, packet: Packet) -> Option<Time> {
        let interface = self.roads.bridging.interface_of(self.host.index).expect("called for such interfaces");
        let departs = interface.nic.enqueue(self.now, packet);
        if departs.is_none() {
            self.roads.observe.dropped(self.now, u64::from(self.host.wire), packet.fingerprint());
        }
        self.send_due();
        departs
    }

    /// Sends what is due at such an interface, and notes when it is due again.
    pub(crate) fn send_due(&mut self) {
        loop {
            let interface = self.roads.bridging.interface_of(self.host.index).expect("called for such interfaces");
            let Some((start, end, packet)) = interface.nic.send(self.now) else { break };
            self.roads.send(self.host.wire as usize, &packet, start, end);
        }
        let interface = self.roads.bridging.interface_of(self.host.index).expect("called for such interfaces");
        let (source, due) = interface.due();
        self.roads.agenda.arm(source, due);
    }
}
