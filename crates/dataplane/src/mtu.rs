//! The MTUs of the ports of a switch. A frame that is too long is dropped without a word to its
//! sender: switches do not fragment, and do not answer.

use crate::PortNo;

/// Frames that one port was too small for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MtuDrops {
    /// Frames that came from the neighbour (NX-OS counts them as giants).
    pub ingress_frames: u64,
    /// Frames that were to leave by the port.
    pub egress_frames: u64,
}

/// The longest frame of each port, and counts of longer ones.
#[derive(Clone, Debug)]
pub(crate) struct Mtus {
    /// By port, with the header of the link and the tag of a trunk; `u32::MAX` for none.
    frame_bytes_max: Vec<u32>,
    drops: Vec<MtuDrops>,
}

impl Mtus {
    pub(crate) fn new(frame_bytes_max: Vec<Option<u32>>) -> Mtus {
        let drops = vec![MtuDrops::default(); frame_bytes_max.len()];
        Mtus {
            frame_bytes_max: frame_bytes_max
                .into_iter()
                .map(|most| most.unwrap_or(u32::MAX))
                .collect(),
            drops,
        }
    }

    /// Whether a frame that arrives is short enough. The receiver of a port discards a longer one
    /// before any other stage sees it.
    pub(crate) fn admits(&mut self, in_port: PortNo, bytes: u32) -> bool {
        let fits = bytes <= self.frame_bytes_max[in_port];
        self.drops[in_port].ingress_frames += u64::from(!fits);
        fits
    }

    /// Whether a frame is short enough to leave.
    pub(crate) fn lets_out(&mut self, port: PortNo, bytes: u32) -> bool {
        let fits = bytes <= self.frame_bytes_max[port];
        self.drops[port].egress_frames += u64::from(!fits);
        fits
    }

    /// The count of a port that has an MTU.
    pub(crate) fn drops(&self, port: PortNo) -> Option<MtuDrops> {
        (self.frame_bytes_max[port] != u32::MAX).then(|| self.drops[port])
    }

    pub(crate) fn begin_counting(&mut self) {
        self.drops.fill(MtuDrops::default());
    }
}
