//! Events in chosen windows of time, frame by frame: for traces and captures of single
//! transactions.
//!
//! The log is fed beside the recorder of causes. It keeps every frame that passed a wire in the
//! windows, whatever its sender, if frames of the connections of chosen transactions passed that
//! wire too; since when it waited before the wire, drops, marks and pauses, and the changes of the
//! sockets of those connections.

mod hops;
mod socket_samples;
mod tables;

use crate::causes::{FrameId, SocketNumber, Transmission};
use hops::{CoreWait, Dropped, Hop, Hops, Marked, Paused};
pub(crate) use socket_samples::SocketSample;
use socket_samples::SocketSamples;
use std::collections::{BTreeMap, VecDeque};
use tailrace_dataplane::{DropCause, Frame};
use tailrace_units::Time;
use tailrace_wire::Packet;

pub(crate) use tables::tables;

/// A switch, and all that it does not change of a frame.
type Key = (u32, u16, u32, u32, u64, u64, u16, u16);

fn key(switch: u32, packet: &Packet) -> Key {
    let Packet { to_host, to_endpoint, flow_hash, seq, ack, payload_bytes, flags, .. } = *packet;
    (switch, to_host, to_endpoint, flow_hash, seq, ack, payload_bytes, flags.bits())
}

/// The windows and transactions of a timeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The windows: from, to; in order, and disjoint.
    windows: Vec<(Time, Time)>,
    /// Transactions whose connections are watched.
    pub(crate) transactions: Vec<WantedTransaction>,
}

/// A transaction of a workload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WantedTransaction {
    /// Index of the workload.
    pub workload: u32,
    /// Its index among the explained transactions of the workload, in the order of completion.
    pub number: u32,
    /// Counts within the workload.
    pub user: u32,
}

impl Wanted {
    /// Of these windows in picoseconds, in any order, and these transactions.
    pub fn from_ps(windows_ps: Vec<(u64, u64)>, transactions: Vec<WantedTransaction>) -> Wanted {
        Wanted::new(
            windows_ps
                .into_iter()
                .map(|(from, to)| (Time::from_ps(from), Time::from_ps(to)))
                .collect(),
            transactions,
        )
    }

    /// Of these windows, in any order, and these transactions.
    pub fn new(mut windows: Vec<(Time, Time)>, mut transactions: Vec<WantedTransaction>) -> Wanted {
        windows.sort_unstable();
        let mut apart: Vec<(Time, Time)> = Vec::with_capacity(windows.len());
        for (from, to) in windows {
            match apart.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                Some(_) | None => apart.push((from, to)),
            }
        }
        transactions.sort_unstable();
        transactions.dedup();
        Wanted { windows: apart, transactions }
    }

    /// From, to; in order, and apart from each other.
    pub(crate) fn windows(&self) -> &[(Time, Time)] {
        &self.windows
    }

    /// When the last window ends.
    pub(crate) fn end(&self) -> Time {
        self.windows.last().map_or(Time::ZERO, |window| window.1)
    }
}

/// The switches at the ends of wires, by wire.
#[derive(Debug)]
pub(crate) struct Nodes {
    /// The switch that a frame enters at its end, where it enters one at once.
    pub(crate) ends: Vec<Option<u32>>,
    /// The switch that sends on it.
    pub(crate) begins: Vec<Option<u32>>,
}

/// The log.
#[derive(Debug)]
pub(crate) struct Timeline {
    wanted: Wanted,
    /// Windows that are over.
    passed: usize,
    now: Time,
    is_open: bool,
    nodes: Nodes,
    /// Connections beyond the limit of watched ones.
    connections_left_out: usize,
    /// Arrival times of the frames that are in a switch.
    inside: BTreeMap<Key, VecDeque<Time>>,
    /// Client's and server's socket of every watched connection.
    watched: Vec<SocketNumber>,
    /// Indices of sockets in that list.
    indices: BTreeMap<SocketNumber, u32>,
    /// Whether frames of watched connections came to each wire: frames of other connections are
    /// kept at the same wires.
    is_used: Vec<bool>,
    hops: Hops,
    samples: SocketSamples,
    core_waits: Vec<CoreWait>,
}

impl Timeline {
    /// For these sockets, both ends of each connection, and this many that are not watched.
    pub(crate) fn new(
        wanted: &Wanted,
        nodes: Nodes,
        watched: Vec<SocketNumber>,
        left_out: usize,
    ) -> Timeline {
        let samples = SocketSamples::new(watched.len());
        Timeline {
            wanted: wanted.clone(),
            passed: 0,
            now: Time::ZERO,
            is_open: false,
            is_used: vec![false; nodes.ends.len()],
            nodes,
            inside: BTreeMap::new(),
            indices: watched.iter().copied().zip(0..).collect(),
            watched,
            connections_left_out: left_out,
            hops: Hops::default(),
            samples,
            core_waits: Vec::new(),
        }
    }

    /// The world begins to handle an event, perhaps the arrival of a frame at the end of a wire.
    pub(crate) fn begin_event(&mut self, now: Time, arrived: Option<(u32, &Packet)>) {
        self.now = now;
        while self.wanted.windows.get(self.passed).is_some_and(|window| window.1 < now) {
            self.passed += 1;
            self.inside.clear();
        }
        self.is_open = self.wanted.windows.get(self.passed).is_some_and(|window| window.0 <= now);
        if !self.is_open {
            return;
        }
        if let Some((wire, packet)) = arrived
            && let Some(switch) = self.nodes.ends[wire as usize]
        {
            self.entered(switch, packet);
        }
    }

    /// A frame comes to a switch now.
    pub(crate) fn entered(&mut self, switch: u32, packet: &Packet) {
        if self.is_open {
            self.inside.entry(key(switch, packet)).or_default().push_back(self.now);
        }
    }

    /// The world has handled the event. `sample` returns the present state of a socket.
    pub(crate) fn end_event(&mut self, sample: impl Fn(SocketNumber) -> Option<SocketSample>) {
        if self.is_open {
            let now = self.now;
            for (socket_index, &socket) in (0..).zip(&self.watched) {
                if let Some(sample) = sample(socket) {
                    self.samples.note(now, socket_index, sample);
                }
            }
        }
    }

    /// A frame goes onto a wire.
    pub(crate) fn sent(
        &mut self,
        wire: u32,
        packet: &Packet,
        sent: &Transmission,
        frame: Option<Sent>,
    ) {
        let frame = self.watched_frame(wire, frame);
        if !self.is_open {
            return;
        }
        if let Some(pause) = packet.pause() {
            self.hops.paused(Paused { wire: wire ^ 1, at: sent.arrival, pause });
        }
        let since = self.since(wire, packet);
        let &Transmission { start, end, arrival, workload } = sent;
        if self.is_used[wire as usize] {
            let of = Of::new(packet, frame, workload);
            self.hops.add(Hop { of, wire, since, start, end, arrival });
        }
    }

    /// A frame is dropped before a wire; without a cause by a host's interface.
    pub(crate) fn dropped(
        &mut self,
        (at, wire): (Time, u32),
        packet: &Packet,
        (frame, workload): (Option<Sent>, Option<usize>),
        cause: Option<DropCause>,
    ) {
        let frame = self.watched_frame(wire, frame);
        if !self.is_open {
            return;
        }
        let since = self.since(wire, packet);
        if self.is_used[wire as usize] {
            let of = Of::new(packet, frame, workload);
            self.hops.dropped(Dropped { of, wire, since, at, cause });
        }
    }

    /// A frame is marked before a wire.
    pub(crate) fn marked(
        &mut self,
        (at, wire): (Time, u32),
        packet: &Packet,
        (frame, workload): (Option<Sent>, Option<usize>),
    ) {
        let frame = self.watched_frame(wire, frame);
        if self.is_open && self.is_used[wire as usize] {
            let of = Of::new(packet, frame, workload);
            self.hops.marked(Marked { of, wire, at });
        }
    }

    /// A program has been granted the core for which it has waited to work for an input of this
    /// socket.
    pub(crate) fn waited_for_core(&mut self, socket: SocketNumber, since: Time) {
        if let (true, Some(&socket_index)) = (self.is_open, self.indices.get(&socket)) {
            self.core_waits.push(CoreWait { socket_index, since, until: self.now });
        }
    }

    /// The frame if it is one of a watched connection. Frames of other connections are kept at the
    /// wires of those that are sent in a window.
    fn watched_frame(&mut self, wire: u32, frame: Option<Sent>) -> Option<FrameId> {
        let frame = frame.filter(|frame| self.indices.contains_key(&frame.sender))?.id;
        self.is_used[wire as usize] = true;
        Some(frame)
    }

    /// When a frame came to the node before a wire; `None` if that was before the window. A frame
    /// that a host or switch originates comes now.
    fn since(&mut self, wire: u32, packet: &Packet) -> Option<Time> {
        let Some(switch) = self.nodes.begins[wire as usize].filter(|_| packet.belongs_to_flow())
        else {
            return Some(self.now);
        };
        let key = key(switch, packet);
        let same = self.inside.get_mut(&key)?;
        let since = same.pop_front();
        if same.is_empty() {
            self.inside.remove(&key);
        }
        since
    }
}

/// A frame of an explained connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) id: FrameId,
    /// The socket that sent it.
    pub(crate) sender: SocketNumber,
}

/// Owner and identity of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Of {
    /// Its number in the record, of one of a watched connection.
    frame: Option<FrameId>,
    /// None for frames of switches.
    workload: Option<u32>,
    class: u8,
    bytes: u16,
}

impl Of {
    fn new(packet: &Packet, frame: Option<FrameId>, workload: Option<usize>) -> Of {
        let workload = workload.map(|workload| workload as u32);
        Of { frame, workload, class: packet.tag.priority(), bytes: packet.frame_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PS: fn(u64) -> Time = Time::from_ps;

    #[test]
    fn windows_that_touch_are_one() {
        let of = |workload, number| WantedTransaction { workload, number, user: 0 };
        let windows = [(50, 60), (10, 20), (15, 30), (12, 14)].map(|(from, to)| (PS(from), PS(to)));
        let wanted = Wanted::new(windows.to_vec(), vec![of(1, 2), of(0, 3), of(1, 2)]);
        assert_eq!(wanted.windows, [(PS(10), PS(30)), (PS(50), PS(60))]);
        assert_eq!(
            (wanted.transactions.as_slice(), wanted.end()),
            ([of(0, 3), of(1, 2)].as_slice(), PS(60))
        );
    }

    #[test]
    fn a_frame_waits_since_it_came_to_the_switch() {
        let wanted = Wanted::new(vec![(PS(10), PS(30)), (PS(50), PS(60))], Vec::new());
        // One link: wire 0 ends at the switch, wire 1 at the host.
        let nodes = Nodes { ends: vec![Some(0), None], begins: vec![None, Some(0)] };
        let mut timeline = Timeline::new(&wanted, nodes, vec![7, 8], 0);
        let packet = Packet { payload_bytes: 100, frame_bytes: 166, ..Packet::default() };
        for (arrived, left, expected) in
            [(5, 11, Some(None)), (12, 14, Some(Some(12))), (20, 40, None), (49, 52, Some(None))]
        {
            timeline.begin_event(PS(arrived), Some((0, &packet)));
            timeline.begin_event(PS(left), None);
            let kept = timeline.hops.sent.len();
            let sent = Transmission {
                start: PS(left),
                end: PS(left + 1),
                arrival: PS(left + 2),
                workload: Some(3),
            };
            timeline.sent(1, &packet, &sent, Some(Sent { id: 0, sender: 8 }));
            let hop = timeline.hops.sent.get(kept).map(|hop| hop.since.map(Time::ps));
            assert_eq!(hop, expected, "arrived at {arrived}");
        }
    }
}
