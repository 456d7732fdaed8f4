//! Linux's congestion states: the meaning of an unusual acknowledgement in each, and the end of
//! each.

pub(super) mod ack_effect;
mod duplicates;
mod held;
mod probe;
pub(super) mod rack;
mod reduction;
pub(super) mod scoreboard;
pub(super) mod segment_ring;
mod timeout;

use tailrace_units::Time;

use super::Tcp;
use ack_effect::AckEffect;
use segment_ring::EVER_RETRANSMITTED;

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

impl State {
    /// Whether losses are being repaired.
    #[inline]
    pub(super) fn repairs_losses(self) -> bool {
        self >= State::Recovery
    }
}

/// The reaction of the connection to lost segments after an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    Lost,
    /// F-RTO: new data first, to see whether the timeout was spurious.
    New,
}

/// The unusual features of an acknowledgement.
pub(super) struct Alert {
    /// It repeats the last one and carries nothing.
    pub(super) is_duplicate: bool,
    /// It echoes a mark.
    pub(super) is_marked: bool,
}

/// The state and the data needed to leave it or take it back.
pub(super) struct Recovery {
    pub(super) state: State,
    /// The state ends when everything sent before it began is acknowledged.
    pub(super) high_seq: u64,
    /// Window in segments when the reduction began; and the threshold to go back to, 0 for none.
    pub(super) prior_cwnd: u32,
    pub(super) prior_ssthresh: u32,
    /// Segments delivered and sent since the reduction began (RFC 6937 `prr_delivered`, `prr_out`).
    pub(super) delivered: u32,
    pub(super) sent: u32,
    /// First byte not acknowledged when the reduction began; 0 when it cannot be taken back.
    pub(super) undo_from: u64,
    /// Retransmissions not yet reported as needless; -1 before the first one.
    pub(super) undo_retransmissions: i32,
    /// F-RTO has not decided yet whether the timeout was spurious.
    pub(super) is_spurious_possible: bool,
    /// Timeouts since the last acknowledgement of new data.
    pub(super) timeouts: u32,
    /// Everything sent when the tail loss probe left; 0 for no probe.
    pub(super) probe_end: u64,
    /// The probe repeated a segment: there was no new one.
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

    pub(super) fn can_undo(&self) -> bool {
        self.undo_from != 0 && self.undo_retransmissions == 0
    }
}

impl Tcp {
    /// Linux `tcp_fastretrans_alert`: leaves states that are over, finds losses, enters recovery.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_alert(&mut self, now: Time, alert: &Alert, effect: &AckEffect) -> Resend {
        let resend = self.answer_alert(now, alert, effect);
        self.turn_with_recovery(now);
        resend
    }

    fn answer_alert(&mut self, now: Time, alert: &Alert, effect: &AckEffect) -> Resend {
        self.note_answered_probe();
        if alert.is_marked {
            self.recovery.prior_ssthresh = 0;
        }
        if self.recovery.state != State::Open
            && self.send.una >= self.recovery.high_seq
            && self.leave_state()
        {
            return Resend::Nothing;
        }
        match self.recovery.state {
            State::Recovery => self.stay_in_recovery(now, alert, effect),
            State::Loss => {
                let resend = self.stay_in_loss(now, effect, alert);
                let before = self.board.lost_retransmissions;
                self.find_losses(now, effect.advanced);
                let has_lost_again = self.board.lost_retransmissions > before;
                if self.recovery.state != State::Open && !has_lost_again {
                    return resend;
                }
                self.enter_recovery_or_open(alert)
            }
            State::Open | State::Disorder | State::Cwr => self.watch(now, alert, effect),
        }
    }

    /// Everything sent before the state began is acknowledged. Returns whether the state is held
    /// all the same.
    fn leave_state(&mut self) -> bool {
        match self.recovery.state {
            State::Cwr => {
                // The mark's echo must reach the receiver first: something above must be
                // acknowledged.
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

    /// Ends recovery, taking the reduction back if it was needless. Returns whether, without SACK,
    /// the state is held until more is acknowledged, so that late duplicates start no second
    /// recovery (RFC 6582 section 4).
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

    fn stay_in_recovery(&mut self, now: Time, alert: &Alert, effect: &AckEffect) -> Resend {
        if self.undo_if_all_duplicates() {
            self.try_to_open(alert);
        }
        self.find_losses(now, effect.advanced);
        if self.recovery.state != State::Recovery {
            if self.board.lost_out == 0 {
                return Resend::Nothing;
            }
            self.enter_recovery(alert.is_marked);
        }
        Resend::Lost
    }

    fn watch(&mut self, now: Time, alert: &Alert, effect: &AckEffect) -> Resend {
        if effect.advanced {
            self.forget_duplicates();
        }
        if self.recovery.state <= State::Disorder {
            self.undo_if_all_duplicates();
        }
        self.find_losses(now, effect.advanced);
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
        let is_head_resent = !self.board.ring.is_empty()
            && self.board.ring.get(self.board.ring.head).has(EVER_RETRANSMITTED);
        let state =
            if self.board.is_clean() && !is_head_resent { State::Open } else { State::Disorder };
        if self.recovery.state != state {
            self.recovery.state = state;
            self.recovery.high_seq = self.send.nxt;
        }
    }

    /// Marks lost segments, by RACK or by duplicate acknowledgements.
    pub(super) fn find_losses(&mut self, now: Time, advanced: bool) {
        if self.send.has_sack {
            let recheck_at = self.rack.detect(now, self.recovery.state, &self.rtt, &mut self.board);
            self.arm_reordering_timer(now, recheck_at);
        } else {
            self.find_losses_by_duplicates(advanced);
        }
    }
}
