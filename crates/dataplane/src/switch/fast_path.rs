//! The fast path of a frame through a switch.
//!
//! At a plain switch nothing happens to a frame at the entrance, and its port commits to its
//! departure at once. What is left of the steps of [`Switch::handle_frame`] is little enough to
//! stand in the engine's loop of events. The result is that of the slow path, which a test compares
//! (`tests/bridging.rs`).

use super::Switch;
use crate::{Frame, Outputs};
use tailrace_units::Time;

impl<F: Frame> Switch<F> {
    /// Takes a frame through a plain switch. Returns false, and has done nothing, for any frame that
    /// needs the slow path: a pause frame, one without a route, and all at other switches.
    #[inline(always)]
    pub(super) fn take_fast_path(
        &mut self,
        now: Time,
        frame: &mut F,
        out: &mut impl Outputs<F>,
    ) -> bool {
        if frame.is_pause() || !self.is_plain {
            return false;
        }
        let Some(port) = self.forwarding.route(frame) else { return false };
        out.prepare(port);
        self.settle_all_for(now, port, frame.bytes(), out);
        let target = &mut self.ports[port];
        let committed = target.commit(now, frame, &mut self.buffer, &mut self.releases, out);
        self.dues[port] = target.due();
        if let Some((start, end)) = committed {
            out.transmit(port, frame, start, end);
        }
        true
    }
}
