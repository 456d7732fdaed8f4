//! From rank 0 to all (`coll_base_bcast.c`, `coll_base_topo.c`). Messages are whole: the choice by
//! size asks for no segments.

use super::{CommRank, ScheduleStep};

/// The shape of a tree with its root at rank 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tree {
    /// All others are children of the root.
    Flat,
    /// Each has one child. Open MPI's pipeline without segments, and its chain.
    Chain,
    /// Each has two.
    Binary,
    /// The highest bit of a rank leads to its parent.
    Binomial,
    /// Of radix 4.
    Knomial,
}

/// `coll_tuned_bcast_knomial_radix`.
const RADIX: u32 = 4;

/// A rank receives from its parent, then sends to its children at once.
pub(super) fn along(
    tree: Tree,
    caller: CommRank,
    bytes: u64,
    number: u32,
    step: &mut ScheduleStep,
) -> bool {
    match number {
        0 => {
            if caller.rank > 0 {
                step.receive(parent(tree, caller), bytes);
            }
        }
        1 => children(tree, caller, |child| step.send(child, bytes)),
        _ => return false,
    }
    true
}

fn parent(tree: Tree, caller: CommRank) -> u32 {
    let CommRank { rank, .. } = caller;
    match tree {
        Tree::Flat => 0,
        Tree::Chain => rank - 1,
        Tree::Binary => {
            let width = 1 << (rank + 1).ilog2();
            let (first, above) = (width - 1, width / 2);
            (rank - first) % above + above - 1
        }
        Tree::Binomial => rank ^ 1 << rank.ilog2(),
        Tree::Knomial => {
            let mut mask = RADIX;
            while rank.is_multiple_of(mask) {
                mask *= RADIX;
            }
            rank / mask * mask
        }
    }
}

/// In the order in which they are sent to.
fn children(tree: Tree, caller: CommRank, mut each: impl FnMut(u32)) {
    let CommRank { rank, ranks } = caller;
    let mut each = |child: u32| {
        if child < ranks {
            each(child);
        }
    };
    match tree {
        Tree::Flat if rank == 0 => (1..ranks).for_each(each),
        Tree::Flat => {}
        Tree::Chain => each(rank + 1),
        Tree::Binary => {
            let width = 1 << (rank + 1).ilog2();
            each(rank + width);
            each(rank + 2 * width);
        }
        Tree::Binomial => {
            let mut mask = if rank == 0 { 1 } else { 2 << rank.ilog2() };
            while mask < ranks {
                each(rank ^ mask);
                mask *= 2;
            }
        }
        Tree::Knomial => {
            let mut mask = 1;
            while mask < ranks && rank.is_multiple_of(mask * RADIX) {
                mask *= RADIX;
            }
            while mask > 1 {
                mask /= RADIX;
                (1..RADIX).for_each(|digit| each(rank + digit * mask));
            }
        }
    }
}

/// Parts go along a binomial tree, then P − 1 times round.
pub(super) fn scatter_ring(
    caller: CommRank,
    bytes: u64,
    number: u32,
    step: &mut ScheduleStep,
) -> bool {
    let CommRank { rank, ranks } = caller;
    let part = bytes.div_ceil(ranks.into());
    let of = |first: u32, parts: u32| {
        let end = u64::from((first + parts).min(ranks));
        bytes.min(end * part) - bytes.min(u64::from(first) * part)
    };
    let lowest = if rank == 0 { ranks.next_power_of_two() } else { 1 << rank.trailing_zeros() };
    match number {
        0 => {
            if rank > 0 {
                step.receive(rank - lowest, of(rank, lowest));
            }
        }
        1 => {
            let mut mask = lowest / 2;
            while mask > 0 {
                if rank + mask < ranks {
                    step.send(rank + mask, of(rank + mask, mask));
                }
                mask /= 2;
            }
        }
        _ if number - 2 < ranks - 1 => {
            let round = number - 2;
            step.send(caller.after(1), of(caller.before(round), 1));
            step.receive(caller.before(1), of(caller.before(round + 1), 1));
        }
        _ => return false,
    }
    true
}
