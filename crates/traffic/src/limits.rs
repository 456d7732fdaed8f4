//! Limits of a connection of a real kernel. Linux reports how long it was busy, limited by the
//! peer's window and by the send buffer, in ticks of its clock. The rest of the busy time is
//! divided by the state of the connection at sampling times that the host chooses.

use crate::counters::Counters;
use tailrace_units::{Span, Time};

/// Samples of every connection in a trial.
const SAMPLES: u64 = 256;
/// Added to their distance, which then is no multiple of a clock tick or of a program's.
const ODD: Span = Span::from_us(137);
const DISTANCE_MIN: Span = Span::from_ms(1);
/// Linux `TCP_CA_Recovery`; above it is `TCP_CA_Loss`.
const RECOVERY: u64 = 3;
/// A program that waited for room goes on when a third of the send buffer is free (Linux
/// `sk_stream_is_writeable`): it waits while the buffer is fuller.
const FULL_PARTS: u64 = 2;
const FULL_OF: u64 = 3;

/// Interval between two samples, in a trial of this length.
pub fn sample_interval(trial: Span) -> Span {
    trial.part(SAMPLES).max(DISTANCE_MIN) + ODD
}

/// Causes of the busy time that Linux does not explain.
enum Rest {
    Application,
    Recovery,
    Congestion,
    Interface,
    Buffer,
}

fn state_of(value_of: impl Fn(&str) -> u64) -> Rest {
    let waits_for_room =
        value_of("wmem_queued_bytes") * FULL_OF >= value_of("sndbuf_bytes") * FULL_PARTS;
    let is_window_full = value_of("unacked") * FULL_OF >= value_of("snd_cwnd") * FULL_PARTS;
    if value_of("ca_state") >= RECOVERY {
        Rest::Recovery
    } else if value_of("notsent_bytes") == 0 {
        if waits_for_room { Rest::Buffer } else { Rest::Application }
    } else if value_of("wmem_bytes") * 2 > value_of("unacked") * value_of("snd_mss") {
        Rest::Interface // most of the unacknowledged bytes have not left
    } else if waits_for_room && !is_window_full {
        Rest::Buffer
    } else {
        Rest::Congestion
    }
}

/// Samples of one end, added up in microseconds.
#[derive(Clone, Copy, Default, Debug)]
pub struct LimitClock {
    last: Option<(Time, Kernel)>,
    open_us: u64,
    congestion_us: u64,
    recovery_us: u64,
    interface_us: u64,
    buffer_us: u64,
    queued_us: u64,
    reader_late_us: u64,
}

/// Linux's chronographs.
#[derive(Clone, Copy, Default, Debug)]
struct Kernel {
    busy_us: u64,
    windows_us: u64,
}

impl Kernel {
    fn of(counters: &Counters) -> Option<Kernel> {
        let windows_us =
            counters.named("rwnd_limited_us")? + counters.named("sndbuf_limited_us")?;
        Some(Kernel { busy_us: counters.named("busy_time_us")?, windows_us })
    }
}

impl LimitClock {
    /// Samples an open connection.
    pub fn sample(&mut self, now: Time, counters: &Counters) {
        let Some(kernel) = Kernel::of(counters) else { return };
        let (at, before) = self.last.replace((now, kernel)).unwrap_or((now, Kernel::default()));
        let busy_us = kernel.busy_us.saturating_sub(before.busy_us);
        let windows_us = kernel.windows_us.saturating_sub(before.windows_us);
        let span_us = now.since(at).ps() / 1_000_000;
        self.open_us += if at == now { busy_us } else { span_us };
        let value_of = |name: &str| counters.named(name).unwrap_or(0);
        // Of the bytes that wait to be read, the kernel counts the memory.
        if value_of("rmem_bytes") * 2 > value_of("rcvbuf_bytes") {
            self.reader_late_us += span_us;
        }
        let rest_us = busy_us.saturating_sub(windows_us);
        let mut buffered_us = windows_us;
        match state_of(value_of) {
            Rest::Application => {}
            Rest::Recovery => self.recovery_us += rest_us,
            Rest::Congestion => self.congestion_us += rest_us,
            Rest::Interface => self.interface_us += rest_us,
            Rest::Buffer => {
                self.buffer_us += rest_us;
                buffered_us += rest_us;
            }
        }
        self.queued_us += buffered_us * value_of("rtt_us").saturating_sub(value_of("min_rtt_us"))
            / value_of("rtt_us").max(1);
    }

    /// Adds the samples to the system's counters.
    pub fn add_to(&self, counters: &mut Counters) {
        for (name, value) in [
            ("open_us", self.open_us),
            ("congestion_limited_us", self.congestion_us),
            ("recovery_limited_us", self.recovery_us),
            ("interface_limited_us", self.interface_us),
            ("buffer_limited_us", self.buffer_us),
            ("queued_us", self.queued_us),
            ("reader_late_us", self.reader_late_us),
        ] {
            counters.set(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(values: &[(&str, u64)]) -> Counters {
        let mut counters = Counters::default();
        values.iter().for_each(|&(name, value)| counters.set(name, value));
        counters
    }

    fn seen(values: &[(&str, u64)]) -> Counters {
        let mut clock = LimitClock::default();
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        clock.sample(
            at(10),
            &counters(&[("busy_time_us", 0), ("rwnd_limited_us", 0), ("sndbuf_limited_us", 0)]),
        );
        clock.sample(at(20), &counters(values));
        let mut result = Counters::default();
        clock.add_to(&mut result);
        result
    }

    #[test]
    fn busy_time_that_linux_explains_is_not_divided() {
        let own = seen(&[
            ("busy_time_us", 8_000),
            ("rwnd_limited_us", 6_000),
            ("sndbuf_limited_us", 2_000),
            ("notsent_bytes", 1),
        ]);
        assert_eq!(
            (own.named("open_us"), own.named("interface_limited_us")),
            (Some(10_000), Some(0))
        );
    }

    #[test]
    fn the_rest_goes_by_the_state_of_the_connection() {
        let rest = |more: &[(&str, u64)], name: &str| {
            let busy = [
                ("busy_time_us", 9_000),
                ("rwnd_limited_us", 1_000),
                ("sndbuf_limited_us", 0),
                ("snd_cwnd", 30),
            ];
            let sizes = [
                ("snd_mss", 1_000),
                ("sndbuf_bytes", 90_000),
                ("notsent_bytes", 5),
                ("unacked", 20),
            ];
            seen(&[&busy[..], &sizes, more].concat()).named(name)
        };
        assert_eq!(rest(&[], "congestion_limited_us"), Some(8_000));
        assert_eq!(rest(&[("wmem_bytes", 11_000)], "interface_limited_us"), Some(8_000));
        assert_eq!(rest(&[("wmem_bytes", 9_000)], "congestion_limited_us"), Some(8_000));
        assert_eq!(
            rest(&[("notsent_bytes", 0), ("ca_state", 4)], "recovery_limited_us"),
            Some(8_000)
        );
        assert_eq!(
            rest(&[("notsent_bytes", 0)], "congestion_limited_us"),
            Some(0),
            "it is the application"
        );
        assert_eq!(
            rest(&[("notsent_bytes", 0), ("wmem_queued_bytes", 60_000)], "buffer_limited_us"),
            Some(8_000)
        );
        assert_eq!(
            rest(&[("unacked", 19), ("wmem_queued_bytes", 60_000)], "buffer_limited_us"),
            Some(8_000)
        );
        assert_eq!(
            rest(&[("unacked", 20), ("wmem_queued_bytes", 60_000)], "congestion_limited_us"),
            Some(8_000)
        );
        assert_eq!(rest(&[("rtt_us", 400), ("min_rtt_us", 100)], "queued_us"), Some(750));
        assert_eq!(
            rest(&[("rmem_bytes", 51), ("rcvbuf_bytes", 100)], "reader_late_us"),
            Some(10_000)
        );
        assert_eq!(rest(&[("rmem_bytes", 50), ("rcvbuf_bytes", 100)], "reader_late_us"), Some(0));
    }
}
