//! The record of a run from which causes are read: every frame with its stamps, and what each followed from.
//!
//! The driver says which event the world handles; the links say what is sent and dropped meanwhile, and what programs write. A host sends a
//! frame because a frame was handed to its socket in the same event, because a program has written, or because a timer of the socket was
//! due. Nothing here changes what happens.

mod acts;
mod kept;
mod receiving;
mod repetition;

pub(crate) use kept::SentFrame;
pub(crate) use receiving::Receives;

use crate::causes::Explanation;
use crate::causes::ends::{End, Ends, SocketId, sequence_bytes};
use crate::causes::frames::{Entry, Frame, FrameId, Frames, Hop, Lost, NOT_KEPT, Prior};
use crate::causes::part::Part;
use crate::causes::pauses::Pausable;
use crate::causes::told::{Connection, Look, Transmission};
use crate::causes::walk::{Last, Walk};
use crate::causes::wires::{Node, Wires};
use receiving::Receiving;
use std::collections::BTreeMap;
use tailrace_dataplane::Frame as _;
use tailrace_endpoint::cause::{Because, Cause, Work};
use tailrace_endpoint::host::{Completion, Opened, sender_of};
use tailrace_endpoint::ip::protocol;
use tailrace_network::NetworkFrame;
use tailrace_record::Digest;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, Protocol};
use tailrace_workloads::Followed;

/// The event that is handled.
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    number: u64,
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
    receiving: Vec<Receiving>,
    /// By workload.
    followed: Vec<Followed>,
    ends: Ends,
    /// Sockets of programs with several, by the hash of the packets that they send.
    by_hash: BTreeMap<u32, SocketId>,
    /// Opening segments of this event whose socket is not there yet, with their senders.
    opening: Vec<(SocketId, FrameId)>,
    /// Sockets that were handed frames in this event, or have sent some.
    touched: Vec<SocketId>,
    /// Sockets that were written to.
    written: Vec<SocketId>,
    /// Programs that wait for a core, by host and waiter: the socket for whose frame, and since when.
    core_waits: BTreeMap<(u16, u64), (u32, Time)>,
    /// Repetitions of this event, with the sockets that sent them.
    repeated: Vec<(SocketId, FrameId)>,
    completed: Vec<Completion>,
    pub(crate) explained: Vec<Explanation>,
    /// Explanations keep the steps of their paths.
    pub(crate) keeps_steps: bool,
    /// By workload and user, client's and server's socket of connections that exist from the start.
    connections: BTreeMap<(u32, u32), [SocketId; 2]>,
    /// Users of workloads with such connections.
    users: BTreeMap<u32, u32>,
}

impl Recorder {
    /// The transmitter before a wire obeys pauses.
    pub(crate) fn obeys_pauses(&mut self, wire: u32, line: Pausable) {
        self.wires.put_pausable(wire, line);
    }

    /// Of a network whose wires end there, on hosts that receive in these ways, with workloads that are explained or not.
    pub(crate) fn new(ends: &[Node], hosts: impl Iterator<Item = Receives>, followed: Vec<Followed>) -> Recorder {
        let wires_to = |host: u32| (0_u32..).zip(ends).filter(move |(_, end)| **end == Node::Host(host)).map(|(wire, _)| wire);
        let receiving = |(host, how): (u32, Receives)| Receiving::new(how, wires_to(host).collect());
        Recorder {
            digest: None,
            event: Event::default(),
            frames: Frames::default(),
            wires: Wires::new(ends),
            receiving: (0..).zip(hosts).map(receiving).collect(),
            followed,
            ends: Ends::default(),
            by_hash: BTreeMap::new(),
            opening: Vec::new(),
            touched: Vec::new(),
            written: Vec::new(),
            core_waits: BTreeMap::new(),
            repeated: Vec::new(),
            completed: Vec::new(),
            explained: Vec::new(),
            keeps_steps: false,
            connections: BTreeMap::new(),
            users: BTreeMap::new(),
        }
    }
}

/// The socket that a frame is for; of an opening segment, whose receiver may not be there yet, the sender.
fn end_of(packet: &Packet) -> SocketId {
    sender_of(packet).unwrap_or((packet.to_host, packet.to_endpoint))
}

/// What the driver and the host tell.
impl Recorder {
    /// A connection of programs with one socket each.
    pub(crate) fn connected(&mut self, connection: &Connection) {
        let &Connection { workload, ends, hashes } = connection;
        // Users open their connections in their order.
        let user = self.users.entry(workload).or_default();
        self.connections.insert((workload, *user), ends);
        *user += 1;
        for side in 0..2 {
            let is_explained = !matches!(self.followed[workload as usize], Followed::Not(_));
            let end = is_explained.then(|| End::new(side == 0, Some(ends[1 - side])));
            self.ends.put(ends[side], hashes[1 - side], end);
        }
    }

    /// A program with several sockets has one more, on this host. The end that opens the connection comes first.
    pub(crate) fn opened(&mut self, host: u16, opened: &Opened) {
        self.take();
        let own = (host, opened.socket);
        let (sends, expects) = (opened.key.hash(), opened.key.reversed().hash());
        let followed = self.followed[opened.owner as usize];
        if let Followed::Not(_) = followed {
            return self.ends.put(own, expects, None);
        }
        let opener = self.by_hash.get(&expects).copied().filter(|peer| peer.0 == opened.peer);
        let opener = opener.filter(|&peer| self.ends.get(peer).is_some_and(|end| end.peer.is_none()));
        let opened_by = opened.cause.and_then(|cause| self.prior_of_act(own, Some(cause), Span::ZERO));
        let mut end = End::new(opener.is_none(), opener);
        (end.opened_by, end.is_peer) = (opened_by, followed == Followed::Peers);
        self.ends.put(own, expects, Some(end));
        self.by_hash.insert(sends, own);
        if let Some(opener) = opener
            && let Some(end) = self.ends.get_mut(opener)
        {
            end.peer = Some(own);
        }
        if let Some(at) = self.opening.iter().position(|&(from, _)| Some(from) == opener) {
            let (_, frame) = self.opening.swap_remove(at);
            self.hand(own, frame);
        }
    }

    /// The world handles something now, which is about a wire or about something else.
    pub(crate) fn begin_event(&mut self, now: Time, wire: Option<u32>) {
        self.event = Event { number: self.event.number + 1, now, untaken: None };
        let Some(wire) = wire else { return };
        match self.wires.to(wire) {
            Node::Host(host) if self.receiving[host as usize].how == Receives::ByProcessor => {}
            Node::Host(_) => self.event.untaken = Some(wire),
            Node::Switch(_) => {
                let Some(frame) = self.wires.pop_arrived(wire, now) else { return };
                if let Some(Frame { packet, .. }) = self.frames.get(frame)
                    && let Some(end) = self.ends.get_mut(end_of(packet))
                {
                    end.inside.enter(self.wires.to(wire), packet, frame);
                }
            }
        }
    }

    /// It has handled it. `look` says what a socket looks like now.
    pub(crate) fn end_event(&mut self, look: impl Fn(SocketId) -> Look) {
        self.take();
        let mut written = std::mem::take(&mut self.written);
        written.drain(..).for_each(|own| self.note_held_back(own));
        self.written = written;
        for (own, frame) in std::mem::take(&mut self.repeated) {
            self.settle_repetition(own, frame, look(own));
        }
        for completion in std::mem::take(&mut self.completed) {
            self.explain(&completion);
        }
        let mut touched = std::mem::take(&mut self.touched);
        for own in touched.drain(..) {
            if let Some(end) = self.ends.get_mut(own) {
                let look = look(own);
                (end.repairs, end.limit) = (look.repairs, Some(look.limit));
            }
        }
        self.touched = touched;
        self.opening.clear();
    }

    /// Bytes of which nothing was sent wait since now, and are kept like a frame.
    fn note_held_back(&mut self, own: SocketId) {
        let Some(end) = self.ends.get_mut(own) else { return };
        if let Some(prior) = end.take_held_back() {
            let frame = Frame::new(self.event.now, Packet::default(), prior);
            end.last_sent = Some(self.frames.add(frame));
        }
    }

    /// The frame that a socket was handed in this event.
    fn told_to(&self, own: SocketId) -> Option<FrameId> {
        self.ends.get(own)?.told.filter(|told| told.0 == self.event.number).map(|told| told.1)
    }

    /// Hands a frame to its socket's transport.
    fn deliver(&mut self, id: FrameId) {
        let now = self.event.now;
        let Some(frame) = self.frames.get_mut(id) else { return };
        frame.delivered = now;
        let packet = frame.packet;
        match sender_of(&packet) {
            None if self.ends.expects((packet.to_host, packet.to_endpoint), packet.flow_hash) => {
                self.hand((packet.to_host, packet.to_endpoint), id);
            }
            None => {}
            Some(from) => match self.ends.get(from).and_then(|end| end.peer) {
                Some(own) => self.hand(own, id),
                None => self.opening.push((from, id)),
            },
        }
    }

    /// A socket is handed a frame.
    fn hand(&mut self, own: SocketId, id: FrameId) {
        let Event { now, number, .. } = self.event;
        let Some(Frame { packet, .. }) = self.frames.get(id) else { return };
        let Some(end) = self.ends.get_mut(own) else { return };
        end.note_received(now, packet, id);
        end.told = Some((number, id));
        self.touched.push(own);
    }

    /// A host's interface is handed a frame that it will send later.
    pub(crate) fn enqueued(&mut self, host: u32, packet: &Packet) {
        if self.is_kept(packet) {
            let id = self.begin(packet);
            if let Some(end) = self.ends.get_mut(end_of(packet)) {
                end.inside.enter(Node::Host(host), packet, id);
            }
        }
    }

    /// A frame goes onto a wire. Returns its number, if it is kept.
    pub(crate) fn sent(&mut self, wire: u32, packet: &Packet, sent: &Transmission) -> Option<FrameId> {
        if packet.is_control() {
            self.pauses_before(wire ^ 1, sent.arrival, packet);
        }
        let id = self.id_of(wire, packet);
        let &Transmission { start, end, arrival, workload } = sent;
        if id != NOT_KEPT {
            self.frames.add_hop(id, Hop { before: 0, wire, class: packet.tag.priority(), start, end, arrival });
        }
        self.wires.push(wire, (start, end, arrival), id, workload.map_or(u32::MAX, |workload| workload as u32));
        (id != NOT_KEPT).then_some(id)
    }

    /// A pause is for the transmitter before the opposite wire.
    fn pauses_before(&mut self, wire: u32, at: Time, packet: &Packet) {
        if let (Some(line), Some(pause)) = (self.wires.pausable_mut(wire), packet.pause()) {
            line.note(at, &pause);
        }
    }

    /// A frame is dropped before a wire. Returns its number, if it is kept.
    pub(crate) fn dropped(&mut self, at: Time, wire: u32, packet: &Packet) -> Option<FrameId> {
        let id = self.id_of(wire, packet);
        if let Some(frame) = self.frames.get_mut(id) {
            frame.lost = Some(Lost { at, wire, in_ring: false });
        }
        (id != NOT_KEPT).then_some(id)
    }

    /// The number of a frame that leaves the node before a wire.
    fn id_of(&mut self, wire: u32, packet: &Packet) -> FrameId {
        if !self.is_kept(packet) {
            return NOT_KEPT;
        }
        let from = self.wires.from(wire);
        let known = self.ends.get_mut(end_of(packet)).and_then(|end| end.inside.leave(from, packet));
        known.unwrap_or_else(|| self.begin(packet))
    }

    /// Whether a frame belongs to a connection that is explained.
    fn is_kept(&self, packet: &Packet) -> bool {
        if packet.is_control() || protocol(packet) != Protocol::Tcp {
            return false;
        }
        match sender_of(packet) {
            None => self.ends.expects((packet.to_host, packet.to_endpoint), packet.flow_hash),
            Some(from) => self.ends.get(from).is_some(),
        }
    }

    /// A host sends a frame.
    fn begin(&mut self, packet: &Packet) -> FrameId {
        self.take();
        let id = self.frames.add(Frame::new(self.event.now, *packet, None));
        let from = sender_of(packet).or_else(|| self.ends.get((packet.to_host, packet.to_endpoint))?.peer);
        if let Some(own) = from {
            let prior = self.prior_of(own, packet, id);
            if let Some(frame) = self.frames.get_mut(id) {
                frame.prior = prior;
            }
        }
        id
    }

    /// What a frame that this socket sends now follows from.
    fn prior_of(&mut self, own: SocketId, packet: &Packet, id: FrameId) -> Option<Prior> {
        let now = self.event.now;
        let told = self.told_to(own);
        let told =
            told.map(|frame| (frame, self.frames.get(frame).is_some_and(|frame| !frame.packet.flags.contains(Flags::SYN))));
        let end = self.ends.get_mut(own)?;
        let copy = end.copy_of(packet);
        let after = |frame, part| Prior { frame, entry: Entry::Delivered, part, core_wait: Span::ZERO, opens: None };
        let prior = if let Some(copy) = copy {
            Some(Prior { frame: copy, entry: Entry::Handed, part: Part::FastRetransmission, core_wait: Span::ZERO, opens: None })
        } else if sequence_bytes(packet) == 0 {
            end.last_received.map(|received| after(received.1, Part::DelayedAck))
        } else if packet.flags.contains(Flags::SYN) {
            end.last_received.map(|received| after(received.1, Part::ServerWork)).or(end.opened_by)
        } else {
            end.released(now, packet, told)
        };
        end.note_sent(packet, id);
        self.touched.push(own);
        if let Some(copy) = copy {
            self.repeated.push((own, id));
            if let Some(frame) = self.frames.get_mut(id) {
                frame.repeats = Some(copy);
            }
        }
        prior
    }

    /// A transaction is complete.
    pub(crate) fn completed(&mut self, completion: &Completion) {
        if !matches!(self.followed[completion.owner as usize], Followed::Not(_)) {
            self.completed.push(*completion);
        }
    }

    fn explain(&mut self, completion: &Completion) {
        let &Completion { owner, user, intended, because: Because { host, cause, core_wait }, .. } = completion;
        let last = match cause {
            Some(Cause { socket: Some(socket), by, .. }) => {
                let last =
                    self.ends.get((host, socket)).and_then(|end| Some((end.advance_by(by)?, core_wait.max(end.core_wait))));
                last.map_or(Last::Nothing, |((at, frame), core_wait)| Last::Frame { at, frame, core_wait })
            }
            Some(Cause { socket: None, by, work: Work::Device }) => Last::Own(by, Part::Device),
            Some(Cause { socket: None, by, work: Work::Program }) => Last::Own(by, Part::ClientWork),
            None => Last::Nothing,
        };
        let is_peer = self.followed[owner as usize] == Followed::Peers;
        let own = if is_peer { Part::ClientWork } else { Part::Start };
        let during = (intended, self.event.now);
        let mut explanation = Walk::explain((&self.frames, &self.wires), (owner, user), during, (last, own));
        if !self.keeps_steps {
            explanation.steps = Vec::new();
        }
        self.explained.push(explanation);
    }
}
