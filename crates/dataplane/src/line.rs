//! Lines that lose frames at random: bit errors, whose frames the next receiver discards by their check sequence.

use crate::{Frame, PortNo};
use tailrace_units::{Probability, RandomStream};

/// Loss on one direction of a line.
#[derive(Clone, Debug)]
pub struct LineLoss {
    share: Probability,
    /// Of datagrams that were cut only what has no ports is lost, and nothing else (`iptables -f`).
    is_of_later_fragments: bool,
    random: RandomStream,
}

impl LineLoss {
    /// Loses this share of all frames, or of later fragments alone. `random` is of this direction.
    pub fn new(share: Probability, is_of_later_fragments: bool, random: RandomStream) -> LineLoss {
        LineLoss { share, is_of_later_fragments, random }
    }

    /// A notification that a switch makes comes over no line.
    fn loses<F: Frame>(&mut self, frame: &F) -> bool {
        frame.belongs_to_flow() && (!self.is_of_later_fragments || frame.is_later_fragment()) && self.random.happens(self.share)
    }
}

/// The lines of a switch, by port.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// From the neighbour.
    pub(crate) into: Vec<Option<LineLoss>>,
    /// To the neighbour, where that is a host: another switch loses what enters it.
    pub(crate) out: Vec<Option<LineLoss>>,
}

impl Lines {
    pub(crate) fn loses_entering<F: Frame>(&mut self, port: PortNo, frame: &F) -> bool {
        self.into[port].as_mut().is_some_and(|line| line.loses(frame))
    }

    /// Decided before the queue: what is lost takes no time on the line.
    pub(crate) fn loses_leaving<F: Frame>(&mut self, port: PortNo, frame: &F) -> bool {
        self.out[port].as_mut().is_some_and(|line| line.loses(frame))
    }
}
