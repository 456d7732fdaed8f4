//! The congestion window: slow start, avoidance, validation, and what each algorithm decides.

mod bbr;
mod cubic;
mod dctcp;
mod hystart;
mod model;
mod newreno;
mod validation;

use tailrace_units::{Span, Time};

use super::config::{CongestionControl, Growth, SlowStartExit, TcpConfig};
pub(super) use bbr::{Ack, Bbr, Path};
use cubic::Cubic;
use dctcp::Dctcp;
use hystart::SlowStart;
use model::Model;

/// No threshold yet: slow start goes on (Linux `TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// The window never falls below this many segments, except after a timeout.
const WINDOW_MIN: u32 = 2;

enum Algorithm {
    Cubic(Cubic),
    NewReno,
    Dctcp(Dctcp),
    Bbr(Box<Model>),
}

/// An acknowledgement as the congestion window sees it.
pub(super) struct Acked {
    pub(super) now: Time,
    /// Segments delivered.
    pub(super) segments: u32,
    /// Round trip of the newest of them, if known.
    pub(super) rtt: Option<Span>,
    /// Smoothed round trip; zero if unknown.
    pub(super) smoothed: Span,
    /// Bytes per segment.
    pub(super) mss: u32,
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// Next byte to send.
    pub(super) nxt: u64,
    /// The acknowledgement echoed a mark.
    pub(super) is_marked: bool,
}

/// Window and threshold in segments, as Linux counts them.
pub(super) struct Congestion {
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    /// Acknowledged segments towards the next segment of linear growth.
    count: u32,
    /// Upper limit of the window.
    clamp: u32,
    /// Initial window in segments.
    pub(super) initial: u32,
    /// Whether the window stopped the sender in the last flight, and the most segments that were in
    /// flight in it.
    is_limited: bool,
    max_packets_out: u32,
    /// That flight is over when everything up to here is acknowledged.
    usage_end: u64,
    /// Slow start after idle.
    restarts_after_idle: bool,
    /// Most segments in flight since the window was last the limit, and since when.
    used: u32,
    used_since: Time,
    growth: Growth,
    slow_start: SlowStart,
    algorithm: Algorithm,
}

impl Congestion {
    pub(super) fn new(config: &TcpConfig, flow_hash: u32) -> Congestion {
        Congestion {
            cwnd: config.initial_window_segments.max(1),
            ssthresh: NO_THRESHOLD,
            count: 0,
            clamp: u32::MAX,
            initial: config.initial_window_segments.max(1),
            is_limited: false,
            // Linux `tcp_slow_start_after_idle_check`: not with a model.
            restarts_after_idle: config.slow_start_after_idle
                && config.congestion_control != CongestionControl::Bbr,
            max_packets_out: 0,
            usage_end: 0,
            used: 0,
            used_since: Time::ZERO,
            growth: config.growth,
            slow_start: SlowStart::new(slow_start_exit(config)),
            algorithm: match config.congestion_control {
                CongestionControl::Cubic => {
                    Algorithm::Cubic(Cubic::new(config.reno_friendly, config.tick))
                }
                CongestionControl::NewReno => Algorithm::NewReno,
                CongestionControl::Dctcp => Algorithm::Dctcp(Dctcp::new()),
                CongestionControl::Bbr => {
                    Algorithm::Bbr(Box::new(Model::new(config.seed, flow_hash)))
                }
            },
        }
    }

    /// Limits the window to `cap_bytes` (0: not at all).
    pub(super) fn set_cap(&mut self, cap_bytes: u32, mss: u32) {
        if cap_bytes != 0 {
            self.clamp = (cap_bytes / mss).max(WINDOW_MIN);
            self.cwnd = self.cwnd.min(self.clamp);
        }
    }

    /// Whether a loss or a mark has set a threshold.
    pub(super) fn has_threshold(&self) -> bool {
        self.ssthresh < NO_THRESHOLD
    }

    #[inline]
    pub(super) fn is_in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Every segment is ECN-capable, and marks are echoed one by one.
    #[inline]
    pub(super) fn is_dctcp(&self) -> bool {
        matches!(self.algorithm, Algorithm::Dctcp(_))
    }

    /// A model of the path sets the window, in every state.
    #[inline]
    pub(super) fn is_model(&self) -> bool {
        matches!(self.algorithm, Algorithm::Bbr(_))
    }

    /// DCTCP's estimate of the marked share, in 1024ths; `None` for other algorithms.
    pub(super) fn marked_share_1024(&self) -> Option<u32> {
        match &self.algorithm {
            Algorithm::Dctcp(dctcp) => Some(dctcp.share_1024()),
            Algorithm::Cubic(_) | Algorithm::NewReno | Algorithm::Bbr(_) => None,
        }
    }

    /// Every acknowledgement passes here, in every state: round-trip samples and counts of marks.
    #[inline]
    pub(super) fn observe(&mut self, acked: &Acked) {
        if let Algorithm::Dctcp(dctcp) = &mut self.algorithm {
            dctcp.observe(acked);
        }
        let Some(rtt) = acked.rtt else { return };
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.observe(rtt);
        }
        if self.is_in_slow_start() && self.slow_start.observe(acked, rtt, self.cwnd) {
            self.ssthresh = self.cwnd;
        }
    }

    /// Grows the window, if the application used it.
    #[inline]
    pub(super) fn grow(&mut self, acked: &Acked) {
        if !self.was_limiting() {
            return;
        }
        let mut segments = match self.growth {
            Growth::Segments => acked.segments,
            Growth::Acknowledgements => acked.segments.min(1),
        };
        if self.is_in_slow_start() {
            segments = self.grow_in_slow_start(segments);
            if segments == 0 {
                return;
            }
        }
        let per_segment = match &mut self.algorithm {
            Algorithm::Cubic(cubic) => cubic.acks_per_segment(acked.now, self.cwnd, segments),
            Algorithm::NewReno | Algorithm::Dctcp(_) | Algorithm::Bbr(_) => {
                newreno::acks_per_segment(self.cwnd)
            }
        };
        self.grow_linearly(per_segment, segments);
    }

    /// Returns the segments that are left for congestion avoidance.
    fn grow_in_slow_start(&mut self, segments: u32) -> u32 {
        let growth = self.slow_start.growth(segments);
        let target = (self.cwnd + growth).min(self.ssthresh);
        let used = target - self.cwnd;
        self.cwnd = target.min(self.clamp);
        if used < growth { segments - used } else { 0 }
    }

    /// One segment more per `per_segment` acknowledged ones (Linux `tcp_cong_avoid_ai`).
    #[inline]
    fn grow_linearly(&mut self, per_segment: u32, segments: u32) {
        if self.count >= per_segment {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += segments;
        if self.count >= per_segment {
            let growth = self.count / per_segment;
            self.count -= growth * per_segment;
            self.cwnd += growth;
        }
        self.cwnd = self.cwnd.min(self.clamp);
    }

    /// The threshold after a loss or a mark; `by_mark` distinguishes them for DCTCP.
    pub(super) fn threshold_after_congestion(&mut self, by_mark: bool) -> u32 {
        self.count = 0;
        let threshold = match &mut self.algorithm {
            Algorithm::Cubic(cubic) => cubic.threshold(self.cwnd),
            Algorithm::Dctcp(dctcp) if by_mark => dctcp.threshold(self.cwnd),
            Algorithm::Dctcp(_) | Algorithm::NewReno => newreno::threshold(self.cwnd),
            Algorithm::Bbr(model) => {
                model.bbr.save_window(self.cwnd);
                self.ssthresh
            }
        };
        threshold.max(WINDOW_MIN)
    }

    /// A retransmission timeout: the measurements of the path are void.
    pub(super) fn handle_timeout(&mut self) {
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.reset();
        }
        self.slow_start.reset();
    }

    /// A reduction was needless.
    pub(super) fn undo(&mut self, prior_cwnd: u32, prior_ssthresh: u32) {
        let prior_cwnd = match &mut self.algorithm {
            Algorithm::Bbr(model) => {
                model.bbr.undo();
                self.cwnd
            }
            Algorithm::Cubic(_) | Algorithm::NewReno | Algorithm::Dctcp(_) => prior_cwnd,
        };
        self.cwnd = self.cwnd.max(prior_cwnd).min(self.clamp);
        self.ssthresh = self.ssthresh.max(prior_ssthresh);
    }
}

/// Linux has HyStart in `tcp_cubic.c` alone; HyStart++ (RFC 9406) is written for any algorithm.
fn slow_start_exit(config: &TcpConfig) -> SlowStartExit {
    match (config.slow_start_exit, config.congestion_control) {
        (SlowStartExit::Hystart, CongestionControl::NewReno | CongestionControl::Dctcp)
        | (_, CongestionControl::Bbr) => SlowStartExit::None,
        (exit, _) => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_window(cwnd: u32, ssthresh: u32) -> Congestion {
        Congestion { cwnd, ssthresh, ..Congestion::new(&TcpConfig::linux(1000), 0) }
    }

    /// Linux `tcp_cwnd_restart`: halved per timeout of silence, and slow start goes back to three
    /// quarters of its threshold.
    #[test]
    fn after_silence_slow_start_goes_back_to_three_quarters_of_the_window() {
        let timeout = Span::from_ms(300);
        let mut congestion = with_window(40, 20);
        congestion.restart(Time::ZERO + Span::from_secs(9), Span::from_ms(500), timeout);
        assert_eq!((congestion.cwnd, congestion.ssthresh), (20, 30));
        let mut higher = with_window(40, 35);
        higher.restart(Time::ZERO + Span::from_secs(9), Span::from_ms(500), timeout);
        assert_eq!((higher.cwnd, higher.ssthresh), (20, 35));
    }

    /// RFC 2861, Linux `tcp_cwnd_application_limited`: half-way towards the used window, and the
    /// same memory.
    #[test]
    fn an_unused_window_shrinks_half_way_and_its_threshold_remembers_three_quarters() {
        let mut congestion = with_window(40, 20);
        congestion.used = 20;
        congestion.shrink_unused(Time::ZERO + Span::from_secs(9));
        assert_eq!((congestion.cwnd, congestion.ssthresh), (30, 30));
    }

    /// CUBIC's result is kept for the rest of a tick: of the host's.
    #[test]
    fn cubic_counts_the_ticks_of_its_host() {
        let grown = |tick| {
            let config = TcpConfig { tick, ..TcpConfig::linux(1000) };
            let mut congestion =
                Congestion { cwnd: 100, is_limited: true, ..Congestion::new(&config, 0) };
            congestion.ssthresh = congestion.threshold_after_congestion(false);
            congestion.cwnd = congestion.ssthresh;
            let at = |us| Acked { now: Time::ZERO + Span::from_us(us), ..acked(40) };
            (0..400).for_each(|step| congestion.grow(&at(4_000 + 500 * step)));
            congestion.cwnd
        };
        let [fine, coarse, none] = [Span::from_ms(1), Span::from_ms(4), Span::ZERO].map(grown);
        assert!(fine != coarse && none == coarse, "{fine} {coarse} {none}");
    }

    fn acked(segments: u32) -> Acked {
        let span = Span::from_ms(10);
        Acked {
            now: Time::ZERO,
            segments,
            rtt: None,
            smoothed: span,
            mss: 1000,
            una: 0,
            nxt: 0,
            is_marked: false,
        }
    }

    #[test]
    fn an_acknowledgement_counts_for_its_segments_or_for_one() {
        for (growth, grown) in [(Growth::Segments, 18), (Growth::Acknowledgements, 14)] {
            let mut congestion =
                Congestion { is_limited: true, growth, ..with_window(10, NO_THRESHOLD) };
            (0..4).for_each(|_| congestion.grow(&acked(2)));
            assert_eq!(congestion.cwnd, grown, "{growth:?}");
        }
    }
}
