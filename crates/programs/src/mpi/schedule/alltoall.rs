//! A message from each to each (`coll_base_alltoall.c`).

use super::{Place, ScheduleStep};

/// All receives, then all sends.
pub(super) fn linear(place: Place, bytes: u64, step: &mut ScheduleStep) -> bool {
    for distance in 1..place.ranks {
        step.receive(place.after(distance), bytes);
        step.send(place.before(distance), bytes);
    }
    true
}

/// P − 1 steps. The one with itself is a copy.
pub(super) fn pairwise(place: Place, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
    if number + 1 >= place.ranks {
        return false;
    }
    step.send(place.after(number + 1), bytes);
    step.receive(place.before(number + 1), bytes);
    true
}

/// ⌈log2 P⌉ steps. In each a rank sends the blocks whose distance has the bit of the step.
pub(super) fn bruck(place: Place, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
    let distance = 1 << number;
    if distance >= place.ranks {
        return false;
    }
    let blocks = (1..place.ranks).filter(|block| block & distance > 0).count() as u64;
    step.send(place.after(distance), blocks * bytes);
    step.receive(place.before(distance), blocks * bytes);
    true
}
