//! Frames inside hypervisors.

use super::Recorder;
use crate::causes::frames::{Frame, FrameId, Hop, NOT_KEPT, SWITCHING, VHOST};
use crate::causes::inside::Inside;
use crate::causes::loss::{DroppedBy, Loss};
use crate::causes::stages::{Gates, Stage};
use crate::causes::wires::Node;
use tailrace_host::hypervisor::Passage;
use tailrace_units::Time;
use tailrace_wire::Packet;

impl Recorder {
    /// A wire begins at this node, though the opposite one ends at a hypervisor.
    pub(crate) fn begins_at(&mut self, wire: u32, node: Node) {
        self.wires.put_from(wire, node);
    }

    /// A host is a virtual machine with these cores.
    pub(crate) fn has_gates(&mut self, host: u16, gates: Gates) {
        self.wires.put_gates(host, gates);
    }

    /// A virtual core begins or ceases to run.
    pub(crate) fn gate(&mut self, host: u16, core: usize, runs: bool) {
        let now = self.event.now;
        if let Some(gates) = self.wires.gates_mut(host) {
            gates.note(now, core, runs);
        }
    }

    /// The next frame has come to a hypervisor over this wire, from outside or from its switch.
    pub(crate) fn came(&mut self, wire: u32) {
        let node = self.wires.to(wire);
        let frame = self.wires.pop_arrived(wire, self.event.now);
        let Some(frame) = frame.filter(|&frame| frame != NOT_KEPT) else { return };
        let Some(&Frame { packet, .. }) = self.frames.get(frame) else { return };
        if let Some(inside) = self.inside_mut(&packet) {
            inside.enter(node, &packet, frame);
        }
    }

    /// Frames pass on inside a hypervisor.
    pub(crate) fn passed(&mut self, hypervisor: u32, frames: &[Packet], passage: Passage) {
        for packet in frames {
            self.pass_on(hypervisor, packet, passage);
        }
    }

    fn pass_on(&mut self, hypervisor: u32, packet: &Packet, passage: Passage) {
        let at = |stage| Node::Stage(hypervisor, stage);
        let now = self.event.now;
        let Some(inside) = self.inside_mut(packet) else { return };
        let mut go_on = |from, to| inside.go_on(at(from), at(to), packet);
        let (frame, wire, work) = match passage {
            Passage::Switching(work) => {
                let frame = go_on(Stage::Handed, Stage::Switching)
                    .or_else(|| go_on(Stage::Came, Stage::Switching));
                (frame, SWITCHING, work)
            }
            Passage::FromMachine(work) => (go_on(Stage::Came, Stage::FromMachine), VHOST, work),
            Passage::ToMachine(work) => (go_on(Stage::Switched, Stage::ToMachine), VHOST, work),
            Passage::Handed => {
                let frame = go_on(Stage::FromMachine, Stage::Handed);
                return self.end_work(frame, now);
            }
        };
        if let Some(frame) = frame {
            self.frames.add_hop(
                frame,
                Hop {
                    before: 0,
                    wire,
                    class: 0,
                    start: now,
                    end: now + work,
                    arrival: Time::NEVER,
                },
            );
        }
    }

    fn end_work(&mut self, frame: Option<FrameId>, now: Time) {
        if let Some(hop) = frame.and_then(|frame| self.frames.last_hop_mut(frame)) {
            hop.arrival = now;
        }
    }

    /// A frame has been switched: its switch decides where it leaves.
    pub(crate) fn switched(&mut self, hypervisor: u32, switch: u32, packet: &Packet) {
        let (from, to) = (Node::Stage(hypervisor, Stage::Switching), Node::Switch(switch));
        let frame = self.inside_mut(packet).and_then(|inside| inside.go_on(from, to, packet));
        self.end_work(frame, self.event.now);
    }

    /// A frame is in the ring of a virtual machine.
    pub(crate) fn put_into_ring(&mut self, hypervisor: u32, ring: u32, packet: &Packet) {
        let at = |stage| Node::Stage(hypervisor, stage);
        let now = self.event.now;
        let inside = self.inside_mut(packet);
        let copied = inside.and_then(|inside| inside.leave(at(Stage::ToMachine), packet));
        self.end_work(copied, now);
        let frame = copied.or_else(|| self.inside_mut(packet)?.leave(at(Stage::Switched), packet));
        self.wires.push(ring, (now, now, now), frame.unwrap_or(NOT_KEPT), u32::MAX);
    }

    /// A frame found no room inside a hypervisor: when it came there, or behind a vhost thread.
    pub(crate) fn overran(&mut self, hypervisor: u32, packet: &Packet) {
        let leave =
            |inside: &mut Inside, stage| inside.leave_last(Node::Stage(hypervisor, stage), packet);
        let Some(inside) = self.inside_mut(packet) else { return };
        let frame = [Stage::FromMachine, Stage::Came, Stage::Switched]
            .into_iter()
            .find_map(|stage| leave(inside, stage));
        let Some(frame) = frame else { return };
        let wire = self.frames.last_wire(frame);
        if let Some(wire) = wire {
            self.lose(frame, Loss { at: self.event.now, wire, by: DroppedBy::Hypervisor });
        }
    }
}
