//! The sender's half of the sequence space, and the settings that its hot path reads.

mod acknowledge;
mod burst;
mod output;
pub(super) mod small_queue;

use tailrace_units::Time;

use super::config::TcpConfig;
use super::recovery::rack::DUPLICATE_THRESHOLD;

/// Offset of the first byte of data: the SYN has offset 0.
pub(super) const FIRST_BYTE: u64 = 1;

/// `una <= nxt <= written`; what lies between `una` and `una + buffer` may be in flight.
pub(super) struct Send {
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// Next byte to send.
    pub(super) nxt: u64,
    /// End of what the application has written.
    pub(super) written: u64,
    /// The peer takes bytes up to here.
    pub(super) window_end: u64,
    /// Socket send buffer in bytes: now, and where autotuning stops.
    pub(super) buffer: u64,
    pub(super) buffer_max: u64,
    /// When payload was last sent.
    pub(super) last_sent: Time,
    pub(super) mss: u32,
    /// Segments of the largest burst; 1 without TSO.
    pub(super) burst_max: u32,
    pub(super) header_bytes: u32,
    pub(super) has_sack: bool,
    pub(super) has_ecn: bool,
    pub(super) probes_tail: bool,
    /// The next new segment tells that the window was reduced.
    pub(super) is_cwr_due: bool,
}

impl Send {
    /// `tag_bytes` is what the tag of a VLAN adds to every frame of this end.
    pub(super) fn new(config: &TcpConfig, tag_bytes: u32) -> Send {
        Send {
            una: FIRST_BYTE,
            nxt: FIRST_BYTE,
            written: FIRST_BYTE,
            window_end: FIRST_BYTE,
            buffer: config.send_buffer.initial,
            buffer_max: config.send_buffer.maximum.max(config.send_buffer.initial),
            last_sent: Time::ZERO,
            mss: config.mss,
            burst_max: (config.tso_bytes / config.mss).max(1),
            header_bytes: config.header_bytes + tag_bytes,
            has_sack: config.sack,
            has_ecn: config.ecn,
            probes_tail: config.sack && config.tail_loss_probe,
            is_cwr_due: false,
        }
    }

    #[inline]
    pub(super) fn unsent(&self) -> u64 {
        self.written - self.nxt
    }
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.written > self.nxt
    }

    /// Bytes that the application has got into the socket buffer and that were never sent. Of a full buffer whole segments are sent,
    /// because what follows is on its way; one segment fits however small the buffer is.
    #[inline]
    pub(super) fn sendable(&self) -> u64 {
        let limit = self.una + self.buffer;
        if self.written <= limit {
            return self.written - self.nxt;
        }
        let fits = limit.saturating_sub(self.nxt);
        let mss = u64::from(self.mss);
        if fits >= mss {
            fits
        } else if self.nxt == self.una {
            mss.min(self.unsent())
        } else {
            0
        }
    }

    /// Whether a new segment may be sent as far as the peer's window goes.
    pub(super) fn has_sendable(&self) -> bool {
        let payload = self.sendable().min(u64::from(self.mss));
        payload > 0 && self.nxt + payload <= self.window_end
    }

    /// Grows the buffer to twice the window while the application waits for room (Linux `tcp_sndbuf_expand`).
    #[inline]
    pub(super) fn tune_buffer(&mut self, cwnd: u32, initial: u32) {
        if self.buffer < self.buffer_max && self.written > self.una + self.buffer {
            let segments = cwnd.max(initial).max(DUPLICATE_THRESHOLD + 1);
            let wanted = 2 * u64::from(segments) * u64::from(self.mss);
            self.buffer = self.buffer.max(wanted.min(self.buffer_max));
        }
    }
}
