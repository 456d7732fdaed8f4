//! Active queue management: frames are marked or dropped before the queue is full.

mod afd;
mod codel;
mod red;
mod step;

pub use afd::Afd;
pub use codel::Codel;
pub use red::{Red, RedProfile};
pub use step::Step;

use crate::DropCause;
use tailrace_units::{Span, Time};

/// The verdict on a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Pass,
    Mark,
    /// Dropped, and counted under this cause.
    Drop(DropCause),
}

/// The active queue management of one queue.
#[derive(Clone, Debug)]
pub enum Aqm {
    /// Only the limit.
    None,
    /// Marks above an instantaneous depth.
    Step(Step),
    /// Random early detection, at enqueue.
    Red(Box<Red>),
    /// Approximate fair drop of elephants, at enqueue.
    Afd(Box<Afd>),
    /// Controlled delay, at dequeue.
    Codel(Box<Codel>),
}

impl Aqm {
    /// Whether it decides when a frame leaves: such a port cannot commit to departures ahead of
    /// time.
    pub(crate) fn decides_at_dequeue(&self) -> bool {
        matches!(self, Aqm::Codel(_))
    }

    /// The fate of an arriving frame; `depth_bytes` is the depth of the queue before it, `elephant`
    /// its flow's bytes per AFD period when it is an elephant.
    #[inline]
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        depth_bytes: u64,
        capable: bool,
        elephant: Option<u64>,
    ) -> Fate {
        match self {
            Aqm::None | Aqm::Codel(_) => Fate::Pass,
            Aqm::Step(step) => step.on_arrival(depth_bytes, capable),
            Aqm::Red(red) => red.on_arrival(now, depth_bytes, capable),
            Aqm::Afd(afd) => match afd.selects(now, depth_bytes, elephant) {
                false => Fate::Pass,
                true if afd.ecn && capable => Fate::Mark,
                true => Fate::Drop(DropCause::Afd),
            },
        }
    }

    /// The fate of a frame of so many bytes that leaves at `now` after `waited`; `backlog_bytes`
    /// still wait behind it.
    pub(crate) fn on_departure(
        &mut self,
        now: Time,
        waited: Span,
        backlog_bytes: u64,
        bytes: u64,
        capable: bool,
    ) -> Fate {
        match self {
            Aqm::None | Aqm::Step(_) | Aqm::Red(_) | Aqm::Afd(_) => Fate::Pass,
            Aqm::Codel(codel) => codel.on_departure(now, waited, backlog_bytes, bytes, capable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::RandomStream;

    /// The fate of frames of an elephant far above its share, capable and not.
    fn fates(ecn: bool) -> [Fate; 2] {
        let afd = Afd::new(1, Span::from_us(1), 1, ecn, RandomStream::new(1, "afd"));
        [true, false].map(|capable| {
            Aqm::Afd(Box::new(afd.clone())).on_arrival(Time::ZERO, 1, capable, Some(1 << 60))
        })
    }

    #[test]
    fn fair_drop_marks_capable_frames_and_drops_others() {
        assert_eq!(fates(true), [Fate::Mark, Fate::Drop(DropCause::Afd)]);
        assert_eq!(fates(false), [Fate::Drop(DropCause::Afd); 2]);
    }
}
