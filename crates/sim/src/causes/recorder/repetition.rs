//! Waits before repetitions.

use super::Recorder;
use crate::causes::ends::SocketId;
use crate::causes::frames::{Entry, Frame, FrameId, Prior, Window};
use crate::causes::inputs::SocketState;
use crate::causes::part::Part;
use tailrace_units::Span;

impl Recorder {
    /// The wait before a repetition. The acknowledgements of the segments that were repeated first
    /// release the rest, at once or when the reordering timer is due, so that the path leads
    /// through them to the first repetition of the recovery.
    pub(super) fn settle_repetition(&mut self, own: SocketId, id: FrameId, state: SocketState) {
        let handed = self.handed_to(own);
        let Some(end) = self.ends.get_mut(own) else { return };
        let before = std::mem::replace(&mut end.repairs, state.repairs);
        let is_timer = handed.is_none() && state.repairs != before;
        let last = handed.or(end.last_received.map(|received| received.1));
        let follows = last.filter(|&frame| {
            !is_timer
                && ((handed.is_some() && state.is_after_timeout) || self.answers_repetition(frame))
        });
        let Some(Frame { prior: Some(prior), .. }) = self.frames.get_mut(id) else { return };
        if let Some(frame) = follows {
            let part = if handed.is_some() { Part::SenderHold } else { Part::ReorderingTimer };
            *prior = Prior {
                frame,
                entry: Entry::Delivered,
                part,
                core_wait: Span::ZERO,
                waited: Span::ZERO,
                opens: handed.is_some().then_some(Window::Congestion),
            };
        } else if handed.is_none() {
            prior.part = if state.repairs.timeouts > before.timeouts {
                Part::Timeout
            } else if is_timer {
                Part::Probe
            } else {
                Part::ReorderingTimer
            };
        }
    }

    /// Whether a frame was sent because a repetition had arrived.
    fn answers_repetition(&self, acknowledgement: FrameId) -> bool {
        let prior = self.frames.read(acknowledgement).and_then(|frame| frame.prior);
        prior
            .and_then(|prior| self.frames.read(prior.frame))
            .is_some_and(|answered| answered.repeats.is_some())
    }
}
