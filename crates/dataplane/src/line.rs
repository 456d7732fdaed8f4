//! Lines that lose frames at random: bit errors, whose frames the next receiver discards by their
//! check sequence.

use crate::{Frame, PortNo};
use tailrace_units::{Probability, RandomStream};

/// Loss on one direction of a line.
#[derive(Clone, Debug)]
pub struct LineLoss {
    share: Probability,
    /// Only fragments without ports are lost (`iptables -f`).
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
        frame.belongs_to_flow()
            && (!self.is_of_later_fragments || frame.is_later_fragment())
            && self.random.happens(self.share)
    }
}

/// The lines of a switch, by port.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// From the neighbour.
    pub(crate) into: Vec<Option<LineLoss>>,
    /// To the neighbour, where that is a host: another switch loses frames as they enter it.
    pub(crate) out: Vec<Option<LineLoss>>,
}

impl Lines {
    pub(crate) fn loses_entering<F: Frame>(&mut self, port: PortNo, frame: &F) -> bool {
        self.into[port].as_mut().is_some_and(|line| line.loses(frame))
    }

    /// Decided before the queue: lost frames take no time on the line.
    pub(crate) fn loses_leaving<F: Frame>(&mut self, port: PortNo, frame: &F) -> bool {
        self.out[port].as_mut().is_some_and(|line| line.loses(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::{Flags, Fragment, Packet};

    /// A line that loses all that it may lose.
    fn losing(is_of_later_fragments: bool) -> LineLoss {
        LineLoss::new(Probability::ratio(1, 1), is_of_later_fragments, RandomStream::new(1, "line"))
    }

    fn fragment(offset: u32) -> Packet {
        let mut packet = Packet { flags: Flags::UDP, frame_bytes: 1_514, ..Packet::default() };
        Fragment { source: 0, id: 0, offset, bytes: 1_480, more: true, datagram_hash: 1 }
            .write(&mut packet);
        packet
    }

    #[test]
    fn later_fragments_alone_are_lost_where_they_are_asked_for_and_notifications_never() {
        let whole = Packet { flags: Flags::UDP, frame_bytes: 1_514, ..Packet::default() };
        let notification = Packet { flags: Flags::CNM, frame_bytes: 64, ..Packet::default() };
        let frames = [whole, fragment(0), fragment(1_480), notification];
        let lost = |later| frames.map(|frame| losing(later).loses(&frame));
        assert_eq!(lost(false), [true, true, true, false]);
        assert_eq!(lost(true), [false, false, true, false]);
    }

    #[test]
    fn the_two_directions_of_a_line_lose_by_themselves() {
        let mut lines =
            Lines { into: vec![Some(losing(false)), None], out: vec![None, Some(losing(false))] };
        let frame = fragment(0);
        assert_eq!([0, 1].map(|port| lines.loses_entering(port, &frame)), [true, false]);
        assert_eq!([0, 1].map(|port| lines.loses_leaving(port, &frame)), [false, true]);
    }
}
