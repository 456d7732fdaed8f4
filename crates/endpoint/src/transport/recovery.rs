//! Linux's congestion states, proportional rate reduction (RFC 6937), and taking back needless reductions.

use tailrace_units::Time;

use super::Tcp;
use super::congestion::NO_THRESHOLD;
use super::scoreboard::AckNews;
use super::segment_ring::EVER_RETRANSMITTED;

/// Where a connection stands, from calm to worst (Linux `tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Nothing unusual.
    Open,
    /// Something is held out of order; nothing is known to be lost.
    Disorder,
    /// The window is being reduced because of a mark.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What the connection does about lost segments after an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    Lost,
    /// F-RTO: new data first, to see whether the timeout was spurious.
    New,
}

/// What is unusual about an acknowledgement.
pub(super) struct Alert {
    /// It repeats the last one and carries nothing.
    pub(super) is_duplicate: bool,
    /// It echoes a mark.
    pub(super) is_marked: bool,
}

/// The state and what is needed to leave it or take it back.
pub(super) struct Recovery {
    pub(super) state: State,
    /// The state ends when everything sent before it began is acknowledged.
    pub(super) high_seq: u64,
    pub(super) prior_cwnd: u32,
    pub(super) prior_ssthresh: u32,
    delivered: u32,
    pub(super) sent: u32,
    /// First byte not acknowledged when the reduction began; 0 when it cannot be taken back.
    pub(super) undo_from: u64,
    /// Retransmissions not yet reported as needless; -1 before the first one.
    pub(super) undo_retransmissions: i32,
    pub(super) is_spurious_possible: bool,
    /// Timeouts since the last acknowledgement of new data.
    pub(super) timeouts: u32,
    /// Everything sent when the tail loss probe left; 0 for no probe.
    pub(super) probe_end: u64,
    pub(super) is_probe_retransmission: bool,
}

impl Recovery {
    pub(super) fn new() -> Recovery {
        Recovery {
            state: State::Open,
            high_seq: 0,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            delivered: 0,
            sent: 0,
            undo_from: 0,
            undo_retransmissions: 0,
            is_spurious_possible: false,
            timeouts: 0,
            probe_end: 0,
            is_probe_retransmission: false,
        }
    }

    /// The window follows proportional rate reduction, not growth.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    fn can_undo(&self) -> bool {
        self.undo_from != 0 && self.undo_retransmissions == 0
    }
}

impl Tcp {
    /// Linux `tcp_fastretrans_alert`: leaves states that are over, finds losses, enters recovery.
    pub(super) fn handle_alert(&mut self, now: Time, alert: &Alert, news: &AckNews) -> Resend {
        if alert.is_marked {
            self.recovery.prior_ssthresh = 0;
        }
        if self.recovery.state != State::Open && self.send.una >= self.recovery.high_seq && self.leave_state() {
            return Resend::Nothing;
        }
        match self.recovery.state {
            State::Recovery => self.stay_in_recovery(now, alert, news),
            State::Loss => {
                let resend = self.stay_in_loss(now, news, alert);
                let before = self.board.lost_retransmissions;
                self.find_losses(now, news.advanced);
                let has_lost_again = self.board.lost_retransmissions > before;
                if self.recovery.state != State::Open && !has_lost_again {
                    return resend;
                }
                self.enter_recovery_or_open(alert)
            }
            State::Open | State::Disorder | State::Cwr => self.watch(now, alert, news),
        }
    }

    /// Everything sent before the state began is acknowledged. Returns whether the state is held all the same.
    fn leave_state(&mut self) -> bool {
        match self.recovery.state {
            State::Cwr => {
                // The mark's echo must reach the receiver first: something above must be acknowledged.
                if self.send.una != self.recovery.high_seq {
                    self.end_reduction();
                    self.recovery.state = State::Open;
                }
            }
            State::Recovery => {
                self.forget_duplicates();
                if self.end_recovery() {
                    return true;
                }
                self.end_reduction();
            }
            State::Open | State::Disorder | State::Loss => {}
        }
        false
    }

    /// Ends recovery, taking the reduction back if it was needless. Returns whether, without SACK, the state is held until more is
    /// acknowledged, so that late duplicates start no second recovery (RFC 6582 section 4).
    pub(super) fn end_recovery(&mut self) -> bool {
        if self.recovery.can_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.handle_recovery_end();
        }
        if !self.send.has_sack && self.send.una == self.recovery.high_seq {
            return true;
        }
        self.recovery.state = State::Open;
        false
    }

    fn stay_in_recovery(&mut self, now: Time, alert: &Alert, news: &AckNews) -> Resend {
        if !news.advanced {
            self.count_duplicate(alert.is_duplicate);
        }
        if self.undo_if_all_duplicates() {
            self.try_to_open(alert);
        }
        self.find_losses(now, news.advanced);
        if self.recovery.state != State::Recovery {
            if self.board.lost_out == 0 {
                return Resend::Nothing;
            }
            self.enter_recovery(alert.is_marked);
        }
        Resend::Lost
    }

    fn watch(&mut self, now: Time, alert: &Alert, news: &AckNews) -> Resend {
        if news.advanced {
            self.forget_duplicates();
        }
        self.count_duplicate(alert.is_duplicate);
        if self.recovery.state <= State::Disorder {
            self.undo_if_all_duplicates();
        }
        self.find_losses(now, news.advanced);
        self.enter_recovery_or_open(alert)
    }

    fn enter_recovery_or_open(&mut self, alert: &Alert) -> Resend {
        if self.board.lost_out == 0 {
            self.try_to_open(alert);
            return Resend::Nothing;
        }
        self.enter_recovery(alert.is_marked);
        Resend::Lost
    }

    fn try_to_open(&mut self, alert: &Alert) {
        if alert.is_marked {
            self.enter_reduction_by_mark();
        }
        if self.recovery.state != State::Cwr {
            self.keep_open();
        }
    }

    /// Open, or Disorder while something is left over.
    pub(super) fn keep_open(&mut self) {
        let is_head_resent = !self.board.ring.is_empty() && self.board.ring.get(self.board.ring.head).has(EVER_RETRANSMITTED);
        let state = if self.board.is_clean() && !is_head_resent { State::Open } else { State::Disorder };
        if self.recovery.state != state {
            self.recovery.state = state;
            self.recovery.high_seq = self.send.nxt;
        }
    }

    pub(super) fn enter_recovery(&mut self, is_marked: bool) {
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

    pub(super) fn enter_reduction_by_mark(&mut self) {
        self.recovery.prior_ssthresh = 0;
        if self.recovery.state < State::Cwr {
            self.recovery.undo_from = 0;
            self.start_reduction(true);
            self.recovery.state = State::Cwr;
            self.stats.ecn_reductions += 1;
        }
    }

    /// What the threshold is worth now (Linux `tcp_current_ssthresh`).
    pub(super) fn threshold_now(&self) -> u32 {
        if self.recovery.is_reducing() { self.congestion.ssthresh } else { self.congestion.remembered_threshold() }
    }

    pub(super) fn start_undo(&mut self) {
        self.recovery.undo_from = self.send.una;
        self.recovery.undo_retransmissions = if self.board.retrans_out > 0 { self.board.retrans_out as i32 } else { -1 };
    }

    pub(super) fn start_reduction(&mut self, by_mark: bool) {
        self.recovery.high_seq = self.send.nxt;
        self.recovery.probe_end = 0;
        self.recovery.prior_cwnd = self.congestion.cwnd;
        self.recovery.delivered = 0;
        self.recovery.sent = 0;
        self.congestion.ssthresh = self.congestion.threshold_after_congestion(by_mark);
        self.send.is_cwr_due = self.send.has_ecn;
    }

    /// Proportional rate reduction (RFC 6937 and Linux `tcp_cwnd_reduction`): sends in proportion to what is delivered while more than the
    /// threshold is in flight, then grows back to it no faster than slow start.
    pub(super) fn reduce_window(&mut self, delivered: u32, newly_lost: u32, advanced: bool) {
        let recovery = &mut self.recovery;
        if delivered == 0 || recovery.prior_cwnd == 0 {
            return;
        }
        recovery.delivered += delivered;
        let in_flight = self.board.in_flight();
        let threshold = self.congestion.ssthresh;
        let may_send = if in_flight > threshold {
            let due = (u64::from(threshold) * u64::from(recovery.delivered)).div_ceil(u64::from(recovery.prior_cwnd));
            (due as u32).saturating_sub(recovery.sent)
        } else {
            let bound = recovery.delivered.saturating_sub(recovery.sent).max(delivered) + u32::from(advanced && newly_lost == 0);
            bound.min(threshold - in_flight)
        };
        // The first retransmission of a recovery is never held back.
        let may_send = may_send.max(u32::from(recovery.sent == 0));
        self.congestion.cwnd = in_flight + may_send;
    }

    pub(super) fn end_reduction(&mut self) {
        if self.congestion.ssthresh < NO_THRESHOLD && (self.recovery.state == State::Cwr || self.recovery.undo_from != 0) {
            self.congestion.cwnd = self.congestion.ssthresh;
        }
    }

    /// All retransmissions were reported as duplicates: nothing had been lost (Linux `tcp_try_undo_dsack`).
    fn undo_if_all_duplicates(&mut self) -> bool {
        let is_needless = self.recovery.can_undo();
        if is_needless {
            self.undo_reduction(false);
        }
        is_needless
    }

    pub(super) fn undo_reduction(&mut self, forget_losses: bool) {
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

    /// Marks what is lost, by RACK or by duplicate acknowledgements.
    pub(super) fn find_losses(&mut self, now: Time, advanced: bool) {
        if self.send.has_sack {
            let look_again = self.rack.detect(now, self.recovery.state, &self.rtt, &mut self.board);
            self.arm_reordering_timer(look_again);
        } else {
            self.find_losses_by_duplicates(advanced);
        }
    }
}
