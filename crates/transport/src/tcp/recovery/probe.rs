//! Probes: of the tail of a burst (RFC 8985 section 7) and of a closed window (RFC 9293 section
//! 3.8.6.1).

use tailrace_units::{Span, Time};
use tailrace_wire::Flags;

use super::State;
use super::ack_effect::AckEffect;
use super::timeout::TIMER_SLACK;
use crate::tcp::rtt::INITIAL_TIMEOUT;
use crate::tcp::timer::Pending;
use crate::tcp::{Tcp, Transmit};

impl Tcp {
    /// Only with SACK, and not while losses are being repaired.
    #[inline]
    pub(crate) fn is_probe_allowed(&self) -> bool {
        self.send.probes_tail && matches!(self.recovery.state, State::Open | State::Cwr)
    }

    /// Two round trips and a little; with one segment in flight its acknowledgement may be delayed
    /// (Linux adds the smallest timeout).
    #[inline]
    pub(crate) fn probe_timeout(&self) -> Span {
        let Some(smoothed) = self.rtt.smoothed() else { return INITIAL_TIMEOUT };
        smoothed.times(2) + if self.board.ring.len() == 1 { self.rtt.floor() } else { TIMER_SLACK }
    }

    /// No acknowledgement has come for two round trips: sends one more segment, new if possible, so
    /// that the answer shows which segments are missing.
    pub(crate) fn send_loss_probe(&mut self, now: Time, wire: &mut impl Transmit) {
        let is_queued = self.small_queue.is_waiting(now);
        if let (0, false, Some(last)) =
            (self.recovery.probe_end, is_queued, self.board.last_missing())
        {
            self.recovery.is_probe_retransmission = !self.send_one_more(now, wire);
            if self.recovery.is_probe_retransmission {
                self.retransmit(now, last, wire);
            }
            self.recovery.probe_end = self.send.nxt;
            self.stats.tail_loss_probes += 1;
            // from the probe on, whatever is older
            self.timers.arm(now, Pending::Timeout, now + self.rtt.timeout());
        } else {
            self.rearm_timeout(now);
        }
    }

    /// Evaluates the answer to a tail loss probe (Linux `tcp_process_tlp_ack`).
    /// `probe_was_duplicate`: the peer reported it twice.
    #[cold]
    #[inline(never)]
    pub(crate) fn evaluate_probe(
        &mut self,
        effect: &AckEffect,
        is_duplicate: bool,
        probe_was_duplicate: bool,
    ) {
        if self.recovery.probe_end == 0 || self.send.una < self.recovery.probe_end {
            return;
        }
        if !self.recovery.is_probe_retransmission || probe_was_duplicate {
            self.recovery.probe_end = 0;
        } else if self.send.una > self.recovery.probe_end {
            // The probe repaired a loss that nothing else has reported: react to it once.
            self.start_reduction(false);
            self.recovery.state = State::Cwr;
            self.end_reduction();
            self.keep_open();
        } else if is_duplicate && !effect.advanced && effect.sacked == 0 {
            self.recovery.probe_end = 0;
        }
    }

    /// The window is closed and nothing is in flight: ask until it opens.
    #[cold]
    #[inline(never)]
    pub(crate) fn arm_window_probe(&mut self, now: Time) {
        self.timers.arm(now, Pending::WindowProbe, now + self.rtt.timeout());
    }

    pub(crate) fn send_window_probe(&mut self, now: Time, wire: &mut impl Transmit) {
        if !self.board.ring.is_empty() || !self.send.has_unsent() {
            return;
        }
        if self.send.window_end > self.send.nxt {
            self.stats.window_probes += 1;
            let fits = self.send.window_end - self.send.nxt;
            let payload = fits.min(self.send.unsent()).min(u64::from(self.send.mss)) as u32;
            self.send_segment::<true>(now, payload, false, wire);
            self.rearm(now, true);
            return;
        }
        if self.gives_up_probing() {
            return;
        }
        // An old sequence number and no payload: the peer answers with its window.
        self.stats.window_probes += 1;
        let probe = self.header(self.send.una - 1, 0, Flags::ACK);
        wire.send(probe);
        self.rtt.back_off();
        self.arm_window_probe(now);
    }
}
