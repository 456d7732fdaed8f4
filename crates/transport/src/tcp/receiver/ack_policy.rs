//! When an acknowledgement is sent: quick mode, every second full segment, delay, and ping-pong
//! mode (as in Linux).

use tailrace_units::{Span, Time};

/// Acknowledgements sent at once when a connection starts or repairs (Linux `TCP_MAX_QUICKACKS`).
const QUICK_MAX: u8 = 16;

/// Reports of held segments that are sent at once, after an advance in order (Linux
/// `TCP_FASTRETRANS_THRESH`).
const PROMPT_REPORTS: u8 = 3;
/// Arrivals that one report may stand for (Linux `tcp_comp_sack_nr`).
const COMPRESSED_MAX: u8 = 44;
/// A report of held segments waits for this part of the round trip (Linux `tcp_send_ack` after
/// compression: 5 %).
const COMPRESSION_DIVISOR: u64 = 20;
/// And at most so long (Linux `tcp_comp_sack_delay_ns`).
const COMPRESSION_MAX: Span = Span::from_ms(1);
/// The timer of a report expires that much later (Linux `tcp_comp_sack_slack_ns`; nothing else
/// wakes it earlier).
const COMPRESSION_SLACK: Span = Span::from_us(100);

/// The count of a short segment that waits to be read: more than all that were read.
const UNREAD: u8 = 16;

/// The owed acknowledgement, and its urgency.
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
    /// Reports of held segments since the last advance in order, up to [`PROMPT_REPORTS`].
    prompt: u8,
    owed: Owed,
}

/// Segments since the last acknowledgement, in one word of four bytes: each segment that leaves
/// clears it.
#[derive(Clone, Copy, Default)]
#[repr(C, align(4))]
struct Owed {
    /// Something arrived that was not acknowledged yet; and whether that cannot wait.
    is_any: bool,
    is_immediate: bool,
    /// Short segments that were read, up to two, plus [`UNREAD`] for each that was not, up to two.
    short: u8,
    /// Arrivals that no report of held segments was sent for.
    compressed: u8,
}

impl AckPolicy {
    pub(crate) fn new(delay: Span) -> AckPolicy {
        AckPolicy {
            acknowledged: crate::tcp::sender::FIRST_BYTE,
            last_data: Time::NEVER,
            delay,
            quick: 0,
            is_ping_pong: false,
            prompt: 0,
            owed: Owed::default(),
        }
    }

    #[inline]
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }
    #[inline]
    pub(crate) fn is_ack_owed(&self) -> bool {
        self.owed.is_any
    }
    pub(crate) fn is_ack_delayed(&self, ack_at: Time) -> bool {
        self.owed.is_any && !ack_at.is_never()
    }

    /// Payload arrived. The first of all, and the first after a long silence, start quick mode
    /// (Linux `tcp_event_data_recv`).
    #[inline]
    pub(crate) fn note_data(&mut self, now: Time, timeout: Span, window: u32, mss: u32) {
        self.owed.is_any = true;
        if self.last_data.is_never() || now.since(self.last_data) > timeout {
            self.add_quick(window, mss);
        }
        self.last_data = now;
    }

    /// A segment below full size, or one that ends a write, is probably the last for now.
    #[inline]
    pub(crate) fn note_size(&mut self, is_short: bool) {
        self.owed.short = (self.owed.short + u8::from(is_short)).min(2);
    }

    /// The same of a segment that the application will read later.
    pub(crate) fn note_unread_size(&mut self, is_short: bool) {
        self.owed.short = (self.owed.short + UNREAD * u8::from(is_short)).min(2 * UNREAD);
    }

    /// The application has read everything.
    pub(crate) fn note_all_read(&mut self) {
        self.owed.short /= UNREAD;
    }

    /// The next acknowledgement is not delayed: the window grew and the sender should know.
    #[inline]
    pub(crate) fn hurry(&mut self) {
        self.quick = self.quick.max(1);
    }

    pub(crate) fn acknowledge_later(&mut self) {
        self.owed.is_any = true;
    }

    #[inline]
    pub(crate) fn acknowledge_now(&mut self) {
        self.owed.is_any = true;
        self.owed.is_immediate = true;
    }

    pub(crate) fn enter_quick_mode(&mut self, window: u32, mss: u32) {
        self.is_ping_pong = false;
        self.add_quick(window, mss);
    }

    fn add_quick(&mut self, window: u32, mss: u32) {
        let wanted = (window / (2 * mss)).clamp(2, u32::from(QUICK_MAX));
        self.quick = self.quick.max(wanted as u8);
    }

    /// More than may wait (one full segment), quick mode, or a short segment that the application
    /// has read (Linux `__tcp_ack_snd_check` and `tcp_cleanup_rbuf`).
    #[inline]
    pub(crate) fn is_due(&self, next: u64, patience: u32) -> bool {
        next - self.acknowledged > u64::from(patience)
            || self.owed.is_immediate
            || self.delay == Span::ZERO
            || (self.quick > 0 && !self.is_ping_pong)
            || self.owed.short == 2
            || (self.owed.short == 1 && !self.is_ping_pong)
    }

    /// Something arrived in order: the next reports of held segments are prompt again.
    pub(crate) fn note_advance(&mut self) {
        self.prompt = 0;
    }

    /// A segment that is held was not reported: one report stands for many.
    pub(crate) fn is_compressing(&self) -> bool {
        self.owed.compressed > 0
    }

    /// A held segment is reported: `None` for now, or the wait for others (Linux
    /// `__tcp_ack_snd_check`).
    pub(crate) fn report_after(&mut self, round_trip: Span) -> Option<Span> {
        if self.owed.compressed >= COMPRESSED_MAX {
            return None;
        }
        if self.prompt < PROMPT_REPORTS {
            self.prompt += 1;
            return None;
        }
        self.owed.compressed += 1;
        Some(round_trip.part(COMPRESSION_DIVISOR).min(COMPRESSION_MAX) + COMPRESSION_SLACK)
    }

    /// The buffer fills: acknowledgements wait for the reader again.
    pub(crate) fn end_quick_mode(&mut self) {
        self.quick = 0;
    }

    /// Any segment sent acknowledges everything before `next`.
    #[inline]
    pub(crate) fn note_ack_sent(&mut self, next: u64) {
        self.acknowledged = next;
        self.quick = self.quick.saturating_sub(u8::from(self.owed.is_any));
        self.owed = Owed::default();
    }

    /// Data sent soon after data received answer them (Linux `tcp_event_data_sent`).
    #[inline]
    pub(crate) fn note_data_sent(&mut self, now: Time) {
        if !self.last_data.is_never() && now.since(self.last_data) < self.delay {
            self.is_ping_pong = true;
        }
    }

    /// The delay ran out: no answer came to ride on. That of a report says nothing of answers.
    pub(crate) fn handle_timeout(&mut self) {
        self.is_ping_pong &= self.owed.compressed > 0;
    }
}
