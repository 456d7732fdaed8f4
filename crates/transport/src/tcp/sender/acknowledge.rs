//! The effect of an arriving acknowledgement on the sender (Linux `tcp_ack`).

use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, MAX_SACK_BLOCKS, Packet};

use crate::tcp::congestion::Acked;
use crate::tcp::recovery::ack_effect::AckEffect;
use crate::tcp::recovery::rack::DUPLICATE_THRESHOLD;
use crate::tcp::recovery::scoreboard::Range;
use crate::tcp::recovery::{Alert, Resend, State};
use crate::tcp::timer::Pending;
use crate::tcp::{Segment, Tcp, Transmit};

/// The send buffer grows to the memory of so many windows (Linux `tcp_sndbuf_expand`), with BBR of
/// more (`bbr_sndbuf_expand`).
const BUFFER_WINDOWS: u32 = 2;
const MODEL_BUFFER_WINDOWS: u32 = 3;

/// The content of the selective acknowledgement besides held segments.
#[derive(Default)]
struct Reports {
    has_blocks: bool,
    /// A tail loss probe arrived twice.
    probe_was_duplicate: bool,
    has_duplicate: bool,
}

impl Tcp {
    /// Returns the bytes newly acknowledged.
    #[inline(always)]
    pub(crate) fn handle_ack(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> u64 {
        let packet = segment.packet;
        if packet.ack > self.send.nxt {
            return 0; // acknowledges bytes that were never sent (RFC 9293 section 3.10.7.4)
        }
        let prior_una = self.send.una;
        let opens_window = self.take_window(now, packet);
        let is_marked = self.send.has_ecn && packet.flags.contains(Flags::ECE);
        let has_blocks = packet.sack[0].bytes != 0;
        if packet.ack == prior_una
            && !has_blocks
            && (segment.payload_bytes > 0 || self.board.ring.is_empty())
            && !is_marked
        {
            self.note_answered_probe();
            return 0; // data or a window update: nothing for the scoreboard
        }
        let mut effect = AckEffect {
            ambiguous_after: now - self.rtt.minimum(),
            window_end: self.recovery.high_seq,
            ..AckEffect::default()
        };
        let prior_marks = self.board.lost_marks;
        if self.congestion.is_model() {
            self.begin_sample(packet.ack);
        }
        if packet.ack > prior_una {
            self.send.una = packet.ack;
            self.board.acknowledge(packet.ack, &mut effect);
            effect.advanced = true;
            if !self.send.has_sack {
                effect.acked = self.consume_duplicates(effect.acked);
                // It is unknown whether the original or the retransmission made the progress.
                effect.original_delivered &= !effect.retransmitted_acked;
            }
            self.recovery.timeouts = 0;
        }
        let reports =
            if has_blocks { self.take_blocks(packet, &mut effect) } else { Reports::default() };
        let rtt = self.learn(now, &effect, is_marked);
        // An acknowledgement that was overtaken by a later one repeats nothing.
        let is_plain = segment.payload_bytes == 0 && !opens_window && packet.ack == prior_una;
        let alert = Alert {
            is_duplicate: is_plain && !reports.has_duplicate && !self.board.ring.is_empty(),
            is_marked,
        };
        if self.recovery.probe_end != 0 {
            self.evaluate_probe(
                &effect,
                is_plain && !reports.has_duplicate,
                reports.probe_was_duplicate,
            );
        }
        if effect.advanced {
            self.rearm(now, true);
        }
        if alert.is_duplicate && !self.send.has_sack {
            effect.sacked += self.count_duplicate();
        }
        let resend = self.react(now, &alert, &effect, &reports);
        let newly_lost = (self.board.lost_marks - prior_marks) as u32;
        if self.congestion.is_model() {
            self.follow_model(now, &effect, newly_lost, rtt);
        } else {
            self.adjust_window(now, &effect, is_marked, newly_lost);
        }
        self.make_room(now);
        self.send_after_ack(now, resend, wire);
        self.send.una - prior_una.min(self.send.una)
    }

    /// The right edge of the peer's window never moves back here. Returns whether it moved.
    #[inline]
    fn take_window(&mut self, now: Time, packet: &Packet) -> bool {
        let end = packet.ack + u64::from(packet.window);
        let opens = end > self.send.window_end;
        if opens {
            self.send.window_end = end;
            if self.timers.pending == Pending::WindowProbe {
                self.handshake.probes = 0;
                self.timers.disarm();
                self.rtt.end_back_off();
                self.restart_after_idle(now);
            }
        }
        opens
    }

    /// Round trip, RACK and the congestion window's observations. Returns the round trip of the
    /// newest segment, if known.
    #[inline(always)]
    fn learn(&mut self, now: Time, effect: &AckEffect, is_marked: bool) -> Option<Span> {
        let sample = match (effect.oldest_sent, effect.sacked_sent, effect.latest) {
            (Some(oldest), _, _) => Some((now.since(oldest), now.since(effect.newest_sent))),
            (None, Some(sent), _) => Some((now.since(sent), now.since(sent))),
            // The round trip of a retransmission that is old enough to be the acknowledged one:
            // Linux knows it from the timestamp.
            (None, None, Some((sent, _))) => Some((now.since(sent), now.since(sent))),
            (None, None, None) => None,
        };
        if let Some((oldest, newest)) = sample {
            self.rtt.measure(now, oldest, newest, self.send.una, self.send.nxt);
            self.rack.advance(now, effect);
        }
        if let Some(overtaken) = effect.overtaken {
            self.rack.note_reordering(overtaken, self.board.highest_sacked, self.send.mss);
        }
        self.rack.update_window(self.send.una, self.send.nxt);
        let rtt = sample.map(|(_, newest)| newest);
        let acked = self.acked(now, effect, rtt, is_marked);
        self.congestion.observe(&acked);
        rtt
    }

    #[inline]
    fn acked(&self, now: Time, effect: &AckEffect, rtt: Option<Span>, is_marked: bool) -> Acked {
        Acked {
            now,
            segments: effect.delivered(),
            rtt,
            smoothed: self.rtt.smoothed().unwrap_or(Span::ZERO),
            mss: self.send.mss,
            una: self.send.una,
            nxt: self.send.nxt,
            is_marked,
        }
    }

    /// The steady state passes without an alert.
    #[inline]
    fn react(&mut self, now: Time, alert: &Alert, effect: &AckEffect, reports: &Reports) -> Resend {
        let is_calm = self.recovery.state == State::Open
            && !reports.has_blocks
            && !alert.is_duplicate
            && !alert.is_marked;
        if is_calm { Resend::Nothing } else { self.handle_alert(now, alert, effect) }
    }

    #[inline(always)]
    fn adjust_window(&mut self, now: Time, effect: &AckEffect, is_marked: bool, newly_lost: u32) {
        if self.recovery.is_reducing() {
            self.reduce_window(effect.delivered(), newly_lost, effect.advanced);
        } else if effect.acked > 0
            || (self.rack.reordering > DUPLICATE_THRESHOLD && effect.delivered() > 0)
        {
            let acked = self.acked(now, effect, None, is_marked);
            self.congestion.grow(&acked);
        }
    }

    /// Takes more of the bytes that the application writes. The buffer grows with the window.
    #[inline]
    fn make_room(&mut self, now: Time) {
        if !self.send.is_writer_waiting() {
            return;
        }
        if self.send.may_grow_buffer() {
            let windows =
                if self.congestion.is_model() { MODEL_BUFFER_WINDOWS } else { BUFFER_WINDOWS };
            self.send.grow_buffer(self.congestion.cwnd, self.congestion.initial, windows);
        }
        if self.send.is_writable() {
            if self.congestion.is_model() {
                self.note_app_limit(now);
            }
            self.send.fill();
        }
    }

    /// Repairs after an acknowledgement. New data follow when the segment has been dealt with.
    #[inline]
    fn send_after_ack(&mut self, now: Time, resend: Resend, wire: &mut impl Transmit) {
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.retransmit_lost(now, wire),
            Resend::New => {
                self.push(now, wire);
                if self.send.nxt <= self.recovery.high_seq {
                    self.recovery.is_spurious_possible = false;
                    self.retransmit_lost(now, wire);
                }
            }
        }
    }

    /// Marks held segments and takes note of duplicates (RFC 2018, RFC 2883).
    #[cold]
    #[inline(never)]
    fn take_blocks(&mut self, packet: &Packet, effect: &mut AckEffect) -> Reports {
        let mut reports = Reports { has_blocks: true, ..Reports::default() };
        let is_duplicate = packet.flags.contains(Flags::DSACK);
        let mut held = [Range::default(); MAX_SACK_BLOCKS];
        let mut count = 0;
        for (i, block) in packet.sack.iter().enumerate().filter(|(_, block)| block.bytes != 0) {
            let start = packet.ack.saturating_add_signed(i64::from(block.offset));
            let range = Range { start, end: start + u64::from(block.bytes) };
            if i == 0 && is_duplicate {
                self.take_duplicate(range, &mut reports);
            } else if range.end > self.send.una && range.end <= self.send.nxt && self.send.has_sack
            {
                held[count] = Range { start: range.start.max(self.send.una), end: range.end };
                count += 1;
            }
        }
        if count > 0 {
            self.board.mark_held(&mut held[..count], effect);
        }
        reports
    }

    /// The peer received `range` twice (Linux `tcp_check_dsack`).
    fn take_duplicate(&mut self, range: Range, reports: &mut Reports) {
        let segments = (range.end - range.start).div_ceil(u64::from(self.send.mss));
        if self.stats.spurious_retransmits + segments > self.stats.retransmits {
            return; // the network, not this end, made the copy
        }
        reports.has_duplicate = true;
        self.stats.spurious_retransmits += segments;
        let is_probe = self.recovery.probe_end == range.end
            && self.recovery.is_probe_retransmission
            && segments == 1;
        if is_probe {
            reports.probe_was_duplicate = true;
        } else {
            self.rack.handle_duplicate_report();
        }
        if self.recovery.undo_from != 0
            && range.end > self.recovery.undo_from
            && self.recovery.undo_retransmissions > 0
        {
            self.recovery.undo_retransmissions =
                (self.recovery.undo_retransmissions - segments as i32).max(0);
        }
    }
}
