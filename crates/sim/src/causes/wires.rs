//! What is on every wire, and what was: for the order of frames, and for who stood before whom.

use super::frames::FrameId;
use super::pauses::Pausable;
use super::stages::{Gates, Stage};
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{Span, Time};

/// Runs of transmissions of a wire that are kept: at 1500 bytes, 20 MB of a queue and more.
const SENT_MAX: usize = 1 << 14;

/// Where a wire begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Node {
    Host(u32),
    Switch(u32),
    /// A place inside a hypervisor.
    Stage(u32, Stage),
}

/// Transmissions of one workload without a gap, which are over or will be.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: Time,
    end: Time,
    workload: u32,
}

/// One wire.
#[derive(Debug)]
struct Line {
    from: Node,
    to: Node,
    /// Frames on their way, in order: arrival, number.
    under_way: VecDeque<(Time, FrameId)>,
    sent: VecDeque<Sent>,
    /// The transmitter before it obeys pauses.
    pausable: Option<Box<Pausable>>,
}

/// All wires.
#[derive(Debug)]
pub(super) struct Wires(Vec<Line>, BTreeMap<u16, Gates>);

impl Wires {
    /// From the ends of the wires. The two directions of a link follow each other.
    pub(super) fn new(ends: &[Node]) -> Wires {
        let line = |(wire, &to): (usize, &Node)| Line {
            // Rings of virtual machines have no opposite wire.
            from: ends.get(wire ^ 1).copied().unwrap_or(to),
            to,
            under_way: VecDeque::new(),
            sent: VecDeque::new(),
            pausable: None,
        };
        Wires(ends.iter().enumerate().map(line).collect(), BTreeMap::new())
    }

    /// A wire begins there, though the opposite one ends at a stage before it.
    pub(super) fn put_from(&mut self, wire: u32, from: Node) {
        self.0[wire as usize].from = from;
    }

    /// A host is a virtual machine.
    pub(super) fn put_gates(&mut self, host: u16, gates: Gates) {
        self.1.insert(host, gates);
    }

    pub(super) fn gates_mut(&mut self, host: u16) -> Option<&mut Gates> {
        self.1.get_mut(&host)
    }

    /// When the virtual core that takes the frames of a flow did not run between two moments.
    pub(super) fn closed(&self, host: u16, flow_hash: u32, from: Time, to: Time) -> Vec<(Time, Time)> {
        self.1.get(&host).map_or_else(Vec::new, |gates| gates.closed(flow_hash, from, to))
    }

    pub(super) fn put_pausable(&mut self, wire: u32, line: Pausable) {
        self.0[wire as usize].pausable = Some(Box::new(line));
    }

    pub(super) fn pausable_mut(&mut self, wire: u32) -> Option<&mut Pausable> {
        self.0[wire as usize].pausable.as_deref_mut()
    }

    /// When the transmitter before a wire was paused between two moments.
    pub(super) fn paused(&self, wire: u32, class: u8, from: Time, to: Time) -> Vec<(Time, Time)> {
        let line = self.0.get(wire as usize).and_then(|line| line.pausable.as_deref());
        line.into_iter().flat_map(|line| line.between(class, from, to)).collect()
    }

    pub(super) fn from(&self, wire: u32) -> Node {
        self.0[wire as usize].from
    }

    pub(super) fn to(&self, wire: u32) -> Node {
        self.0[wire as usize].to
    }

    pub(super) fn push(&mut self, wire: u32, (start, end, arrival): (Time, Time, Time), frame: FrameId, workload: u32) {
        let line = &mut self.0[wire as usize];
        line.under_way.push_back((arrival, frame));
        if let Some(latest) = line.sent.back_mut()
            && (latest.end, latest.workload) == (start, workload)
        {
            latest.end = end;
            return;
        }
        if line.sent.len() == SENT_MAX {
            line.sent.pop_front();
        }
        line.sent.push_back(Sent { start, end, workload });
    }

    /// What was sent before this time is not asked for any more.
    pub(super) fn forget(&mut self, by: Time) {
        for line in &mut self.0 {
            while line.sent.front().is_some_and(|sent| sent.end <= by) && line.sent.len() > 1 {
                line.sent.pop_front();
            }
        }
    }

    /// Takes the next frame if it has arrived.
    pub(super) fn pop_arrived(&mut self, wire: u32, now: Time) -> Option<FrameId> {
        let under_way = &mut self.0[wire as usize].under_way;
        under_way.front().filter(|next| next.0 <= now)?;
        under_way.pop_front().map(|next| next.1)
    }

    /// Takes out the latest of those that have arrived.
    pub(super) fn drop_arrived(&mut self, wire: u32, now: Time, frames: u64) -> Vec<FrameId> {
        let under_way = &mut self.0[wire as usize].under_way;
        let arrived = under_way.partition_point(|frame| frame.0 <= now);
        under_way.drain(arrived.saturating_sub(frames as usize)..arrived).map(|frame| frame.1).collect()
    }

    /// Whose frames were sent on this wire between two moments, and for how long.
    pub(super) fn occupied(&self, wire: u32, from: Time, to: Time) -> impl Iterator<Item = (u32, Span, Time)> {
        let sent = &self.0[wire as usize].sent;
        let first = sent.partition_point(|sent| sent.end <= from);
        let overlap = move |sent: &Sent| (sent.workload, sent.end.min(to).since(sent.start.max(from)), sent.end.min(to));
        sent.range(first..).take_while(move |sent| sent.start < to).map(overlap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_shared_by_those_who_were_sent_during_it() {
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0)]);
        let at = Time::from_ps;
        for (start, end, workload) in [(0, 10, 1), (10, 30, 2), (40, 50, 1)] {
            wires.push(0, (at(start), at(end), at(end)), 0, workload);
        }
        let shares: Vec<_> = wires.occupied(0, at(5), at(45)).map(|(workload, span, _)| (workload, span.ps())).collect();
        assert_eq!(shares, [(1, 5), (2, 20), (1, 5)]);
    }

    #[test]
    fn frames_of_one_workload_without_a_gap_are_one_run() {
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0)]);
        let at = Time::from_ps;
        for (start, end, workload) in [(0, 10, 1), (10, 20, 1), (20, 30, 2), (30, 40, 1), (41, 50, 1)] {
            wires.push(0, (at(start), at(end), at(end)), 0, workload);
        }
        let shares: Vec<_> = wires.occupied(0, at(5), at(45)).map(|(workload, span, _)| (workload, span.ps())).collect();
        assert_eq!(shares, [(1, 15), (2, 10), (1, 10), (1, 4)]);
    }

    #[test]
    fn what_was_sent_before_the_oldest_transaction_is_forgotten_and_what_lasted_until_then_is_not() {
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0)]);
        let at = Time::from_ps;
        for (start, end, workload) in [(0, 10, 1), (10, 30, 2), (30, 40, 1)] {
            wires.push(0, (at(start), at(end), at(end)), 0, workload);
        }
        wires.forget(at(20));
        let shares: Vec<_> = wires.occupied(0, at(0), at(45)).map(|(workload, span, _)| (workload, span.ps())).collect();
        assert_eq!(shares, [(2, 20), (1, 10)]);
    }
}
