//! The record of a run from which causes are read: every frame with its stamps, and what each followed from.
//!
//! The driver says which event the world handles; the links say what is sent and dropped meanwhile. A host sends a frame either because
//! a frame was handed to its socket in the same event, or because a timer of the socket was due. Nothing here changes what happens.

use super::Explanation;
use super::ends::{End, SocketId};
use super::frames::{Entry, Frame, FrameId, Frames, Hop, NOT_KEPT, Prior};
use super::part::Part;
use super::walk::Walk;
use super::wires::{Node, Wires};
use std::collections::{BTreeMap, VecDeque};
use tailrace_endpoint::host::Completion;
use tailrace_endpoint::ip::protocol;
use tailrace_network::NetworkFrame;
use tailrace_record::Digest;
use tailrace_units::Time;
use tailrace_wire::{Packet, Protocol};

/// By what a switch's frames are found again: all that a switch does not change.
pub(crate) type Key = (u32, u16, u32, u32, u64, u64, u16, u16);

pub(crate) fn key(switch: u32, packet: &Packet) -> Key {
    let Packet { to_host, to_endpoint, flow_hash, seq, ack, payload_bytes, flags, .. } = *packet;
    (switch, to_host, to_endpoint, flow_hash, seq, ack, payload_bytes, flags.bits())
}

/// What a transmission is.
pub(crate) struct Transmission {
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) arrival: Time,
    pub(crate) workload: Option<usize>,
}

/// What the recorder must know of a socket after an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Bytes that were written and never sent.
    pub(crate) unsent: u64,
    /// The retransmission timer has expired, and what was lost then is being repeated.
    pub(crate) is_after_timeout: bool,
}

/// What the receive side of a host holds.
#[derive(Debug, Default)]
struct Receiving {
    has_costs: bool,
    is_working: bool,
    staged: Vec<FrameId>,
}

/// The event that is handled.
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    now: Time,
    /// It is about a wire that ends at a host, whose frames were not taken yet.
    untaken: Option<u32>,
}

/// The record.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) digest: Option<Digest>,
    event: Event,
    frames: Frames,
    wires: Wires,
    /// Frames inside switches.
    inside: BTreeMap<Key, VecDeque<FrameId>>,
    receiving: Vec<Receiving>,
    ends: BTreeMap<SocketId, End>,
    /// By host and socket, whether frames for it can be on a path that is explained: only those are kept.
    is_explained: Vec<Vec<bool>>,
    /// The other end of each socket.
    peers: BTreeMap<SocketId, SocketId>,
    /// The client's socket by workload and user.
    clients: BTreeMap<(u32, u32), SocketId>,
    /// First new segments of the event: what the others of the same socket follow from too.
    released: BTreeMap<SocketId, Option<Prior>>,
    /// Sockets that were handed frames in this event.
    told: BTreeMap<SocketId, FrameId>,
    /// Repetitions of this event, with the sockets that sent them.
    repeated: Vec<(SocketId, FrameId)>,
    completed: Vec<Completion>,
    pub(crate) explained: Vec<Explanation>,
    /// Explanations keep the steps of their paths.
    pub(crate) keeps_steps: bool,
}

/// A frame of an explained connection that a host sent, as far as the record still has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFrame {
    /// As the host sent it.
    pub(crate) packet: Packet,
    pub(crate) handed: Time,
    /// `Time::NEVER` of one that did not come to a transport.
    pub(crate) delivered: Time,
    /// The frame without which this one would not have been sent then, and what lies between.
    pub(crate) prior: Option<(FrameId, Part)>,
    /// The copy before it, of a repetition.
    pub(crate) repeats: Option<FrameId>,
}

impl Recorder {
    /// Of a network whose wires end there, on hosts of which these work on what they receive.
    pub(crate) fn new(ends: &[Node], has_costs: impl Iterator<Item = bool>) -> Recorder {
        Recorder {
            digest: None,
            event: Event::default(),
            frames: Frames::default(),
            wires: Wires::new(ends),
            is_explained: Vec::new(),
            inside: BTreeMap::new(),
            receiving: has_costs.map(|has_costs| Receiving { has_costs, ..Receiving::default() }).collect(),
            ends: BTreeMap::new(),
            peers: BTreeMap::new(),
            clients: BTreeMap::new(),
            released: BTreeMap::new(),
            told: BTreeMap::new(),
            repeated: Vec::new(),
            completed: Vec::new(),
            explained: Vec::new(),
            keeps_steps: false,
        }
    }

    /// A connection of a user.
    pub(crate) fn add_connection(&mut self, (workload, user): (u32, u32), client: SocketId, server: SocketId) {
        self.clients.insert((workload, user), client);
        for (own, peer) in [(client, server), (server, client)] {
            self.peers.insert(own, peer);
            self.ends.insert(own, End::new(own == client));
            let (host, number) = (usize::from(own.0), own.1 as usize);
            self.is_explained.resize(self.is_explained.len().max(host + 1), Vec::new());
            let of_host = &mut self.is_explained[host];
            of_host.resize(of_host.len().max(number + 1), false);
            of_host[number] = true;
        }
    }

    /// The world handles something now, which is about a wire or about something else.
    pub(crate) fn begin_event(&mut self, now: Time, wire: Option<u32>) {
        self.event = Event { now, untaken: None };
        let Some(wire) = wire else { return };
        match self.wires.to(wire) {
            Node::Host(_) => self.event.untaken = Some(wire),
            Node::Switch(switch) => {
                let Some(frame) = self.wires.pop_arrived(wire, now) else { return };
                if let Some(Frame { packet, .. }) = self.frames.get(frame) {
                    self.inside.entry(key(switch, packet)).or_default().push_back(frame);
                }
            }
        }
    }

    /// It has handled it. `timer` is the socket whose timer was due, if one was, and `repeated` what its repetition was; `look` says
    /// what a socket looks like now.
    pub(crate) fn end_event(&mut self, timer: Option<SocketId>, repeated: Part, look: impl Fn(SocketId) -> Look) {
        self.take();
        let touched: Vec<SocketId> = self.told.keys().copied().chain(timer).collect();
        touched.into_iter().for_each(|socket| self.note_waiting(socket, look(socket).unsent));
        for (own, frame) in std::mem::take(&mut self.repeated) {
            self.settle_repetition(own, frame, repeated, look(own).is_after_timeout);
        }
        for completion in std::mem::take(&mut self.completed) {
            self.explain(&completion);
        }
        self.told.clear();
        self.released.clear();
    }

    /// Whether bytes wait in a socket after the event. Bytes of which nothing was sent have been written now, and are kept like a frame.
    fn note_waiting(&mut self, own: SocketId, unsent: u64) {
        let Some(end) = self.ends.get_mut(&own) else { return };
        let was_drained = std::mem::replace(&mut end.is_drained, unsent == 0);
        if was_drained && !end.is_drained && !self.released.contains_key(&own) {
            let prior = end.written();
            let handed = self.event.now;
            end.last_sent = Some(self.frames.add(Frame::new(handed, Packet::default(), prior)));
        }
    }

    /// What a repetition waited for. The acknowledgements of what was repeated first release the rest, at once or when the reordering timer
    /// is due, so that the path leads through them to the first repetition of the recovery.
    fn settle_repetition(&mut self, own: SocketId, id: FrameId, timer: Part, is_after_timeout: bool) {
        let told = self.told.get(&own).copied();
        let is_timer = told.is_none() && timer != Part::FastRetransmission;
        let last = told.or_else(|| self.ends.get(&own)?.last_received.map(|received| received.1));
        let follows = last.filter(|&frame| !is_timer && ((told.is_some() && is_after_timeout) || self.answers_repetition(frame)));
        let Some(Frame { prior: Some(prior), .. }) = self.frames.get_mut(id) else { return };
        if let Some(frame) = follows {
            let part = if told.is_some() { Part::SenderHold } else { Part::FastRetransmission };
            *prior = Prior { frame, entry: Entry::Delivered, part, opens_window: told.is_some() };
        } else if is_timer {
            prior.part = timer;
        }
    }

    /// Whether a frame was sent because a repetition had arrived.
    fn answers_repetition(&self, acknowledgement: FrameId) -> bool {
        let prior = self.frames.get(acknowledgement).and_then(|frame| frame.prior);
        prior.and_then(|prior| self.frames.get(prior.frame)).is_some_and(|answered| answered.repeats.is_some())
    }

    /// Takes what has arrived at the host of the event, before the first consequence is noted.
    fn take(&mut self) {
        let Some(wire) = self.event.untaken.take() else { return };
        let Node::Host(host) = self.wires.to(wire) else { unreachable!("only hosts take frames") };
        let receiving = &mut self.receiving[host as usize];
        let mut taken = Vec::new();
        if receiving.is_working {
            receiving.is_working = false;
            taken = std::mem::take(&mut receiving.staged);
        } else {
            while let Some(frame) = self.wires.pop_arrived(wire, self.event.now) {
                taken.push(frame);
            }
            if receiving.has_costs {
                receiving.is_working = true;
                receiving.staged = std::mem::take(&mut taken);
            }
        }
        for frame in taken {
            self.deliver(frame);
        }
    }

    fn deliver(&mut self, id: FrameId) {
        let now = self.event.now;
        let Some(frame) = self.frames.get_mut(id) else { return };
        frame.delivered = now;
        let packet = frame.packet;
        let to = (packet.to_host, packet.to_endpoint);
        if let Some(end) = self.ends.get_mut(&to) {
            end.note_received(now, &packet, id);
            self.told.insert(to, id);
        }
    }

    /// A frame goes onto a wire. Returns its number, if it is kept.
    pub(crate) fn sent(&mut self, wire: u32, packet: &Packet, sent: &Transmission) -> Option<FrameId> {
        let id = self.id_of(wire, packet);
        let &Transmission { start, end, arrival, workload } = sent;
        if id != NOT_KEPT {
            self.frames.add_hop(id, Hop { before: 0, wire, start, end, arrival });
        }
        self.wires.push(wire, (start, end, arrival), id, workload.map_or(u32::MAX, |workload| workload as u32));
        (id != NOT_KEPT).then_some(id)
    }

    /// A frame is dropped before a wire. Returns its number, if it is kept.
    pub(crate) fn dropped(&mut self, at: Time, wire: u32, packet: &Packet) -> Option<FrameId> {
        let id = self.id_of(wire, packet);
        if let Some(frame) = self.frames.get_mut(id) {
            frame.lost = Some((at, wire));
        }
        (id != NOT_KEPT).then_some(id)
    }

    /// The number of a frame in the switch before a wire, if it is kept.
    pub(crate) fn inside(&self, wire: u32, packet: &Packet) -> Option<FrameId> {
        let Node::Switch(switch) = self.wires.from(wire) else { return None };
        self.inside.get(&key(switch, packet))?.front().copied()
    }

    /// A frame by its number.
    pub(crate) fn frame(&self, id: FrameId) -> Option<SentFrame> {
        let &Frame { packet, handed, delivered, prior, repeats, .. } = self.frames.get(id)?;
        Some(SentFrame { packet, handed, delivered, prior: prior.map(|prior| (prior.frame, prior.part)), repeats })
    }

    /// The sockets of a user's connection: the client's and the server's.
    pub(crate) fn connection_of(&self, workload: u32, user: u32) -> Option<[SocketId; 2]> {
        let client = *self.clients.get(&(workload, user))?;
        Some([client, *self.peers.get(&client)?])
    }

    /// The number of a frame that leaves the node before a wire.
    fn id_of(&mut self, wire: u32, packet: &Packet) -> FrameId {
        let of_host = self.is_explained.get(usize::from(packet.to_host));
        let is_kept = of_host.is_some_and(|sockets| sockets.get(packet.to_endpoint as usize) == Some(&true));
        if !is_kept || packet.is_control() || protocol(packet) != Protocol::Tcp {
            return NOT_KEPT;
        }
        let known = match self.wires.from(wire) {
            Node::Host(_) => None,
            Node::Switch(switch) => self.leave_switch(switch, packet),
        };
        known.unwrap_or_else(|| self.begin(packet))
    }

    fn leave_switch(&mut self, switch: u32, packet: &Packet) -> Option<FrameId> {
        let key = key(switch, packet);
        let same = self.inside.get_mut(&key)?;
        let frame = same.pop_front();
        if same.is_empty() {
            self.inside.remove(&key);
        }
        frame
    }

    /// A host sends a frame.
    fn begin(&mut self, packet: &Packet) -> FrameId {
        self.take();
        let now = self.event.now;
        let id = self.frames.add(Frame::new(now, *packet, None));
        if let Some(&own) = self.peers.get(&(packet.to_host, packet.to_endpoint)) {
            let prior = self.prior_of(own, packet, id);
            if let Some(frame) = self.frames.get_mut(id) {
                frame.prior = prior;
            }
        }
        id
    }

    /// What a frame that this socket sends now follows from.
    fn prior_of(&mut self, own: SocketId, packet: &Packet, id: FrameId) -> Option<Prior> {
        let told = self.told.get(&own).copied();
        let end = self.ends.get_mut(&own)?;
        if let Some(copy) = end.copy_of(packet) {
            end.note_sent(packet, id);
            self.repeated.push((own, id));
            if let Some(frame) = self.frames.get_mut(id) {
                frame.repeats = Some(copy);
            }
            return Some(Prior { frame: copy, entry: Entry::Handed, part: Part::FastRetransmission, opens_window: false });
        }
        if packet.payload_bytes == 0 {
            let received = end.last_received?.1;
            return Some(Prior { frame: received, entry: Entry::Delivered, part: Part::DelayedAck, opens_window: false });
        }
        if let Some(&released) = self.released.get(&own) {
            end.note_sent(packet, id);
            return released;
        }
        let prior = match (end.is_drained, told) {
            (true, _) => end.written(),
            (false, Some(frame)) => Some(Prior { frame, entry: Entry::Delivered, part: Part::SenderHold, opens_window: true }),
            (false, None) => {
                end.last_sent.map(|frame| Prior { frame, entry: Entry::Handed, part: Part::SenderHold, opens_window: false })
            }
        };
        end.note_sent(packet, id);
        self.released.insert(own, prior);
        prior
    }

    /// A transaction is complete.
    pub(crate) fn completed(&mut self, completion: &Completion) {
        self.completed.push(*completion);
    }

    fn explain(&mut self, completion: &Completion) {
        let whose = (completion.owner, completion.user);
        let Some(end) = self.clients.get(&whose).and_then(|client| self.ends.get(client)) else { return };
        let during = (completion.intended, self.event.now);
        let mut explanation = Walk::explain((&self.frames, &self.wires), whose, during, end.last_advance);
        if !self.keeps_steps {
            explanation.steps = Vec::new();
        }
        self.explained.push(explanation);
    }
}
