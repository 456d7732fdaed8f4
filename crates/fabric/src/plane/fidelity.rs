//! How well the fabric kept time: the deviations of a live run from its plan, reported with every
//! result.

use crate::clock::thread_time;
use crate::delays::Delays;
use crate::lateness::{Lateness, STALL_MIN, Stalls};
use std::time::Duration;
use tailrace_lab::network::{Network, port_towards};
use tailrace_outcome::{Cpu, Fabric};
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// A rate is judged over a time in which a port was never idle; shorter ones say nothing.
const BUSY_MIN: Span = Span::from_ms(100);
/// The beginning of a busy time does not count: frames that were counted anew just before, or came
/// from a cold start, were late.
const BUSY_SKIPPED: Span = Span::from_ms(10);
/// A frame that was written so soon after it was due is in time, and so is a wake-up: four ticks.
pub(super) const ON_TIME_SPAN: Span = Span::from_us(200);
const PS_PER_US: f64 = 1e6;

/// Observations since the start of the measured interval.
#[derive(Debug)]
pub(super) struct Fidelity {
    /// From when a frame was due at its host to when it was written.
    lateness: Lateness,
    /// The same without the time by which the thread woke late.
    own_lateness: Lateness,
    /// By how much it woke late for the present wake-up, and was stopped in the midst of it.
    overslept: Span,
    /// When the present wake-up began, the network had caught up, or the last frame was written.
    worked_at: Time,
    stalls: Stalls,
    /// Times that the thread woke.
    ticks: u64,
    /// The longest time between two readings of the clock while something was on its way.
    gap_max: Span,
    polled_at: Option<Time>,
    pub(super) frames_in: u64,
    pub(super) frames_out: u64,
    /// Frames that are not IPv4 between hosts of the lab.
    pub(super) foreign_frames: u64,
    /// Polls of a host that found no memory for its frames.
    pub(super) pool_exhausted: u64,
    /// By host: frames that the kernel did not take.
    pub(super) write_failed: Vec<u64>,
    /// By host: the port towards it.
    busy: Vec<Busy>,
    /// By host: from when a fabric without lateness would have had a frame at its first switch to
    /// when the host was given it.
    delays: Vec<Delays>,
    /// Processor time of the thread at the beginning.
    thread_at_begin: Duration,
}

/// A frame that its host is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    /// When it had come through the network.
    pub(super) due: Time,
    /// How long it was on the last wire.
    pub(super) on_wire: Span,
    /// When it would have come to its first switch on a fabric without lateness; zero when that is
    /// not known.
    pub(super) on_time: Time,
    /// The time.
    pub(super) now: Time,
}

/// A time in which a port sent one frame after the other.
#[derive(Clone, Copy, Default, Debug)]
struct Busy {
    /// When the first frame was due.
    start: Time,
    /// The first frame that counts: when it was due, and when it was written.
    from: (Time, Time),
    /// The last one.
    to: (Time, Time),
    /// The longest such time: by the plan, and by the clock.
    longest: (Span, Span),
    /// The same up to a frame that was written in time, so that one late frame at the end is not
    /// taken for a rate.
    longest_punctual: (Span, Span),
}

impl Fidelity {
    /// Nothing was seen. Called by the thread that is observed.
    pub(super) fn new(hosts: usize) -> Fidelity {
        Fidelity {
            lateness: Lateness::new(),
            own_lateness: Lateness::new(),
            overslept: Span::ZERO,
            worked_at: Time::ZERO,
            stalls: Stalls::default(),
            ticks: 0,
            gap_max: Span::ZERO,
            polled_at: None,
            frames_in: 0,
            frames_out: 0,
            foreign_frames: 0,
            pool_exhausted: 0,
            write_failed: vec![0; hosts],
            busy: vec![Busy::default(); hosts],
            delays: vec![Delays::new(); hosts],
            thread_at_begin: thread_time(),
        }
    }

    /// The thread is awake, so much later than meant.
    #[inline]
    pub(super) fn woke(&mut self, now: Time, overslept: Span) {
        self.ticks += 1;
        self.overslept = overslept;
        self.worked_at = now;
        self.stalls.add(overslept);
        if let Some(before) = self.polled_at {
            self.gap_max = self.gap_max.max(now.since(before));
        }
        self.polled_at = Some(now);
    }

    /// The network has caught up with the time of the wake-up, which took this much processor time:
    /// that is the switch's own, and the rest of a long wake-up is the machine's. The processor
    /// time is read only after a long wake-up.
    #[inline]
    pub(super) fn caught_up(&mut self, now: Time, worked: impl FnOnce() -> Duration) {
        let step = now.since(self.worked_at);
        if step >= STALL_MIN {
            let stopped =
                step.less(Span::from_ns(u64::try_from(worked().as_nanos()).unwrap_or(u64::MAX)));
            if self.stalls.add(stopped) {
                self.overslept += stopped;
            }
        }
        self.worked_at = now;
    }

    /// Nothing is under way: the time until the next wake-up does not count.
    #[inline]
    pub(super) fn idle(&mut self) {
        self.polled_at = None;
    }

    /// A frame is written.
    #[inline]
    pub(super) fn delivered(&mut self, host: usize, delivered: &Delivered) {
        let Delivered { due, on_wire, on_time, now } = *delivered;
        self.frames_out += 1;
        if on_time > Time::ZERO {
            self.delays[host].record(now.since(on_time));
        }
        // A frame takes some microseconds: a thread that gets no further for so long was stopped in
        // the midst of its work.
        let step = now.since(self.worked_at);
        if self.stalls.add(step) {
            self.overslept += step;
        }
        self.worked_at = now;
        let late = now.since(due);
        self.lateness.record(late);
        self.own_lateness.record(late.less(self.overslept));
        self.busy[host].extend(due, on_wire, now);
    }

    /// The fabric's own figures; `measured` is the length of the interval.
    pub(super) fn summary(&self, measured: Span) -> Fabric {
        let thread = thread_time().saturating_sub(self.thread_at_begin).as_secs_f64();
        Fabric {
            lateness_us: Some(self.lateness.summary()),
            own_lateness_us: Some(self.own_lateness.summary()),
            stalls: Some(self.stalls.summary()),
            ticks: Some(self.ticks),
            max_gap_us: Some(self.gap_max.ps() as f64 / PS_PER_US),
            frames_in: Some(self.frames_in),
            frames_out: Some(self.frames_out),
            foreign_frames: Some(self.foreign_frames),
            pool_exhausted: Some(self.pool_exhausted),
            cpu: Cpu {
                switch_share: Some(thread / measured.as_secs_f64().max(1e-9)),
                ..Cpu::default()
            },
            ..Fabric::default()
        }
    }

    /// How long frames took to a host.
    pub(super) fn delay(&self, host: usize) -> tailrace_outcome::Delays {
        self.delays[host].summary()
    }

    /// How far the rate of the port towards a host was off, by its longest busy time; `None` when
    /// it had none.
    pub(super) fn rate_error_ppm(&self, host: usize) -> Option<f64> {
        self.busy[host].error_ppm()
    }
}

impl Busy {
    #[inline]
    fn extend(&mut self, due: Time, on_wire: Span, now: Time) {
        // The next frame of a busy line is due as much later as it takes on the wire.
        if due.since(self.to.0) != on_wire {
            self.start = due;
        }
        if due.since(self.start) <= BUSY_SKIPPED {
            self.from = (due, now);
        }
        self.to = (due, now);
        let planned = due.since(self.from.0);
        let real = now.since(self.from.1);
        if planned > self.longest.0 {
            self.longest = (planned, real);
        }
        if planned > self.longest_punctual.0 && now.since(due) <= ON_TIME_SPAN {
            self.longest_punctual = (planned, real);
        }
    }

    fn error_ppm(&self) -> Option<f64> {
        // A port that is late for most of its time has no end on time, and then its lateness
        // counts.
        let reports_every_departure = self.longest_punctual.0 >= self.longest.0.part(2);
        let (planned, real) =
            if reports_every_departure { self.longest_punctual } else { self.longest };
        (planned >= BUSY_MIN).then(|| (planned.as_secs_f64() / real.as_secs_f64() - 1.0) * 1e6)
    }
}

/// The fabric's part of an outcome.
pub(super) fn fabric(plan: &Plan, fidelity: &Fidelity, network: &Network, now: Time) -> Fabric {
    let hosts = || 0..plan.graph.hosts;
    let failed = plan.raw.hosts.iter().zip(&fidelity.write_failed);
    let errors =
        hosts().filter_map(|host| Some((port_towards(plan, host), fidelity.rate_error_ppm(host)?)));
    Fabric {
        rate_error_ppm: Some(errors.collect()),
        delay_us: Some(
            hosts().map(|host| (port_towards(plan, host), fidelity.delay(host))).collect(),
        ),
        write_failed: Some(failed.map(|(host, &count)| (host.name.clone(), count)).collect()),
        ..fidelity.summary(network.measured(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_outcome::LatenessUs;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    fn deliver(fidelity: &mut Fidelity, due: Time, now: Time) {
        fidelity
            .delivered(0, &Delivered { due, on_wire: Span::from_us(8), on_time: Time::ZERO, now });
    }

    #[test]
    fn delays_of_the_machine_and_of_the_switch_are_distinguished() {
        let mut fidelity = Fidelity::new(1);
        // Meant to wake up at 100 us, woken at 3 100 us; the frame of 90 us is written 5 us later.
        fidelity.woke(us(3_100), Span::from_us(3_000));
        deliver(&mut fidelity, us(90), us(3_105));
        // Woken in time: the frame has waited for the wake-up.
        fidelity.woke(us(3_150), Span::from_us(2));
        deliver(&mut fidelity, us(3_110), us(3_151));
        // Stopped for 2 ms between two frames.
        deliver(&mut fidelity, us(3_145), us(5_151));
        let summary = fidelity.summary(Span::from_ms(10));
        let max = |of: Option<LatenessUs>| of.expect("it is reported").max;
        assert!((max(summary.lateness_us) - 3_015.0).abs() < 30.0, "{summary:?}");
        assert!((max(summary.own_lateness_us) - 39.0).abs() < 1.0, "{summary:?}");
        assert_eq!(
            summary.stalls,
            Some(tailrace_outcome::Stalls { count: 2, total_us: 5_000.0, max_us: 3_000.0 })
        );
    }

    #[test]
    fn a_long_poll_is_the_switchs_own_work_and_a_stop_in_it_is_not() {
        let own_max_us = |worked: Duration| {
            let mut fidelity = Fidelity::new(1);
            fidelity.woke(us(1_000), Span::from_us(10));
            fidelity.caught_up(us(4_000), || worked);
            deliver(&mut fidelity, us(1_000), us(4_005));
            let summary = fidelity.summary(Span::from_ms(10));
            (
                summary.own_lateness_us.expect("it is reported").max,
                summary.stalls.expect("they are reported").count,
            )
        };
        let (own, stalls) = own_max_us(Duration::from_micros(2_990));
        assert!((own - 2_995.0).abs() < 30.0 && stalls == 0, "{own} {stalls}");
        let (own, stalls) = own_max_us(Duration::from_micros(20));
        assert!((own - 15.0).abs() < 1.0 && stalls == 1, "{own} {stalls}");
    }

    #[test]
    fn a_rate_is_judged_over_the_longest_busy_time() {
        let mut busy = Busy::default();
        let frame = Span::from_us(8);
        // 200 ms of frames, the last in time written 20 us late and one far too late; then a pause,
        // and a short burst.
        (1..=25_000).for_each(|n| {
            busy.extend(us(8 * n), frame, us(8 * n + if n == 25_000 { 20 } else { 0 }))
        });
        busy.extend(us(8 * 25_001), frame, us(8 * 25_001 + 9_000));
        (0..10).for_each(|n| busy.extend(us(900_000 + 8 * n), frame, us(900_000 + 9 * n)));
        let error = busy.error_ppm().expect("it was busy for 200 ms");
        assert!((error + 20.0 / 0.19).abs() < 0.1, "{error}"); // 20 us in 190 ms
        assert_eq!(Busy::default().error_ppm(), None);
    }
}
