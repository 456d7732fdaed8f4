//! Loss detection without selective acknowledgement: three duplicates, then one segment per partial
//! acknowledgement (RFC 6582, as in Linux).

use super::State;
use super::rack::DUPLICATE_THRESHOLD;
use crate::tcp::Tcp;

impl Tcp {
    /// A duplicate acknowledgement means that one more segment, unknown which, has arrived. After a
    /// timeout only new data count. Returns the segments counted.
    pub(crate) fn count_duplicate(&mut self) -> u32 {
        if self.recovery.state == State::Loss && self.send.nxt <= self.recovery.high_seq {
            return 0;
        }
        let before = self.board.sacked_out;
        self.board.sacked_out += 1;
        self.limit_duplicates();
        self.board.sacked_out.saturating_sub(before)
    }

    /// At most everything but the lost segments and the missing head can have arrived.
    fn limit_duplicates(&mut self) {
        let holes = self.board.lost_out.max(1).min(self.board.ring.len());
        self.board.sacked_out = self.board.sacked_out.min(self.board.ring.len() - holes);
    }

    pub(crate) fn forget_duplicates(&mut self) {
        if !self.send.has_sack {
            self.board.sacked_out = 0;
        }
    }

    /// A cumulative acknowledgement of `acked` segments: one filled the hole, the others had been
    /// counted as duplicates. Returns how many had not.
    pub(crate) fn consume_duplicates(&mut self, acked: u32) -> u32 {
        if acked == 0 {
            return 0;
        }
        let counted = self.board.sacked_out;
        self.board.sacked_out = counted.saturating_sub(acked - 1);
        self.limit_duplicates();
        acked.saturating_sub(counted).max(1)
    }

    pub(crate) fn find_losses_by_duplicates(&mut self, advanced: bool) {
        if self.board.ring.is_empty() {
            return;
        }
        let is_first =
            self.recovery.state < State::Recovery && self.board.sacked_out >= DUPLICATE_THRESHOLD;
        let is_partial = self.recovery.state == State::Recovery && advanced;
        if is_first || is_partial {
            self.board.mark_lost(self.board.ring.head);
            self.limit_duplicates();
        }
    }
}
