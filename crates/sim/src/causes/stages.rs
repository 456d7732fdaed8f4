//! The inside of hypervisors: stages of frames, and the times at which virtual cores did not run.

use std::collections::VecDeque;
use tailrace_units::{Time, mix64};

/// Intervals of a virtual core that are kept.
const CLOSED_MAX: usize = 1 << 14;

/// The stage of a frame inside a hypervisor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Stage {
    /// It came from a wire or a virtual machine, and waits.
    Came,
    /// A vhost thread copies it from a machine.
    FromMachine,
    /// In the backlog of a core.
    Handed,
    /// It is switched.
    Switching,
    /// It was switched to a virtual machine, and waits.
    Switched,
    /// A vhost thread copies it to a machine.
    ToMachine,
}

/// The virtual cores of one machine: when they did not run.
#[derive(Debug)]
pub(crate) struct Gates {
    /// The cores that take frames out of the ring, of which a flow has one.
    taking: Vec<u32>,
    cores: Vec<Gate>,
}

#[derive(Clone, Debug)]
struct Gate {
    since: Option<Time>,
    closed: VecDeque<(Time, Time)>,
}

impl Gates {
    /// Of a machine with so many cores, none of which runs yet.
    pub(crate) fn new(taking: &[u32], cores: u32) -> Gates {
        let gate = Gate { since: Some(Time::ZERO), closed: VecDeque::new() };
        Gates { taking: taking.to_vec(), cores: vec![gate; cores as usize] }
    }

    /// A core begins to run, or ceases to.
    pub(super) fn note(&mut self, now: Time, core: usize, runs: bool) {
        let gate = &mut self.cores[core];
        if !runs {
            gate.since = gate.since.or(Some(now));
        } else if let Some(since) = gate.since.take().filter(|&since| since < now) {
            if gate.closed.len() == CLOSED_MAX {
                gate.closed.pop_front();
            }
            gate.closed.push_back((since, now));
        }
    }

    /// Intervals between two moments in which the core that takes the frames of a flow did not run,
    /// in order.
    pub(super) fn closed(&self, flow_hash: u32, from: Time, to: Time) -> Vec<(Time, Time)> {
        let core = self.taking[(mix64(u64::from(flow_hash)) % self.taking.len() as u64) as usize];
        let gate = &self.cores[core as usize];
        let first = gate.closed.partition_point(|closed| closed.1 <= from);
        let open = gate.since.map(|since| (since, to));
        let all = gate.closed.range(first..).copied().chain(open);
        all.take_while(|closed| closed.0 < to)
            .map(|(since, until)| (since.max(from), until.min(to)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_is_closed_is_so_until_it_runs() {
        let at = Time::from_ps;
        let mut gates = Gates::new(&[1], 2);
        for (now, runs) in [(10, true), (20, false), (30, true), (40, false)] {
            gates.note(at(now), 1, runs);
        }
        assert_eq!(
            gates.closed(7, at(5), at(50)),
            [(at(5), at(10)), (at(20), at(30)), (at(40), at(50))]
        );
        assert_eq!(gates.closed(7, at(30), at(40)), [], "it ran");
    }
}
