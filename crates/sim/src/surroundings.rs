//! What a switch and a socket see of the world: wires to send on.

use crate::agenda::Agenda;
use crate::observe::Observe;
use crate::receive::ReceiveStage;
use crate::wire::{End, Wire, source_of};
use crate::world::HostNode;
use tailrace_dataplane::{DropCause, Frame, Outside, PortNo, QueueNo};
use tailrace_endpoint::transport;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// The parts of the world that a frame passes on its way out of a node.
#[derive(Debug)]
pub(crate) struct Roads {
    pub(crate) wires: Vec<Wire>,
    pub(crate) agenda: Agenda,
    /// What frames come to at each host.
    pub(crate) stages: Vec<ReceiveStage>,
    pub(crate) observe: Observe,
}

impl Roads {
    #[inline]
    fn send(&mut self, wire: usize, packet: Packet, start: Time, end: Time) {
        self.observe.sent(start, wire, packet.fingerprint());
        let road = &mut self.wires[wire];
        if let Some(arrival) = road.push(packet, start, end) {
            let due = match road.end {
                End::Switch(_) => arrival,
                End::Host(host) => self.stages[host as usize].poll_after(arrival),
            };
            // A poll that is under way keeps its time: it will find the frame.
            if self.agenda.due(source_of(wire)).is_never() {
                self.agenda.arm(source_of(wire), due);
            }
        }
    }
}

/// The world around one switch.
pub(crate) struct AroundSwitch<'a> {
    pub(crate) roads: &'a mut Roads,
    /// The wire of each port, and its record if it is observed.
    pub(crate) ports: &'a [(u32, Option<u32>)],
}

impl Outside<Packet> for AroundSwitch<'_> {
    #[inline]
    fn transmit(&mut self, port: PortNo, packet: Packet, start: Time, end: Time) {
        let (wire, record) = self.ports[port];
        if let Some(record) = record {
            self.roads.observe.ports[record as usize].tx_bytes.add(start, u64::from(packet.frame_bytes));
        }
        self.roads.send(wire as usize, packet, start, end);
    }

    fn dropped(&mut self, at: Time, port: PortNo, _queue: QueueNo, packet: &Packet, _cause: DropCause) {
        let (wire, record) = self.ports[port];
        self.roads.observe.dropped(at, u64::from(wire), packet.fingerprint());
        if let Some(record) = record {
            self.roads.observe.ports[record as usize].drop_frames.add(at, 1);
        }
    }

    fn marked(&mut self, at: Time, port: PortNo, _queue: QueueNo, packet: &Packet) {
        let (wire, record) = self.ports[port];
        self.roads.observe.marked(at, u64::from(wire), packet.fingerprint());
        if let Some(record) = record {
            self.roads.observe.ports[record as usize].mark_frames.add(at, 1);
        }
    }

    fn depth(&mut self, at: Time, port: PortNo, bytes: u64) {
        if let Some(record) = self.ports[port].1 {
            self.roads.observe.ports[record as usize].depth.change(at, bytes);
        }
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
        let Some((start, end)) = self.host.nic.send(self.now, packet.bytes()) else {
            self.roads.observe.dropped(self.now, u64::from(self.host.wire), packet.fingerprint());
            return None;
        };
        self.roads.send(self.host.wire as usize, packet, start, end);
        Some(end)
    }
}
