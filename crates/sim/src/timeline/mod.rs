//! What happened in chosen windows of time, frame by frame: for traces and captures of single transactions.
//!
//! The log is fed beside the recorder of causes. It keeps every frame that passed a wire in the windows, whoever sent it, where frames of
//! chosen users passed too; since when it waited before the wire, drops, marks and pauses, and how the sockets of those users changed.

mod hops;
mod looks;
mod tables;

use crate::causes::{FrameId, SocketId, Transmission};
use hops::{Dropped, Hop, Hops, Marked, Paused};
pub(crate) use looks::Look;
use looks::Looks;
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

/// What a timeline is wanted of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// When things are kept: from, to; in order, and apart from each other.
    windows: Vec<(Time, Time)>,
    /// Whose connections are watched: workload and user.
    pub(crate) users: Vec<(u32, u32)>,
}

impl Wanted {
    /// Of these windows in picoseconds, in any order, and these users of workloads.
    pub fn from_ps(windows_ps: Vec<(u64, u64)>, users: Vec<(u32, u32)>) -> Wanted {
        Wanted::new(windows_ps.into_iter().map(|(from, to)| (Time::from_ps(from), Time::from_ps(to))).collect(), users)
    }

    /// Of these windows, in any order, and these users of workloads.
    pub fn new(mut windows: Vec<(Time, Time)>, mut users: Vec<(u32, u32)>) -> Wanted {
        windows.sort_unstable();
        let mut apart: Vec<(Time, Time)> = Vec::with_capacity(windows.len());
        for (from, to) in windows {
            match apart.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                Some(_) | None => apart.push((from, to)),
            }
        }
        users.sort_unstable();
        users.dedup();
        Wanted { windows: apart, users }
    }

    /// When the last window ends.
    pub(crate) fn end(&self) -> Time {
        self.windows.last().map_or(Time::ZERO, |window| window.1)
    }

    fn has(&self, begin: Time, end: Time) -> bool {
        self.windows.iter().any(|&(from, to)| begin <= to && from <= end)
    }
}

/// The log.
#[derive(Debug)]
pub(crate) struct Timeline {
    wanted: Wanted,
    /// Windows that are over.
    passed: usize,
    now: Time,
    is_open: bool,
    /// The switch at the end of each wire, where it ends at one. The two directions of a link follow each other.
    ends: Vec<Option<u32>>,
    /// When frames came that are in a switch.
    inside: BTreeMap<Key, VecDeque<Time>>,
    /// Client's and server's socket of every watched connection.
    watched: Vec<SocketId>,
    /// Whether frames of watched connections came to each wire: those of others are kept at the same ones.
    is_used: Vec<bool>,
    hops: Hops,
    looks: Looks,
}

impl Timeline {
    /// On wires that end at these switches or at hosts.
    pub(crate) fn new(wanted: &Wanted, ends: Vec<Option<u32>>, watched: Vec<SocketId>) -> Timeline {
        let looks = Looks::new(watched.len());
        Timeline {
            wanted: wanted.clone(),
            passed: 0,
            now: Time::ZERO,
            is_open: false,
            is_used: vec![false; ends.len()],
            ends,
            inside: BTreeMap::new(),
            watched,
            hops: Hops::default(),
            looks,
        }
    }

    /// The world handles something now, perhaps the frame that arrives at the end of a wire.
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
            && let Some(switch) = self.ends[wire as usize]
        {
            self.inside.entry(key(switch, packet)).or_default().push_back(now);
        }
    }

    /// The world has handled it; `look` says what a socket looks like now.
    pub(crate) fn end_event(&mut self, look: impl Fn(SocketId) -> Look) {
        if self.is_open {
            let now = self.now;
            (0..).zip(&self.watched).for_each(|(number, &socket)| self.looks.note(now, number, look(socket)));
        }
    }

    /// A frame goes onto a wire.
    pub(crate) fn sent(&mut self, wire: u32, packet: &Packet, sent: &Transmission, frame: Option<FrameId>) {
        let is_watched = self.note_wire(wire, packet);
        if !self.is_open {
            return;
        }
        if let Some(pause) = packet.pause() {
            self.hops.paused(Paused { wire: wire ^ 1, at: sent.arrival, pause });
        }
        let since = self.since(wire, packet);
        let &Transmission { start, end, arrival, workload } = sent;
        if self.is_used[wire as usize] {
            let of = Of::new(packet, frame.filter(|_| is_watched), workload);
            self.hops.add(Hop { of, wire, since, start, end, arrival });
        }
    }

    /// A frame is dropped before a wire; without a cause by a host's interface.
    pub(crate) fn dropped(
        &mut self,
        (at, wire): (Time, u32),
        packet: &Packet,
        (frame, workload): (Option<FrameId>, Option<usize>),
        cause: Option<DropCause>,
    ) {
        let is_watched = self.note_wire(wire, packet);
        if !self.is_open {
            return;
        }
        let since = self.since(wire, packet);
        if self.is_used[wire as usize] {
            let of = Of::new(packet, frame.filter(|_| is_watched), workload);
            self.hops.dropped(Dropped { of, wire, since, at, cause });
        }
    }

    /// A frame is marked before a wire.
    pub(crate) fn marked(
        &mut self,
        (at, wire): (Time, u32),
        packet: &Packet,
        (frame, workload): (Option<FrameId>, Option<usize>),
    ) {
        let is_watched = self.note_wire(wire, packet);
        if self.is_open && self.is_used[wire as usize] {
            let of = Of::new(packet, frame.filter(|_| is_watched), workload);
            self.hops.marked(Marked { of, wire, at });
        }
    }

    /// Whether a frame is one of a watched connection, whose wires are those of which others' frames are kept.
    fn note_wire(&mut self, wire: u32, packet: &Packet) -> bool {
        let is_watched = packet.belongs_to_flow() && self.watched.contains(&(packet.to_host, packet.to_endpoint));
        self.is_used[wire as usize] |= is_watched;
        is_watched
    }

    /// When a frame came to the node before a wire; `None` where that was before the window. What hosts and switches send of their own
    /// comes now.
    fn since(&mut self, wire: u32, packet: &Packet) -> Option<Time> {
        let Some(switch) = self.ends[wire as usize ^ 1].filter(|_| packet.belongs_to_flow()) else { return Some(self.now) };
        let key = key(switch, packet);
        let same = self.inside.get_mut(&key)?;
        let since = same.pop_front();
        if same.is_empty() {
            self.inside.remove(&key);
        }
        since
    }
}

/// Whose frame it is, and which.
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
        let wanted = Wanted::new(vec![(PS(50), PS(60)), (PS(10), PS(20)), (PS(15), PS(30))], vec![(1, 2), (0, 3), (1, 2)]);
        assert_eq!(wanted.windows, [(PS(10), PS(30)), (PS(50), PS(60))]);
        assert_eq!((wanted.users.as_slice(), wanted.end()), ([(0, 3), (1, 2)].as_slice(), PS(60)));
    }

    #[test]
    fn a_frame_waits_since_it_came_to_the_switch() {
        let wanted = Wanted::new(vec![(PS(10), PS(30)), (PS(50), PS(60))], Vec::new());
        // One link: wire 0 ends at the switch, wire 1 at the host.
        let mut timeline = Timeline::new(&wanted, vec![Some(0), None], vec![(0, 0)]);
        let packet = Packet { payload_bytes: 100, frame_bytes: 166, ..Packet::default() };
        for (arrived, left, expected) in [(5, 11, Some(None)), (12, 14, Some(Some(12))), (20, 40, None), (49, 52, Some(None))] {
            timeline.begin_event(PS(arrived), Some((0, &packet)));
            timeline.begin_event(PS(left), None);
            let kept = timeline.hops.sent.len();
            let sent = Transmission { start: PS(left), end: PS(left + 1), arrival: PS(left + 2), workload: Some(3) };
            timeline.sent(1, &packet, &sent, None);
            let hop = timeline.hops.sent.get(kept).map(|hop| hop.since.map(Time::ps));
            assert_eq!(hop, expected, "arrived at {arrived}");
        }
    }
}
