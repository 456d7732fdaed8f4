//! Ranks whose number is no power of two: some give their data to a neighbour, and wait for the
//! result.

use super::CommRank;

/// The powers of two among so many ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folding {
    /// log2 of the ranks that go on.
    pub(super) levels: u32,
    /// How many give way.
    pub(super) extra: u32,
}

impl Folding {
    pub(super) fn of(ranks: u32) -> Folding {
        let levels = ranks.ilog2();
        Folding { levels, extra: ranks - (1 << levels) }
    }

    /// Whether a rank has a neighbour with which it is folded.
    pub(super) fn is_folded(self, rank: u32) -> bool {
        rank < 2 * self.extra
    }

    /// The number of a rank among those that go on, where of two neighbours the odd one does.
    pub(super) fn odd_goes_on(self, caller: CommRank) -> Option<u32> {
        match (self.is_folded(caller.rank), caller.rank % 2) {
            (true, 0) => None,
            (true, _) => Some(caller.rank / 2),
            (false, _) => Some(caller.rank - self.extra),
        }
    }

    /// The rank with this number among them.
    pub(super) fn odd_rank(self, number: u32) -> u32 {
        if number < self.extra { 2 * number + 1 } else { number + self.extra }
    }

    /// The same where the even one does.
    pub(super) fn even_goes_on(self, caller: CommRank) -> Option<u32> {
        match (self.is_folded(caller.rank), caller.rank % 2) {
            (true, 1) => None,
            (true, _) => Some(caller.rank / 2),
            (false, _) => Some(caller.rank - self.extra),
        }
    }

    pub(super) fn even_rank(self, number: u32) -> u32 {
        if number < self.extra { 2 * number } else { number + self.extra }
    }
}
