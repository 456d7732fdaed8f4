//! The frames of chosen transactions: those of the critical path, and their consequences meanwhile.

use super::{Followed, Recorder};
use crate::causes::frames::FrameId;
use crate::causes::number::SocketNumber;
use std::collections::{BTreeMap, BTreeSet};
use tailrace_units::Time;

/// Connections of one transaction that are reported; those of the critical path come first.
const CONNECTIONS_MAX: usize = 256;

/// A transaction that was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    /// Its row among the explanations.
    pub(crate) row: u32,
    /// The first frame of its path, and the one that completed it.
    pub(crate) ends: Option<(FrameId, FrameId)>,
    /// In the order of sending.
    pub(crate) frames: BTreeSet<FrameId>,
    /// Both ends of the connections on which they were, the client's first.
    pub(crate) connections: Vec<[SocketNumber; 2]>,
    /// Further connections.
    pub(crate) left_out: usize,
}

/// The wanted transactions, and those found.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Workload, and index in the order of completion.
    pub(super) wanted: BTreeSet<(u32, u32)>,
    /// By workload, how many were complete.
    completed: BTreeMap<u32, u32>,
    pub(super) found: Vec<Member>,
}

impl Recorder {
    /// From now on the frames of these transactions are collected: workload, and index in the order
    /// of completion.
    pub(crate) fn want_members(&mut self, of: impl IntoIterator<Item = (u32, u32)>) {
        self.members.wanted.extend(of);
    }

    /// The complete ones, in the order of completion.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members.found
    }

    /// A transaction is complete, which lasted since `start` and whose last bytes this frame
    /// brought.
    pub(super) fn find_members(&mut self, workload: u32, start: Time, last: Option<FrameId>) {
        if self.members.wanted.is_empty() {
            return;
        }
        let place = self.members.completed.entry(workload).or_default();
        let number = std::mem::replace(place, *place + 1);
        if self.members.wanted.contains(&(workload, number)) {
            let row = self.explained.len() as u32 - 1;
            let member = self.member(row, start, last);
            self.members.found.push(member);
        }
    }

    fn member(&self, row: u32, start: Time, last: Option<FrameId>) -> Member {
        let path = self.path(start, last);
        let mut frames: BTreeSet<FrameId> = path.iter().copied().collect();
        let sender =
            |id: FrameId| self.frames.get(id).and_then(|frame| self.both_ends(frame.sender));
        let on_path: BTreeSet<[SocketNumber; 2]> =
            path.iter().filter_map(|&id| sender(id)).collect();
        let first = path.last().copied();
        for id in first.into_iter().flat_map(|first| first..self.frames.next()) {
            let Some(frame) = self.frames.get(id).filter(|frame| frame.handed >= start) else {
                continue;
            };
            // Peers take part in many operations: only their connections on the path belong to this
            // one.
            let is_near = || {
                !self.is_of_peers(frame.sender)
                    || sender(id).is_some_and(|ends| on_path.contains(&ends))
            };
            if frame.prior.is_some_and(|prior| frames.contains(&prior.frame)) && is_near() {
                frames.insert(id);
            }
        }
        let mut connections: Vec<[SocketNumber; 2]> = Vec::new();
        let mut seen = BTreeSet::new();
        for ends in path.iter().rev().chain(&frames).filter_map(|&id| sender(id)) {
            if seen.insert(ends) && connections.len() < CONNECTIONS_MAX {
                connections.push(ends);
            }
        }
        let left_out = seen.len() - connections.len();
        let first =
            path.iter().rev().copied().find(|&id| {
                self.frames.get(id).is_some_and(|frame| frame.packet.payload_bytes > 0)
            });
        Member { row, ends: first.zip(last), frames, connections, left_out }
    }

    /// The frames of the critical path, from the last back to the first that was sent since
    /// `start`.
    fn path(&self, start: Time, last: Option<FrameId>) -> Vec<FrameId> {
        let mut path = Vec::new();
        let mut next = last;
        while let Some(id) = next
            && let Some(frame) = self.frames.get(id).filter(|frame| frame.handed >= start)
        {
            path.push(id);
            next = frame.prior.map(|prior| prior.frame);
        }
        path
    }

    fn is_of_peers(&self, sender: SocketNumber) -> bool {
        self.socket(sender)
            .is_some_and(|socket| self.followed[socket.workload as usize] == Followed::Peers)
    }
}
