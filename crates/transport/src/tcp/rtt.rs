//! Round-trip time: smoothed, its variance, the minimum, and the retransmission timeout (RFC 6298
//! as in Linux).

use tailrace_units::{Span, Time};

/// Before the first measurement (RFC 6298 section 2.1; Linux `TCP_TIMEOUT_INIT`).
pub(crate) const INITIAL_TIMEOUT: Span = Span::from_secs(1);
/// The minimum is forgotten after this long (Linux `tcp_min_rtt_wlen`, 300 s).
const MINIMUM_WINDOW: Span = Span::from_secs(300);

/// All spans in picoseconds; `smoothed_8` is eight times the smoothed time and `deviation_4` four
/// times the mean deviation.
pub(crate) struct Rtt {
    smoothed_8: u64,
    deviation_4: u64,
    /// The largest of the current window.
    deviation_4_max: u64,
    /// Addition to the smoothed time for the timeout.
    variance_4: u64,
    /// When everything up to here is acknowledged, a window has passed.
    window_end: u64,
    timeout: Span,
    /// Minimum of the last completed window and of the current one.
    minimum: u64,
    minimum_next: u64,
    minimum_since: Time,
    floor: u64,
    ceiling: Span,
}

impl Rtt {
    pub(crate) fn new(floor: Span, ceiling: Span) -> Rtt {
        Rtt {
            smoothed_8: 0,
            deviation_4: 0,
            deviation_4_max: 0,
            variance_4: 0,
            window_end: 0,
            timeout: INITIAL_TIMEOUT.min(ceiling),
            minimum: u64::MAX,
            minimum_next: u64::MAX,
            minimum_since: Time::ZERO,
            floor: floor.ps(),
            ceiling,
        }
    }

    /// Smoothed round-trip time; `None` before the first measurement.
    #[inline]
    pub(crate) fn smoothed(&self) -> Option<Span> {
        (self.smoothed_8 != 0).then(|| Span::from_ps(self.smoothed_8 >> 3))
    }
    /// Smallest round-trip time of the last five to ten minutes; `FOREVER` before the first
    /// measurement.
    #[inline]
    pub(crate) fn minimum(&self) -> Span {
        Span::from_ps(self.minimum)
    }
    /// Current retransmission timeout, backed off where it was.
    #[inline]
    pub(crate) fn timeout(&self) -> Span {
        self.timeout
    }
    /// Smallest variance term of the timeout.
    #[inline]
    pub(crate) fn floor(&self) -> Span {
        Span::from_ps(self.floor)
    }

    /// Starts again from `timeout`, with nothing measured.
    pub(crate) fn restart(&mut self, timeout: Span) {
        self.timeout = timeout.min(self.ceiling);
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.timeout = self.timeout.times(2).min(self.ceiling);
    }

    /// The peer answers again: the timeout is the measured one.
    pub(crate) fn end_back_off(&mut self) {
        if self.smoothed_8 != 0 {
            self.timeout =
                Span::from_ps((self.smoothed_8 >> 3) + self.variance_4).min(self.ceiling);
        }
    }

    /// Takes a measurement: `oldest` of the acknowledged segments feeds the timeout, `newest` the
    /// minimum, as in Linux.
    #[inline]
    pub(crate) fn measure(&mut self, now: Time, oldest: Span, newest: Span, una: u64, nxt: u64) {
        self.update_minimum(now, newest.ps().max(1));
        self.update_variance(oldest.ps().max(1), una, nxt);
        self.end_back_off();
    }

    /// Linux's estimator: a rising delay counts in full, a falling one an eighth, and the variance
    /// falls once per window at most.
    fn update_variance(&mut self, sample: u64, una: u64, nxt: u64) {
        if self.smoothed_8 == 0 {
            self.smoothed_8 = sample << 3;
            self.deviation_4 = sample << 1;
            self.variance_4 = self.deviation_4.max(self.floor);
            self.deviation_4_max = self.variance_4;
            self.window_end = nxt;
            return;
        }
        let error = sample as i64 - (self.smoothed_8 >> 3) as i64;
        self.smoothed_8 = (self.smoothed_8 as i64 + error) as u64;
        let mut change = error.abs() - (self.deviation_4 >> 2) as i64;
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.deviation_4 = (self.deviation_4 as i64 + change) as u64;
        if self.deviation_4 > self.deviation_4_max {
            self.deviation_4_max = self.deviation_4;
            self.variance_4 = self.variance_4.max(self.deviation_4_max);
        }
        if una > self.window_end {
            if self.deviation_4_max < self.variance_4 {
                self.variance_4 -= (self.variance_4 - self.deviation_4_max) >> 2;
            }
            self.window_end = nxt;
            self.deviation_4_max = self.floor;
        }
    }

    #[inline]
    fn update_minimum(&mut self, now: Time, sample: u64) {
        self.minimum = self.minimum.min(sample);
        self.minimum_next = self.minimum_next.min(sample);
        if now.since(self.minimum_since) > MINIMUM_WINDOW {
            self.minimum = self.minimum_next;
            self.minimum_next = sample;
            self.minimum_since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(samples: &[u64]) -> Rtt {
        let mut rtt = Rtt::new(Span::from_ms(200), Span::from_secs(120));
        for (i, us) in samples.iter().enumerate() {
            let sample = Span::from_us(*us);
            rtt.measure(
                Time::ZERO + Span::from_ms(i as u64),
                sample,
                sample,
                i as u64 * 10,
                i as u64 * 10 + 5,
            );
        }
        rtt
    }

    #[test]
    fn the_timeout_is_one_second_first_and_then_never_less_than_the_round_trip_and_the_floor() {
        assert_eq!(
            Rtt::new(Span::from_ms(200), Span::from_secs(120)).timeout(),
            Span::from_secs(1)
        );
        let steady = measured(&[100; 50]);
        assert_eq!(steady.smoothed(), Some(Span::from_us(100)));
        assert_eq!(steady.timeout(), Span::from_us(200_100));
        assert_eq!(steady.minimum(), Span::from_us(100));
    }

    #[test]
    fn a_jump_of_the_delay_raises_the_timeout_at_once_and_it_falls_slowly() {
        let mut samples = vec![100; 20];
        samples.push(1_000_000);
        let jumped = measured(&samples);
        assert!(jumped.timeout() > Span::from_ms(1000), "{:?}", jumped.timeout());
        samples.extend([100; 3]);
        assert!(measured(&samples).timeout() > Span::from_ms(500));
        samples.extend([100; 200]);
        assert!(measured(&samples).timeout() < Span::from_ms(210));
    }

    /// Linux `tcp_rtt_estimator`: at the end of a window the variance loses a quarter of its
    /// distance from the window's largest deviation. One sample of 1 s among those of 0.1 ms: 0.125
    /// s smoothed and 1 s of variance; then 109 + 969, 96 + 918 and 84 + 856 ms, fractions cut off.
    #[test]
    fn the_variance_falls_by_a_quarter_of_the_distance_in_each_window() {
        let mut samples = vec![100; 20];
        samples.push(1_000_000);
        for expected_ms in [1124, 1078, 1013, 939] {
            let timeout_ms = measured(&samples).timeout().ps() / 1_000_000_000;
            assert_eq!(timeout_ms, expected_ms);
            samples.push(100);
        }
    }

    /// Linux `tcp_min_rtt_wlen`: a path that has become longer is not measured by its former
    /// minimum.
    #[test]
    fn a_minimum_is_forgotten_after_five_minutes_or_ten() {
        let mut rtt = Rtt::new(Span::from_ms(200), Span::from_secs(120));
        let mut measure = |second: u64, ms: u64| {
            let sample = Span::from_ms(ms);
            rtt.measure(Time::ZERO + Span::from_secs(second), sample, sample, second, second);
            rtt.minimum()
        };
        assert_eq!(measure(1, 1), Span::from_ms(1));
        for second in 2..300 {
            assert_eq!(measure(second, 10), Span::from_ms(1), "after {second} s");
        }
        for second in 300..=602 {
            measure(second, 10);
        }
        assert_eq!(measure(603, 12), Span::from_ms(10));
    }

    #[test]
    fn backing_off_doubles_up_to_the_ceiling_and_a_measurement_ends_it() {
        let mut rtt = measured(&[100; 5]);
        for _ in 0..12 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Span::from_secs(120));
        rtt.measure(Time::ZERO, Span::from_us(100), Span::from_us(100), 0, 0);
        assert!(rtt.timeout() < Span::from_ms(201));
    }
}
