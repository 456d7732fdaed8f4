//! Wires that lead from one part of a trial to another.

use crate::observe::Endpoint;
use crate::part_flows::PartFlows;
use tailrace_wire::FlowKey;

/// Number of a part.
pub(crate) type PartNo = u16;
/// Of wires that end in the part in which they begin.
const STAYS: PartNo = PartNo::MAX;

/// The wires out of a part.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// By wire: the part in which it ends.
    leads_to: Vec<PartNo>,
    /// Wires that hold frames.
    filled: Vec<u32>,
    pub(crate) flows: PartFlows,
    /// Connections that programs of this part have opened since the last barrier.
    pub(crate) openings: Vec<Opening>,
}

/// One end of a connection that a program has opened: no frame for it is in another part before all
/// parts know of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) host: u32,
    pub(crate) socket: u32,
    pub(crate) endpoint: Endpoint,
    /// Of the packets that it sends.
    pub(crate) key: FlowKey,
}

impl Boundary {
    /// By wire the part in which it ends; none for wires that do not leave the part.
    pub(crate) fn new(wires: impl Iterator<Item = Option<PartNo>>, flows: PartFlows) -> Boundary {
        Boundary {
            leads_to: wires.map(|part| part.unwrap_or(STAYS)).collect(),
            filled: Vec::new(),
            flows,
            openings: Vec::new(),
        }
    }

    /// Notes the first frame on a wire, if that leads out of the part. Returns whether it does.
    #[inline]
    pub(crate) fn note(&mut self, wire: usize) -> bool {
        let leaves = self.leads_to[wire] != STAYS;
        if leaves {
            self.filled.push(wire as u32);
        }
        leaves
    }

    /// The wires on which frames are, in the order in which they came to have some. None are left.
    pub(crate) fn take_filled(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.filled)
    }

    /// The part in which a wire ends that leads out of this one.
    pub(crate) fn end_of(&self, wire: u32) -> usize {
        usize::from(self.leads_to[wire as usize])
    }

    /// Gives back the memory of the list that was taken.
    pub(crate) fn reuse(&mut self, mut filled: Vec<u32>) {
        if self.filled.is_empty() {
            filled.clear();
            self.filled = filled;
        }
    }
}
