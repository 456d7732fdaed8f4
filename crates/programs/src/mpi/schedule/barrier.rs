//! Each waits for all (`coll_base_barrier.c`).

use super::folding::Folding;
use super::{CommRank, ScheduleStep};

/// Rank 0 receives from all, then sends to all.
pub(super) fn linear(caller: CommRank, number: u32, step: &mut ScheduleStep) -> bool {
    let others = 1..caller.ranks;
    match (caller.rank, number) {
        (0, 0) => others.for_each(|other| step.receive(other, 0)),
        (0, 1) => others.for_each(|other| step.send(other, 0)),
        (_, 0) => step.send(0, 0),
        (_, 1) => step.receive(0, 0),
        _ => return false,
    }
    true
}

/// The ranks above a power of two signal one of the others, and wait for it; those exchange at
/// doubling distances.
pub(super) fn doubling(caller: CommRank, number: u32, step: &mut ScheduleStep) -> bool {
    let Folding { levels, extra } = Folding::of(caller.ranks);
    let among = 1 << levels;
    let is_above = caller.rank >= among;
    let has_one_above = caller.rank < extra;
    match number {
        0 if is_above => step.send(caller.rank - among, 0),
        0 if has_one_above => step.receive(caller.rank + among, 0),
        0 => {}
        number if number <= levels => {
            if !is_above {
                step.swap(caller.rank ^ 1 << (number - 1), 0);
            }
        }
        number if number == levels + 1 => {
            if is_above {
                step.receive(caller.rank - among, 0);
            } else if has_one_above {
                step.send(caller.rank + among, 0);
            }
        }
        _ => return false,
    }
    true
}

/// ⌈log2 P⌉ steps.
pub(super) fn dissemination(caller: CommRank, number: u32, step: &mut ScheduleStep) -> bool {
    let distance = 1 << number;
    if distance >= caller.ranks {
        return false;
    }
    step.send(caller.after(distance), 0);
    step.receive(caller.before(distance), 0);
    true
}
