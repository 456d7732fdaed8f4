//! Marking what the peer holds out of order (RFC 2018, RFC 6675).

use super::ack_effect::AckEffect;
use super::scoreboard::{Range, Scoreboard};
use super::segment_ring::{EVER_RETRANSMITTED, LOST, RETRANSMISSION_OUT, Record, SACKED};

impl Scoreboard {
    /// Marks the segments that the peer reports to hold out of order. Work is proportional to the
    /// new ones: blocks reported again are skipped.
    pub(crate) fn mark_held(&mut self, blocks: &mut [Range], effect: &mut AckEffect) {
        blocks.sort_unstable_by_key(|block| block.start);
        for block in blocks.iter() {
            let mut seq = block.start;
            while seq < block.end {
                if let Some(known) =
                    self.repairs.marked.iter().find(|known| known.start <= seq && seq < known.end)
                {
                    seq = known.end;
                    continue;
                }
                let mut number = self.ring.find(seq);
                if number < self.ring.tail && self.ring.start_of(number) < block.start {
                    // the peer holds the end of this segment alone: as Linux, wait for the rest
                    number += 1;
                }
                if number == self.ring.tail {
                    break;
                }
                seq = self.mark_run(number, block.end, effect);
            }
        }
        for (slot, block) in self.repairs.marked.iter_mut().zip(blocks.iter()) {
            *slot = *block;
        }
    }

    /// Marks segments from `number` on until one ends after `end` or starts a block that is marked;
    /// returns where it stopped.
    fn mark_run(&mut self, mut number: u64, end: u64, effect: &mut AckEffect) -> u64 {
        while number < self.ring.tail {
            let record = self.ring.get(number);
            if record.end() > end {
                return end; // the peer holds a part of this segment: as Linux, wait for the rest
            }
            self.mark_sacked(number, record, effect);
            number += 1;
            if self.repairs.marked.iter().any(|known| known.start == record.end()) {
                return record.end();
            }
        }
        end
    }

    /// Delivery rates are sampled from the newest.
    fn note_newest_held(&self, number: u64, effect: &mut AckEffect) {
        let newness = |number| (self.ring.get(number).sent, number);
        if effect.newest_held == 0 || newness(effect.newest_held - 1) < newness(number) {
            effect.newest_held = number + 1;
        }
    }

    fn mark_sacked(&mut self, number: u64, record: Record, effect: &mut AckEffect) {
        if record.has(SACKED) {
            return;
        }
        self.unmark(record);
        if record.has(EVER_RETRANSMITTED) {
            effect.note_retransmitted(record);
        } else {
            self.note_original(record, effect);
            effect.sacked_sent = effect.sacked_sent.or(Some(record.sent));
        }
        let stored = self.ring.get_mut(number);
        stored.clear(LOST | RETRANSMISSION_OUT);
        stored.set(SACKED);
        self.sacked_out += 1;
        effect.sacked += 1;
        self.note_newest_held(number, effect);
        self.highest_sacked = self.highest_sacked.max(record.end());
    }
}
