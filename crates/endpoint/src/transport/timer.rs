//! Deadlines. They are plain fields: pushing one later costs one store, and nobody is told.

use tailrace_units::Time;

use super::{Tcp, Transmit};

/// What the retransmission deadline is for. As in Linux there is one deadline for all of these.
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

/// The three deadlines of a connection.
pub(super) struct Timers {
    pub(super) retransmit_at: Time,
    /// A delayed acknowledgement is due.
    pub(super) ack_at: Time,
    /// Frames of this connection will have left the NIC, and it may go on.
    pub(super) room_at: Time,
    pub(super) pending: Pending,
}

impl Timers {
    pub(super) fn new() -> Timers {
        Timers { retransmit_at: Time::NEVER, ack_at: Time::NEVER, room_at: Time::NEVER, pending: Pending::Nothing }
    }

    #[inline]
    pub(super) fn arm(&mut self, pending: Pending, at: Time) {
        self.pending = pending;
        self.retransmit_at = at;
    }

    #[inline]
    pub(super) fn disarm(&mut self) {
        self.arm(Pending::Nothing, Time::NEVER);
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
        if self.timers.retransmit_at <= now {
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
        if self.timers.ack_at <= now {
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
