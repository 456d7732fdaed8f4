//! The sum of all, at all (`coll_base_allreduce.c`).

use super::folding::Folding;
use super::{CommRank, ELEMENT, ScheduleStep};

/// Of neighbours that are too many, the even one hands over to the odd one and waits for the
/// result. The others exchange all with a partner at doubling distances.
pub(super) fn recursive_doubling(
    caller: CommRank,
    bytes: u64,
    number: u32,
    step: &mut ScheduleStep,
) -> bool {
    let folding = Folding::of(caller.ranks);
    let (is_folded, is_even) = (folding.is_folded(caller.rank), caller.rank.is_multiple_of(2));
    if number == 0 {
        match (is_folded, is_even) {
            (true, true) => step.send(caller.rank + 1, bytes),
            (true, false) => {
                step.receive(caller.rank - 1, bytes);
                step.combine = bytes;
            }
            (false, _) => {}
        }
    } else if number <= folding.levels {
        if let Some(own) = folding.odd_goes_on(caller) {
            step.swap(folding.odd_rank(own ^ 1 << (number - 1)), bytes);
            step.combine = bytes;
        }
    } else if number == folding.levels + 1 {
        match (is_folded, is_even) {
            (true, true) => step.receive(caller.rank + 1, bytes),
            (true, false) => step.send(caller.rank - 1, bytes),
            (false, _) => {}
        }
    } else {
        return false;
    }
    true
}

/// Bytes of a part of the ring: the first parts have one element more.
fn part(bytes: u64, ranks: u32, number: u32) -> u64 {
    let (elements, ranks) = (bytes / ELEMENT, u64::from(ranks));
    ELEMENT * (elements / ranks + u64::from(u64::from(number) < elements % ranks))
}

/// 2 (P − 1) steps.
pub(super) fn ring(caller: CommRank, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
    let CommRank { ranks, .. } = caller;
    let round = ranks - 1;
    if number >= 2 * round {
        return false;
    }
    let of = |number: u32| part(bytes, ranks, number);
    let (sent, received) = if number < round {
        (caller.before(number), caller.before(number + 1))
    } else {
        (caller.after(1 + ranks - (number - round)), caller.before(number - round))
    };
    step.send(caller.after(1), of(sent));
    step.receive(caller.before(1), of(received));
    step.combine = if number < round { of(received) } else { 0 };
    true
}

/// Neighbours that are too many combine a half each, and the odd one hands its own over. The others
/// combine halves, quarters and so on, and gather them again.
pub(super) fn rabenseifner(
    caller: CommRank,
    bytes: u64,
    number: u32,
    step: &mut ScheduleStep,
) -> bool {
    let folding = Folding::of(caller.ranks);
    let count = bytes / ELEMENT;
    let (left, right) = (count / 2 * ELEMENT, (count - count / 2) * ELEMENT);
    let (is_folded, is_even) = (folding.is_folded(caller.rank), caller.rank.is_multiple_of(2));
    let own = folding.even_goes_on(caller);
    let (levels, first) = (folding.levels, 2);
    match number {
        0 if is_folded && is_even => {
            step.send(caller.rank + 1, right);
            step.receive(caller.rank + 1, left);
            step.combine = left;
        }
        0 if is_folded => {
            step.send(caller.rank - 1, left);
            step.receive(caller.rank - 1, right);
            step.combine = right;
        }
        1 if is_folded && is_even => step.receive(caller.rank + 1, right),
        1 if is_folded => step.send(caller.rank - 1, right),
        0 | 1 => {}
        number if number < first + levels => {
            if let Some(own) = own {
                let level = number - first;
                let (sent, received) = halves(own, level, count);
                let with = folding.even_rank(own ^ 1 << level);
                step.send(with, sent);
                step.receive(with, received);
                step.combine = received;
            }
        }
        number if number < first + 2 * levels => {
            if let Some(own) = own {
                let level = first + 2 * levels - 1 - number;
                let (sent, received) = halves(own, level, count);
                let with = folding.even_rank(own ^ 1 << level);
                step.send(with, received);
                step.receive(with, sent);
            }
        }
        number if number == first + 2 * levels => match (is_folded, is_even) {
            (true, true) => step.send(caller.rank + 1, bytes),
            (true, false) => step.receive(caller.rank - 1, bytes),
            (false, _) => {}
        },
        _ => return false,
    }
    true
}

/// Bytes that a rank sends and receives when its data is halved for the `level`th time.
fn halves(own: u32, level: u32, count: u64) -> (u64, u64) {
    let mut window = count;
    for at in 0..=level {
        let is_lower = own < own ^ 1 << at;
        let kept = if is_lower { window / 2 } else { window - window / 2 };
        if at == level {
            return ((window - kept) * ELEMENT, kept * ELEMENT);
        }
        window = kept;
    }
    unreachable!("the loop ends at the level")
}
