//! A policer: frames that exceed its rate are dropped at the ingress.
//!
//! The single-rate token bucket of RFC 2697 without its excess bucket, per flow or for all flows
//! together. Cloud networks cap every five-tuple like this (AWS: 5 Gbit/s outside a placement
//! group).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tailrace_units::{Pace, Span, Time};

/// Flows with a bucket that is not full which one policer follows at a time; further ones share one
/// bucket.
const FLOWS_MAX: usize = 1 << 16;

/// A policer at the ingress of a port.
#[derive(Clone, Debug)]
pub struct Policer {
    pace: Pace,
    burst: Span,
    /// Classes that it applies to, a bit each.
    classes: u8,
    is_per_flow: bool,
    /// For each flow, when its bucket is full again.
    full_at: BTreeMap<u32, Time>,
    /// When each of these flows may have a full bucket, earliest first: never later than it has.
    earliest: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Policer {
    /// Lets `pace` pass in the classes of the mask, with bursts of `burst_bytes`. Bytes count
    /// without wire overhead.
    pub fn new(pace: Pace, burst_bytes: u64, classes: u8, is_per_flow: bool) -> Policer {
        let burst = pace.time_to_send(burst_bytes);
        Policer {
            pace,
            burst,
            classes,
            is_per_flow,
            full_at: BTreeMap::new(),
            earliest: BinaryHeap::new(),
        }
    }

    /// Whether a frame conforms; if it does, its tokens are taken.
    pub(crate) fn conforms(&mut self, now: Time, class: u8, flow_hash: u32, bytes: u32) -> bool {
        if self.classes >> class & 1 == 0 {
            return true;
        }
        let key =
            if self.is_per_flow && self.has_bucket_for(now, flow_hash) { flow_hash } else { 0 };
        let full_at = self.full_at.entry(key).or_insert(Time::ZERO);
        let after = (*full_at).max(now) + self.pace.time_to_send(u64::from(bytes));
        let conforms = after.since(now) <= self.burst;
        if conforms {
            *full_at = after;
        }
        conforms
    }

    /// Whether this flow has a bucket of its own, or can be given one.
    fn has_bucket_for(&mut self, now: Time, flow_hash: u32) -> bool {
        if self.full_at.contains_key(&flow_hash) {
            return true;
        }
        if self.full_at.len() >= FLOWS_MAX && !self.forgets_one(now) {
            return false;
        }
        self.earliest.push(Reverse((Time::ZERO, flow_hash)));
        true
    }

    /// Forgets a flow whose bucket is full: a new flow's bucket is the same, so nothing changes for
    /// it.
    fn forgets_one(&mut self, now: Time) -> bool {
        while let Some(&Reverse((noted, flow))) = self.earliest.peek()
            && noted <= now
        {
            self.earliest.pop();
            let full_at = self.full_at[&flow];
            if full_at <= now {
                self.full_at.remove(&flow);
                return true;
            }
            self.earliest.push(Reverse((full_at, flow)));
        }
        false
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
        (1..=FLOWS_MAX as u32)
            .for_each(|flow| assert!(policer.conforms(Time::ZERO, 0, flow, 1_000)));
        let beyond = FLOWS_MAX as u32 + 1;
        assert_eq!((0..3).map(|n| burst(&mut policer, beyond + n, Time::ZERO)).sum::<usize>(), 10);
        assert_eq!(burst(&mut policer, 1, Time::ZERO), 9, "a known flow keeps its own");
    }

    /// Many more flows than the table holds, one after the other: each finds a bucket of its own,
    /// because those whose buckets are full again are forgotten. Those that are not keep theirs.
    #[test]
    fn flows_with_full_buckets_make_room_for_new_ones() {
        let mut policer = Policer::new(BitRate::from_gbps(8).pace(0), 10_000, 1, true);
        let us = |n| Time::ZERO + Span::from_us(n);
        let flows = 3 * FLOWS_MAX as u32;
        let busy = flows + 1;
        for flow in 1..=flows {
            let now = us(u64::from(flow));
            let passes = (0..11).filter(|_| policer.conforms(now, 0, flow, 1_000)).count();
            assert_eq!(passes, 10, "flow {flow}");
            // a byte each nanosecond: its bucket fills no further
            policer.conforms(now, 0, busy, 1_000);
        }
        assert!(
            policer.full_at.len() <= FLOWS_MAX && policer.earliest.len() == policer.full_at.len()
        );
        assert_eq!(
            burst(&mut policer, busy, us(u64::from(flows))),
            9,
            "its bucket was never forgotten"
        );
        assert_eq!(
            burst(&mut policer, flows, us(u64::from(flows))),
            0,
            "nor was that of the latest"
        );
    }

    #[test]
    fn one_bucket_for_all_when_flows_are_not_distinguished() {
        let mut policer = Policer::new(BitRate::from_gbps(8).pace(0), 10_000, 1, false);
        assert_eq!((1..4).map(|flow| burst(&mut policer, flow, Time::ZERO)).sum::<usize>(), 10);
    }

    /// Flows whose buckets are not full stand before one whose bucket is.
    #[test]
    fn room_is_searched_behind_flows_that_are_not_full() {
        let mut policer = Policer::new(BitRate::from_gbps(8).pace(0), 10_000, 1, true);
        let flows = FLOWS_MAX as u32;
        for flow in 1..=flows {
            let frames = if flow <= 9 { 10 } else { 1 }; // full again after 10 us, after 1 us
            (0..frames).for_each(|_| assert!(policer.conforms(Time::ZERO, 0, flow, 1_000)));
        }
        let now = Time::ZERO + Span::from_us(2);
        for newcomer in flows + 1..flows + 4 {
            assert_eq!(burst(&mut policer, newcomer, now), 10, "a bucket of its own");
        }
    }
}
