//! The sender's half of the sequence space, and the settings that its hot path reads.

mod acknowledge;
mod burst;
mod model;
mod output;
pub(super) mod small_queue;

use tailrace_units::Time;

use super::config::TcpConfig;
use super::limits::Limit;
use super::recovery::rack::DUPLICATE_THRESHOLD;

/// Offset of the first byte of data: the SYN has offset 0.
pub(super) const FIRST_BYTE: u64 = 1;
/// Linux, on 64-bit machines, in bytes: the headers of a segment and its `skb_shared_info`, and its
/// `sk_buff`.
const SEGMENT_HEADERS: u32 = 640;
const SEGMENT_RECORD: u32 = 256;

/// `una <= nxt <= written`; bytes between `una` and `accepted` may be in flight.
pub(super) struct Send {
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// Next byte to send.
    pub(super) nxt: u64,
    /// End of the bytes that the application has written, and of those that are in the buffer: a
    /// write waits for room.
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
    /// Bytes of the block that is sent next, zero before it is determined; and those that were cut
    /// off it and follow as a block of their own.
    block: u32,
    block_rest: u32,
    /// Bytes of the burst that was sent last.
    pub(super) last_burst: u32,
    /// Segments of the largest burst; 1 without TSO.
    pub(super) burst_max: u16,
    pub(super) header_bytes: u16,
    pub(super) has_sack: bool,
    pub(super) has_ecn: bool,
    pub(super) probes_tail: bool,
    /// The next new segment carries CWR: the window was reduced.
    pub(super) is_cwr_due: bool,
}

impl Send {
    /// `tag_bytes` is what the tag of a VLAN adds to every frame of this end.
    pub(super) fn new(config: &TcpConfig, tag_bytes: u32) -> Send {
        // a window is a quarter of that at most
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
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
            block: 0,
            block_rest: 0,
            last_burst: 0,
            burst_max: segments_of(config.tso_bytes, config.mss),
            header_bytes: (config.header_bytes + tag_bytes) as u16,
            has_sack: config.sack,
            has_ecn: config.ecn,
            probes_tail: config.sack && config.tail_loss_probe,
            is_cwr_due: false,
        }
    }

    /// Bytes of the largest burst.
    #[inline]
    pub(super) fn burst_bytes(&self) -> u64 {
        u64::from(u32::from(self.burst_max) * self.mss)
    }

    #[inline]
    pub(super) fn unsent(&self) -> u64 {
        self.written - self.nxt
    }
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.written > self.nxt
    }

    /// Bytes that the application has got into the socket buffer and that were never sent. Of a
    /// full buffer whole segments are sent, because what follows is on its way; one segment fits
    /// however small the buffer is.
    #[inline]
    pub(super) fn sendable(&self) -> u64 {
        let fits = self.accepted.saturating_sub(self.nxt);
        let mss = u64::from(self.mss);
        if fits >= mss || self.written == self.accepted {
            fits
        } else if self.nxt == self.una {
            mss.min(self.unsent())
        } else {
            0
        }
    }

    /// The limit of a sender that has sent everything in its buffer.
    #[inline]
    pub(super) fn limit_without_sendable(&self) -> Limit {
        if self.written == self.accepted { Limit::Application } else { Limit::SendBuffer }
    }

    /// Whether a new segment may be sent as far as the peer's window goes.
    pub(super) fn has_sendable(&self) -> bool {
        let payload = self.sendable().min(u64::from(self.mss));
        payload > 0 && self.nxt + payload <= self.window_end
    }

    /// The block that is sent next, if `sendable` bytes may be: its length, and whether it is the
    /// last. Written bytes lie in blocks of a burst. One is cut where a window ends, and its rest
    /// is a block of its own (Linux `tcp_sendmsg_locked`, `tso_fragment`).
    #[inline]
    pub(super) fn next_block(&mut self, sendable: u64) -> (u64, bool) {
        if self.block == 0 {
            let next =
                if self.block_rest > 0 { self.block_rest.into() } else { self.burst_bytes() };
            self.block = next.min(sendable) as u32;
            self.block_rest = 0;
        }
        let block = sendable.min(self.block.into());
        (block, block == sendable)
    }

    /// The first `bytes` of the next block are sent by themselves.
    #[inline]
    pub(super) fn cut(&mut self, bytes: u64) {
        let bytes = bytes as u32; // of a burst at most
        if bytes != self.block {
            self.block_rest += self.block.saturating_sub(bytes);
            self.block = bytes;
        }
    }

    /// They were sent.
    #[inline]
    pub(super) fn advance(&mut self, payload: u32) {
        self.nxt += u64::from(payload);
        self.block = self.block.saturating_sub(payload);
    }

    /// The buffer has taken more: the last block is filled up first.
    #[inline]
    fn extend_block(&mut self, accepted_before: u64) {
        let (block, rest) = (u64::from(self.block), u64::from(self.block_rest));
        if block == 0 || self.nxt + block + rest != accepted_before {
            return;
        }
        let most = self.burst_bytes();
        if rest == 0 {
            self.block = (self.accepted - self.nxt).min(most).max(block) as u32;
        } else {
            self.block_rest = (self.accepted - self.nxt - block).min(most).max(rest) as u32;
        }
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

    /// Whole bursts, so that the last one exceeds the buffer (Linux `tcp_sendmsg_locked`: a packet
    /// is begun while there is room).
    pub(super) fn fill(&mut self) {
        let burst = self.burst_bytes();
        let room = (self.una + u64::from(self.buffer)).saturating_sub(self.accepted);
        let before = self.accepted;
        self.accepted = self.written.min(before + room.div_ceil(burst) * burst);
        self.extend_block(before);
    }

    /// The buffer is below its maximum.
    #[inline]
    pub(super) fn may_grow_buffer(&self) -> bool {
        self.buffer < self.buffer_max
    }

    /// Grows the buffer to the memory of the segments of some windows (Linux `tcp_sndbuf_expand`).
    pub(super) fn grow_buffer(&mut self, cwnd: u32, initial: u32, windows: u32) {
        let segments = cwnd.max(initial).max(DUPLICATE_THRESHOLD + 1);
        let segment = (self.mss + SEGMENT_HEADERS).next_power_of_two() + SEGMENT_RECORD;
        let wanted = segments.saturating_mul(segment).saturating_mul(windows);
        self.buffer = self.buffer.max(wanted.min(self.buffer_max));
    }

    /// A third of the buffer is free, so that more of the application's bytes are taken (Linux
    /// `sk_stream_is_writeable`).
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        let queued = self.accepted.saturating_sub(self.una);
        queued + queued / 2 <= u64::from(self.buffer)
    }
}

/// Segments of the largest burst.
pub(super) fn segments_of(tso_bytes: u32, mss: u32) -> u16 {
    u16::try_from(tso_bytes / mss).unwrap_or(u16::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written bytes lie in blocks of a burst; a cut leaves a shorter block, and later writes fill
    /// up the last.
    #[test]
    fn a_block_that_was_cut_is_followed_by_its_rest() {
        let mut send = Send::new(&TcpConfig { tso_bytes: 3_000, ..TcpConfig::linux(1_000) }, 0);
        send.write(7_000);
        assert_eq!(send.next_block(7_000), (3_000, false));
        send.cut(1_400);
        send.advance(1_000);
        send.advance(400);
        assert_eq!(send.next_block(5_600), (1_600, false), "not three segments");
        send.advance(1_600);
        assert_eq!(send.next_block(4_000), (3_000, false));
        send.advance(3_000);
        assert_eq!(send.next_block(1_000), (1_000, true));
        send.write(300);
        assert_eq!(send.next_block(1_300), (1_300, true), "what is last is filled up");
        send.cut(1_000);
        send.write(5_000);
        send.advance(1_000);
        assert_eq!(send.next_block(5_300), (3_000, false), "and so is a rest");
    }
}
