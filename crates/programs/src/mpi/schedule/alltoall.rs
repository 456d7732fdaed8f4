//! A message from each to each (`coll_base_alltoall.c`).

use super::{CommRank, ScheduleStep};

/// All receives, then all sends.
pub(super) fn linear(caller: CommRank, bytes: u64, step: &mut ScheduleStep) -> bool {
    for distance in 1..caller.ranks {
        step.receive(caller.after(distance), bytes);
        step.send(caller.before(distance), bytes);
    }
    true
}

/// P − 1 steps. The one with itself is a copy.
pub(super) fn pairwise(caller: CommRank, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
    if number + 1 >= caller.ranks {
        return false;
    }
    step.send(caller.after(number + 1), bytes);
    step.receive(caller.before(number + 1), bytes);
    true
}

/// ⌈log2 P⌉ steps. In each a rank sends the blocks whose distance has the bit of the step.
pub(super) fn bruck(caller: CommRank, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
    let distance = 1 << number;
    if distance >= caller.ranks {
        return false;
    }
    let blocks = (1..caller.ranks).filter(|block| block & distance > 0).count() as u64;
    step.send(caller.after(distance), blocks * bytes);
    step.receive(caller.before(distance), blocks * bytes);
    true
}
