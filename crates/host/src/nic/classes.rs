//! Traffic classes of an interface (enhanced transmission selection, 802.1Qaz): priorities that
//! share a part of the line. The scheduler is that of the ports of switches.

use tailrace_dataplane::{Scheduler, Service};
use tailrace_wire::PRIORITIES;

/// Bytes of a round for each thousandth of weight: a class of half of the line has 500 at a time,
/// so that no turn is longer than a frame. A limited flow that may send its next frame a moment
/// after the one before would lose a long turn each time.
const QUANTUM_PER_MILLI: u64 = 1;

/// Priorities that are served together.
#[derive(Clone, Copy, Debug)]
pub struct TrafficClass {
    /// Its priorities, a bit each.
    pub priorities: u8,
    /// When it is served.
    pub service: Service,
}

/// The first frame of a lane: of a priority's queue, or of a limited flow.
pub(super) struct Head {
    pub(super) lane: usize,
    pub(super) priority: u8,
    /// Bytes that it takes of the line, or `None` while it is held back.
    pub(super) wire_bytes: Option<u64>,
}

/// Which lane is served next.
#[derive(Debug)]
pub(super) struct Classes {
    scheduler: Scheduler,
    classes: Vec<Class>,
    of_priority: [usize; PRIORITIES],
}

#[derive(Clone, Debug)]
struct Class {
    service: Service,
    waiting_bytes: u64,
    /// The lane that has its turn.
    turn: usize,
}

/// The bytes that a class could send now.
#[derive(Clone, Copy, Default)]
struct Candidate {
    waits: bool,
    /// Distance from the turn, lane and wire bytes of the nearest frame that is not held back.
    ready: Option<(usize, usize, u64)>,
}

impl Classes {
    pub(super) fn new(classes: &[TrafficClass]) -> Classes {
        assert!((1..=PRIORITIES).contains(&classes.len()), "a class has one priority at least");
        let class_of = |priority: usize| {
            classes.iter().position(|class| class.priorities >> priority & 1 == 1)
        };
        let services: Vec<Service> = classes.iter().map(|class| class.service).collect();
        Classes {
            scheduler: Scheduler::with_quanta(&services, QUANTUM_PER_MILLI),
            classes: services
                .iter()
                .map(|&service| Class { service, waiting_bytes: 0, turn: 0 })
                .collect(),
            of_priority: std::array::from_fn(|priority| class_of(priority).unwrap_or(0)),
        }
    }

    /// Adds a waiting frame. Returns the bytes that leave before it has left, and its own: those of
    /// its class, and those that the other classes send meanwhile of their present queues.
    pub(super) fn add(&mut self, priority: u8, bytes: u64) -> u64 {
        let class = self.class_of(priority);
        self.classes[class].waiting_bytes += bytes;
        let own = &self.classes[class];
        let meanwhile = |other: &Class| match (own.service, other.service) {
            (Service::Strict(own), Service::Strict(other)) if other > own => 0,
            (Service::Strict(_), Service::Dwrr(_)) => 0,
            (Service::Dwrr(of_own), Service::Dwrr(of_other)) => {
                let share = u128::from(self.classes[class].waiting_bytes) * u128::from(of_other)
                    / u128::from(of_own);
                other.waiting_bytes.min(u64::try_from(share).unwrap_or(u64::MAX))
            }
            (_, Service::Strict(_)) => other.waiting_bytes,
        };
        let others = self.classes.iter().enumerate().filter(|&(number, _)| number != class);
        own.waiting_bytes + others.map(|(_, other)| meanwhile(other)).sum::<u64>()
    }

    /// A frame leaves.
    pub(super) fn remove(&mut self, priority: u8, bytes: u64) {
        let class = self.class_of(priority);
        self.classes[class].waiting_bytes -= bytes;
    }

    /// The lane to serve, of so many; `None` when none of the heads may be sent.
    pub(super) fn choose(
        &mut self,
        lanes: usize,
        heads: impl Iterator<Item = Head>,
    ) -> Option<usize> {
        let mut candidates = [Candidate::default(); PRIORITIES];
        for head in heads {
            let number = self.class_of(head.priority);
            let candidate = &mut candidates[number];
            candidate.waits = true;
            if let Some(wire_bytes) = head.wire_bytes {
                let distance = (head.lane + lanes - self.classes[number].turn % lanes) % lanes;
                if candidate.ready.is_none_or(|(nearest, ..)| distance < nearest) {
                    candidate.ready = Some((distance, head.lane, wire_bytes));
                }
            }
        }
        let wire_bytes = |class: usize| candidates[class].ready.map(|(.., wire_bytes)| wire_bytes);
        let class =
            self.scheduler.choose_held(wire_bytes, |class| !candidates[class].waits, |_| false)?;
        let (_, lane, _) = candidates[class].ready?;
        self.classes[class].turn = lane + 1;
        Some(lane)
    }

    fn class_of(&self, priority: u8) -> usize {
        self.of_priority[usize::from(priority) % PRIORITIES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_knows_the_bytes_that_leave_before_it() {
        let class =
            |priority: u32, service: Service| TrafficClass { priorities: 1 << priority, service };
        let mut classes = Classes::new(&[
            class(0, Service::Strict(1)),
            class(1, Service::Strict(2)),
            class(2, Service::Dwrr(600)),
            class(3, Service::Dwrr(300)),
        ]);
        assert_eq!(classes.add(2, 1_000), 1_000);
        assert_eq!(classes.add(1, 100), 100, "before those with weights");
        assert_eq!(classes.add(0, 10), 10, "before the level behind it");
        assert_eq!(classes.add(1, 100), 210, "behind the first level");
        assert_eq!(
            classes.add(3, 400),
            400 + 210 + 800,
            "the other weighted class sends twice as much meanwhile"
        );
        classes.remove(2, 1_000);
        assert_eq!(classes.add(3, 50), 450 + 210);
    }
}
