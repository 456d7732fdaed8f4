//! BBR, version 1, in the integer arithmetic of Linux 6.1 (`tcp_bbr.c`; Cardwell et al., ACM Queue
//! 14(5), 2016): the window and the pace follow a model of the path, the largest recent delivery
//! rate and the smallest recent round trip, and not losses.
//!
//! [`Bbr::handle_ack`] brings the model up to date (`model`, with `aggregation` and `policer`),
//! moves from one phase to the next (`phases`), and sets pace and window (`window`).

mod aggregation;
mod model;
mod phases;
mod policer;
mod window;
mod windowed_max;

use tailrace_units::{RandomStream, Time};

use crate::tcp::delivery_rate::{RateSample, Sampler};
use crate::tcp::pacing::{Pace, Paced};
use crate::tcp::recovery::State;
use crate::tick::TICK;
use aggregation::Aggregation;
use policer::LongTerm;
use windowed_max::WindowedMax;

/// Rates are in segments per microsecond, times this (Linux `BW_UNIT`, 2^24).
const RATE_UNIT: u64 = 1 << 24;
/// Gains are in 256ths (Linux `BBR_UNIT`).
const UNIT: u32 = 1 << 8;
/// 2 / ln 2: the smallest gain of the pace with which the rate doubles in each round (Linux
/// `bbr_high_gain`).
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
/// The pace stays so many per cent below the rate (Linux `bbr_pacing_margin_percent`).
const PACE_MARGIN_PERCENT: u64 = 1;
/// Window of the smallest segments that keep acknowledgements coming (Linux `bbr_cwnd_min_target`).
const WINDOW_MIN: u32 = 4;
/// Before the first round trip is measured (Linux uses 1 ms).
const FIRST_RTT_US: u64 = 1000;
/// Below this pace in bytes per second, 1.2 Mbit/s, a burst may be a single segment (Linux
/// `bbr_min_tso_rate`).
const SINGLE_SEGMENT_RATE: u64 = 1_200_000 / 8;
/// Linux `bbr_tso_segs_goal`: a burst of 64 KiB less room for headers, and at most 127 segments.
const BURST_BYTES_MAX: u64 = 65_536 - 1 - 320;
const BURST_SEGMENTS_MAX: u64 = 127;
/// Linux `TCP_INIT_CWND`.
const INITIAL_WINDOW: u32 = 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The rate doubles in each round.
    Startup,
    /// The queue of the start is drained.
    Drain,
    /// The pace goes through a cycle of gains around the rate.
    ProbeBandwidth,
    /// Four segments in flight, to measure the round trip of an empty path.
    ProbeRtt,
}

/// The state of the connection when an acknowledgement has been read.
pub(in crate::tcp) struct Ack<'a> {
    pub(in crate::tcp) now: Time,
    pub(in crate::tcp) sample: RateSample,
    pub(in crate::tcp) state: State,
    /// Segments in flight now.
    pub(in crate::tcp) in_flight: u32,
    /// Segments lost since the connection began.
    pub(in crate::tcp) lost: u64,
    pub(in crate::tcp) path: Path,
    pub(in crate::tcp) paced: &'a mut Paced,
}

/// Measurements of the path by other modules.
#[derive(Clone, Copy)]
pub(in crate::tcp) struct Path {
    pub(in crate::tcp) mss: u32,
    /// Smoothed round trip in microseconds, if one was measured.
    pub(in crate::tcp) smoothed_us: Option<u64>,
    /// The smallest, if one was measured.
    pub(in crate::tcp) minimum_us: Option<u64>,
}

/// The window and the threshold of the connection, which BBR sets.
pub(in crate::tcp) struct Window<'a> {
    pub(in crate::tcp) cwnd: &'a mut u32,
    pub(in crate::tcp) ssthresh: &'a mut u32,
    pub(in crate::tcp) clamp: u32,
}

/// The model and the state machine.
pub(in crate::tcp) struct Bbr {
    phase: Phase,
    /// Largest delivery rate of ten rounds.
    rate: WindowedMax,
    /// Smallest round trip of ten seconds, and the tick in which it was measured.
    min_rtt_us: u64,
    min_rtt_tick: u64,
    /// A round is over when a segment is acknowledged that was sent after this many had been
    /// delivered.
    round_end: u64,
    rounds: u32,
    is_round_start: bool,
    /// When the phase of the cycle began, and which it is.
    cycle_since_us: u64,
    cycle_index: u32,
    pace_gain: u32,
    window_gain: u32,
    /// The rate that growth is compared with, the rounds without it, and whether the path is taken
    /// to be full.
    full_rate: u32,
    full_rounds: u8,
    is_full: bool,
    /// Window before recovery, or before the round trip was probed.
    prior_cwnd: u32,
    prior_state: State,
    /// In the first round of recovery a segment is sent for each that is delivered.
    conserves_packets: bool,
    /// Tick after which probing the round trip may end; 0 before few enough segments were in
    /// flight.
    probe_done_tick: u64,
    is_probe_round_done: bool,
    /// The application has sent again after a silence, and nothing of that has been acknowledged.
    is_restarting: bool,
    has_seen_rtt: bool,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// Where the cycle of a connection begins.
    stream: RandomStream,
    segment_bytes: u32,
}

impl Bbr {
    pub(in crate::tcp) fn new(seed: u64, flow_hash: u32) -> Bbr {
        Bbr {
            phase: Phase::Startup,
            rate: WindowedMax::default(),
            min_rtt_us: u64::MAX,
            min_rtt_tick: 0,
            round_end: 1,
            rounds: 0,
            is_round_start: false,
            cycle_since_us: 0,
            cycle_index: 0,
            pace_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            full_rate: 0,
            full_rounds: 0,
            is_full: false,
            prior_cwnd: 0,
            prior_state: State::Open,
            conserves_packets: false,
            probe_done_tick: 0,
            is_probe_round_done: false,
            is_restarting: false,
            has_seen_rtt: false,
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            stream: RandomStream::new(seed, &format!("bbr/{flow_hash}")),
            segment_bytes: 0,
        }
    }

    /// The connection is open (Linux `bbr_init`).
    pub(in crate::tcp) fn start(&mut self, now: Time, cwnd: u32, path: Path, pace: &mut Pace) {
        self.segment_bytes = path.mss;
        self.min_rtt_us = path.minimum_us.unwrap_or(u64::MAX);
        self.min_rtt_tick = ticks(now);
        self.aggregation.restart(now);
        self.start_pace(cwnd, path, pace);
    }

    /// Linux `bbr_main`.
    pub(in crate::tcp) fn handle_ack(&mut self, ack: &mut Ack<'_>, window: &mut Window<'_>) {
        self.segment_bytes = ack.path.mss;
        self.update_rate(ack);
        self.update_aggregation(ack, *window.cwnd);
        self.advance_cycle(ack);
        self.judge_fullness(&ack.sample);
        self.drain(ack, window);
        self.update_min_rtt(ack, window);
        self.update_gains();
        self.set_pace(ack, *window.cwnd);
        self.set_window(ack, window);
    }

    /// The rate in use: that of a policer, if there seems to be one.
    fn rate(&self) -> u32 {
        self.long_term.rate_in_use().unwrap_or(self.rate.value())
    }
}

/// The round of a jiffy, in which Linux keeps when the round trip was measured.
fn ticks(now: Time) -> u64 {
    now.ps() / TICK.ps()
}

#[cfg(test)]
mod tests;
