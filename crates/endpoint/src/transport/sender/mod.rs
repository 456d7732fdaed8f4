//! The sender's half of the sequence space, and the settings that its hot path reads.

mod acknowledge;
mod burst;
mod model;
mod output;
pub(super) mod small_queue;

use tailrace_units::Time;

use super::config::TcpConfig;
use super::recovery::rack::DUPLICATE_THRESHOLD;

/// Offset of the first byte of data: the SYN has offset 0.
pub(super) const FIRST_BYTE: u64 = 1;
/// Linux, on 64-bit machines, in bytes: the headers of a segment and its `skb_shared_info`, and its `sk_buff`.
const SEGMENT_HEADERS: u32 = 640;
const SEGMENT_RECORD: u32 = 256;

/// `una <= nxt <= written`; what lies between `una` and `accepted` may be in flight.
pub(super) struct Send {
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// Next byte to send.
    pub(super) nxt: u64,
    /// End of what the application has written, and of what of it has got into the buffer: a write waits for room.
    pub(super) written: u64,
    pub(super) accepted: u64,
    /// The peer takes bytes up to here.
    pub(super) window_end: u64,
    /// Socket send buffer in bytes: now, and where autotuning stops.
    pub(super) buffer: u32,
    buffer_max: u32,
    /// When payload was last sent.
    pub(super) last_sent: Time,
    pub(super) mss: u32,
    /// Bytes of the burst that was sent last.
    pub(super) last_burst: u32,
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
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX); // a window is a quarter of that at most
        Send {
            una: FIRST_BYTE,
            nxt: FIRST_BYTE,
            written: FIRST_BYTE,
            accepted: FIRST_BYTE,
            window_end: FIRST_BYTE,
            buffer: bytes(config.send_buffer.initial),
            buffer_max: bytes(config.send_buffer.maximum.max(config.send_buffer.initial)),
            last_sent: Time::ZERO,
            mss: config.mss,
            last_burst: 0,
            burst_max: (config.tso_bytes / config.mss).max(1),
            header_bytes: config.header_bytes + tag_bytes,
            has_sack: config.sack,
            has_ecn: config.ecn,
            probes_tail: config.sack && config.tail_loss_probe,
            is_cwr_due: false,
        }
    }

    /// Bytes of the largest burst.
    #[inline]
    pub(super) fn burst_bytes(&self) -> u64 {
        u64::from(self.burst_max * self.mss)
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
        if self.written == self.accepted {
            return self.written - self.nxt;
        }
        let fits = self.accepted.saturating_sub(self.nxt);
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

    /// The application writes so many bytes more.
    pub(super) fn write(&mut self, bytes: u64) {
        let is_waiting = self.written > self.accepted;
        self.written += bytes;
        if !is_waiting {
            self.fill();
        }
    }

    /// The application waits for room.
    #[inline]
    pub(super) fn is_writer_waiting(&self) -> bool {
        self.written > self.accepted
    }

    /// Whole bursts, so that the last one exceeds the buffer (Linux `tcp_sendmsg_locked`: a packet is begun while there is room).
    pub(super) fn fill(&mut self) {
        let burst = self.burst_bytes();
        let room = (self.una + u64::from(self.buffer)).saturating_sub(self.accepted);
        self.accepted = self.written.min(self.accepted + room.div_ceil(burst) * burst);
    }

    /// Grows the buffer to the memory of the segments of some windows (Linux `tcp_sndbuf_expand`). Returns whether a third of it is free, so
    /// that more is taken of what the application writes (Linux `sk_stream_is_writeable`).
    pub(super) fn tune_buffer(&mut self, cwnd: u32, initial: u32, windows: u32) -> bool {
        let segments = cwnd.max(initial).max(DUPLICATE_THRESHOLD + 1);
        let segment = (self.mss + SEGMENT_HEADERS).next_power_of_two() + SEGMENT_RECORD;
        let wanted = segments.saturating_mul(segment).saturating_mul(windows);
        self.buffer = self.buffer.max(wanted.min(self.buffer_max));
        let queued = self.accepted.saturating_sub(self.una);
        queued + queued / 2 <= u64::from(self.buffer)
    }
}
