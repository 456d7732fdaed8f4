//! The receive window: its announcement, its growth, and the tuning of the buffer (Linux's dynamic
//! right-sizing).

use tailrace_units::{Span, Time};

use super::memory::Memory;
use crate::tcp::config::TcpConfig;
use crate::tcp::sender::FIRST_BYTE;

/// The first window fits the 16 bits of the header, whatever the buffer (Linux
/// `tcp_select_initial_window`).
const FIRST_WINDOW_MAX: u64 = 65_535;
/// Largest shift of the window scale option (RFC 7323 section 2.3).
const SHIFT_MAX: u32 = 14;
/// Segments shorter than this do not open the window further (Linux `tcp_event_data_recv`).
const GROWTH_PAYLOAD_MIN: u64 = 128;
/// Room below this part of the buffer is not announced (Linux `__tcp_select_window`).
const ROOM_DIVISOR: u64 = 16;
/// A new measurement counts one part in so many in the round trip (Linux `tcp_rcv_rtt_update`).
const ROUND_TRIP_DIVISOR: u64 = 8;
/// Slack of the tuned buffer in segments (Linux `tcp_rcv_space_adjust`).
const TUNE_SLACK_SEGMENTS: u64 = 16;
/// Clock of the timestamp option (Linux `TCP_TS_HZ`, 1000 per second).
const TIMESTAMP_TICK: Span = Span::from_ms(1);

/// The announced window and its components, in bytes.
pub(crate) struct ReceiveWindow {
    /// Right edge: announced, and never taken back.
    pub(crate) end: u64,
    buffer: u64,
    buffer_max: u64,
    /// Of the buffer so much is never announced: a segment, until the buffer is tuned (Linux
    /// `tcp_init_buffer_space`). So one that waits to be read takes nothing off the window.
    reserved: u16,
    memory: Memory,
    /// The window opens to this at most: it grows with what arrives, so that a sudden sender does
    /// not fill a large buffer.
    threshold: u32,
    /// The offer of an empty buffer when neither buffer nor threshold will grow further; 0 until
    /// then.
    steady_offer: u32,
    /// Bytes per unit of the announced window.
    unit: u32,
    tuning: Tuning,
}

/// Measures what the application takes per round trip. The round trip is the time in which one
/// window arrives.
struct Tuning {
    /// Bytes read in the best round trip so far.
    copied_before: u64,
    /// Where this round trip began in the stream, and when.
    measured_from: u64,
    measured_since: Time,
    /// Right edge of the window whose arrival is timed, and since when.
    window_end: u64,
    window_since: Time,
    /// Smoothed; zero before the first measurement.
    round_trip: Span,
}

impl ReceiveWindow {
    pub(crate) fn new(config: &TcpConfig) -> ReceiveWindow {
        let buffer_max = config.receive_buffer.maximum.max(config.receive_buffer.initial);
        let shift = (0..SHIFT_MAX)
            .find(|shift| buffer_max >> shift <= FIRST_WINDOW_MAX)
            .unwrap_or(SHIFT_MAX);
        let buffer_max = buffer_max.min(FIRST_WINDOW_MAX << shift); // more cannot be announced
        let first = whole_segments(config.receive_buffer.initial.min(FIRST_WINDOW_MAX), config.mss);
        let buffer = config.receive_buffer.initial.min(buffer_max);
        let mss = u64::from(config.mss);
        let reserved = mss.min(buffer.saturating_sub(2 * mss)) as u16;
        let copied_before =
            first.min(u64::from(config.initial_window_segments) * u64::from(config.mss)).max(1);
        ReceiveWindow {
            end: FIRST_BYTE + first,
            buffer,
            buffer_max,
            reserved,
            memory: Memory::new(config.mss, config.segment_memory),
            // of 2^30 at most, as the buffer
            threshold: first.min(buffer - u64::from(reserved)) as u32,
            steady_offer: 0,
            unit: 1 << shift,
            tuning: Tuning {
                copied_before,
                measured_from: FIRST_BYTE,
                measured_since: Time::ZERO,
                window_end: FIRST_BYTE + first,
                window_since: Time::ZERO,
                round_trip: Span::ZERO,
            },
        }
    }

    /// The window field of a segment that acknowledges up to `next`.
    #[inline]
    pub(crate) fn announced(&self, next: u64) -> u32 {
        (self.end - next) as u32
    }

    /// The connection is established: the first round trip is known, and the first window begins.
    pub(crate) fn start(&mut self, now: Time, round_trip: Span) {
        self.tuning.round_trip = round_trip;
        self.tuning.measured_since = now;
        self.tuning.window_since = now;
    }

    /// The peer's round trip as the receiver knows it: from the clock of its timestamps, which is a
    /// millisecond (Linux `tcp_rcv_rtt_measure_ts`).
    pub(crate) fn round_trip(&self) -> Span {
        self.tuning.round_trip.max(TIMESTAMP_TICK)
    }

    /// Current buffer size.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// The most that is ever announced.
    #[inline]
    fn clamp(&self) -> u64 {
        self.buffer - u64::from(self.reserved)
    }

    /// The rest of the window with `held` bytes in the buffer.
    #[inline]
    fn free(&self, held: u64) -> u64 {
        self.buffer.saturating_sub(self.memory.of(held))
    }

    /// The window that may be announced with `held` bytes in the buffer, in whole units. None
    /// rather than a silly one (RFC 9293 section 3.8.6.2.2): of a buffer more than half full only
    /// room for a segment and for a sixteenth of it counts (Linux `__tcp_select_window`).
    #[inline]
    pub(crate) fn offer(&self, held: u64, mss: u32) -> u64 {
        let free = self.free(held);
        let room = if free < self.clamp() / 2 { self.scarce_room(free, mss) } else { free };
        self.rounded(room.min(self.threshold.into()))
    }

    #[cold]
    fn scarce_room(&self, free: u64, mss: u32) -> u64 {
        // rounding up must not announce room that is not there
        let whole = free & !(u64::from(self.unit) - 1);
        let is_silly =
            whole < self.buffer / ROOM_DIVISOR || whole < u64::from(mss).min(self.buffer);
        if is_silly { 0 } else { whole }
    }

    /// Less than half of the buffer is free.
    pub(crate) fn is_scarce(&self, held: u64) -> bool {
        self.free(held) < self.clamp() / 2
    }

    /// [`ReceiveWindow::grow`], [`ReceiveWindow::tune`] and [`ReceiveWindow::open`] for `payload`
    /// bytes that were read at once and have left an empty buffer, which has room for the
    /// threshold. Returns whether the window opened further.
    #[inline(always)]
    pub(crate) fn follow(&mut self, now: Time, next: u64, payload: u64, mss: u32) -> bool {
        if self.steady_offer != 0 {
            self.end = self.end.max(next + u64::from(self.steady_offer));
            return false;
        }
        let has_grown = self.grow(payload, payload, mss);
        self.tune(now, next, mss);
        self.end = self.end.max(next + self.rounded(self.threshold.into()));
        has_grown
    }

    /// The threshold is where it stays if the buffer does.
    #[cold]
    fn note_steady(&mut self) {
        if self.buffer >= self.buffer_max && u64::from(self.threshold) >= self.clamp() {
            self.steady_offer = self.rounded(self.threshold.into()) as u32;
        }
    }

    /// In whole units.
    #[inline]
    fn rounded(&self, bytes: u64) -> u64 {
        let unit = u64::from(self.unit);
        (bytes + unit - 1) & !(unit - 1)
    }

    /// Moves the right edge as far as the buffer has room, with `held` bytes in it.
    #[inline]
    pub(crate) fn open(&mut self, next: u64, held: u64, mss: u32) {
        self.end = self.end.max(next + self.offer(held, mss));
    }

    /// A segment leaves that announces `offer`. The rest of an earlier window stays, in whole units
    /// (Linux `tcp_select_window`).
    pub(crate) fn announce(&mut self, next: u64, offer: u64) {
        let left = self.rounded(self.end - next);
        self.end = next + left.max(offer);
    }

    /// `payload` bytes arrived: twice as many may come next, as far as there is room beside the
    /// `unread` ones, these among them (Linux `tcp_grow_window`). Returns whether the window opened
    /// further.
    #[inline]
    pub(crate) fn grow(&mut self, payload: u64, unread: u64, mss: u32) -> bool {
        let threshold = u64::from(self.threshold);
        if threshold >= self.clamp() || payload < GROWTH_PAYLOAD_MIN {
            return false;
        }
        let most = self.clamp().min(self.free(unread));
        if threshold >= most {
            return false;
        }
        let growth = 2 * payload.max(u64::from(mss));
        self.threshold = (threshold + growth).min(most) as u32;
        if threshold + growth >= most {
            self.note_steady();
        }
        true
    }

    /// Everything before `next` has arrived and was read at once.
    #[inline]
    pub(crate) fn tune(&mut self, now: Time, next: u64, mss: u32) {
        if self.buffer < self.buffer_max {
            self.tuning.measure_round_trip(now, next, self.end);
            self.tune_to_reader(now, next, mss);
        }
    }

    /// Everything before `next` has arrived.
    pub(crate) fn time_arrival(&mut self, now: Time, next: u64) {
        if self.buffer < self.buffer_max {
            self.tuning.measure_round_trip(now, next, self.end);
        }
    }

    /// Everything before `read` was read. Once per round trip: if more was read than ever, the
    /// buffer becomes twice that, and more while the rate grows (Linux `tcp_rcv_space_adjust`).
    #[inline]
    pub(crate) fn tune_to_reader(&mut self, now: Time, read: u64, mss: u32) {
        let tuning = &mut self.tuning;
        if self.buffer >= self.buffer_max || now.since(tuning.measured_since) < tuning.round_trip {
            return;
        }
        let copied = read - tuning.measured_from;
        let before = tuning.copied_before;
        if copied > before {
            let window = 2 * copied + TUNE_SLACK_SEGMENTS * u64::from(mss);
            let growth = u128::from(window) * u128::from(copied - before) / u128::from(before);
            let wanted = u128::from(window) + 2 * growth;
            let wanted = wanted.min(u128::from(self.buffer_max)) as u64;
            if wanted > self.buffer {
                self.buffer = wanted;
                self.reserved = 0;
            }
            tuning.copied_before = copied;
        }
        tuning.measured_from = read;
        tuning.measured_since = now;
    }
}

/// The first window is of whole segments, if it holds one (Linux `tcp_select_initial_window`).
fn whole_segments(window: u64, mss: u32) -> u64 {
    let mss = u64::from(mss);
    if window > mss { window - window % mss } else { window }
}

impl Tuning {
    fn measure_round_trip(&mut self, now: Time, next: u64, window_end: u64) {
        if next < self.window_end {
            return;
        }
        let old = self.round_trip;
        let measured = now.since(self.window_since);
        self.round_trip =
            old.less(old.part(ROUND_TRIP_DIVISOR)) + measured.part(ROUND_TRIP_DIVISOR);
        self.window_end = window_end;
        self.window_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Buffer;

    /// Linux `tcp_init_buffer_space` keeps one segment of a fixed buffer back. Up to that, unread
    /// bytes take nothing off the window, so they are answered at once; beyond it they take half of
    /// their memory, here half a byte for each byte.
    #[test]
    fn one_segment_of_a_fixed_buffer_is_not_announced() {
        let receive_buffer = Buffer { initial: 50_000, maximum: 50_000 };
        let mut window = ReceiveWindow::new(&TcpConfig {
            receive_buffer,
            segment_memory: 1_000,
            ..TcpConfig::linux(1_000)
        });
        (0..100).for_each(|_| _ = window.grow(1_000, 1_000, 1_000));
        assert_eq!(
            [0, 1_000, 2_000, 3_000, 10_000].map(|unread| window.offer(unread, 1_000)),
            [49_000, 49_000, 49_000, 48_500, 45_000]
        );
    }
}
