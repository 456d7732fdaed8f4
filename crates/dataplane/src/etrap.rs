//! Elephant trap: identifies large flows and measures their arrival rates.
//!
//! A flow is an elephant once it has sent more than a number of bytes, however slowly, and stays
//! one as long as it sends at least a few in every period; then its entry is evicted, and it begins
//! anew (Cisco, Nexus 9000 QoS guide, "Configuring queuing and scheduling"). The guide has no rule
//! for the bytes of a flow that is not yet an elephant: they are forgotten with its entry, and not
//! before (assumed). Its arrival rate is measured per AFD period.
//!
//! Flows are kept in sets of four; a new flow replaces a mouse rather than an elephant, then the
//! flow that was silent longest, then the one with the fewest bytes. An elephant that has been
//! silent for an age period counts as a mouse.

use crate::flow_tag::FlowTag;
use crate::periods::Periods;
use crate::{SILENCES, TrapCounters};
use tailrace_units::{Span, Time};

/// Entries in which one flow may stand.
const WAYS: usize = 4;
/// Sets that get their memory together, when the first flow comes to one of them: the memory of a
/// table follows its flows, and that of each port of a large network is large.
const SETS_PER_CHUNK: usize = 8;

/// The table's parameters.
#[derive(Clone, Copy, Debug)]
pub struct EtrapPolicy {
    /// Bytes after which a flow is an elephant. Nexus 9000: 1 048 555 (assumed default).
    pub byte_count: u64,
    /// Period in which an elephant must send `bandwidth_threshold` to remain one.
    pub age: Span,
    /// Bytes per age period that keep an elephant. Nexus 9000: 500 (assumed default).
    pub bandwidth_threshold: u64,
    /// Entries, a power of two of at least four.
    pub table_entries: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct TrapEntry {
    tag: u32,
    /// Bytes since the flow was first seen, until it is an elephant.
    bytes: u64,
    is_elephant: bool,
    /// The current AFD period, and the bytes that arrived in it.
    period: u64,
    arrived: u64,
    /// Smoothed bytes per AFD period, times 256.
    rate: u64,
    /// The current age period, and the bytes that arrived in it.
    age_period: u64,
    age_arrived: u64,
}

/// Binary digits after the point of the smoothed rate.
const RATE_FRACTION_BITS: u32 = 8;
/// The rate's weight of the latest period is 2^-3: about eight periods, in which a flow at its fair
/// share sends several frames.
const RATE_WEIGHT_EXPONENT: u32 = 3;
/// After this many silent periods nothing is left of a rate (7/8)^64 < 0.0002.
const PERIODS_REMEMBERED: u64 = 64;

type Chunk = [[TrapEntry; WAYS]; SETS_PER_CHUNK];

/// The table of one port.
#[derive(Clone, Debug)]
pub(crate) struct Etrap {
    policy: EtrapPolicy,
    periods: Periods,
    age_periods: Periods,
    sets: usize,
    chunks: Vec<Option<Box<Chunk>>>,
    pub(crate) counters: TrapCounters,
}

impl Etrap {
    /// `period` is the AFD period in which arrivals are counted.
    pub(crate) fn new(policy: EtrapPolicy, period: Span) -> Etrap {
        let entries = policy.table_entries as usize;
        assert!(
            entries.is_power_of_two() && entries >= WAYS,
            "the table has a power of two of entries, at least {WAYS}"
        );
        assert!(period > Span::ZERO && policy.age > Span::ZERO, "periods last");
        let sets = entries / WAYS;
        let chunks = vec![None; sets.div_ceil(SETS_PER_CHUNK)];
        let (periods, age_periods) = (Periods::new(period), Periods::new(policy.age));
        Etrap { policy, periods, age_periods, sets, chunks, counters: TrapCounters::default() }
    }

    /// Counts an arrival. Returns an elephant's smoothed bytes per AFD period; `None` for a mouse.
    pub(crate) fn arrival(&mut self, now: Time, flow: FlowTag, bytes: u32) -> Option<u64> {
        let EtrapPolicy { byte_count, bandwidth_threshold, .. } = self.policy;
        let period = self.periods.at(now);
        let age_period = self.age_periods.at(now);
        let counters = &mut self.counters;
        let set = flow.slot(self.sets);
        let chunk = self.chunks[set / SETS_PER_CHUNK].get_or_insert_with(Box::default);
        let entry =
            entry(&mut chunk[set % SETS_PER_CHUNK], counters, flow.hash, period, age_period);
        if age_period != entry.age_period {
            let enough =
                age_period == entry.age_period + 1 && entry.age_arrived >= bandwidth_threshold;
            if entry.is_elephant && !enough {
                let silence = (age_period - entry.age_period).max(1).ilog2() as usize;
                counters.silences[silence.min(SILENCES - 1)] += 1;
                *entry = TrapEntry { tag: flow.hash, period, age_period, ..TrapEntry::default() };
            }
            entry.age_period = age_period;
            entry.age_arrived = 0;
        }
        entry.roll_to(period);
        entry.bytes += u64::from(bytes);
        entry.arrived += u64::from(bytes);
        entry.age_arrived += u64::from(bytes);
        let becomes = !entry.is_elephant && entry.bytes > byte_count;
        entry.is_elephant |= becomes;
        let rate = entry.is_elephant.then(|| (entry.rate >> RATE_FRACTION_BITS).max(1));
        counters.found += u64::from(becomes);
        counters.bytes += u64::from(bytes);
        counters.elephant_bytes += if rate.is_some() { u64::from(bytes) } else { 0 };
        rate
    }
}

/// The entry of a flow in its set, which may have to take that of another.
fn entry<'a>(
    set: &'a mut [TrapEntry; WAYS],
    counters: &mut TrapCounters,
    tag: u32,
    period: u64,
    age_period: u64,
) -> &'a mut TrapEntry {
    let way =
        set.iter().position(|entry| entry.tag == tag && entry.bytes > 0).unwrap_or_else(|| {
            let is_elephant =
                |way: usize| set[way].is_elephant && set[way].age_period + 1 >= age_period;
            let worth = |way: usize| (is_elephant(way), set[way].age_period, set[way].bytes);
            let victim = (0..WAYS).min_by_key(|&way| worth(way)).expect("a set has ways");
            counters.evictions += u64::from(is_elephant(victim));
            set[victim] = TrapEntry { tag, period, age_period, ..TrapEntry::default() };
            victim
        });
    &mut set[way]
}

impl TrapEntry {
    /// Closes the periods that are over.
    fn roll_to(&mut self, period: u64) {
        let over = period.saturating_sub(self.period);
        if over == 0 {
            return;
        }
        self.fold(self.arrived);
        for _ in 1..over.min(PERIODS_REMEMBERED) {
            self.fold(0);
        }
        if over >= PERIODS_REMEMBERED {
            self.rate = 0;
        }
        self.arrived = 0;
        self.period = period;
    }

    fn fold(&mut self, bytes: u64) {
        let sample = bytes << RATE_FRACTION_BITS;
        self.rate =
            self.rate - (self.rate >> RATE_WEIGHT_EXPONENT) + (sample >> RATE_WEIGHT_EXPONENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn etrap() -> Etrap {
        let policy = EtrapPolicy {
            byte_count: 10_000,
            age: Span::from_us(50),
            bandwidth_threshold: 500,
            table_entries: 64,
        };
        Etrap::new(policy, Span::from_us(25))
    }

    #[test]
    fn a_flow_is_an_elephant_after_its_bytes_and_a_mouse_again_after_silence() {
        let mut etrap = etrap();
        let seen: Vec<bool> = (0..12)
            .map(|n| etrap.arrival(Time::from_ps(n * US), FlowTag::of(1), 1_000).is_some())
            .collect();
        // the eleventh has more than 10 000
        assert_eq!(seen.iter().filter(|&&elephant| elephant).count(), 2);
        assert!(
            etrap.arrival(Time::from_ps(60 * US), FlowTag::of(1), 1_000).is_some(),
            "12 000 bytes in the period before"
        );
        assert!(
            etrap.arrival(Time::from_ps(160 * US), FlowTag::of(1), 1_000).is_none(),
            "a whole period of silence"
        );
        assert_eq!(etrap.counters.found, 1);
    }

    /// The bandwidth is asked of elephants alone: a flow that sends 1 000 bytes a millisecond, and
    /// so nothing in most age periods, is an elephant after its 10 000 bytes, until it has been
    /// silent for a period as one.
    #[test]
    fn a_slow_flow_becomes_an_elephant_too() {
        let mut etrap = etrap();
        let seen: Vec<bool> = (0..24)
            .map(|n| etrap.arrival(Time::from_ps(n * 1_000 * US), FlowTag::of(1), 1_000).is_some())
            .collect();
        let elephants: Vec<usize> = (0..24).filter(|&n| seen[n]).collect();
        assert_eq!(elephants, [10, 21], "the eleventh frame each time");
        assert_eq!((etrap.counters.bytes, etrap.counters.elephant_bytes), (24_000, 2_000));
        assert_eq!(etrap.counters.silences[4], 2, "after 20 periods each time");
    }

    /// Four elephants that have ended fill a set; a mouse that keeps coming back does not lose its
    /// bytes to others.
    #[test]
    fn elephants_that_have_ended_give_way_before_mice_that_have_not() {
        let policy = EtrapPolicy {
            byte_count: 10_000,
            age: Span::from_us(50),
            bandwidth_threshold: 500,
            table_entries: 4,
        };
        let mut etrap = Etrap::new(policy, Span::from_us(25));
        (1..4).for_each(|flow| {
            assert!(etrap.arrival(Time::ZERO, FlowTag::of(flow), 20_000).is_some())
        });
        let seen: Vec<bool> = (0..11)
            .map(|n| {
                let now = Time::from_ps(1_000 * (n + 1) * US);
                let is_elephant = etrap.arrival(now, FlowTag::of(9), 1_000).is_some();
                etrap.arrival(now, FlowTag::of(1_000 + n as u32), 100);
                is_elephant
            })
            .collect();
        assert_eq!(seen.iter().position(|&elephant| elephant), Some(10));
        assert_eq!(
            etrap.counters.evictions, 0,
            "none of those that lost their entry was an elephant still"
        );
    }

    #[test]
    fn the_rate_converges_to_bytes_per_period() {
        let mut etrap = etrap();
        let mut rate = None;
        for n in 0..2_000 {
            // 5 000 bytes in 25 us
            rate = etrap.arrival(Time::from_ps(n * 5 * US), FlowTag::of(1), 1_000);
        }
        let rate = rate.expect("an elephant");
        assert!((4_900..=5_050).contains(&rate), "{rate}");
    }
    fn patient(bandwidth_threshold: u64) -> Etrap {
        let policy = EtrapPolicy {
            byte_count: 10_000,
            age: Span::from_ms(1),
            bandwidth_threshold,
            table_entries: 64,
        };
        Etrap::new(policy, Span::from_us(25))
    }

    #[test]
    fn an_elephant_that_sends_a_byte_too_few_in_a_period_is_a_mouse() {
        for (bytes, stays) in [(500, true), (499, false)] {
            let mut etrap = patient(500);
            etrap.arrival(Time::ZERO, FlowTag::of(1), 11_000);
            etrap.arrival(Time::from_ps(1_000 * US), FlowTag::of(1), bytes);
            assert_eq!(
                etrap.arrival(Time::from_ps(2_000 * US), FlowTag::of(1), 1).is_some(),
                stays,
                "{bytes} bytes"
            );
        }
    }

    #[test]
    fn a_large_table_costs_what_its_flows_need() {
        let policy = EtrapPolicy { table_entries: 65_536, ..etrap().policy };
        let mut etrap = Etrap::new(policy, Span::from_us(25));
        for n in 0..3 {
            etrap.arrival(Time::from_ps(n * 5 * US), FlowTag::of(1), 1_000);
        }
        assert_eq!(etrap.chunks.iter().flatten().count(), 1);
    }

    /// The latest period counts an eighth, and periods without arrivals count as well.
    #[test]
    fn the_rate_is_smoothed_over_eight_periods() {
        let mut etrap = patient(1);
        let period = |n: u64| Time::from_ps(n * 25 * US);
        let mut rates = (0..9).map(|n| etrap.arrival(period(n), FlowTag::of(1), 5_000));
        let risen = rates.nth(8).flatten().expect("an elephant");
        assert!((risen as f64 - 5_000.0 * (1.0 - 0.875_f64.powi(8))).abs() < 10.0, "{risen}");
        let fallen = etrap.arrival(period(19), FlowTag::of(1), 5_000).expect("still one");
        let expected = (risen as f64 * 0.875 + 5_000.0 / 8.0) * 0.875_f64.powi(10);
        assert!((fallen as f64 - expected).abs() < 10.0, "{fallen} instead of {expected}");
    }
}
