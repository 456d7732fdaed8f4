//! Loss detection without selective acknowledgement: three duplicates, then one segment per partial acknowledgement (RFC 6582, as in Linux).

use super::Tcp;
use super::rack::DUPLICATE_THRESHOLD;
use super::recovery::State;

impl Tcp {
    /// A duplicate acknowledgement tells that one more segment, unknown which, has arrived.
    pub(super) fn count_duplicate(&mut self, is_duplicate: bool) {
        if !self.send.has_sack && is_duplicate {
            self.board.sacked_out += 1;
            self.limit_duplicates();
        }
    }

    /// At most everything but the lost segments and the missing head can have arrived.
    fn limit_duplicates(&mut self) {
        let holes = self.board.lost_out.max(1).min(self.board.ring.len());
        self.board.sacked_out = self.board.sacked_out.min(self.board.ring.len() - holes);
    }

    pub(super) fn forget_duplicates(&mut self) {
        if !self.send.has_sack {
            self.board.sacked_out = 0;
        }
    }

    /// A cumulative acknowledgement of `acked` segments: one filled the hole, the others had been counted as duplicates.
    pub(super) fn consume_duplicates(&mut self, acked: u32) {
        if !self.send.has_sack && acked > 0 {
            self.board.sacked_out = self.board.sacked_out.saturating_sub(acked - 1);
            self.limit_duplicates();
        }
    }

    pub(super) fn find_losses_by_duplicates(&mut self, advanced: bool) {
        if self.board.ring.is_empty() {
            return;
        }
        let is_first = self.recovery.state < State::Recovery && self.board.sacked_out >= DUPLICATE_THRESHOLD;
        let is_partial = self.recovery.state == State::Recovery && advanced;
        if is_first || is_partial {
            self.board.mark_lost(self.board.ring.head);
            self.limit_duplicates();
        }
    }
}
