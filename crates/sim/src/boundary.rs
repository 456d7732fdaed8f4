//! Wires that lead from one part of a trial to another.

use crate::observe::Endpoint;
use crate::part_flows::PartFlows;
use tailrace_wire::FlowKey;

/// Number of a part.
pub(crate) type PartNo = u16;
/// Stands for wires that end in the part in which they begin.
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
    /// The key of the packets that it sends.
    pub(crate) key: FlowKey,
}

impl Boundary {
    /// By wire, the part in which it ends; none for wires that do not leave the part.
    pub(crate) fn new(wires: impl Iterator<Item = Option<PartNo>>, flows: PartFlows) -> Boundary {
        Boundary {
            leads_to: wires.map(|part| part.unwrap_or(STAYS)).collect(),
            filled: Vec::new(),
            flows,
            openings: Vec::new(),
        }
    }

    /// Notes the first frame on a wire, if the wire leads out of the part. Returns whether it does.
    #[inline]
    pub(crate) fn note(&mut self, wire: usize) -> bool {
        let leaves = self.leads_to[wire] != STAYS;
        if leaves {
            self.filled.push(wire as u32);
        }
        leaves
    }

    /// Takes the list of wires that hold frames, in the order in which their first frames came.
    pub(crate) fn take_filled(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.filled)
    }

    /// The part in which a wire out of this part ends.
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
