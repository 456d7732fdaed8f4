//! The policy of one port and of its queues.

use crate::etrap::EtrapPolicy;
use crate::qcn::CongestionPoint;
use crate::shaper::Shaper;
use crate::{Aqm, DppPolicy, Room, Service};
use tailrace_units::Span;
use tailrace_wire::{PRIORITIES, PauseState};

/// Most queues of one port (Nexus 9000: eight, plus the express queue).
pub(super) const QUEUES_MAX: usize = 9;

/// The policy of one queue.
#[derive(Clone, Debug)]
pub struct QueuePolicy {
    /// Its place in the schedule.
    pub service: Service,
    /// Its limit, and what it has reserved.
    pub room: Room,
    /// Active queue management.
    pub aqm: Aqm,
    /// Largest rate (shape max).
    pub ceiling: Option<Shaper>,
    /// Guaranteed rate (shape min).
    pub floor: Option<Shaper>,
    /// QCN.
    pub congestion_point: Option<CongestionPoint>,
}

/// The policy of one port.
#[derive(Clone, Debug)]
pub struct PortPolicy {
    /// One to nine queues.
    pub queues: Vec<QueuePolicy>,
    /// The queue of each class.
    pub queue_of_class: [u8; PRIORITIES],
    /// Dynamic packet prioritisation.
    pub dpp: Option<DppPolicy>,
    /// Elephant trap with the AFD period, for queues with approximate fair drop.
    pub etrap: Option<(EtrapPolicy, Span)>,
    /// Which pauses are obeyed; `None` for none.
    pub pause: Option<PauseState>,
    /// Ends pause storms.
    pub watchdog: Option<Watchdog>,
}

/// The watchdog of a lossless queue (SONiC PFC_WD, NX-OS priority-flow-control watch-dog).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watchdog {
    /// Time for which a non-empty queue must be paused to be in a storm; its frames are then
    /// dropped.
    pub detection: Span,
    /// Time without a pause after which the queue is restored.
    pub restoration: Span,
}

impl PortPolicy {
    /// Whether no choice is needed when a frame leaves.
    pub(super) fn is_plain(&self) -> bool {
        let [only] = self.queues.as_slice() else { return false };
        self.dpp.is_none()
            && self.etrap.is_none()
            && self.pause.is_none()
            && only.ceiling.is_none()
            && only.congestion_point.is_none()
            && !only.aqm.decides_at_dequeue()
    }
}
