//! The receive sides of hosts as the recorder sees them: which frames have come, and when they are handed up.

use super::Recorder;
use crate::causes::frames::{Frame, FrameId, Lost};
use crate::causes::wires::Node;
use tailrace_endpoint::host::{POLL_BUDGET, sender_of};
use tailrace_wire::Packet;

/// How a host receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Receives {
    /// What a poll takes is handed up at once.
    AtOnce,
    /// It works on what a poll takes, and hands it up with the next.
    WithWork,
    /// Its processor does, which tells of every frame.
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
    /// Takes what has arrived at the host of the event, before the first consequence is noted.
    pub(super) fn take(&mut self) {
        let Some(wire) = self.event.untaken.take() else { return };
        let Node::Host(host) = self.wires.to(wire) else { unreachable!("only hosts take frames") };
        let receiving = &mut self.receiving[host as usize];
        let has_work = receiving.how == Receives::WithWork;
        let taken = if std::mem::take(&mut receiving.is_working) {
            std::mem::take(&mut receiving.staged)
        } else {
            let most = if has_work { POLL_BUDGET } else { usize::MAX };
            let (wires, now) = (&mut self.wires, self.event.now);
            let taken = std::iter::from_fn(|| wires.pop_arrived(wire, now)).take(most).collect();
            if has_work {
                receiving.is_working = true;
                receiving.staged = taken;
                return;
            }
            taken
        };
        taken.into_iter().for_each(|frame| self.deliver(frame));
    }

    /// The processor of a host hands up this many segments, of which this is the first.
    pub(crate) fn handed_up(&mut self, host: u16, packet: &Packet, segments: u16) {
        self.collect(host);
        let own = (host, packet.to_endpoint);
        if let Some(from) = sender_of(packet) {
            if let Some(frame) = self.ends.get_mut(from).and_then(|end| end.arrived.pop_front()) {
                self.deliver(frame);
            }
        } else if self.ends.expects(own, packet.flow_hash) {
            for _ in 0..segments {
                let Some(frame) = self.ends.get_mut(own).and_then(|end| end.arrived.pop_front()) else { return };
                self.deliver(frame);
            }
        }
    }

    /// What has arrived at a host with a processor waits there for its socket; an opening segment, with its sender's.
    fn collect(&mut self, host: u16) {
        let Recorder { receiving, wires, frames, ends, event, .. } = self;
        for &wire in &receiving[usize::from(host)].wires {
            while let Some(id) = wires.pop_arrived(wire, event.now) {
                let Some(Frame { packet, .. }) = frames.get(id) else { continue };
                let own = sender_of(packet).unwrap_or((packet.to_host, packet.to_endpoint));
                if let Some(end) = ends.get_mut(own) {
                    end.arrived.push_back(id);
                }
            }
        }
    }

    /// The receive ring had no room for the latest of the frames that have arrived at the host of this event.
    pub(crate) fn ring_dropped(&mut self, frames: u64) {
        let Some(wire) = self.event.untaken else { return };
        for id in self.wires.drop_arrived(wire, self.event.now, frames) {
            self.lose_in_ring(id, wire);
        }
    }

    /// The receive ring of a host with a processor had no room for a frame.
    pub(crate) fn left_out(&mut self, host: u16, packet: &Packet) {
        self.collect(host);
        let Recorder { frames, ends, .. } = self;
        let own = sender_of(packet).unwrap_or((packet.to_host, packet.to_endpoint));
        let Some(end) = ends.get_mut(own) else { return };
        let what = |packet: &Packet| (packet.seq, packet.ack, packet.payload_bytes);
        let is_it = |id: &FrameId| frames.get(*id).is_some_and(|frame| what(&frame.packet) == what(packet));
        if let Some(at) = end.arrived.iter().rposition(is_it)
            && let Some(id) = end.arrived.remove(at)
            && let Some(&wire) = self.receiving[usize::from(host)].wires.first()
        {
            self.lose_in_ring(id, wire);
        }
    }

    fn lose_in_ring(&mut self, id: FrameId, wire: u32) {
        let at = self.event.now;
        if let Some(frame) = self.frames.get_mut(id) {
            frame.lost = Some(Lost { at, wire, in_ring: true });
        }
    }
}
