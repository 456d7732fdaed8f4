//! CUBIC (RFC 9438) in the integer arithmetic of Linux: time in clock ticks and 1024ths of a
//! second, window in segments.

use tailrace_units::{Span, Time};

use crate::tick::TICK;

/// Multiplicative decrease in 1024ths: 0.7 (RFC 9438 section 4.6; Linux `beta`).
const BETA: u64 = 717;
/// 1024ths.
const ONE: u64 = 1024;
/// C times 1024: 0.4 (RFC 9438 section 5.1; Linux `bic_scale` 41 x 10).
const C_1024: u64 = 410;
/// (time in 1024ths)^3 x C_1024 is shifted by this: 10 for C and 3 x 10 for the time.
const SHIFT: u32 = 40;
/// 8 x (1 + beta) / (3 (1 - beta)): Reno-friendly growth, eighths of the window per segment (Linux
/// `beta_scale`).
const FRIENDLY_8: u64 = 8 * (ONE + BETA) / 3 / (ONE - BETA);
const US_PER_S: u64 = 1_000_000;
/// The result for a window that stands still is kept for this part of a second, in whole ticks
/// (Linux: HZ / 32).
const KEPT_DIVISOR: u64 = 32;
const PS_PER_US: u64 = 1_000_000;
/// No epoch runs.
const NONE: u64 = u64::MAX;
/// The window grows by at most half per round trip (Linux).
const PER_SEGMENT_MIN: u32 = 2;
/// Before the first loss: at least one segment per this many (Linux).
const ACKS_BEFORE_LOSS_MAX: u64 = 20;
/// Growth that is as good as none: one segment per this many windows.
const WINDOWS_AT_PLATEAU: u64 = 100;

/// The state of one epoch, from one reduction to the next.
pub(super) struct Cubic {
    /// Window before the last reduction, lowered by fast convergence; 0 before the first loss.
    last_max: u32,
    /// Window at the last evaluation.
    last_cwnd: u32,
    per_segment: u32,
    /// Tick in which the last reduction was over; [`NONE`] while no epoch runs.
    epoch: u64,
    /// The last result is kept before this, if the window stands still.
    kept_until: Time,
    /// When the curve reaches its origin, in 1024ths of a second after the epoch's start.
    k_1024: u32,
    origin: u32,
    delay_min: Span,
    /// The window that Reno would have by now, and acknowledgements towards its next segment.
    reno_cwnd: u32,
    reno_acks: u32,
    is_reno_friendly: bool,
    /// The clock tick in microseconds.
    tick_us: u16,
}

impl Cubic {
    /// With the clock tick of its host, of up to 65 ms. A kernel always has one: for a host without
    /// it is that of Debian's.
    pub(super) fn new(is_reno_friendly: bool, tick: Span) -> Cubic {
        let tick_us = match tick.ps() / PS_PER_US {
            0 => TICK.ps() / PS_PER_US,
            us => us,
        };
        Cubic::of(is_reno_friendly, u16::try_from(tick_us).unwrap_or(u16::MAX))
    }

    fn of(is_reno_friendly: bool, tick_us: u16) -> Cubic {
        Cubic {
            last_max: 0,
            last_cwnd: 0,
            per_segment: 0,
            epoch: NONE,
            kept_until: Time::ZERO,
            k_1024: 0,
            origin: 0,
            delay_min: Span::FOREVER,
            reno_cwnd: 0,
            reno_acks: 0,
            is_reno_friendly,
            tick_us,
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Cubic::of(self.is_reno_friendly, self.tick_us);
    }

    #[inline]
    pub(super) fn observe(&mut self, rtt: Span) {
        self.delay_min = self.delay_min.min(rtt);
    }

    /// Idle time does not count as time to grow in.
    pub(super) fn skip_idle(&mut self, now: Time, idle: Span) {
        if self.epoch != NONE {
            self.epoch = (self.epoch + idle.ps() / self.tick().ps()).min(self.ticks(now));
        }
    }

    /// The threshold after a loss. A flow that has less than last time leaves room to newcomers
    /// (fast convergence).
    pub(super) fn threshold(&mut self, cwnd: u32) -> u32 {
        self.epoch = NONE;
        let is_shrinking = cwnd < self.last_max;
        self.last_max =
            if is_shrinking { (u64::from(cwnd) * (ONE + BETA) / (2 * ONE)) as u32 } else { cwnd };
        (u64::from(cwnd) * BETA / ONE) as u32
    }

    /// Acknowledged segments for one segment of growth (Linux `bictcp_update`).
    ///
    /// A result is kept for the rest of the tick, and while the window stands still for 28 ms
    /// with ticks of 4 ms, 31 ms with 1 ms. With round trips far below that the Reno-friendly part
    /// lags, and catches up in bursts: RFC 9438 would follow every acknowledgement, Linux does not.
    #[inline]
    pub(super) fn acks_per_segment(&mut self, now: Time, cwnd: u32, acked: u32) -> u32 {
        self.reno_acks += acked;
        if self.last_cwnd == cwnd && now < self.kept_until {
            return self.per_segment;
        }
        if self.epoch == NONE || now + self.kept() >= self.kept_until {
            let tick = self.ticks(now);
            self.last_cwnd = cwnd;
            self.kept_until = Time::ZERO + self.tick().times(tick + 1) + self.kept();
            self.per_segment = self.evaluate(tick, cwnd, acked);
        }
        self.per_segment = self.reno_friendly(cwnd).max(PER_SEGMENT_MIN);
        self.per_segment
    }

    fn evaluate(&mut self, tick: u64, cwnd: u32, acked: u32) -> u32 {
        if self.epoch == NONE {
            self.start_epoch(tick, cwnd, acked);
        }
        let delay = if self.delay_min == Span::FOREVER {
            0
        } else {
            self.delay_min.ps().div_ceil(self.tick().ps())
        };
        let t = (tick - self.epoch + delay) * u64::from(self.tick_us) * ONE / US_PER_S;
        let distance = t.abs_diff(u64::from(self.k_1024));
        let cube =
            u128::from(C_1024) * u128::from(distance) * u128::from(distance) * u128::from(distance);
        let delta = u64::try_from(cube >> SHIFT).unwrap_or(u64::MAX).min(u64::from(u32::MAX));
        let origin = u64::from(self.origin);
        let target =
            if t < u64::from(self.k_1024) { origin.saturating_sub(delta) } else { origin + delta };
        let cwnd = u64::from(cwnd);
        let per_segment =
            if target > cwnd { cwnd / (target - cwnd) } else { WINDOWS_AT_PLATEAU * cwnd };
        let limit = if self.last_max == 0 { ACKS_BEFORE_LOSS_MAX } else { u64::from(u32::MAX) };
        per_segment.min(limit) as u32
    }

    fn tick(&self) -> Span {
        Span::from_us(self.tick_us.into())
    }

    /// Ticks since time 0.
    fn ticks(&self, time: Time) -> u64 {
        time.ps() / self.tick().ps()
    }

    /// How long a result is kept after its tick.
    fn kept(&self) -> Span {
        self.tick().times(US_PER_S / u64::from(self.tick_us) / KEPT_DIVISOR)
    }

    fn start_epoch(&mut self, tick: u64, cwnd: u32, acked: u32) {
        self.epoch = tick;
        self.reno_acks = acked;
        self.reno_cwnd = cwnd;
        if self.last_max <= cwnd {
            self.k_1024 = 0;
            self.origin = cwnd;
        } else {
            self.k_1024 =
                cube_root((1_u64 << SHIFT) / C_1024 * u64::from(self.last_max - cwnd)) as u32;
            self.origin = self.last_max;
        }
    }

    /// Never slower than Reno with the same decrease would be (RFC 9438 section 4.3).
    #[inline]
    fn reno_friendly(&mut self, cwnd: u32) -> u32 {
        let per_segment = ((u64::from(cwnd) * FRIENDLY_8) >> 3).max(1) as u32;
        if self.reno_acks > per_segment {
            let growth = (self.reno_acks - 1) / per_segment;
            self.reno_acks -= growth * per_segment;
            self.reno_cwnd += growth;
        }
        if self.is_reno_friendly && self.reno_cwnd > cwnd {
            self.per_segment.min(cwnd / (self.reno_cwnd - cwnd))
        } else {
            self.per_segment
        }
    }
}

/// The whole part of the cube root, bit by bit.
fn cube_root(value: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let candidate = root | 1 << bit;
        if candidate * candidate * candidate <= value {
            root = candidate;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_exact() {
        for root in [0_u64, 1, 2, 3, 10, 1000, 12_345, 2_000_000] {
            assert_eq!(cube_root(root * root * root), root);
            assert_eq!(cube_root(root * root * root + root), root);
        }
    }

    /// Acknowledges one window per `rtt`, evenly, and returns the window after `span`.
    fn window_after(cubic: &mut Cubic, start: u32, rtt: Span, span: Span) -> u32 {
        let (mut cwnd, mut count, mut now) = (start, 0, Time::from_ps(1));
        cubic.observe(rtt);
        let end = now + span;
        while now < end {
            let per_segment = cubic.acks_per_segment(now, cwnd, 1);
            count += 1;
            if count >= per_segment {
                cwnd += 1;
                count = 0;
            }
            now += rtt.part(u64::from(cwnd));
        }
        cwnd
    }

    /// RFC 9438 equation 1 and 2, in floating point.
    fn closed_form(w_max: f64, t: f64) -> f64 {
        let k = (w_max * 0.3 / 0.4).cbrt();
        0.4 * (t - k).powi(3) + w_max
    }

    #[test]
    fn the_window_follows_the_closed_form() {
        for w_max in [200_u32, 1000, 4000] {
            let rtt = Span::from_ms(100);
            for seconds in [1_u64, 3, 5, 8, 10, 13] {
                let mut cubic = Cubic::new(true, TICK);
                let start = cubic.threshold(w_max);
                let got = f64::from(window_after(&mut cubic, start, rtt, Span::from_secs(seconds)));
                let want = closed_form(f64::from(w_max), seconds as f64);
                assert!(
                    (got / want - 1.0).abs() < 0.03,
                    "{w_max} after {seconds} s: {got}, closed form {want}"
                );
            }
        }
    }

    #[test]
    fn it_grows_as_reno_would() {
        let mut cubic = Cubic::new(true, TICK);
        let start = cubic.threshold(100);
        let rtt = Span::from_ms(10);
        let after = window_after(&mut cubic, start, rtt, rtt.times(200));
        let reno = f64::from(start) + 200.0 * 3.0 * 0.3 / 1.7;
        assert!((f64::from(after) / reno - 1.0).abs() < 0.1, "{after}, reno {reno}");
    }

    /// RFC 9438 section 4.3 is there for short round trips: in 400 ms of 5 ms each Reno comes back
    /// by forty segments, the curve by hardly any.
    #[test]
    fn without_the_reno_friendly_region_growth_hardly_depends_on_the_round_trip() {
        let grown = |is_reno_friendly| {
            let mut cubic = Cubic::new(is_reno_friendly, TICK);
            let start = cubic.threshold(100);
            window_after(&mut cubic, start, Span::from_ms(5), Span::from_ms(400)) - start
        };
        let (friendly, curve) = (grown(true), grown(false));
        assert!((35..=50).contains(&friendly) && curve <= 25, "{friendly}, {curve}");
    }

    /// Linux `bictcp_update`: at most once per tick, and for a window that stands still after more
    /// than 28 ms.
    #[test]
    fn what_was_found_is_kept_for_a_while() {
        let mut cubic = Cubic::new(true, TICK);
        cubic.threshold(100);
        let first = cubic.acks_per_segment(at(4), 70, 1);
        // Reno would be ahead by fourteen segments, and the window stands still.
        for ms in [8, 20, 32, 35] {
            assert_eq!(cubic.acks_per_segment(at(ms), 70, 460), first, "{ms}");
        }
        assert_eq!(cubic.acks_per_segment(at(36), 70, 1), 70 / 14);
        // In the same tick it stays, however far the window has come.
        assert_eq!(cubic.acks_per_segment(at(37), 200, 1), 70 / 14);
        assert!(cubic.acks_per_segment(at(40), 200, 1) > 200);
    }

    /// Linux `bictcp_update` with HZ = 1000: HZ / 32 is 31 ticks. A host without ticks counts those
    /// of Debian's kernels.
    #[test]
    fn with_shorter_ticks_it_recomputes_sooner() {
        let found = |tick, ms: u64| {
            let mut cubic = Cubic::new(true, tick);
            cubic.threshold(100);
            cubic.acks_per_segment(at(4), 70, 1);
            // Reno would be at 84, the window is beyond that
            cubic.acks_per_segment(at(ms), 90, 460)
        };
        let (fine, coarse) = (Span::from_ms(1), TICK);
        assert!(found(fine, 5) > 1000, "another tick: the curve stands still");
        assert_eq!(found(coarse, 7), found(coarse, 5), "the same tick");
        assert_eq!(found(coarse, 5), found(Span::ZERO, 5));
        assert_ne!(found(coarse, 5), found(fine, 5));
        let kept = |tick| Cubic::new(true, tick).kept();
        assert_eq!(
            [kept(fine), kept(coarse), kept(Span::from_ms(10))],
            [31, 28, 30].map(Span::from_ms)
        );
    }

    #[test]
    fn a_flow_that_shrinks_leaves_room_to_others() {
        let mut cubic = Cubic::new(true, TICK);
        assert_eq!(cubic.threshold(1000), 700);
        assert_eq!(cubic.last_max, 1000);
        cubic.threshold(800);
        assert_eq!(cubic.last_max, 680);
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Linux `cubictcp_cwnd_event`: the curve goes on where it was when the flow fell silent.
    #[test]
    fn idle_time_does_not_count() {
        let [mut busy, mut silent] = [(), ()].map(|()| {
            let mut cubic = Cubic::new(false, TICK);
            cubic.threshold(1000);
            cubic.acks_per_segment(at(1), 700, 1);
            cubic
        });
        silent.skip_idle(at(10_001), Span::from_secs(10));
        assert_eq!(
            silent.acks_per_segment(at(12_001), 700, 1),
            busy.acks_per_segment(at(2_001), 700, 1)
        );
        let mut future = Cubic::new(false, TICK);
        future.acks_per_segment(at(1), 700, 1);
        future.skip_idle(at(5), Span::from_secs(10));
        assert_eq!(future.epoch, 1, "an epoch has begun by now");
    }

    /// RFC 9438 section 4.2: the target is where the curve will be in a round trip.
    #[test]
    fn the_curve_is_evaluated_a_round_trip_ahead() {
        let mut cubic = Cubic::new(false, TICK);
        cubic.threshold(1000);
        cubic.observe(Span::from_secs(1));
        // K is 9.086 s: in a second the window is to be 1000 - 0.4 x 8.086^3 = 788, 88 more than
        // now.
        assert_eq!(cubic.acks_per_segment(at(1), 700, 1), 700 / 88);
    }

    /// Linux `bictcp_update`: at most half of the window in a round trip; before the first loss at
    /// least a twentieth.
    #[test]
    fn growth_has_bounds() {
        let mut late = Cubic::new(false, TICK);
        late.threshold(1000);
        late.acks_per_segment(at(1), 700, 1);
        assert_eq!(late.acks_per_segment(at(60_000), 700, 1), 2);
        let mut fresh = Cubic::new(false, TICK);
        assert_eq!(fresh.acks_per_segment(at(1), 1000, 1), 20);
        let mut plateau = Cubic::new(false, TICK);
        plateau.threshold(1000);
        plateau.acks_per_segment(at(1), 700, 1);
        assert_eq!(plateau.acks_per_segment(at(9_086), 1000, 1), 100_000);
    }
}
