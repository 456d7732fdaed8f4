//! The receiver's half: bytes that have arrived in order, and the treatment of a segment with
//! payload.

mod ack_policy;
mod memory;
mod reading;
mod reassembly;
mod window;

use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet};

use super::config::TcpConfig;
use super::recovery::scoreboard::Range;
use super::sender::FIRST_BYTE;
use super::{Segment, Tcp, Transmit};
use ack_policy::AckPolicy;
use reassembly::Reassembly;
use window::ReceiveWindow;

/// Probes of the window and late acknowledgements are answered this far apart at least (Linux
/// `tcp_invalid_ratelimit`).
const ANSWER_INTERVAL: Span = Span::from_ms(500);

/// The receiver. The application reads at once, or when it gets round to it (`reading`).
pub(super) struct Receive {
    /// Next byte expected.
    pub(super) next: u64,
    pub(super) policy: AckPolicy,
    pub(super) window: ReceiveWindow,
    /// Arrived in order and not read yet.
    pub(super) unread: u64,
    /// Bytes that may wait unanswered: a full segment, or any number of an application that answers
    /// by reading.
    pub(super) patience: u32,
    /// The application says when it reads, and how much.
    pub(super) is_read_late: bool,
    /// Classic ECN: echo until the sender says that it has reduced. DCTCP: the last segment was
    /// marked.
    is_echoing: bool,
    /// A segment that leaves has something to do besides acknowledging: one of the two above.
    pub(super) has_more_to_say: bool,
    pub(super) reassembly: Reassembly,
}

impl Receive {
    pub(super) fn new(config: &TcpConfig) -> Receive {
        Receive {
            next: FIRST_BYTE,
            policy: AckPolicy::new(config.delayed_ack),
            window: ReceiveWindow::new(config),
            unread: 0,
            patience: config.mss,
            is_read_late: false,
            is_echoing: false,
            has_more_to_say: false,
            reassembly: Reassembly::default(),
        }
    }

    #[inline]
    pub(super) fn window(&self) -> u32 {
        self.window.announced(self.next)
    }
    pub(super) fn echoes_mark(&self) -> bool {
        self.is_echoing
    }
    fn echo(&mut self, is_echoing: bool) {
        self.is_echoing = is_echoing;
        self.has_more_to_say = is_echoing || self.is_read_late;
    }
    #[inline]
    pub(super) fn has_reports(&self) -> bool {
        self.reassembly.has_reports()
    }
    pub(super) fn report(&mut self, packet: &mut Packet) -> u32 {
        self.reassembly.report(packet)
    }
    #[inline]
    pub(super) fn note_ack_sent(&mut self) {
        self.policy.note_ack_sent(self.next);
    }
    #[inline]
    pub(super) fn note_data_sent(&mut self, now: Time) {
        self.policy.note_data_sent(now);
    }

    /// A segment that ends beyond the window is refused whole, but for one that finds nothing
    /// unread (Linux `tcp_sequence`).
    #[cold]
    fn admits(&mut self, seq: u64, end: u64) -> bool {
        let is_admitted = self.unread == 0 && seq < self.window.end;
        if is_admitted {
            self.window.end = end;
        }
        is_admitted
    }

    /// Moves the right edge after something arrived and was read.
    #[inline]
    fn update_window(&mut self, mss: u32) {
        self.window.open(self.next, self.reassembly.bytes(), mss);
    }
}

impl Tcp {
    /// A segment with payload. Returns the bytes that the application can read now.
    #[inline(always)]
    pub(super) fn handle_data(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> u64 {
        let mss = self.send.mss;
        let seq = segment.packet.seq;
        let end = seq + u64::from(segment.payload_bytes);
        if end <= self.receive.next
            || (end > self.receive.window.end && !self.receive.admits(seq, end))
        {
            self.refuse(Range { start: seq, end });
            return 0;
        }
        self.receive.policy.note_data(now, self.rtt.timeout(), self.receive.window(), mss);
        self.handle_marks(segment, wire);
        let before = self.receive.next;
        if seq <= before {
            if seq < before {
                self.receive.reassembly.note_duplicate(Range { start: seq, end: before });
                self.receive.policy.acknowledge_now();
            }
            self.receive.next = end;
            self.receive.policy.note_advance();
            if !self.receive.reassembly.is_empty() {
                self.receive.next = self.receive.reassembly.advance(end);
                self.receive.policy.acknowledge_now();
            }
        } else {
            self.hold(Range { start: seq, end }, wire);
        }
        let arrived = self.receive.next - before;
        self.deliver(now, arrived, segment)
    }

    /// Reports bytes that arrived in order to the application. If it reads them at once, the window
    /// opens again.
    #[inline(always)]
    fn deliver(&mut self, now: Time, arrived: u64, segment: &Segment<'_>) -> u64 {
        if self.receive.is_read_late {
            return self.keep(now, arrived, segment);
        }
        let mss = self.send.mss;
        self.receive.policy.note_size(arrived > 0 && segment.is_short(mss));
        if !self.receive.reassembly.is_empty() {
            self.open_beside_held(now, arrived, segment);
        } else if self.receive.window.follow(
            now,
            self.receive.next,
            segment.payload_bytes.into(),
            mss,
        ) {
            self.receive.policy.hurry();
        }
        arrived
    }

    /// Moves the right edge while bytes out of order take room.
    #[cold]
    #[inline(never)]
    fn open_beside_held(&mut self, now: Time, arrived: u64, segment: &Segment<'_>) {
        let mss = self.send.mss;
        // Without SACK a segment out of order does not open the window: its acknowledgement must
        // look like a duplicate (as in Linux).
        let payload = u64::from(segment.payload_bytes);
        if (arrived > 0 || self.send.has_sack) && self.receive.window.grow(payload, payload, mss) {
            self.receive.policy.hurry();
        }
        self.receive.window.tune(now, self.receive.next, mss);
        self.receive.update_window(mss);
    }

    /// Nothing new, or beyond the window: say so at once (Linux `tcp_data_queue`, out of window).
    #[cold]
    fn refuse(&mut self, range: Range) {
        self.stats.duplicates += 1;
        if range.end <= self.receive.next && self.send.has_sack {
            self.receive.reassembly.note_duplicate(range);
        }
        self.receive.policy.enter_quick_mode(self.receive.window(), self.send.mss);
        self.receive.policy.acknowledge_now();
    }

    #[cold]
    #[inline(never)]
    fn hold(&mut self, arrived: Range, wire: &mut impl Transmit) {
        self.stats.out_of_order += 1;
        if self.receive.policy.is_compressing() && self.receive.reassembly.would_displace(arrived) {
            // before a range that was not reported leaves the report (Linux
            // `tcp_sack_compress_send_ack`)
            self.send_ack(wire);
            self.receive.policy.acknowledge_later();
        }
        if self.receive.reassembly.insert(arrived) == 0 {
            self.stats.duplicates += 1;
        }
    }

    /// Congestion marks (RFC 3168 section 6.1.3, RFC 8257 section 3.2).
    #[inline]
    fn handle_marks(&mut self, segment: &Segment<'_>, wire: &mut impl Transmit) {
        if !self.send.has_ecn {
            return;
        }
        let is_marked = segment.packet.ecn == Ecn::Ce;
        let is_dctcp = self.congestion.is_dctcp();
        if segment.packet.flags.contains(Flags::CWR) {
            // The sender's window may be small now, so that it should not wait (Linux
            // `tcp_ecn_accept_cwr`).
            self.receive.policy.acknowledge_now();
            if !is_dctcp {
                self.receive.echo(false);
            }
        }
        if is_dctcp {
            if is_marked != self.receive.is_echoing {
                if self.receive.policy.is_ack_delayed(self.timers.ack_at) {
                    self.send_ack(wire); // earlier bytes are acknowledged with the old state
                }
                self.receive.echo(is_marked);
                self.receive.policy.acknowledge_now();
            }
            return;
        }
        if is_marked && !self.receive.is_echoing {
            self.receive.echo(true);
            self.receive.policy.enter_quick_mode(self.receive.window(), self.send.mss);
        }
    }

    /// Acknowledges the bytes that have arrived: now, later, or with the next data.
    #[inline]
    pub(super) fn acknowledge_if_due(&mut self, now: Time, wire: &mut impl Transmit) {
        if !self.receive.policy.is_ack_owed() {
            return;
        }
        if self.receive.policy.is_due(self.receive.next, self.receive.patience) {
            self.send_ack(wire);
        } else if !self.receive.reassembly.is_empty() {
            self.report_if_due(now, wire);
        } else if self.timers.ack_at.is_never() {
            self.timers.delay_ack(now, self.receive.policy.delay());
        }
    }

    /// Segments are held out of order: a report of each of the first few, then one report for an
    /// interval (Linux `tcp_comp_sack_*`).
    #[cold]
    #[inline(never)]
    fn report_if_due(&mut self, now: Time, wire: &mut impl Transmit) {
        let was_waiting = self.receive.policy.is_compressing();
        let round_trip =
            self.rtt.smoothed().unwrap_or(Span::ZERO).min(self.receive.window.round_trip());
        match self.receive.policy.report_after(round_trip) {
            Some(wait) if self.send.has_sack => {
                if !was_waiting {
                    self.timers.delay_report(now, wait);
                }
            }
            _ => self.send_ack(wire),
        }
    }

    pub(super) fn handle_delayed_ack(&mut self, _now: Time, wire: &mut impl Transmit) {
        if self.receive.policy.is_ack_owed() {
            self.receive.policy.handle_timeout();
            self.send_ack(wire);
        }
    }

    /// An old sequence number without payload: a probe of the window, or a late acknowledgement.
    #[cold]
    pub(super) fn answer_probe(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.probe_answered.is_never() || now.since(self.probe_answered) >= ANSWER_INTERVAL {
            self.probe_answered = now;
            self.send_ack(wire);
        }
    }
}
