//! The receive sides of hosts as the recorder sees them: which frames have come, and when they are
//! handed up.

use super::Recorder;
use crate::causes::datagrams::Datagrams;
use crate::causes::ends::Ends;
use crate::causes::frames::{Frame, FrameId};
use crate::causes::inside::what;
use crate::causes::loss::{DroppedBy, Loss};
use crate::causes::wires::Node;
use std::collections::VecDeque;
use tailrace_host::{POLL_BUDGET, sender_of};
use tailrace_transport::ip::protocol;
use tailrace_wire::{Packet, Protocol};

/// How a host receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Receives {
    /// The frames of a poll are handed up at once.
    AtOnce,
    /// It processes the frames of a poll, and hands them up with the next.
    WithWork,
    /// Its processor hands frames up, and reports each.
    ByProcessor,
}

/// The receive side of a host.
#[derive(Debug)]
pub(super) struct Receiving {
    pub(super) how: Receives,
    is_working: bool,
    staged: Vec<FrameId>,
    /// The wires that end there.
    wires: Vec<u32>,
}

impl Receiving {
    /// Of a host at which these wires end.
    pub(super) fn new(how: Receives, wires: Vec<u32>) -> Receiving {
        Receiving { how, is_working: false, staged: Vec::new(), wires }
    }
}

impl Recorder {
    /// Takes the frames that have arrived at the host of the event, before the first consequence is
    /// noted.
    pub(super) fn take(&mut self) {
        let Some(wire) = self.event.untaken.take() else { return };
        let Node::Host(host) = self.wires.to(wire) else { unreachable!("only hosts take frames") };
        let now = self.event.now;
        let receiving = &mut self.receiving[host as usize];
        if receiving.how != Receives::WithWork {
            while let Some(frame) = self.wires.pop_arrived(wire, now) {
                self.deliver(frame);
            }
        } else if std::mem::take(&mut receiving.is_working) {
            std::mem::take(&mut receiving.staged).into_iter().for_each(|frame| self.deliver(frame));
        } else {
            receiving.is_working = true;
            receiving
                .staged
                .extend(std::iter::from_fn(|| self.wires.pop_arrived(wire, now)).take(POLL_BUDGET));
        }
    }

    /// The processor of a host hands up this many segments, of which this is the first.
    pub(super) fn handed_up(&mut self, host: u16, packet: &Packet, segments: u16) {
        self.collect(host);
        if protocol(packet) == Protocol::Udp {
            if let Some(frame) = self.take_arrived(packet) {
                self.deliver(frame);
            }
            return;
        }
        let own = (host, packet.to_endpoint);
        if let Some(from) = sender_of(packet) {
            if let Some(frame) = self.ends.get_mut(from).and_then(|end| end.arrived.pop_front()) {
                self.deliver(frame);
            }
        } else if self.ends.expects(own, packet.flow_hash) {
            for _ in 0..segments {
                let Some(frame) = self.ends.get_mut(own).and_then(|end| end.arrived.pop_front())
                else {
                    return;
                };
                self.deliver(frame);
            }
        }
    }

    /// Frames that have arrived at a host with a processor wait there for their socket; an opening
    /// segment waits with its sender's.
    fn collect(&mut self, host: u16) {
        let Recorder { receiving, wires, frames, ends, datagrams, event, .. } = self;
        for &wire in &receiving[usize::from(host)].wires {
            while let Some(id) = wires.pop_arrived(wire, event.now) {
                let Some(Frame { packet, .. }) = frames.get(id) else { continue };
                if let Some(arrived) = arrived_mut((ends, datagrams), packet) {
                    arrived.push_back(id);
                }
            }
        }
    }

    /// The receive ring had no room for the latest of the frames that have arrived at the host of
    /// this event.
    pub(super) fn ring_dropped(&mut self, frames: u64) {
        let Some(wire) = self.event.untaken else { return };
        for id in self.wires.drop_arrived(wire, self.event.now, frames) {
            self.lose_in_ring(id, wire);
        }
    }

    /// The receive ring of a host with a processor had no room for a frame.
    pub(super) fn left_out(&mut self, host: u16, packet: &Packet) {
        self.collect(host);
        let Recorder { frames, ends, datagrams, .. } = self;
        let Some(arrived) = arrived_mut((ends, datagrams), packet) else { return };
        let is_it =
            |id: &FrameId| frames.get(*id).is_some_and(|frame| what(&frame.packet) == what(packet));
        if let Some(at) = arrived.iter().rposition(is_it)
            && let Some(id) = arrived.remove(at)
            && let Some(&wire) = self.receiving[usize::from(host)].wires.first()
        {
            self.lose_in_ring(id, wire);
        }
    }

    fn lose_in_ring(&mut self, id: FrameId, wire: u32) {
        self.lose(id, Loss { at: self.event.now, wire, by: DroppedBy::ReceiveRing });
    }

    /// Takes a frame of a datagram out of those that have arrived at a host with a processor.
    /// Fragments have another receive queue than whole datagrams of their socket.
    fn take_arrived(&mut self, packet: &Packet) -> Option<FrameId> {
        let Recorder { frames, ends, datagrams, .. } = self;
        let arrived = arrived_mut((ends, datagrams), packet)?;
        let is_it =
            |id: &FrameId| frames.get(*id).is_some_and(|frame| what(&frame.packet) == what(packet));
        let at = arrived.iter().position(is_it)?;
        arrived.remove(at)
    }
}

/// Frames that have arrived for the socket of this one at a host with a processor; of an opening
/// segment, its sender's.
fn arrived_mut<'a>(
    (ends, datagrams): (&'a mut Ends, &'a mut Datagrams),
    packet: &Packet,
) -> Option<&'a mut VecDeque<FrameId>> {
    let own = (packet.to_host, packet.to_endpoint);
    match protocol(packet) {
        Protocol::Udp => datagrams.get_mut(own).map(|end| &mut end.arrived),
        Protocol::Tcp => ends.get_mut(sender_of(packet).unwrap_or(own)).map(|end| &mut end.arrived),
    }
}
