//! Smaller windows: how a reduction starts, proceeds (RFC 6937), ends, and is taken back.

use super::State;
use crate::tcp::Tcp;

impl Tcp {
    pub(crate) fn enter_recovery(&mut self, is_marked: bool) {
        self.recovery.prior_ssthresh = 0;
        self.start_undo();
        if !self.recovery.is_reducing() {
            if !is_marked {
                self.recovery.prior_ssthresh = self.threshold_now();
            }
            self.start_reduction(false);
        }
        self.recovery.state = State::Recovery;
        self.stats.fast_recoveries += 1;
    }

    pub(crate) fn enter_reduction_by_mark(&mut self) {
        self.recovery.prior_ssthresh = 0;
        if self.recovery.state < State::Cwr {
            self.recovery.undo_from = 0;
            self.start_reduction(true);
            self.recovery.state = State::Cwr;
            self.stats.ecn_reductions += 1;
        }
    }

    /// The threshold at present (Linux `tcp_current_ssthresh`).
    pub(crate) fn threshold_now(&self) -> u32 {
        if self.recovery.is_reducing() {
            self.congestion.ssthresh
        } else {
            self.congestion.remembered_threshold()
        }
    }

    pub(crate) fn start_undo(&mut self) {
        self.recovery.undo_from = self.send.una;
        self.recovery.undo_retransmissions =
            if self.board.retrans_out > 0 { self.board.retrans_out as i32 } else { -1 };
    }

    pub(crate) fn start_reduction(&mut self, by_mark: bool) {
        self.recovery.high_seq = self.send.nxt;
        self.recovery.probe_end = 0;
        self.recovery.prior_cwnd = self.congestion.cwnd;
        self.recovery.delivered = 0;
        self.recovery.sent = 0;
        self.congestion.ssthresh = self.congestion.threshold_after_congestion(by_mark);
        self.send.is_cwr_due = self.send.has_ecn;
    }

    /// Proportional rate reduction (RFC 6937 and Linux `tcp_cwnd_reduction`): sends in proportion
    /// to the delivered segments while more than the threshold is in flight, then grows back to it
    /// no faster than slow start.
    #[cold]
    #[inline(never)]
    pub(crate) fn reduce_window(&mut self, delivered: u32, newly_lost: u32, advanced: bool) {
        if self.congestion.is_model() {
            return; // the model sets the window in every state (Linux `cong_control`)
        }
        let recovery = &mut self.recovery;
        if delivered == 0 || recovery.prior_cwnd == 0 {
            return;
        }
        recovery.delivered += delivered;
        let in_flight = self.board.in_flight();
        let threshold = self.congestion.ssthresh;
        let may_send = if in_flight > threshold {
            let due = (u64::from(threshold) * u64::from(recovery.delivered))
                .div_ceil(u64::from(recovery.prior_cwnd));
            (due as u32).saturating_sub(recovery.sent)
        } else {
            let bound = recovery.delivered.saturating_sub(recovery.sent).max(delivered)
                + u32::from(advanced && newly_lost == 0);
            bound.min(threshold - in_flight)
        };
        // The first retransmission of a recovery is never held back.
        let may_send = may_send.max(u32::from(recovery.sent == 0));
        self.congestion.cwnd = in_flight + may_send;
    }

    pub(crate) fn end_reduction(&mut self) {
        if self.congestion.is_model() {
            return;
        }
        if self.congestion.has_threshold()
            && (self.recovery.state == State::Cwr || self.recovery.undo_from != 0)
        {
            self.congestion.cwnd = self.congestion.ssthresh;
        }
    }

    /// All retransmissions were reported as duplicates: nothing had been lost (Linux
    /// `tcp_try_undo_dsack`).
    pub(crate) fn undo_if_all_duplicates(&mut self) -> bool {
        let is_needless = self.recovery.can_undo();
        if is_needless {
            self.undo_reduction(false);
        }
        is_needless
    }

    pub(crate) fn undo_reduction(&mut self, forget_losses: bool) {
        if forget_losses {
            self.board.unmark_losses();
        }
        if self.recovery.prior_ssthresh != 0 {
            self.congestion.undo(self.recovery.prior_cwnd, self.recovery.prior_ssthresh);
            if self.recovery.prior_ssthresh > self.congestion.ssthresh {
                self.send.is_cwr_due = false;
            }
        }
        self.recovery.undo_from = 0;
        self.stats.undone_reductions += 1;
    }
}
