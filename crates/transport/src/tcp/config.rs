//! Settings of a connection, as an administrator or a socket option makes them on Linux.

use tailrace_units::Span;

/// Memory of a frame that fits a small buffer of the driver, and the pages of a longer one (Linux,
/// drivers/net/virtio_net.c with mergeable buffers; drivers of cards take pages or halves of them
/// too).
const SMALL_FRAME: u32 = 1_536;
const PAGE: u32 = 4_096;
/// The record of a frame and the head of its data (Linux `SKB_TRUESIZE`).
const RECORD: u32 = 768;
/// Headers of a frame, and what the driver puts before them.
const HEADERS: u32 = 78;

/// The algorithm that moves the congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionControl {
    /// RFC 9438, with Linux's integer arithmetic.
    Cubic,
    /// RFC 5681 and RFC 6582.
    NewReno,
    /// RFC 8257.
    Dctcp,
    /// BBR, version 1, as in Linux 6.1: a model of the path, and pacing.
    Bbr,
}

/// How slow start ends before the first loss or mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowStartExit {
    /// It does not.
    None,
    /// HyStart as in Linux: length of the ACK train and rise of the delay. It is a part of CUBIC;
    /// with other algorithms it is none.
    Hystart,
    /// HyStart++ (RFC 9406).
    HystartPlusPlus,
}

/// The amount that an acknowledgement counts for in the growth of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// The segments that it acknowledges (RFC 3465 without a limit; Linux).
    Segments,
    /// One, whatever it acknowledges (RFC 5681 allows it; `TcpNewReno` of ns-3). Stretched
    /// acknowledgements then slow the growth down.
    Acknowledgements,
}

/// A socket buffer, in payload bytes that it can hold. Fixed when both are equal, else autotuned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Size at the start.
    pub initial: u64,
    /// Autotuning stops here.
    pub maximum: u64,
}

/// The bound on the data of one connection in the NIC besides its pace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SmallQueueBound {
    /// The bytes that the line sends in the same time. Connections with unequal windows then share
    /// the line equally.
    Line,
    /// Nothing but 1 MiB, as in Linux 6.1 (`tcp_small_queue_check`): a pace of 1.2 windows per
    /// round trip may be above the line's.
    Pace,
}

/// Settings of one connection end.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// Largest payload of a segment in bytes; the smaller of both ends counts.
    pub mss: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window_segments: u32,
    /// Upper limit of the congestion window in bytes; 0 for none.
    pub window_cap_bytes: u64,
    /// Algorithm that moves the congestion window.
    pub congestion_control: CongestionControl,
    /// Early end of slow start.
    pub slow_start_exit: SlowStartExit,
    /// The amount that an acknowledgement counts for.
    pub growth: Growth,
    /// CUBIC is never slower than Reno would be (RFC 9438 section 4.3; Linux `tcp_friendliness`).
    /// ns-3's is.
    pub reno_friendly: bool,
    /// Offer and accept ECN. DCTCP needs it.
    pub ecn: bool,
    /// Selective acknowledgement, and with it RACK and tail loss probes. Without it: RFC 6582.
    pub sack: bool,
    /// Tail loss probe (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Smallest variance term of the retransmission timeout, as in Linux. 200 ms there.
    pub rto_min: Span,
    /// Largest retransmission timeout. 120 s in Linux.
    pub rto_max: Span,
    /// Delayed acknowledgement timer (40 ms in Linux); zero acknowledges every aggregate at once.
    pub delayed_ack: Span,
    /// Shrink the window after one timeout of silence (RFC 2861, RFC 7661 as in Linux).
    pub slow_start_after_idle: bool,
    /// A write that is shorter than a burst waits while an earlier segment of the connection is in
    /// the NIC (Linux `tcp_autocorking`). The bytes in the NIC are known only if `small_queue` is
    /// not zero.
    pub autocorking: bool,
    /// The clock tick of the host, with which its timers expire (4 ms with HZ = 250); zero for
    /// timers that expire as they are set.
    pub tick: Span,
    /// How long after a multiple of the tick it comes; below a tick.
    pub tick_phase: Span,
    /// How long, at the pace of the connection, its frames may wait in the NIC (TCP small queues; 1
    /// ms in Linux); zero for no limit.
    pub small_queue: Span,
    /// The further bound.
    pub small_queue_bound: SmallQueueBound,
    /// Largest burst handed to the NIC at once in payload bytes (64 KiB in Linux); 0 sends segment
    /// by segment.
    pub tso_bytes: u32,
    /// Limits the queued bytes and those in flight together.
    pub send_buffer: Buffer,
    /// Limits the window announced to the peer.
    pub receive_buffer: Buffer,
    /// Of the random streams of connections: where the cycle of BBR begins.
    pub seed: u64,
    /// Memory that a received segment of full size takes in the buffer, of which half is offered as
    /// window (`segment_memory`).
    pub segment_memory: u32,
    /// Link, IP and TCP headers of a data segment: 14 + 20 + 20 + 12 (timestamps) = 66 on Ethernet.
    pub header_bytes: u32,
}

impl TcpConfig {
    /// The configuration of a Linux 6.x host with this segment size: CUBIC, HyStart, SACK, buffers
    /// autotuned to 4 and 32 MiB.
    pub fn linux(mss: u32) -> TcpConfig {
        TcpConfig {
            mss,
            initial_window_segments: 10,
            window_cap_bytes: 0,
            congestion_control: CongestionControl::Cubic,
            slow_start_exit: SlowStartExit::Hystart,
            growth: Growth::Segments,
            reno_friendly: true,
            ecn: false,
            sack: true,
            tail_loss_probe: true,
            rto_min: Span::from_ms(200),
            rto_max: Span::from_secs(120),
            delayed_ack: Span::from_ms(40),
            slow_start_after_idle: true,
            autocorking: true,
            tick: Span::ZERO,
            tick_phase: Span::ZERO,
            small_queue: Span::from_ms(1),
            small_queue_bound: SmallQueueBound::Pace,
            tso_bytes: 65_536,
            send_buffer: Buffer { initial: 87_040, maximum: 4 << 20 },
            receive_buffer: Buffer { initial: 65_536, maximum: 32 << 20 },
            seed: 0,
            segment_memory: segment_memory(mss),
            header_bytes: 66,
        }
    }
}

/// Memory that a received segment of full size takes (Linux `truesize`).
pub fn segment_memory(mss: u32) -> u32 {
    let frame = mss + HEADERS;
    let pages = if frame <= SMALL_FRAME { SMALL_FRAME } else { frame.next_multiple_of(PAGE) };
    pages + RECORD
}
