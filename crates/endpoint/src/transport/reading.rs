//! An application that reads when it gets round to it: what it leaves fills the buffer and closes the window, and reading opens it again.
//!
//! The kernel announces a window only with a segment that leaves anyway, and sends one for its sake when the window has at least doubled.
//! So the right edge moves here when a segment leaves, not when something is read.

use tailrace_units::Time;

use super::receive::Receive;
use super::{Tcp, Wire};

impl Tcp {
    /// From now on what arrives stays in the receive buffer until [`Tcp::read`] takes it. The application is told of it at once all the same.
    pub fn leave_unread(&mut self) {
        self.receive.is_read_late = true;
    }

    /// Bytes that have arrived in order and wait to be read.
    pub fn unread(&self) -> u64 {
        self.receive.unread
    }

    /// The application takes the next `bytes` out of the buffer (Linux `tcp_recvmsg`, `tcp_cleanup_rbuf`).
    pub fn read(&mut self, now: Time, bytes: u64, wire: &mut impl Wire) {
        assert!(bytes <= self.receive.unread, "only what has arrived is read");
        self.receive.unread -= bytes;
        let read = self.receive.next - self.receive.unread;
        self.receive.window.tune_to_reader(now, read, self.send.mss);
        if self.is_established() && bytes > 0 && self.receive.is_due_after_reading(self.send.mss) {
            self.send_ack(wire);
        }
    }
}

impl Receive {
    /// Bytes in the buffer: waiting to be read, or for what is missing before them.
    fn held(&self) -> u64 {
        self.reassembly.bytes() + self.unread
    }

    pub(super) fn keep_unread(&mut self, now: Time, arrived: u64) {
        self.unread += arrived;
        self.window.time_arrival(now, self.next);
    }

    /// A segment leaves and announces what there is room for.
    pub(super) fn announce(&mut self, mss: u32) {
        let offer = self.offer(mss);
        self.window.announce(self.next, offer);
    }

    /// What the window would be. Looking at it ends quick mode when the buffer is more than half full, as in Linux.
    fn offer(&mut self, mss: u32) -> u64 {
        let held = self.held();
        if self.window.is_scarce(held) {
            self.policy.end_quick_mode();
        }
        self.window.offer(held, mss)
    }

    /// Full segments that were not read are answered now only if that takes nothing off the window that was announced last; otherwise
    /// reading them answers them (Linux `__tcp_ack_snd_check`).
    pub(super) fn is_due_unread(&mut self, mss: u32) -> bool {
        let announced_last = self.window.end - self.policy.acknowledged;
        let is_full = self.policy.is_full(self.next, mss) && self.offer(mss) >= announced_last;
        is_full || self.policy.is_hurried()
    }

    /// Full segments are answered, short ones when the buffer is empty, and the peer is told of a window that has at least doubled.
    fn is_due_after_reading(&mut self, mss: u32) -> bool {
        let is_answered = self.policy.is_full(self.next, mss) || (self.unread == 0 && self.policy.has_read_short());
        if self.policy.is_ack_owed() && is_answered {
            return true;
        }
        let left = u64::from(self.window());
        let offer = self.offer(mss);
        offer > 0 && offer >= 2 * left
    }
}
