//! An application that reads late: unread bytes fill the buffer and close the window, and reading
//! opens it again.
//!
//! The kernel announces a window only with a segment that leaves anyway, and sends one for its sake
//! when the window has at least doubled. So the right edge moves here when a segment leaves, not
//! when bytes are read.

use tailrace_units::Time;

use super::Receive;
use crate::tcp::{Segment, Tcp, Transmit};

impl Tcp {
    /// From now on arriving bytes stay in the receive buffer until [`Tcp::read`] takes them. The
    /// application is notified of them at once all the same.
    pub fn leave_unread(&mut self) {
        self.receive.is_read_late = true;
        self.receive.has_more_to_say = true;
        self.receive.patience = u32::MAX;
    }

    /// The application reads the bytes that have arrived, and from now on all bytes as they arrive.
    pub fn read_at_once(&mut self, now: Time, wire: &mut impl Transmit) {
        let unread = self.receive.unread;
        self.read(now, unread, wire);
        self.receive.is_read_late = false;
        self.receive.has_more_to_say = self.receive.is_echoing;
        self.receive.patience = self.send.mss;
    }

    /// Bytes that have arrived in order and wait to be read.
    pub fn unread(&self) -> u64 {
        self.receive.unread
    }

    /// Bytes that arrived in order wait for the application. They may open the window further all
    /// the same, and be answered.
    #[cold]
    #[inline(never)]
    pub(crate) fn keep(&mut self, now: Time, arrived: u64, segment: &Segment<'_>) -> u64 {
        let (mss, receive) = (self.send.mss, &mut self.receive);
        receive.policy.note_unread_size(segment.is_short(mss));
        let payload = u64::from(segment.payload_bytes);
        let may_open = arrived > 0 || self.send.has_sack;
        if may_open && receive.window.grow(payload, receive.unread + payload, mss) {
            receive.policy.hurry();
        }
        receive.unread += arrived;
        receive.window.time_arrival(now, receive.next);
        if receive.is_due_unread(mss) {
            receive.policy.acknowledge_now();
        }
        self.note_unread(now);
        arrived
    }

    /// The application takes the next `bytes` out of the buffer (Linux `tcp_recvmsg`,
    /// `tcp_cleanup_rbuf`).
    pub fn read(&mut self, now: Time, bytes: u64, wire: &mut impl Transmit) {
        let (mss, receive) = (self.send.mss, &mut self.receive);
        assert!(bytes <= receive.unread, "only what has arrived is read");
        receive.unread -= bytes;
        receive.window.tune_to_reader(now, receive.next - receive.unread, mss);
        if bytes > 0 && receive.is_due_after_reading(mss) {
            self.send_ack(wire);
        }
        self.note_unread(now);
    }
}

impl Receive {
    /// Bytes in the buffer: waiting to be read, or for missing bytes before them.
    fn held(&self) -> u64 {
        self.reassembly.bytes() + self.unread
    }

    /// The window that could be announced. Computing it ends quick mode when the buffer is more
    /// than half full, as in Linux.
    fn offer(&mut self, mss: u32) -> u64 {
        let held = self.held();
        if self.window.is_scarce(held) {
            self.policy.end_quick_mode();
        }
        self.window.offer(held, mss)
    }

    /// A segment leaves and announces what there is room for.
    pub(crate) fn announce(&mut self, mss: u32) {
        let offer = self.offer(mss);
        self.window.announce(self.next, offer);
    }

    /// Full segments that were not read are answered now only if that takes nothing off the window
    /// that was announced last; otherwise reading them answers them (Linux `__tcp_ack_snd_check`).
    fn is_due_unread(&mut self, mss: u32) -> bool {
        let announced_last = self.window.end - self.policy.acknowledged;
        self.next - self.policy.acknowledged > u64::from(mss) && self.offer(mss) >= announced_last
    }

    /// Full segments are answered, short ones when the buffer is empty, and a window that has at
    /// least doubled is announced.
    fn is_due_after_reading(&mut self, mss: u32) -> bool {
        if self.unread == 0 {
            self.policy.note_all_read();
        }
        if self.policy.is_ack_owed() && self.policy.is_due(self.next, mss) {
            return true;
        }
        let left = u64::from(self.window());
        let offer = self.offer(mss);
        offer > 0 && offer >= 2 * left
    }
}
