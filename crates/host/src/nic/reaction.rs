//! QCN's reaction point: the rate limiter of one flow (IEEE 802.1Qau, clause 32; defaults of
//! IEEE8021-CN-MIB).

use tailrace_units::{BitRate, Pace, Span, Time};

/// Cycles of fast recovery before active increase (rpgThreshold).
const FAST_RECOVERY_STAGES: u32 = 5;
/// A feedback of one cuts the rate by 1/128 (rpgGd exponent 7): 63 cuts it by 49.2 %.
const CUT_PER_FEEDBACK: u64 = 128;
/// Feedback is quantised to six bits.
const FEEDBACK_MAX: u8 = 63;
/// A target of more than this many times the rate comes down in the first cycle (clause 32.15), ..
const TARGET_EXCESS_MAX: u64 = 10;
/// .. to one part in so many.
const TARGET_EXCESS_DIVISOR: u64 = 8;

/// Parameters of a reaction point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReactionPolicy {
    /// Timer cycle: 15 ms by default.
    pub timer: Span,
    /// Byte counter cycle: 150 000 by default; halved after fast recovery, as the timer's.
    pub byte_counter: u64,
    /// Active increase in bits per second: 5 000 000 by default.
    pub active_increase_bps: u64,
    /// Hyper-active increase in bits per second: 50 000 000 by default.
    pub hyper_increase_bps: u64,
    /// Lowest rate in bits per second, above zero: 10 000 000 by default.
    pub rate_min_bps: u64,
}

/// The limiter of one flow.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    policy: ReactionPolicy,
    line_bps: u64,
    target_bps: u64,
    current_bps: u64,
    /// Cycles of the byte counter since the last notification.
    byte_stage: u32,
    /// Cycles of the timer since then.
    time_stage: u32,
    /// Transmit bytes until the byte counter's next cycle.
    bytes_left: i64,
    /// The timer's next cycle.
    timer_at: Time,
    /// When the next frame may start.
    next: Time,
}

impl ReactionPoint {
    /// A flow at line rate that is notified for the first time.
    pub fn new(policy: ReactionPolicy, line_bps: u64) -> ReactionPoint {
        ReactionPoint {
            policy,
            line_bps,
            target_bps: line_bps,
            current_bps: line_bps,
            byte_stage: 0,
            time_stage: 0,
            bytes_left: policy.byte_counter as i64,
            timer_at: Time::NEVER,
            next: Time::ZERO,
        }
    }

    /// The rate in bits per second.
    pub fn rate_bps(&self) -> u64 {
        self.current_bps
    }
    /// Whether the flow is back at line rate and needs no limiter.
    pub fn is_released(&self) -> bool {
        self.current_bps >= self.line_bps
    }
    /// When the next frame may start.
    pub fn next_start(&self) -> Time {
        self.next
    }

    /// A notification with this feedback (1 to 63) has come.
    pub fn handle_notification(&mut self, now: Time, feedback: u8) {
        self.catch_up(now);
        if self.byte_stage != 0 || self.is_released() {
            self.target_bps = self.current_bps;
            self.bytes_left = self.policy.byte_counter as i64;
        }
        self.byte_stage = 0;
        self.time_stage = 0;
        let keep = CUT_PER_FEEDBACK - u64::from(feedback.min(FEEDBACK_MAX));
        self.current_bps =
            (self.current_bps * keep / CUT_PER_FEEDBACK).max(self.policy.rate_min_bps);
        self.timer_at = now + self.policy.timer;
    }

    /// A frame of so many wire bytes starts at `at`.
    pub fn charge(&mut self, at: Time, wire_bytes: u64) {
        self.catch_up(at);
        self.next = self.next.max(at) + self.pace().time_to_send(wire_bytes);
        self.bytes_left -= wire_bytes as i64;
        while self.bytes_left <= 0 {
            self.byte_stage += 1;
            let cycle = if self.byte_stage > FAST_RECOVERY_STAGES {
                self.policy.byte_counter / 2
            } else {
                self.policy.byte_counter
            };
            self.bytes_left += cycle.max(1) as i64;
            self.increase(self.byte_stage);
        }
    }

    /// Does the timer's increases that were due by `now`.
    fn catch_up(&mut self, now: Time) {
        while self.timer_at <= now && !self.is_released() {
            self.time_stage += 1;
            let cycle = if self.time_stage > FAST_RECOVERY_STAGES {
                self.policy.timer.part(2)
            } else {
                self.policy.timer
            };
            self.timer_at += cycle;
            self.increase(self.time_stage);
        }
    }

    fn increase(&mut self, own_stage: u32) {
        let (low, high) =
            (self.byte_stage.min(self.time_stage), self.byte_stage.max(self.time_stage));
        let step = if low > FAST_RECOVERY_STAGES {
            self.policy.hyper_increase_bps * u64::from(low - FAST_RECOVERY_STAGES)
        } else if high > FAST_RECOVERY_STAGES {
            self.policy.active_increase_bps
        } else {
            0
        };
        // A target far above the rate comes down first, so that recovery does not overshoot.
        if own_stage == 1 && self.target_bps > TARGET_EXCESS_MAX * self.current_bps {
            self.target_bps /= TARGET_EXCESS_DIVISOR;
        } else {
            self.target_bps += step;
        }
        self.target_bps = self.target_bps.min(self.line_bps);
        self.current_bps = (self.current_bps + self.target_bps).div_ceil(2).min(self.line_bps);
    }

    fn pace(&self) -> Pace {
        BitRate::from_bps(self.current_bps).expect("a rate has a minimum above zero").pace(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: ReactionPolicy = ReactionPolicy {
        timer: Span::from_ms(15),
        byte_counter: 150_000,
        active_increase_bps: 5_000_000,
        hyper_increase_bps: 50_000_000,
        rate_min_bps: 10_000_000,
    };

    #[test]
    fn the_strongest_notification_halves_the_rate_and_five_cycles_recover_it() {
        let mut point = ReactionPoint::new(POLICY, 10_000_000_000);
        point.handle_notification(Time::ZERO, 63);
        assert_eq!(point.rate_bps(), 5_078_125_000); // 65/128
        // Each cycle of fast recovery halves the distance to the old rate.
        let mut rates = Vec::new();
        for _ in 0..5 {
            point.charge(Time::ZERO, 150_000);
            rates.push(point.rate_bps() / 1_000_000);
        }
        assert_eq!(rates, [7_539, 8_769, 9_384, 9_692, 9_846]);
    }

    #[test]
    fn the_timer_recovers_a_flow_that_sends_little() {
        let mut point = ReactionPoint::new(POLICY, 10_000_000_000);
        point.handle_notification(Time::ZERO, 63);
        point.charge(Time::ZERO + Span::from_ms(31), 100);
        assert_eq!(point.rate_bps() / 1_000_000, 8_769);
    }

    #[test]
    fn the_rate_never_falls_below_its_minimum() {
        let mut point = ReactionPoint::new(POLICY, 10_000_000_000);
        (0..100).for_each(|_| point.handle_notification(Time::ZERO, 63));
        assert_eq!(point.rate_bps(), 10_000_000);
    }
    const LINE: u64 = 10_000_000_000;

    /// A point that was cut once, after so many cycles of its byte counter at one moment: only
    /// bytes count.
    fn after_cycles(cycles: u32) -> ReactionPoint {
        let mut point = ReactionPoint::new(POLICY, LINE);
        point.handle_notification(Time::ZERO, 63);
        for cycle in 1..=cycles {
            let bytes = if cycle > FAST_RECOVERY_STAGES + 1 { 75_000 } else { 150_000 };
            point.charge(Time::ZERO, bytes);
        }
        point
    }

    /// The target rate without the line's limit, from the last two rates: the rate moves half of
    /// the way to it.
    fn target_bps(before: &ReactionPoint, after: &ReactionPoint) -> u64 {
        2 * after.rate_bps() - before.rate_bps()
    }

    /// Below the line nothing hides the target: two cuts one after the other, the second after
    /// recovery has begun.
    fn lowered(cycles_between: u32) -> ReactionPoint {
        let mut point = after_cycles(cycles_between);
        point.handle_notification(Time::ZERO, 63);
        point
    }

    #[test]
    fn a_second_notification_lowers_the_target_unless_the_first_cycle_is_not_over() {
        for (cycles, target) in [(0, LINE), (1, 7_539_062_500)] {
            let before = lowered(cycles);
            let mut after = before.clone();
            after.charge(Time::ZERO, 150_000);
            assert!(
                target_bps(&before, &after).abs_diff(target) <= 1,
                "{cycles} cycles: {}",
                target_bps(&before, &after)
            );
        }
    }

    #[test]
    fn after_five_cycles_the_target_rises_by_the_active_increase() {
        let mut targets = Vec::new();
        let mut point = lowered(1);
        for cycle in 1..=8 {
            let before = point.clone();
            point.charge(Time::ZERO, if cycle > 6 { 75_000 } else { 150_000 });
            targets.push(target_bps(&before, &point).saturating_sub(7_539_062_500) / 1_000_000);
        }
        assert_eq!(targets, [0, 0, 0, 0, 0, 5, 10, 15]);
    }

    /// With both stages beyond the fifth, each stage more adds 50 Mbit/s more, once for the timer
    /// and once for the bytes.
    #[test]
    fn when_bytes_and_time_agree_the_increase_grows() {
        let mut point = lowered(1);
        (0..10).for_each(|_| point.charge(Time::ZERO, 75_000)); // five byte cycles
        let mut target = point.target_bps;
        // The timer: five cycles of 15 ms, then 7.5 ms each, in step with the bytes from then on.
        let rises: Vec<u64> = (1..=16)
            .map(|half_cycles| {
                point.charge(Time::ZERO + Span::from_us(7_500 * half_cycles), 75_000);
                let before = std::mem::replace(&mut target, point.target_bps);
                (target - before) / 1_000_000
            })
            .collect();
        assert_eq!(
            rises[11..],
            [100, 200, 300, 400, 500],
            "the timer's sixth cycle is over at 90 ms"
        );
        assert!(rises[..11].iter().all(|&rise| rise <= 10), "{rises:?}");
    }

    #[test]
    fn the_timer_runs_twice_as_fast_after_fast_recovery() {
        let mut point = ReactionPoint::new(POLICY, LINE);
        (0..2).for_each(|_| point.handle_notification(Time::ZERO, 63));
        let stage = |point: &mut ReactionPoint, ms: u64| {
            point.charge(Time::ZERO + Span::from_ms(ms), 1);
            point.time_stage
        };
        assert_eq!(
            [74, 75, 89, 90, 97, 98, 105].map(|ms| stage(&mut point, ms)),
            [4, 5, 5, 6, 6, 7, 8]
        );
    }

    #[test]
    fn the_byte_counter_runs_twice_as_fast_after_fast_recovery() {
        let mut point = after_cycles(5);
        let stage = |point: &mut ReactionPoint, bytes: u64| {
            point.charge(Time::ZERO, bytes);
            point.byte_stage
        };
        assert_eq!(
            [149_999, 1, 74_999, 1, 75_000].map(|bytes| stage(&mut point, bytes)),
            [5, 6, 6, 7, 8]
        );
    }

    /// Clause 32.15: in the first cycle a target above ten times the rate comes down to an eighth.
    #[test]
    fn a_target_far_above_the_rate_comes_down() {
        let mut point = ReactionPoint::new(POLICY, LINE);
        // 3.4 % of the line; the target is the line
        (0..5).for_each(|_| point.handle_notification(Time::ZERO, 63));
        let rate = point.rate_bps();
        point.charge(Time::ZERO, 150_000);
        assert_eq!(point.rate_bps(), (rate + LINE / 8).div_ceil(2));
    }
}
