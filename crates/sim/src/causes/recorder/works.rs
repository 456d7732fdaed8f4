//! The work of hypervisors on single frames.

use super::Recorder;
use crate::causes::frames::{FrameId, Hop, SWITCHING, VHOST};
use crate::causes::wires::Node;
use tailrace_units::Time;

/// A virtual switch, or a vhost thread, works on a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WorkOnFrame {
    pub(crate) hypervisor: u32,
    pub(crate) is_vhost: bool,
    /// When the frame came there.
    pub(crate) since: Time,
    pub(crate) start: Time,
    /// When it was done.
    pub(crate) done: Time,
}

impl Recorder {
    /// All work on a frame, in order. Unfinished work is left out.
    pub(crate) fn works_on(&self, id: FrameId) -> Vec<WorkOnFrame> {
        let mut hops: Vec<Hop> = Vec::new();
        let Some(frame) = self.frames.read_with_hops(id, &mut hops) else { return Vec::new() };
        let (mut since, mut hypervisor) = (frame.handed, None);
        let mut found = Vec::new();
        for hop in hops.iter().rev() {
            if hop.wire < VHOST {
                if let Node::Stage(number, _) = self.wires.to(hop.wire) {
                    hypervisor = Some(number);
                }
            } else if let Some(hypervisor) = hypervisor.filter(|_| hop.arrival != Time::NEVER) {
                found.push(WorkOnFrame {
                    hypervisor,
                    is_vhost: hop.wire != SWITCHING,
                    since,
                    start: hop.start,
                    done: hop.arrival,
                });
            }
            since = hop.arrival;
        }
        found
    }
}
