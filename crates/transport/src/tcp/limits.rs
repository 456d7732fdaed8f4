//! The limit of a sender at each time: Linux's chronographs (`tcp_chrono_start`,
//! `net/ipv4/tcp_output.c`) with more causes.
//!
//! At every moment an open connection has one limit. It is determined where sending stops, which
//! happens anyway; time is added up when the limit changes. Linux reports how long a connection was
//! busy, limited by the peer's window and by the send buffer; here the rest of the time has its
//! causes too.

use super::Tcp;
use tailrace_units::{Span, Time};

/// Why a connection sends no more at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Everything that the application has written was sent.
    Application,
    /// The send buffer is full of bytes that are not acknowledged, and the application waits (Linux
    /// `TCP_CHRONO_SNDBUF_LIMITED`).
    SendBuffer,
    /// The peer's window is full (Linux `TCP_CHRONO_RWND_LIMITED`).
    ReceiveWindow,
    /// The congestion window is full.
    Congestion,
    /// Losses are being repaired, or a retransmission timer was waited for.
    Recovery,
    /// The next burst is not due yet.
    Pacing,
    /// Enough of the connection waits in the interface, which sends as fast as the line.
    Interface,
    /// Everything was sent, and the program that will write works or waits for a core.
    Processor,
    /// The connection is not open, or all was sent and this end closed: time that does not count.
    Closed,
}

/// Causes that time is counted for.
const CAUSES: usize = Limit::Closed as usize;

/// How long a connection was limited by what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    spent: [Span; CAUSES],
    /// For how long more had arrived and was not read than fits besides: the program reads late.
    pub reader_late: Span,
    /// The part of the time limited by a buffer or the peer's window that bytes spent in queues on
    /// the way: the share of the round trip above its minimum.
    pub queued: Span,
}

impl Limits {
    /// How long it was limited by this.
    pub fn of(&self, limit: Limit) -> Span {
        self.spent.get(limit as usize).copied().unwrap_or(Span::ZERO)
    }
    /// How long it was open.
    pub fn total(&self) -> Span {
        self.spent.iter().fold(Span::ZERO, |sum, &span| sum + span)
    }
    /// Adds another connection's times.
    pub fn add(&mut self, other: &Limits) {
        self.spent.iter_mut().zip(other.spent).for_each(|(own, others)| *own += others);
        self.reader_late += other.reader_late;
        self.queued += other.queued;
    }
    /// The times since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Limits) -> Limits {
        let mut since = *self;
        since.spent.iter_mut().zip(earlier.spent).for_each(|(own, before)| *own = own.less(before));
        since.reader_late = since.reader_late.less(earlier.reader_late);
        since.queued = since.queued.less(earlier.queued);
        since
    }
    /// Takes time without work off: a program that has finished keeps its connection open.
    pub fn forget_idle(&mut self, span: Span) {
        let idle = &mut self.spent[Limit::Application as usize];
        *idle = idle.less(span);
    }
    /// Of the time, `queued_256` 256ths were in queues.
    #[inline]
    fn spend(&mut self, limit: Limit, span: Span, queued_256: u64) {
        if let Some(spent) = self.spent.get_mut(limit as usize) {
            *spent += span;
            self.queued += Span::from_ps((span.ps() >> 8) * queued_256);
        }
    }
}

/// The times of an end, out of the way of the steady state.
pub(super) struct LimitClock {
    limits: Limits,
    /// The present limit began here.
    since: Time,
    /// The program reads late since then; never if it does not.
    late_since: Time,
}

impl Default for LimitClock {
    fn default() -> LimitClock {
        LimitClock { limits: Limits::default(), since: Time::ZERO, late_since: Time::NEVER }
    }
}

impl Tcp {
    /// How long this end was limited by what, up to `now`.
    pub fn limits(&self, now: Time) -> Limits {
        let clock = &self.board.repairs.clock;
        let mut limits = clock.limits;
        limits.spend(self.limit, now.since(clock.since), self.queued_256());
        if !clock.late_since.is_never() {
            limits.reader_late += now.since(clock.late_since);
        }
        limits
    }

    /// Why this end sends no more at the moment.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Data can flow from now on.
    pub(super) fn start_limits(&mut self, now: Time) {
        self.board.repairs.clock.since = now;
        self.limit = Limit::Application;
    }

    /// Sending has stopped for another reason than before. While losses are repaired, that is the
    /// reason.
    #[inline]
    pub(super) fn turn(&mut self, now: Time, limit: Limit) {
        let limit = if self.recovery.state.repairs_losses() { Limit::Recovery } else { limit };
        if limit != self.limit {
            self.turn_to(now, limit);
        }
    }

    #[inline(never)]
    fn turn_to(&mut self, now: Time, limit: Limit) {
        if self.limit != Limit::Closed {
            self.spend_until(now);
            self.limit = limit;
        }
    }

    fn spend_until(&mut self, until: Time) {
        let (limit, queued_256) = (self.limit, self.queued_256());
        let clock = &mut self.board.repairs.clock;
        clock.limits.spend(limit, until.since(clock.since), queued_256);
        clock.since = clock.since.max(until);
    }

    /// The share of the round trip above its minimum, in 256ths, where a buffer or the peer's
    /// window limits.
    #[inline]
    fn queued_256(&self) -> u64 {
        if !matches!(self.limit, Limit::SendBuffer | Limit::ReceiveWindow) {
            return 0;
        }
        let smoothed = self.rtt.smoothed().unwrap_or(Span::ZERO);
        (smoothed.less(self.rtt.minimum()).ps() << 8) / smoothed.ps().max(1)
    }

    /// The state of recovery may have changed. The connection then sends, and turns to another
    /// limit, if something is left to send.
    #[inline]
    pub(super) fn turn_with_recovery(&mut self, now: Time) {
        if !self.send.has_unsent() || self.recovery.state.repairs_losses() {
            self.turn(now, Limit::Application);
        }
    }

    /// The retransmission timer has expired: it was waited for since it was set.
    pub(super) fn note_silence(&mut self, armed: Time) {
        if self.limit != Limit::Closed {
            self.spend_until(armed);
            self.limit = Limit::Recovery;
        }
    }

    /// The program writes, for which it has worked or waited for a core since `awake`.
    pub fn note_work(&mut self, now: Time, awake: Time) {
        if self.limit == Limit::Application {
            self.spend_until(awake.min(now));
            self.limit = Limit::Processor;
            self.spend_until(now);
            self.limit = Limit::Application;
        }
    }

    /// This end has sent everything and closed.
    pub(super) fn end_limits(&mut self, now: Time) {
        if self.limit != Limit::Closed {
            self.spend_until(now);
            self.limit = Limit::Closed;
        }
    }

    /// The unread bytes have changed.
    pub(super) fn note_unread(&mut self, now: Time) {
        let is_late = self.receive.unread > u64::from(self.receive.window());
        let clock = &mut self.board.repairs.clock;
        if is_late == clock.late_since.is_never() {
            if is_late {
                clock.late_since = now;
            } else {
                clock.limits.reader_late += now.since(clock.late_since);
                clock.late_since = Time::NEVER;
            }
        }
    }
}
