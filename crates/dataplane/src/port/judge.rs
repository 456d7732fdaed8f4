//! Marking and dropping by active queue management, at enqueue and at dequeue.

use crate::aqm::Fate;
use crate::queue::Managed;
use crate::{Aqm, Frame, Outputs, PortNo, QueueNo};
use tailrace_units::Time;
use tailrace_wire::Ecn;

/// Where and when a frame is judged.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) at: Time,
    pub(super) port: PortNo,
    pub(super) queue: QueueNo,
}

/// Marks or drops a frame at enqueue. Returns whether it is kept.
#[inline(always)]
pub(super) fn judge_arrival<F: Frame>(
    queue: Managed<'_>,
    place: Place,
    frame: &mut F,
    elephant: Option<u64>,
    out: &mut impl Outputs<F>,
) -> bool {
    if matches!(queue.aqm, Aqm::None) {
        return true;
    }
    judge_managed(queue, place, frame, elephant, out)
}

#[inline(always)]
fn judge_managed<F: Frame>(
    mut queue: Managed<'_>,
    place: Place,
    frame: &mut F,
    elephant: Option<u64>,
    out: &mut impl Outputs<F>,
) -> bool {
    let capable = frame.ecn() != Ecn::NotEct;
    let fate = queue.aqm.on_arrival(place.at, queue.depth_bytes, capable, elephant);
    carry_out(fate, &mut queue, place, frame, out)
}

/// Marks or drops a frame at dequeue. Returns whether it is kept.
pub(super) fn judge_departure<F: Frame>(
    queue: &mut Managed<'_>,
    place: Place,
    arrived: Time,
    frame: &mut F,
    out: &mut impl Outputs<F>,
) -> bool {
    let capable = frame.ecn() != Ecn::NotEct;
    let waited = place.at.since(arrived);
    let fate = queue.aqm.on_departure(
        place.at,
        waited,
        queue.depth_bytes,
        u64::from(frame.bytes()),
        capable,
    );
    carry_out(fate, queue, place, frame, out)
}

/// The common case: a frame passes at the cost of a comparison.
#[inline(always)]
fn carry_out<F: Frame>(
    fate: Fate,
    queue: &mut Managed<'_>,
    place: Place,
    frame: &mut F,
    out: &mut impl Outputs<F>,
) -> bool {
    fate == Fate::Pass || strike(fate, queue, place, frame, out)
}

#[inline(never)]
fn strike<F: Frame>(
    fate: Fate,
    queue: &mut Managed<'_>,
    place: Place,
    frame: &mut F,
    out: &mut impl Outputs<F>,
) -> bool {
    match fate {
        Fate::Pass => true,
        Fate::Mark => {
            frame.mark();
            queue.counters.marked_frames += 1;
            out.marked(place.at, place.port, place.queue, frame);
            true
        }
        Fate::Drop(cause) => {
            queue.counters.count_drop(cause, frame.bytes());
            out.dropped(place.at, place.port, place.queue, frame, cause);
            false
        }
    }
}
