//! TCP as in Linux, without I/O: it is handed segments, writes and the time, and returns segments
//! and its next deadline.
//!
//! The folders in the order in which a byte meets them: `handshake` opens the connection (its
//! states are in `phase`); `sender` cuts writes into segments and bursts (`output`, `burst`) and
//! keeps few of them in the NIC (`small_queue`); at the peer, `receiver` puts them in order
//! (`reassembly`), keeps them for an application that reads late (`reading`), and decides when to
//! acknowledge (`ack_policy`) and which window to announce (`window`); back at the sender,
//! `sender::acknowledge` reads the acknowledgement and `rtt` measures the round trip and
//! `delivery_rate` the rate, `recovery` keeps the scoreboard, finds losses (`rack`, `duplicates`)
//! and acts when no acknowledgement comes (`timeout`, `probe`), and `congestion` moves the window,
//! or with it the rate of `pacing`; `limits` counts the sender's waits by cause; `closing` ends the
//! connection, and so do `reset` at once and `giving_up` without an answer.

mod closing;
mod config;
mod congestion;
mod delivery_rate;
mod giving_up;
mod handshake;
mod limits;
mod pacing;
mod phase;
mod receiver;
mod recovery;
mod reset;
mod rtt;
mod sender;
mod stats;
mod timer;

use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

pub use crate::ip::Identity;
pub use crate::transmit::Transmit;
pub use closing::Close;
pub use config::{
    Buffer, CongestionControl, Growth, SlowStartExit, SmallQueueBound, TcpConfig, segment_memory,
};
pub use limits::{Limit, Limits};
pub use phase::Failure;
pub use recovery::State;
pub use reset::answer;
pub use stats::Handed;
pub use stats::TcpStats;

use congestion::Congestion;
use handshake::Handshake;
use receiver::Receive;
use recovery::Recovery;
use recovery::rack::Rack;
use recovery::scoreboard::Scoreboard;
use rtt::Rtt;
use sender::small_queue::SmallQueue;
use sender::{FIRST_BYTE, Send, segments_of};
use timer::Timers;

/// A unit that the host hands up: one frame, or several that GRO has merged because they follow
/// each other and agree in flags and marks.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The first frame.
    pub packet: &'a Packet,
    /// Payload of all frames together.
    pub payload_bytes: u32,
    /// Number of frames.
    pub segments: u16,
}

impl<'a> Segment<'a> {
    /// A single frame.
    pub fn single(packet: &'a Packet) -> Segment<'a> {
        Segment { packet, payload_bytes: u32::from(packet.payload_bytes), segments: 1 }
    }

    /// Below full size, or the end of a write.
    #[inline]
    fn is_short(&self, mss: u32) -> bool {
        self.payload_bytes < mss || (self.segments == 1 && self.packet.flags.contains(Flags::PSH))
    }
}

/// The effect of a segment on the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentEffect {
    /// The connection became established.
    pub connected: bool,
    /// Bytes that can newly be read, in order.
    pub readable: u64,
    /// Bytes newly acknowledged by the peer.
    pub acked: u64,
    /// The peer has closed its end, and everything that it sent has been received.
    pub ended: bool,
}

/// One end of a connection.
pub struct Tcp {
    send: Send,
    board: Scoreboard,
    congestion: Congestion,
    rtt: Rtt,
    timers: Timers,
    rack: Rack,
    recovery: Recovery,
    receive: Receive,
    stats: TcpStats,
    identity: Identity,
    handshake: Handshake,
    small_queue: SmallQueue,
    autocorking: bool,
    /// Why nothing more was sent when sending stopped last.
    limit: Limit,
    window_cap_bytes: u32,
    tso_bytes: u32,
    /// When a window probe was last answered; [`Time::NEVER`] before the first.
    probe_answered: Time,
}

impl Tcp {
    /// An end that listens until [`Tcp::connect`] is called.
    pub fn new(config: &TcpConfig, identity: Identity) -> Tcp {
        let mut tcp = Tcp {
            send: Send::new(config, u32::from(identity.tag.bytes())),
            board: Scoreboard::new(FIRST_BYTE),
            congestion: Congestion::new(config, identity.flow_hash),
            rtt: Rtt::new(config.rto_min, config.rto_max),
            timers: Timers::new(config.tick, config.tick_phase),
            rack: Rack::new(),
            recovery: Recovery::new(),
            receive: Receive::new(config),
            stats: TcpStats::default(),
            identity,
            handshake: Handshake::new(),
            small_queue: SmallQueue::new(config.small_queue, config.small_queue_bound),
            autocorking: config.autocorking,
            limit: Limit::Closed,
            window_cap_bytes: u32::try_from(config.window_cap_bytes).unwrap_or(u32::MAX),
            tso_bytes: config.tso_bytes,
            probe_answered: Time::NEVER,
        };
        tcp.set_mss(config.mss);
        tcp
    }

    /// Sets the segment size and everything derived from it.
    fn set_mss(&mut self, mss: u32) {
        self.send.mss = mss;
        self.receive.patience = mss;
        self.send.burst_max = segments_of(self.tso_bytes, mss);
        self.congestion.set_cap(self.window_cap_bytes, mss);
    }

    /// The application writes `bytes`. They leave at once as far as the windows allow, the last
    /// segment with PSH, unless they are corked; waiting bytes are joined with the next write
    /// (TCP_NODELAY).
    pub fn write(&mut self, now: Time, bytes: u64, wire: &mut impl Transmit) {
        if !self.send.has_unsent() {
            self.restart_after_idle(now);
        }
        assert!(!self.is_close_requested(), "an end that was closed writes no more");
        if self.congestion.is_model() {
            self.note_app_limit(now);
        }
        self.send.write(bytes);
        let is_short = self.autocorking && self.send.unsent() < self.send.burst_bytes();
        if !self.can_send() || (is_short && self.is_corked(now)) {
            return;
        }
        self.push(now, wire);
        if is_short {
            self.small_queue.end_part();
        }
    }

    /// Sending starts again with nothing in flight.
    fn restart_after_idle(&mut self, now: Time) {
        if self.board.ring.is_empty() && self.send.last_sent != Time::ZERO {
            self.congestion.restart(now, now.since(self.send.last_sent), self.rtt.timeout());
        }
    }

    /// A segment arrived.
    #[inline(never)]
    pub fn handle_segment(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> SegmentEffect {
        self.handle_segment_here(now, segment, wire)
    }

    /// The same as a part of its caller: for the one that every segment of a program with one
    /// socket passes.
    #[inline(always)]
    pub fn handle_segment_here(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> SegmentEffect {
        if !self.is_established() {
            return self.handle_opening(now, segment, wire);
        }
        if segment.packet.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::RST)) {
            return self.handle_unusual(now, segment, wire);
        }
        let acked = self.handle_ack(now, segment, wire);
        let mut readable = 0;
        if segment.payload_bytes > 0 {
            readable = self.handle_data(now, segment, wire);
        } else if segment.packet.seq < self.receive.policy.acknowledged {
            self.answer_probe(now, wire);
        }
        self.push(now, wire);
        self.acknowledge_if_due(now, wire);
        SegmentEffect { connected: false, readable, acked, ended: false }
    }
}

/// State that is visible from outside.
impl Tcp {
    /// Bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        self.send.unsent()
    }
    /// Bytes sent and not acknowledged.
    pub fn unacked(&self) -> u64 {
        self.send.nxt - self.send.una
    }
    /// Bytes that have arrived in order, read by the application or not.
    pub fn received(&self) -> u64 {
        self.receive.next - FIRST_BYTE - u64::from(self.has_peer_closed())
    }
    /// Bytes that have arrived behind a gap.
    pub fn held(&self) -> u64 {
        self.receive.reassembly.bytes()
    }
    /// Counters.
    pub fn stats(&self) -> &TcpStats {
        &self.stats
    }
    /// Segments that it has handed to the interface.
    #[inline]
    pub fn handed(&self) -> Handed {
        Handed { segments: self.stats.segments_sent, acks: self.stats.acks_sent }
    }
    /// Hash of the packets that this end sends.
    pub fn flow_hash(&self) -> u32 {
        self.identity.flow_hash
    }
    /// The identity that the packets of this end carry.
    pub fn identity(&self) -> Identity {
        self.identity
    }
    /// The host at the other end.
    pub fn peer_host(&self) -> u16 {
        self.identity.to_host
    }
    /// Congestion window in segments.
    pub fn cwnd(&self) -> u32 {
        self.congestion.cwnd
    }
    /// Pace in bytes of payload per second; `None` for a connection that is not paced.
    pub fn pacing_rate(&self) -> Option<u64> {
        self.congestion.paced().map(|paced| paced.pace.rate)
    }
    /// Slow-start threshold in segments.
    pub fn ssthresh(&self) -> u32 {
        self.congestion.ssthresh
    }
    /// Segments believed to be in the network.
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }
    /// Segments in flight that are taken for lost, retransmitted or not.
    pub fn lost(&self) -> u32 {
        self.board.lost_out
    }
    /// Bytes per segment that both ends agreed on.
    pub fn mss(&self) -> u32 {
        self.send.mss
    }
    /// Congestion state.
    pub fn state(&self) -> State {
        self.recovery.state
    }
    /// Smoothed round-trip time; `None` before the first measurement.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.smoothed()
    }
    /// Retransmission timeout.
    pub fn retransmission_timeout(&self) -> Span {
        self.rtt.timeout()
    }
    /// Width of RACK's reordering window in quarters of the minimum round trip.
    pub fn reordering_steps(&self) -> u8 {
        self.rack.steps()
    }
    /// Segments that one may be overtaken by without being lost (Linux `tcpi_reordering`).
    pub fn reordering(&self) -> u32 {
        self.rack.reordering
    }
    /// DCTCP's estimate of the marked share in 1024ths; `None` for other algorithms.
    pub fn marked_share_1024(&self) -> Option<u32> {
        self.congestion.marked_share_1024()
    }
    /// Socket buffers now, in bytes: send, receive.
    pub fn buffers(&self) -> (u64, u64) {
        (u64::from(self.send.buffer), self.receive.window.buffer())
    }
    /// Prefetches the state that the next acknowledgement reads.
    #[inline(always)]
    pub fn prefetch_oldest(&self) {
        self.board.ring.prefetch();
    }
    /// Whether the counters of the scoreboard equal a recount. Slow: for tests.
    pub fn is_consistent(&self) -> bool {
        self.board.is_consistent(self.send.has_sack)
    }
}
