//! A rate for every flow of a class: what exceeds it is dropped at the entrance.
//!
//! The single-rate token bucket of RFC 2697 without its excess bucket, per flow or for all flows together. Cloud
//! networks cap every five-tuple like this (AWS: 5 Gbit/s outside a placement group).

use std::collections::BTreeMap;
use tailrace_units::{Pace, Span, Time};

/// Flows that one policer follows; further ones share one bucket.
const FLOWS_MAX: usize = 1 << 16;

/// A policer at the entrance of a port.
#[derive(Clone, Debug)]
pub struct Policer {
    pace: Pace,
    burst: Span,
    /// Classes that it applies to, a bit each.
    classes: u8,
    is_per_flow: bool,
    /// For each flow, when its bucket is full again.
    full_at: BTreeMap<u32, Time>,
}

impl Policer {
    /// Lets `pace` pass in the classes of the mask, with bursts of `burst_bytes`. Bytes count without wire overhead.
    pub fn new(pace: Pace, burst_bytes: u64, classes: u8, is_per_flow: bool) -> Policer {
        Policer { pace, burst: pace.time_to_send(burst_bytes), classes, is_per_flow, full_at: BTreeMap::new() }
    }

    /// Whether a frame conforms; if it does, its tokens are taken.
    pub(crate) fn conforms(&mut self, now: Time, class: u8, flow_hash: u32, bytes: u32) -> bool {
        if self.classes >> class & 1 == 0 {
            return true;
        }
        let is_known = self.full_at.contains_key(&flow_hash);
        let key = if self.is_per_flow && (is_known || self.full_at.len() < FLOWS_MAX) { flow_hash } else { 0 };
        let full_at = self.full_at.entry(key).or_insert(Time::ZERO);
        let after = (*full_at).max(now) + self.pace.time_to_send(u64::from(bytes));
        let conforms = after.since(now) <= self.burst;
        if conforms {
            *full_at = after;
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;

    #[test]
    fn each_flow_gets_the_rate_and_no_more() {
        let mut policer = Policer::new(BitRate::from_gbps(5).pace(0), 100_000, 1, true);
        let mut passed = [0_u64; 2];
        // Both flows send at 10 Gbit/s for 10 ms.
        for n in 0..8_000_u64 {
            for flow in [0, 1] {
                let now = Time::from_ps(n * 1_250_000);
                passed[flow] += u64::from(policer.conforms(now, 0, 7 + flow as u32, 1_500)) * 1_500;
            }
        }
        for bytes in passed {
            let expected = 5e9 / 8.0 * 0.01 + 100_000.0;
            assert!((bytes as f64 / expected - 1.0).abs() < 0.01, "{bytes} instead of {expected}");
        }
        assert!(policer.conforms(Time::ZERO, 3, 7, 9_000), "another class is not policed");
    }

    /// Frames of 1 000 bytes that pass at once, after this silence.
    fn burst(policer: &mut Policer, flow: u32, at: Time) -> usize {
        (0..50).filter(|_| policer.conforms(at, 0, flow, 1_000)).count()
    }

    #[test]
    fn a_bucket_holds_its_burst_and_no_more_however_long_it_fills() {
        let mut policer = Policer::new(BitRate::from_gbps(8).pace(0), 10_000, 1, true);
        let us = |n| Time::ZERO + Span::from_us(n);
        assert_eq!(burst(&mut policer, 1, us(0)), 10);
        assert_eq!(burst(&mut policer, 1, us(3)), 3); // a byte each nanosecond
        assert_eq!(burst(&mut policer, 1, us(1_000_000)), 10);
    }

    #[test]
    fn flows_beyond_the_table_share_one_bucket() {
        let mut policer = Policer::new(BitRate::from_gbps(8).pace(0), 10_000, 1, true);
        (1..=FLOWS_MAX as u32).for_each(|flow| assert!(policer.conforms(Time::ZERO, 0, flow, 1_000)));
        let beyond = FLOWS_MAX as u32 + 1;
        assert_eq!((0..3).map(|n| burst(&mut policer, beyond + n, Time::ZERO)).sum::<usize>(), 10);
        assert_eq!(burst(&mut policer, 1, Time::ZERO), 9, "a known flow keeps its own");
    }

    #[test]
    fn one_bucket_for_all_when_flows_are_not_told_apart() {
        let mut policer = Policer::new(BitRate::from_gbps(8).pace(0), 10_000, 1, false);
        assert_eq!((1..4).map(|flow| burst(&mut policer, flow, Time::ZERO)).sum::<usize>(), 10);
    }
}
