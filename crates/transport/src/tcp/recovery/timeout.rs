//! The retransmission timeout (RFC 6298), whether it was spurious (F-RTO, RFC 5682), and RACK's
//! reordering timer.

use tailrace_units::{Span, Time};

use super::ack_effect::AckEffect;
use super::segment_ring::SACKED;
use super::{Alert, Resend, State};
use crate::tcp::limits::Limit;
use crate::tcp::timer::Pending;
use crate::tcp::{Tcp, Transmit};

/// Linux adds `TCP_TIMEOUT_MIN_US` to the reordering timer and the probe timer.
pub(crate) const TIMER_SLACK: Span = Span::from_ms(2);

impl Tcp {
    /// Sets the retransmission timer: to the tail loss probe where one is allowed, else to the
    /// timeout. `advanced` counts it from now, otherwise from when the oldest segment was sent.
    #[inline]
    pub(crate) fn rearm(&mut self, now: Time, advanced: bool) {
        if self.board.ring.is_empty() {
            self.timers.disarm();
            return;
        }
        let timeout = self.rtt.timeout();
        let oldest = if advanced { now } else { self.board.ring.get(self.board.ring.head).sent };
        let timeout_at = oldest + timeout;
        if self.is_probe_allowed() {
            let probe_at = now + self.probe_timeout();
            let at = if timeout_at > now { probe_at.min(timeout_at) } else { probe_at };
            self.timers.arm(now, Pending::LossProbe, at);
        } else {
            self.timers.arm(now, Pending::Timeout, timeout_at.max(now + Span::from_ps(1)));
        }
    }

    /// Counts the timeout from when the oldest segment was sent, without a probe before it.
    pub(crate) fn rearm_timeout(&mut self, now: Time) {
        if self.board.ring.is_empty() {
            self.timers.disarm();
            return;
        }
        let at = self.board.ring.get(self.board.ring.head).sent + self.rtt.timeout();
        self.timers.arm(now, Pending::Timeout, at.max(now + Span::from_ps(1)));
    }

    pub(crate) fn handle_retransmission_timeout(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.board.ring.is_empty() || self.gives_up(now) {
            return;
        }
        self.stats.timeouts += 1;
        self.note_silence(self.timers.armed_at(now));
        self.enter_loss(now);
        self.recovery.timeouts += 1;
        self.retransmit(now, self.board.ring.head, wire);
        self.rtt.back_off();
        self.timers.arm(now, Pending::Timeout, now + self.rtt.timeout());
    }

    /// Linux `tcp_enter_loss`: overdue segments are lost, and one segment may be in flight.
    fn enter_loss(&mut self, now: Time) {
        let is_new = self.recovery.state < State::Recovery;
        self.mark_overdue(now);
        let has_left_window = self.recovery.high_seq <= self.send.una;
        let is_first_timeout = self.recovery.state == State::Loss && self.recovery.timeouts == 0;
        if self.recovery.state <= State::Disorder || has_left_window || is_first_timeout {
            self.recovery.prior_ssthresh = self.threshold_now();
            self.recovery.prior_cwnd = self.congestion.cwnd;
            self.congestion.ssthresh = self.congestion.threshold_after_congestion(false);
            self.congestion.handle_timeout();
            self.start_undo();
        }
        if self.recovery.state <= State::Disorder
            && self.board.sacked_out >= super::rack::DUPLICATE_THRESHOLD
        {
            // The timeout shows that the measured reordering was too generous.
            self.rack.reordering = super::rack::DUPLICATE_THRESHOLD;
        }
        self.congestion.cwnd = self.board.in_flight() + 1;
        self.recovery.state = State::Loss;
        self.congestion.handle_loss_state(self.board.lost_marks);
        self.recovery.high_seq = self.send.nxt;
        self.recovery.probe_end = 0;
        self.send.is_cwr_due = self.send.has_ecn;
        self.recovery.is_spurious_possible = is_new || self.recovery.timeouts > 0;
    }

    fn mark_overdue(&mut self, now: Time) {
        self.forget_duplicates();
        let (head, tail) = (self.board.ring.head, self.board.ring.tail);
        for number in head..tail {
            let record = self.board.ring.get(number);
            if !record.has(SACKED)
                && (number == head || !self.send.has_sack || self.rack.is_overdue(record.sent, now))
            {
                self.board.mark_lost(number);
            }
        }
    }

    /// An acknowledgement in Loss (Linux `tcp_process_loss`): the timeout was spurious if an
    /// original is delivered.
    pub(super) fn stay_in_loss(&mut self, now: Time, effect: &AckEffect, alert: &Alert) -> Resend {
        let has_recovered = self.send.una >= self.recovery.high_seq;
        if effect.advanced && self.undo_loss(false) {
            return Resend::Nothing;
        }
        if self.recovery.is_spurious_possible {
            if effect.original_delivered && self.undo_loss(true) {
                let sent =
                    effect.oldest_sent.map_or(effect.sacked_sent, |_| Some(effect.newest_sent));
                self.rack.correct(now, sent.expect("an original was delivered"), self.send.una);
                return Resend::Nothing;
            }
            if self.send.nxt > self.recovery.high_seq {
                if effect.sacked > 0 || alert.is_duplicate {
                    // new data arrived, old did not: the loss was real
                    self.recovery.is_spurious_possible = false;
                }
            } else if effect.advanced && !has_recovered {
                self.recovery.high_seq = self.send.nxt;
                if self.send.has_sendable() {
                    return Resend::New;
                }
                self.recovery.is_spurious_possible = false;
            }
        }
        if has_recovered {
            self.forget_duplicates();
            self.end_recovery();
            return Resend::Nothing;
        }
        Resend::Lost
    }

    /// Takes the reaction to a timeout back: at once when `is_spurious`, else when every
    /// retransmission was reported as a duplicate.
    fn undo_loss(&mut self, is_spurious: bool) -> bool {
        let can_undo = self.recovery.undo_from != 0
            && (is_spurious || self.recovery.undo_retransmissions == 0);
        if can_undo {
            self.undo_reduction(true);
            self.recovery.timeouts = 0;
            self.recovery.is_spurious_possible = false;
            self.recovery.state = State::Open;
        }
        can_undo
    }

    pub(crate) fn arm_reordering_timer(&mut self, now: Time, recheck_at: Option<Time>) {
        if let Some(at) = recheck_at {
            self.timers.arm(now, Pending::Reordering, at + TIMER_SLACK);
        }
    }

    /// Segments were overtaken and nothing more came: those that are still missing are lost (Linux
    /// `tcp_rack_reo_timeout`).
    pub(crate) fn handle_reordering_timeout(&mut self, now: Time, wire: &mut impl Transmit) {
        let before = self.board.lost_marks;
        self.find_losses(now, false);
        let newly_lost = self.board.lost_marks - before;
        if newly_lost > 0 {
            if self.recovery.state != State::Recovery {
                self.enter_recovery(false);
                self.reduce_window(1, newly_lost as u32, false);
                self.turn(now, Limit::Recovery);
            }
            self.retransmit_lost(now, wire);
        }
        if self.timers.pending != Pending::Timeout && self.timers.pending != Pending::Reordering {
            self.rearm_timeout(now);
        }
    }
}
