//! Deadlines. They are plain fields: pushing one later costs one store, and sends no notification.

use tailrace_units::{Span, Time};

use super::{Tcp, Transmit};
use crate::tick::expiry;

/// When a deadline was set is kept in units of 2^20 ps, about a microsecond.
const COARSE: u32 = 20;

/// The purpose of the retransmission deadline. As in Linux there is one deadline for all of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pending {
    Nothing,
    Handshake,
    Timeout,
    LossProbe,
    Reordering,
    WindowProbe,
    /// A FIN that is not acknowledged, or the wait for that of the peer or for late segments.
    Fin,
}

/// The three deadlines of a connection. The first two are timers of Linux, which expire with a
/// clock tick. The tick is computed when a deadline is due, because most are pushed later before
/// they are.
pub(super) struct Timers {
    pub(super) retransmit_at: Time,
    /// A delayed acknowledgement is due, or a report that was held back.
    pub(super) ack_at: Time,
    /// Frames of this connection will have left the NIC, and it may go on.
    pub(super) room_at: Time,
    /// When `retransmit_at` was set.
    armed: u32,
    /// When the host's clock ticks, in nanoseconds after a multiple of the tick.
    phase_ns: u32,
    /// The tick in microseconds, 0 for none.
    tick_us: u16,
    pub(super) pending: Pending,
    /// `retransmit_at` is when the timer expires, and not the requested time.
    is_expiry: bool,
    /// The same for `ack_at`.
    is_ack_expiry: bool,
}

impl Timers {
    /// Timers that expire with ticks of up to 65 ms, `phase` after multiples of the tick; or as
    /// they are set, if it is zero.
    pub(super) fn new(tick: Span, phase: Span) -> Timers {
        Timers {
            retransmit_at: Time::NEVER,
            ack_at: Time::NEVER,
            room_at: Time::NEVER,
            armed: 0,
            phase_ns: (phase.ps() / 1000) as u32,
            tick_us: u16::try_from(tick.ps() / 1_000_000).unwrap_or(u16::MAX),
            pending: Pending::Nothing,
            is_expiry: false,
            is_ack_expiry: false,
        }
    }

    #[inline]
    pub(super) fn arm(&mut self, now: Time, pending: Pending, at: Time) {
        self.pending = pending;
        self.retransmit_at = at;
        self.armed = (now.ps() >> COARSE) as u32;
        self.is_expiry = false;
    }

    /// An acknowledgement is due after `delay`.
    #[inline]
    pub(super) fn delay_ack(&mut self, now: Time, delay: Span) {
        self.ack_at = now + delay;
        self.is_ack_expiry = false;
    }

    /// A report is due after `wait`, if nothing is due earlier: a timer that does not wait for a
    /// tick.
    pub(super) fn delay_report(&mut self, now: Time, wait: Span) {
        if now + wait < self.ack_at {
            self.ack_at = now + wait;
            self.is_ack_expiry = true;
        }
    }

    #[cold]
    #[inline(never)]
    fn expiry(&self, armed: Time, deadline: Time) -> Time {
        if self.tick_us == 0 {
            return deadline;
        }
        expiry(
            armed,
            deadline,
            Span::from_us(self.tick_us.into()),
            Span::from_ns(self.phase_ns.into()),
        )
    }

    /// Whether the retransmission timer has expired.
    fn has_expired(&mut self, now: Time) -> bool {
        if self.retransmit_at <= now && !self.is_expiry {
            let ago = ((self.retransmit_at.ps() >> COARSE) as u32).wrapping_sub(self.armed);
            // Up to a unit too short, so that a whole number of ticks is not one more.
            let span = Span::from_ps(u64::from(ago.saturating_sub(1)) << COARSE);
            self.retransmit_at = self.expiry(self.retransmit_at - span, self.retransmit_at);
            self.is_expiry = true;
        }
        self.retransmit_at <= now
    }

    /// Whether the acknowledgement's timer has expired. It is always set for a whole number of
    /// ticks.
    fn has_ack_expired(&mut self, now: Time) -> bool {
        if self.ack_at <= now && !self.is_ack_expiry {
            self.ack_at = self.expiry(self.ack_at, self.ack_at);
            self.is_ack_expiry = true;
        }
        self.ack_at <= now
    }

    /// When the retransmission deadline was set, to a microsecond.
    pub(super) fn armed_at(&self, now: Time) -> Time {
        let ago = ((now.ps() >> COARSE) as u32).wrapping_sub(self.armed);
        now - Span::from_ps(u64::from(ago) << COARSE)
    }

    #[inline]
    pub(super) fn disarm(&mut self) {
        self.pending = Pending::Nothing;
        self.retransmit_at = Time::NEVER;
    }
}

impl Tcp {
    /// The earliest deadline; [`Time::NEVER`] when nothing is due.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.timers.retransmit_at.min(self.timers.ack_at).min(self.timers.room_at)
    }

    /// Acts on every deadline that is due. Calling it early does nothing.
    pub fn handle_timeout(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.timers.has_expired(now) {
            let pending = self.timers.pending;
            self.timers.disarm();
            match pending {
                Pending::Nothing => {}
                Pending::Handshake => self.retry_handshake(now, wire),
                Pending::Timeout => self.handle_retransmission_timeout(now, wire),
                Pending::LossProbe => self.send_loss_probe(now, wire),
                Pending::Reordering => self.handle_reordering_timeout(now, wire),
                Pending::WindowProbe => self.send_window_probe(now, wire),
                Pending::Fin => self.handle_fin_timeout(now, wire),
            }
        }
        if self.timers.has_ack_expired(now) {
            self.timers.ack_at = Time::NEVER;
            self.handle_delayed_ack(now, wire);
        }
        if self.timers.room_at <= now {
            self.timers.room_at = Time::NEVER;
            self.resume(now, wire);
        }
        if self.is_close_requested() && self.can_send() {
            self.send_fin_if_due(now, wire);
        }
    }
}
