//! The model alone, acknowledgement by acknowledgement, in place of a path.

use tailrace_units::Span;

use super::*;

const MSS: u32 = 1000;
/// Segments in each round of an imagined path of 20 ms.
const ROUND_US: u64 = 20_000;

struct Rig {
    bbr: Bbr,
    paced: Paced,
    now: Time,
    cwnd: u32,
    ssthresh: u32,
    lost: u64,
}

fn rig() -> Rig {
    let mut rig = Rig {
        bbr: Bbr::new(1, 1),
        paced: Paced::new(),
        now: Time::ZERO + Span::from_secs(1),
        cwnd: 10,
        ssthresh: u32::MAX,
        lost: 0,
    };
    let path = Path { mss: MSS, smoothed_us: Some(ROUND_US), minimum_us: Some(ROUND_US) };
    rig.bbr.start(rig.now, rig.cwnd, path, &mut rig.paced.pace);
    rig
}

impl Rig {
    /// One acknowledgement for a round in which so many segments were delivered and so many lost.
    fn round(&mut self, delivered: u32, lost: u32) {
        self.now += Span::from_us(ROUND_US);
        self.lost += u64::from(lost);
        let sampler = &mut self.paced.sampler;
        let prior_delivered = sampler.delivered;
        sampler.delivered += u64::from(delivered);
        sampler.delivered_at = self.now;
        let sample = RateSample {
            delivered: u64::from(delivered),
            interval_us: Some(ROUND_US),
            prior_delivered,
            acked: delivered,
            lost,
            prior_in_flight: self.cwnd,
            rtt_us: Some(ROUND_US),
            ..RateSample::default()
        };
        let path = Path { mss: MSS, smoothed_us: Some(ROUND_US), minimum_us: Some(ROUND_US) };
        let (now, lost) = (self.now, self.lost);
        let mut ack = Ack {
            now,
            sample,
            state: State::Open,
            in_flight: delivered,
            lost,
            path,
            paced: &mut self.paced,
        };
        let mut window =
            Window { cwnd: &mut self.cwnd, ssthresh: &mut self.ssthresh, clamp: u32::MAX };
        self.bbr.handle_ack(&mut ack, &mut window);
    }
}

/// Linux `bbr_init_pacing_rate_from_rtt`: 2.885 windows per round trip, less one per cent.
#[test]
fn the_first_pace_is_that_of_a_window_per_round_trip_with_the_high_gain() {
    let wanted = 10.0 * f64::from(MSS) / 0.02 * 739.0 / 256.0 * 0.99;
    let pace = rig().paced.pace.rate as f64;
    assert!((pace / wanted - 1.0).abs() < 1e-3, "{pace}, {wanted}");
}

/// Three rounds without a quarter more fill the path.
#[test]
fn the_start_ends_when_the_rate_has_not_grown_for_three_rounds() {
    let mut rig = rig();
    for delivered in [10, 20, 40, 80] {
        rig.round(delivered, 0);
        assert_eq!(rig.bbr.phase, Phase::Startup);
    }
    for _ in 0..2 {
        rig.round(99, 0); // less than a quarter more than 80
        assert_eq!(rig.bbr.phase, Phase::Startup);
    }
    rig.round(99, 0);
    assert_ne!(rig.bbr.phase, Phase::Startup);
    assert!(rig.bbr.is_full);
}

/// A quarter more begins the count again.
#[test]
fn growth_keeps_the_start_going() {
    let mut rig = rig();
    for delivered in [80, 90, 95, 101, 110, 120, 127, 130] {
        rig.round(delivered, 0);
        assert_eq!(rig.bbr.phase, Phase::Startup, "{delivered}");
    }
}

/// The cycle: each phase takes a round trip, the gains are those of the list, and their mean is
/// one.
#[test]
fn the_cycle_probes_once_in_eight_round_trips() {
    let mut rig = rig();
    for _ in 0..20 {
        rig.round(100, 0);
    }
    assert_eq!(rig.bbr.phase, Phase::ProbeBandwidth);
    let mut gains = Vec::new();
    for _ in 0..64 {
        // The data in flight follows the gain, as that of a paced connection does.
        rig.cwnd = 1_000;
        rig.now += Span::from_us(1);
        rig.round(100, 0);
        gains.push(rig.bbr.pace_gain);
    }
    for gain in [320, 192] {
        let count = gains.iter().filter(|&&found| found == gain).count();
        assert!((7..=9).contains(&count), "{gain}: {gains:?}");
    }
    for pair in gains.windows(2).filter(|pair| pair[0] == 320) {
        assert_eq!(pair[1], 192, "what a probe has queued is drained");
    }
}

/// Connections that begin together do not probe together, and none begins with draining.
#[test]
fn cycles_begin_at_different_phases() {
    let mut places = std::collections::BTreeSet::new();
    for flow in 0..200 {
        let mut bbr = Bbr::new(1, flow);
        bbr.start_cycle(&Paced::new().sampler);
        places.insert(bbr.cycle_index);
    }
    assert_eq!(places.into_iter().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 6, 7]);
}

/// A fifth of the segments lost in two intervals of the same rate: a policer, whose rate is kept
/// for 48 rounds.
#[test]
fn a_policer_is_recognised_and_its_rate_kept_for_48_rounds() {
    let mut rig = rig();
    for _ in 0..20 {
        rig.round(100, 0);
    }
    let mut rounds = 0;
    while rig.bbr.long_term.rate_in_use().is_none() {
        rig.round(50, 20);
        rounds += 1;
        assert!(rounds < 20);
    }
    assert!(rounds >= 8, "two intervals of four rounds: {rounds}");
    let rate = f64::from(rig.bbr.rate()) * ROUND_US as f64 / RATE_UNIT as f64;
    assert!((49.0..51.0).contains(&rate), "{rate} segments in a round");
    let mut kept = 0;
    while rig.bbr.long_term.rate_in_use().is_some() {
        rig.round(50, 0);
        kept += 1;
        assert!(kept < 100);
    }
    assert_eq!(kept, 48);
}

#[test]
fn few_losses_are_no_policer() {
    let mut rig = rig();
    for _ in 0..100 {
        rig.round(100, 10); // less than a fifth
        assert_eq!(rig.bbr.long_term.rate_in_use(), None);
    }
}

/// Linux `bbr_set_cwnd`: twice the product, and room for three bursts.
#[test]
fn the_window_is_two_products_and_three_bursts() {
    let mut rig = rig();
    for _ in 0..30 {
        rig.round(100, 0);
    }
    let bursts = 3 * rig.bbr.burst_goal(rig.paced.pace);
    let wanted = 200 + rig.bbr.aggregated_segments() + bursts;
    assert!(
        (wanted..=wanted + 4).contains(&rig.cwnd),
        "{}, wanted {wanted}, bursts {bursts}",
        rig.cwnd
    );
}
