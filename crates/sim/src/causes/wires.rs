//! Present and past frames of every wire: for the order of frames, and for the frames that stood
//! before others.

use super::frames::FrameId;
use super::pauses::Pausable;
use super::stages::{Gates, Stage};
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{Span, Time};

/// Runs of transmissions of a wire that are kept: at 1500 bytes, 20 MB of a queue and more.
const SENT_MAX: usize = 1 << 14;
/// Blocks of this many frames are also summed, by workload: most waits last for more.
const BLOCK: u64 = 64;

/// Where a wire begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Node {
    Host(u32),
    Switch(u32),
    /// A stage inside a hypervisor.
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
    /// Number of transmissions before these.
    forgotten: u64,
    /// Of the blocks that are over, from the first complete one: how long each workload was sent.
    sums: VecDeque<Vec<(u32, Span)>>,
    /// The transmitter before it obeys pauses.
    pausable: Option<Box<Pausable>>,
}

impl Line {
    /// The next transmission begins behind a gap, or is of another workload.
    fn add(&mut self, sent: Sent) {
        if self.sent.len() == SENT_MAX {
            self.forget_first();
        }
        let next = self.forgotten + self.sent.len() as u64;
        if next.is_multiple_of(BLOCK) && self.sent.len() as u64 >= BLOCK {
            let mut sums = Vec::new();
            for sent in self.sent.range(self.sent.len() - BLOCK as usize..) {
                add(&mut sums, sent.workload, sent.end.since(sent.start));
            }
            self.sums.push_back(sums);
        }
        self.sent.push_back(sent);
    }

    fn forget_first(&mut self) {
        self.sent.pop_front();
        // The first of a block that was whole.
        if self.forgotten.is_multiple_of(BLOCK) {
            self.sums.pop_front();
        }
        self.forgotten += 1;
    }
}

/// Adds time of a workload: there is a handful of them.
pub(super) fn add(sums: &mut Vec<(u32, Span)>, workload: u32, span: Span) {
    match sums.iter_mut().find(|other| other.0 == workload) {
        Some(other) => other.1 += span,
        None => sums.push((workload, span)),
    }
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
            forgotten: 0,
            sums: VecDeque::new(),
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
    pub(super) fn closed(
        &self,
        host: u16,
        flow_hash: u32,
        from: Time,
        to: Time,
    ) -> Vec<(Time, Time)> {
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

    pub(super) fn push(
        &mut self,
        wire: u32,
        (start, end, arrival): (Time, Time, Time),
        frame: FrameId,
        workload: u32,
    ) {
        let line = &mut self.0[wire as usize];
        line.under_way.push_back((arrival, frame));
        if let Some(latest) = line.sent.back_mut()
            && (latest.end, latest.workload) == (start, workload)
        {
            latest.end = end;
            return;
        }
        line.add(Sent { start, end, workload });
    }

    /// Transmissions before this time are not needed any more.
    pub(super) fn forget(&mut self, by: Time) {
        for line in &mut self.0 {
            while line.sent.front().is_some_and(|sent| sent.end <= by) && line.sent.len() > 1 {
                line.forget_first();
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
        under_way
            .drain(arrived.saturating_sub(frames as usize)..arrived)
            .map(|frame| frame.1)
            .collect()
    }

    /// The workloads whose frames were sent on this wire between two moments, and for how long.
    pub(super) fn occupied(
        &self,
        wire: u32,
        from: Time,
        to: Time,
    ) -> impl Iterator<Item = (u32, Span, Time)> {
        let sent = &self.0[wire as usize].sent;
        let first = sent.partition_point(|sent| sent.end <= from);
        let overlap = move |sent: &Sent| {
            (sent.workload, sent.end.min(to).since(sent.start.max(from)), sent.end.min(to))
        };
        sent.range(first..).take_while(move |sent| sent.start < to).map(overlap)
    }

    /// The same in sum, added to others.
    pub(super) fn add_occupied(
        &self,
        wire: u32,
        from: Time,
        to: Time,
        sums: &mut Vec<(u32, Span)>,
    ) {
        let Line { sent, forgotten, sums: blocks, .. } = &self.0[wire as usize];
        let first_block = forgotten.next_multiple_of(BLOCK);
        let mut at = sent.partition_point(|sent| sent.end <= from);
        while let Some(next) = sent.get(at).filter(|sent| sent.start < to) {
            let number = forgotten + at as u64;
            let last = sent.get(at + BLOCK as usize - 1);
            if number.is_multiple_of(BLOCK)
                && let Some(block) = blocks.get(((number - first_block) / BLOCK) as usize)
                && next.start >= from
                && last.is_some_and(|last| last.end <= to)
            {
                block.iter().for_each(|&(workload, span)| add(sums, workload, span));
                at += BLOCK as usize;
            } else {
                add(sums, next.workload, next.end.min(to).since(next.start.max(from)));
                at += 1;
            }
        }
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
        let shares: Vec<_> = wires
            .occupied(0, at(5), at(45))
            .map(|(workload, span, _)| (workload, span.ps()))
            .collect();
        assert_eq!(shares, [(1, 5), (2, 20), (1, 5)]);
    }

    #[test]
    fn the_sum_of_a_wait_is_that_of_its_shares_also_when_the_first_are_forgotten() {
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0)]);
        let at = Time::from_ps;
        let count = SENT_MAX as u64 + 100;
        for sent in 0..count {
            wires.push(
                0,
                (at(10 * sent), at(10 * sent + 3 + sent % 7), at(0)),
                0,
                (sent % 5) as u32,
            );
        }
        for by in [0, 2_000, 40_000] {
            wires.forget(at(by));
            for (from, to) in [
                (1_003, 1_004),
                (1_003, 161_111),
                (0, 10 * count),
                (64_000, 70_400),
                (70_401, 70_405),
            ] {
                let mut expected = Vec::new();
                wires
                    .occupied(0, at(from), at(to))
                    .for_each(|(workload, span, _)| add(&mut expected, workload, span));
                let mut found = Vec::new();
                wires.add_occupied(0, at(from), at(to), &mut found);
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "from {from} to {to}, without what was before {by}");
            }
        }
    }

    #[test]
    fn frames_of_one_workload_without_a_gap_are_one_run() {
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0)]);
        let at = Time::from_ps;
        for (start, end, workload) in
            [(0, 10, 1), (10, 20, 1), (20, 30, 2), (30, 40, 1), (41, 50, 1)]
        {
            wires.push(0, (at(start), at(end), at(end)), 0, workload);
        }
        let shares: Vec<_> = wires
            .occupied(0, at(5), at(45))
            .map(|(workload, span, _)| (workload, span.ps()))
            .collect();
        assert_eq!(shares, [(1, 15), (2, 10), (1, 10), (1, 4)]);
    }

    #[test]
    fn what_was_sent_before_the_oldest_transaction_is_forgotten_and_what_lasted_until_then_is_not()
    {
        let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0)]);
        let at = Time::from_ps;
        for (start, end, workload) in [(0, 10, 1), (10, 30, 2), (30, 40, 1)] {
            wires.push(0, (at(start), at(end), at(end)), 0, workload);
        }
        wires.forget(at(20));
        let shares: Vec<_> = wires
            .occupied(0, at(0), at(45))
            .map(|(workload, span, _)| (workload, span.ps()))
            .collect();
        assert_eq!(shares, [(2, 20), (1, 10)]);
    }
}
