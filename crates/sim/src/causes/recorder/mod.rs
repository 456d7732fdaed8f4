//! The record of a run from which causes are read: every frame with its time stamps and its prior
//! frame.
//!
//! The driver reports which event the world handles; meanwhile the links report sent and dropped
//! frames, and writes of programs. A host sends a frame because a frame was handed to its socket in
//! the same event, because a program has written, or because a timer of the socket was due. The
//! recorder never changes the run.

mod acts;
mod completed;
mod datagrams;
mod events;
mod kept;
mod members;
mod receiving;
mod repetition;
mod sockets;
mod stages;
mod works;

pub(crate) use kept::SentFrame;
pub(crate) use members::Member;
pub(crate) use receiving::Receives;
pub(crate) use sockets::KnownSocket;
pub(crate) use works::WorkOnFrame;

use crate::causes::Explanation;
use crate::causes::cached_path::CachedPaths;
use crate::causes::datagrams::{Datagrams, LostDatagrams};
use crate::causes::ends::{End, Ends, SocketId, sequence_bytes};
use crate::causes::frames::{Entry, Frame, FrameId, Frames, Hop, NOT_KEPT, Prior};
use crate::causes::inputs::{Connection, SocketState, Transmission};
use crate::causes::inside::Inside;
use crate::causes::loss::{DroppedBy, Loss};
use crate::causes::number::SocketNumber;
use crate::causes::part::Part;
use crate::causes::pauses::Pausable;
use crate::causes::wires::{Node, Wires};
use members::Members;
use receiving::Receiving;
use sockets::Sockets;
use std::collections::BTreeMap;
use tailrace_host::{Completion, Opened, sender_of};
use tailrace_network::NetworkFrame;
use tailrace_programs::cause::Came;
use tailrace_record::Digest;
use tailrace_transport::ip::protocol;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, Protocol};
use tailrace_workloads::Followed;

/// The event that is handled.
#[derive(Clone, Copy, Debug, Default)]
struct Handled {
    number: u64,
    now: Time,
    /// It is about a wire that ends at a host, whose frames have not been taken yet.
    untaken: Option<u32>,
}

/// The record.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) digest: Option<Digest>,
    event: Handled,
    frames: Frames,
    wires: Wires,
    receiving: Vec<Receiving>,
    /// By workload.
    followed: Vec<Followed>,
    ends: Ends,
    datagrams: Datagrams,
    /// Datagrams that were lost, with location.
    pub(crate) lost: LostDatagrams,
    /// Sockets of programs with several, by the hash of the packets that they send.
    by_hash: BTreeMap<u32, SocketId>,
    /// Opening segments of this event whose socket is not there yet, with their senders.
    opening: Vec<(SocketId, FrameId)>,
    /// Sockets that were handed frames in this event, or have sent some.
    touched: Vec<SocketId>,
    /// Sockets that were written to.
    written: Vec<SocketId>,
    /// Programs that wait for a core, by host and waiter: their input, and since when.
    core_waits: BTreeMap<(u16, u64), (Came, Time)>,
    /// Repetitions of this event, with the sockets that sent them.
    repeated: Vec<(SocketId, FrameId)>,
    completed: Vec<Completion>,
    pub(crate) explained: Vec<Explanation>,
    cached_paths: CachedPaths,
    /// Explanations keep the steps of their paths.
    keeps_steps: bool,
    /// By workload and user, client's and server's socket of connections that exist from the start.
    connections: BTreeMap<(u32, u32), [SocketNumber; 2]>,
    /// Users of workloads with such connections.
    users: BTreeMap<u32, u32>,
    /// The frame with which the next pass of forgetting is due.
    forgets_at: FrameId,
    sockets: Sockets,
    members: Members,
}

impl Recorder {
    /// The transmitter before a wire obeys pauses.
    pub(crate) fn obeys_pauses(&mut self, wire: u32, line: Pausable) {
        self.wires.put_pausable(wire, line);
    }

    /// For a network whose wires end at these nodes, on hosts that receive in these ways, with
    /// workloads that are explained or not.
    pub(crate) fn new(
        ends: &[Node],
        hosts: impl Iterator<Item = Receives>,
        followed: Vec<Followed>,
    ) -> Recorder {
        let wires_to = |host: u32| {
            (0_u32..)
                .zip(ends)
                .filter(move |(_, end)| **end == Node::Host(host))
                .map(|(wire, _)| wire)
        };
        let receiving =
            |(host, how): (u32, Receives)| Receiving::new(how, wires_to(host).collect());
        Recorder {
            digest: None,
            event: Handled::default(),
            frames: Frames::default(),
            wires: Wires::new(ends),
            receiving: (0..).zip(hosts).map(receiving).collect(),
            followed,
            ends: Ends::default(),
            datagrams: Datagrams::default(),
            lost: LostDatagrams::default(),
            by_hash: BTreeMap::new(),
            opening: Vec::new(),
            touched: Vec::new(),
            written: Vec::new(),
            core_waits: BTreeMap::new(),
            repeated: Vec::new(),
            completed: Vec::new(),
            explained: Vec::new(),
            cached_paths: CachedPaths::default(),
            keeps_steps: false,
            connections: BTreeMap::new(),
            users: BTreeMap::new(),
            forgets_at: 0,
            sockets: Sockets::default(),
            members: Members::default(),
        }
    }
}

/// The socket that a frame is for; of an opening segment, whose receiver may not be there yet, the
/// sender.
fn end_of(packet: &Packet) -> SocketId {
    sender_of(packet).unwrap_or((packet.to_host, packet.to_endpoint))
}

/// Inputs from the driver and the host.
impl Recorder {
    /// A connection of programs with one socket each.
    pub(crate) fn connected(&mut self, connection: &Connection) {
        let &Connection { workload, ends, hashes, ports } = connection;
        if let Followed::Not(_) = self.followed[workload as usize] {
            return (0..2).for_each(|side| self.ends.put(ends[side], hashes[1 - side], None));
        }
        // Users open their connections in their order.
        let next = self.users.entry(workload).or_default();
        let user = std::mem::replace(next, *next + 1);
        let mut numbers = [0; 2];
        for side in 0..2 {
            let (is_client, peer) = (side == 0, (side == 1).then_some(numbers[0]));
            let known = KnownSocket {
                workload,
                user: Some(user),
                id: ends[side],
                port: ports[side],
                is_client,
                peer,
            };
            numbers[side] = self.sockets.add(known);
            let mut end = End::new(is_client, Some(ends[1 - side]));
            end.number = numbers[side];
            self.ends.put(ends[side], hashes[1 - side], Some(end));
        }
        self.connections.insert((workload, user), numbers);
    }

    /// A program with several sockets has one more, on this host. The end that opens the connection
    /// comes first.
    fn opened(&mut self, host: u16, opened: &Opened) {
        self.take();
        let own = (host, opened.socket);
        let (sends, expects) = (opened.key.hash(), opened.key.reversed().hash());
        let followed = self.followed[opened.owner as usize];
        if let Followed::Not(_) = followed {
            return self.ends.put(own, expects, None);
        }
        let opener = self.by_hash.get(&expects).copied().filter(|peer| peer.0 == opened.peer);
        let opener =
            opener.filter(|&peer| self.ends.get(peer).is_some_and(|end| end.peer.is_none()));
        let opened_by =
            opened.cause.and_then(|cause| self.prior_of_act(own, Some(cause), Span::ZERO));
        let is_client = opener.is_none();
        let mut end = End::new(is_client, opener);
        (end.opened_by, end.is_peer) = (opened_by, followed == Followed::Peers);
        let peer = opener.and_then(|opener| self.ends.get(opener)).map(|end| end.number);
        let (workload, port) = (opened.owner, opened.key.source_port);
        end.number =
            self.sockets.add(KnownSocket { workload, user: None, id: own, port, is_client, peer });
        self.ends.put(own, expects, Some(end));
        self.by_hash.insert(sends, own);
        if let Some(opener) = opener
            && let Some(end) = self.ends.get_mut(opener)
        {
            end.peer = Some(own);
        }
        if let Some(at) = self.opening.iter().position(|&(from, _)| Some(from) == opener) {
            let (_, id) = self.opening.swap_remove(at);
            if let Some(&Frame { packet, .. }) = self.frames.get(id) {
                self.hand(own, id, &packet);
            }
        }
    }

    /// The world begins to handle an event, which is about a wire or about something else.
    pub(crate) fn begin_event(&mut self, now: Time, wire: Option<u32>) {
        self.event = Handled { number: self.event.number + 1, now, untaken: None };
        let Some(wire) = wire else { return };
        match self.wires.to(wire) {
            Node::Host(host) if self.receiving[host as usize].how == Receives::ByProcessor => {}
            Node::Host(_) => self.event.untaken = Some(wire),
            // The hypervisor reports every frame that it takes.
            Node::Stage(..) => {}
            Node::Switch(_) => {
                let Some(frame) = self.wires.pop_arrived(wire, now) else { return };
                if let Some(&Frame { packet, .. }) = self.frames.get(frame) {
                    let node = self.wires.to(wire);
                    if let Some(inside) = self.inside_mut(&packet) {
                        inside.enter(node, &packet, frame);
                    }
                }
            }
        }
    }

    /// The world has handled the event. `state_of` returns the present state of a socket.
    pub(crate) fn end_event(&mut self, state_of: impl Fn(SocketId) -> SocketState) {
        self.take();
        for at in 0..self.written.len() {
            self.note_held_back(self.written[at]);
        }
        self.written.clear();
        for at in 0..self.repeated.len() {
            let (own, frame) = self.repeated[at];
            self.settle_repetition(own, frame, state_of(own));
        }
        self.repeated.clear();
        for at in 0..self.completed.len() {
            self.explain(self.completed[at]);
        }
        self.completed.clear();
        for &own in &self.touched {
            if let Some(end) = self.ends.get_mut(own) {
                let state = state_of(own);
                (end.repairs, end.limit) = (state.repairs, Some(state.limit));
            }
        }
        self.touched.clear();
        self.opening.clear();
        self.frames.pack_old();
    }

    /// Bytes of which nothing was sent wait from now on, and are kept like a frame.
    fn note_held_back(&mut self, own: SocketId) {
        let Some(end) = self.ends.get_mut(own) else { return };
        if let Some(prior) = end.take_held_back() {
            let now = self.event.now;
            let frame = Frame { delivered: now, ..Frame::new(now, Packet::default(), prior) };
            end.last_sent = Some(self.frames.add(frame));
        }
    }

    /// Hands a frame to its socket's transport.
    fn deliver(&mut self, id: FrameId) {
        let now = self.event.now;
        let Some(frame) = self.frames.get_mut(id) else { return };
        frame.delivered = now;
        let packet = frame.packet;
        if protocol(&packet) == Protocol::Udp {
            return self.deliver_datagram(id, &packet);
        }
        match sender_of(&packet) {
            None if self.ends.expects((packet.to_host, packet.to_endpoint), packet.flow_hash) => {
                self.hand((packet.to_host, packet.to_endpoint), id, &packet);
            }
            None => {}
            Some(from) => match self.ends.get(from).and_then(|end| end.peer) {
                Some(own) => self.hand(own, id, &packet),
                None => self.opening.push((from, id)),
            },
        }
    }

    /// A socket is handed a frame.
    fn hand(&mut self, own: SocketId, id: FrameId, packet: &Packet) {
        let Handled { now, number, .. } = self.event;
        let Some(end) = self.ends.get_mut(own) else { return };
        end.note_received(now, packet, id);
        end.handed = Some((number, id));
        self.touched.push(own);
    }

    /// A host's interface is handed a frame that it will send later.
    fn enqueued(&mut self, host: u32, packet: &Packet) {
        if self.inside_mut(packet).is_some() {
            let id = self.begin(packet);
            if let Some(inside) = self.inside_mut(packet) {
                inside.enter(Node::Host(host), packet, id);
            }
        }
    }

    /// A frame goes onto a wire. Returns its number, if it is kept.
    pub(crate) fn sent(
        &mut self,
        wire: u32,
        packet: &Packet,
        sent: &Transmission,
    ) -> Option<FrameId> {
        if packet.is_control() {
            self.pauses_before(wire ^ 1, sent.arrival, packet);
        }
        let id = self.id_of(wire, packet, Inside::leave);
        let &Transmission { start, end, arrival, workload } = sent;
        if id != NOT_KEPT {
            self.frames.add_hop(
                id,
                Hop { before: 0, wire, class: packet.tag.priority(), start, end, arrival },
            );
        }
        self.wires.push(
            wire,
            (start, end, arrival),
            id,
            workload.map_or(u32::MAX, |workload| workload as u32),
        );
        (id != NOT_KEPT).then_some(id)
    }

    /// A frame is dropped before a wire. Returns its number, if it is kept.
    pub(crate) fn dropped(
        &mut self,
        at: Time,
        wire: u32,
        packet: &Packet,
        by: DroppedBy,
    ) -> Option<FrameId> {
        // Of equal frames the last to come finds no room; a drop out of a queue takes its first.
        let is_first = matches!(by, DroppedBy::Switch(cause) if cause.is_of_waiting());
        let id =
            self.id_of(wire, packet, if is_first { Inside::leave } else { Inside::leave_last });
        self.lose(id, Loss { at, wire, by });
        (id != NOT_KEPT).then_some(id)
    }

    /// The number of a frame that leaves the node before a wire.
    fn id_of(
        &mut self,
        wire: u32,
        packet: &Packet,
        leave: impl Fn(&mut Inside, Node, &Packet) -> Option<FrameId>,
    ) -> FrameId {
        let from = self.wires.from(wire);
        let Some(inside) = self.inside_mut(packet) else { return NOT_KEPT };
        match leave(inside, from, packet) {
            Some(known) => known,
            // A copy that a switch has flooded is no datagram of its own.
            None if protocol(packet) == Protocol::Udp && !matches!(from, Node::Host(_)) => NOT_KEPT,
            None => self.begin(packet),
        }
    }

    /// Where frames of a flow that are inside of nodes are kept: with the socket that they are for;
    /// opening segments with their sender's.
    fn inside_mut(&mut self, packet: &Packet) -> Option<&mut Inside> {
        if packet.is_control() {
            return None;
        }
        let own = (packet.to_host, packet.to_endpoint);
        match (protocol(packet), sender_of(packet)) {
            (Protocol::Udp, _) => self.datagrams.get_mut(own).map(|end| &mut end.inside),
            (Protocol::Tcp, None) => {
                self.ends.expecting_mut(own, packet.flow_hash).map(|end| &mut end.inside)
            }
            (Protocol::Tcp, Some(from)) => self.ends.get_mut(from).map(|end| &mut end.inside),
        }
    }

    /// A host sends a frame.
    fn begin(&mut self, packet: &Packet) -> FrameId {
        self.take();
        if protocol(packet) == Protocol::Udp {
            return self.begin_datagram(packet);
        }
        let id = self.frames.add(Frame::new(self.event.now, *packet, None));
        let from =
            sender_of(packet).or_else(|| self.ends.get((packet.to_host, packet.to_endpoint))?.peer);
        if let Some(own) = from {
            let prior = self.prior_of(own, packet, id);
            let sender = self.ends.get(own).map(|end| end.number);
            if let (Some(frame), Some(sender)) = (self.frames.get_mut(id), sender) {
                (frame.prior, frame.sender) = (prior, sender);
            }
        }
        id
    }

    /// The cause of a frame that this socket sends now.
    fn prior_of(&mut self, own: SocketId, packet: &Packet, id: FrameId) -> Option<Prior> {
        let now = self.event.now;
        let handed = self.handed_to(own);
        let handed = handed.map(|frame| {
            (
                frame,
                self.frames
                    .get(frame)
                    .is_some_and(|frame| !frame.packet.flags.contains(Flags::SYN)),
            )
        });
        let end = self.ends.get_mut(own)?;
        let copy = end.copy_of(packet);
        let after = |frame, part| Prior {
            frame,
            entry: Entry::Delivered,
            part,
            core_wait: Span::ZERO,
            waited: Span::ZERO,
            opens: None,
        };
        let prior = if let Some(copy) = copy {
            Some(Prior {
                frame: copy,
                entry: Entry::Handed,
                part: Part::FastRetransmission,
                core_wait: Span::ZERO,
                waited: Span::ZERO,
                opens: None,
            })
        } else if sequence_bytes(packet) == 0 {
            end.last_received.map(|received| after(received.1, Part::DelayedAck))
        } else if packet.flags.contains(Flags::SYN) {
            end.last_received.map(|received| after(received.1, Part::ServerWork)).or(end.opened_by)
        } else {
            end.released(now, packet, handed)
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
}
