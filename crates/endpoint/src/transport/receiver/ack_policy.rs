//! When an acknowledgement is sent: quick mode, every second full segment, delay, and ping-pong mode (as in Linux).

use tailrace_units::{Span, Time};

/// Acknowledgements sent at once when a connection starts or repairs (Linux `TCP_MAX_QUICKACKS`).
const QUICK_MAX: u8 = 16;

/// What a short segment counts that waits to be read: more than all that were read.
const UNREAD: u8 = 16;

/// What is owed, and how soon.
pub(crate) struct AckPolicy {
    /// Everything before this byte has been acknowledged.
    pub(crate) acknowledged: u64,
    /// When payload last arrived; [`Time::NEVER`] before the first.
    last_data: Time,
    delay: Span,
    /// Acknowledgements still to be sent at once.
    quick: u8,
    /// Requests and responses alternate: acknowledgements ride on data.
    is_ping_pong: bool,
    /// Something arrived that was not acknowledged yet; and whether that cannot wait.
    is_owed: bool,
    is_immediate: bool,
    /// Short segments since the last acknowledgement that were read, up to two, plus [`UNREAD`] for each that was not, up to two.
    short: u8,
}

impl AckPolicy {
    pub(crate) fn new(delay: Span) -> AckPolicy {
        AckPolicy {
            acknowledged: crate::transport::sender::FIRST_BYTE,
            last_data: Time::NEVER,
            delay,
            quick: 0,
            is_ping_pong: false,
            is_owed: false,
            is_immediate: false,
            short: 0,
        }
    }

    #[inline]
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }
    #[inline]
    pub(crate) fn is_ack_owed(&self) -> bool {
        self.is_owed
    }
    pub(crate) fn is_ack_delayed(&self, ack_at: Time) -> bool {
        self.is_owed && !ack_at.is_never()
    }

    /// Payload arrived. The first of all, and the first after a long silence, start quick mode (Linux `tcp_event_data_recv`).
    #[inline]
    pub(crate) fn note_data(&mut self, now: Time, timeout: Span, window: u32, mss: u32) {
        self.is_owed = true;
        if self.last_data.is_never() || now.since(self.last_data) > timeout {
            self.add_quick(window, mss);
        }
        self.last_data = now;
    }

    /// A segment below full size, or one that ends a write, is probably the last for now.
    #[inline]
    pub(crate) fn note_size(&mut self, is_short: bool) {
        self.short = (self.short + u8::from(is_short)).min(2);
    }

    /// The same of a segment that the application will read later.
    pub(crate) fn note_unread_size(&mut self, is_short: bool) {
        self.short = (self.short + UNREAD * u8::from(is_short)).min(2 * UNREAD);
    }

    /// The application has read everything.
    pub(crate) fn note_all_read(&mut self) {
        self.short /= UNREAD;
    }

    /// The next acknowledgement is not delayed: the window grew and the sender should know.
    #[inline]
    pub(crate) fn hurry(&mut self) {
        self.quick = self.quick.max(1);
    }

    #[inline]
    pub(crate) fn acknowledge_now(&mut self) {
        self.is_owed = true;
        self.is_immediate = true;
    }

    pub(crate) fn enter_quick_mode(&mut self, window: u32, mss: u32) {
        self.is_ping_pong = false;
        self.add_quick(window, mss);
    }

    fn add_quick(&mut self, window: u32, mss: u32) {
        let wanted = (window / (2 * mss)).clamp(2, u32::from(QUICK_MAX));
        self.quick = self.quick.max(wanted as u8);
    }

    /// More than may wait (one full segment), quick mode, or a short segment that the application has read (Linux `__tcp_ack_snd_check` and
    /// `tcp_cleanup_rbuf`).
    #[inline]
    pub(crate) fn is_due(&self, next: u64, patience: u32) -> bool {
        next - self.acknowledged > u64::from(patience)
            || self.is_immediate
            || self.delay == Span::ZERO
            || (self.quick > 0 && !self.is_ping_pong)
            || self.short == 2
            || (self.short == 1 && !self.is_ping_pong)
    }

    /// The buffer fills: acknowledgements wait for the reader again.
    pub(crate) fn end_quick_mode(&mut self) {
        self.quick = 0;
    }

    /// Any segment sent acknowledges everything before `next`.
    #[inline]
    pub(crate) fn note_ack_sent(&mut self, next: u64) {
        self.acknowledged = next;
        self.quick = self.quick.saturating_sub(u8::from(self.is_owed));
        self.is_owed = false;
        self.is_immediate = false;
        self.short = 0;
    }

    /// Data sent soon after data received answer them (Linux `tcp_event_data_sent`).
    #[inline]
    pub(crate) fn note_data_sent(&mut self, now: Time) {
        if !self.last_data.is_never() && now.since(self.last_data) < self.delay {
            self.is_ping_pong = true;
        }
    }

    /// The delay ran out: no answer came to ride on.
    pub(crate) fn handle_timeout(&mut self) {
        self.is_ping_pong = false;
    }
}
