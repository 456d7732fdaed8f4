//! Dynamic packet prioritisation: the first packets of every flow go to the express queue.
//!
//! Cisco C11-738425, page 5: the first N packets of a flow are prioritised, the next go to the
//! class's own queue; two transactions of one four-tuple less than 5 ms apart are one flow. The
//! protocol is part of our key, so TCP and UDP between the same ports are two flows.

use crate::DppCounters;
use crate::flow_tag::FlowTag;
use tailrace_units::{Span, Time};

/// Entries of a set: a flow may use any of them, and the table is full for a flow when its set is.
const WAYS: usize = 4;
/// Sets that get their memory together, when the first flow comes to one of them: the memory of a
/// table follows its flows.
const SETS_PER_CHUNK: usize = 8;

/// When a silent flow becomes new again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DppReset {
    /// After the age period, unless packets of it still wait in the normal queue: then express
    /// packets would overtake them.
    OrderSafe,
    /// After the age period.
    Naive,
}

/// Treatment of a new flow when active flows use all entries of its set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// Takes the entry that was silent the longest.
    EvictOldest,
    /// Uses the class's own queue.
    Untracked,
}

/// The policy.
#[derive(Clone, Copy, Debug)]
pub struct DppPolicy {
    /// Number of packets that are prioritised.
    pub max_packets: u32,
    /// Silence after which a flow is new.
    pub age: Span,
    /// The express queue.
    pub express: usize,
    /// When a silent flow becomes new.
    pub reset: DppReset,
    /// Entries in the table, a power of two of at least four.
    pub table_entries: u32,
    /// Treatment of new flows when it is full.
    pub when_full: WhenFull,
    /// Classes whose flows are prioritised, a bit each; the others use their own queues and take no
    /// entries.
    pub classes: u8,
}

#[derive(Clone, Copy, Debug)]
struct FlowEntry {
    last_seen: Time,
    /// Number that the flow's latest packet had in the normal queue, plus one; 0 for none.
    waiting_until: u64,
    /// The flow's hash. Two flows with the same 32 bits are one to the switch, as on hardware.
    tag: u32,
    packets: u32,
}

const EMPTY: FlowEntry = FlowEntry { last_seen: Time::ZERO, waiting_until: 0, tag: 0, packets: 0 };

#[derive(Clone, Debug)]
pub(crate) struct Dpp {
    pub(crate) policy: DppPolicy,
    pub(crate) counters: DppCounters,
    sets: usize,
    chunks: Vec<Option<Box<Chunk>>>,
}

type Chunk = [[FlowEntry; WAYS]; SETS_PER_CHUNK];

impl Dpp {
    pub(crate) fn new(policy: DppPolicy) -> Dpp {
        let entries = policy.table_entries as usize;
        assert!(
            entries.is_power_of_two() && entries >= WAYS,
            "the table has a power of two of entries, at least {WAYS}"
        );
        let sets = entries / WAYS;
        Dpp {
            policy,
            counters: DppCounters::default(),
            sets,
            chunks: vec![None; sets.div_ceil(SETS_PER_CHUNK)],
        }
    }

    /// Whether this packet is prioritised. `left` and `next` are the normal queue's: packets
    /// numbered below `left` have left it, and `next` is the number that this packet gets if it
    /// goes there.
    pub(crate) fn prioritises(&mut self, now: Time, flow: FlowTag, left: u64, next: u64) -> bool {
        let DppPolicy { age, reset, max_packets, .. } = self.policy;
        // In an empty queue no packet waits: a packet that was sent at once, or dropped, left its
        // number to the next.
        let left = if left == next { u64::MAX } else { left };
        let Some(entry) = self.entry(now, flow, left) else {
            self.counters.untracked_frames += 1;
            self.counters.normal_frames += 1;
            return false;
        };
        let waits = entry.waiting_until > left;
        let silent = entry.packets > 0 && now.since(entry.last_seen) >= age;
        let becomes_new = silent && (reset == DppReset::Naive || !waits);
        if becomes_new {
            entry.packets = 0;
        }
        entry.last_seen = now;
        let first = entry.packets < max_packets;
        if first {
            entry.packets += 1;
        } else {
            entry.waiting_until = next + 1;
        }
        if silent {
            self.count_silence(becomes_new, waits);
        }
        if first {
            self.counters.prioritised_frames += 1;
        } else {
            self.counters.normal_frames += 1;
        }
        first
    }

    fn count_silence(&mut self, becomes_new: bool, waits: bool) {
        self.counters.resets += u64::from(becomes_new);
        self.counters.reordering_resets += u64::from(becomes_new && waits);
        self.counters.deferred_resets += u64::from(!becomes_new);
    }

    /// The flow's entry, created if needed; `None` when its set is full and new flows must not
    /// evict.
    fn entry(&mut self, now: Time, flow: FlowTag, left: u64) -> Option<&mut FlowEntry> {
        let (tag, at) = (flow.hash, flow.slot(self.sets));
        let chunk = self.chunks[at / SETS_PER_CHUNK]
            .get_or_insert_with(|| Box::new([[EMPTY; WAYS]; SETS_PER_CHUNK]));
        let set = &mut chunk[at % SETS_PER_CHUNK];
        if let Some(way) = set.iter().position(|e| e.packets > 0 && e.tag == tag) {
            return Some(&mut set[way]);
        }
        let way = (0..WAYS)
            .min_by_key(|&way| (set[way].packets > 0, set[way].last_seen))
            .expect("a set has ways");
        let victim = &mut set[way];
        let is_active = victim.packets > 0
            && (now.since(victim.last_seen) < self.policy.age || victim.waiting_until > left);
        if is_active {
            if self.policy.when_full == WhenFull::Untracked {
                return None;
            }
            self.counters.evictions += 1;
        }
        self.counters.new_flows += 1;
        *victim = FlowEntry { tag, last_seen: now, ..EMPTY };
        Some(victim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_ms(1);

    fn dpp(reset: DppReset, when_full: WhenFull) -> Dpp {
        let policy = DppPolicy {
            max_packets: 2,
            age: MS.times(5),
            express: 0,
            reset,
            table_entries: 4,
            when_full,
            classes: u8::MAX,
        };
        Dpp::new(policy)
    }
    fn at(ms: u64) -> Time {
        Time::ZERO + MS.times(ms)
    }

    #[test]
    fn the_first_packets_are_prioritised_until_the_flow_was_silent() {
        let mut dpp = dpp(DppReset::OrderSafe, WhenFull::EvictOldest);
        let seen: Vec<bool> = [0, 1, 2, 6, 11, 12, 13]
            .iter()
            .map(|&ms| dpp.prioritises(at(ms), FlowTag::of(7), 20, 9))
            .collect();
        // The silence from 6 to 11 ms makes the flow new; that from 2 to 6 does not. Packet 9 of
        // the normal queue has left.
        assert_eq!(seen, [true, true, false, false, true, true, false]);
        assert_eq!(dpp.counters.resets, 1);
    }

    #[test]
    fn a_flow_does_not_become_new_while_its_packets_wait() {
        for (reset, expected) in [(DppReset::OrderSafe, false), (DppReset::Naive, true)] {
            let mut dpp = dpp(reset, WhenFull::EvictOldest);
            for number in 0..3 {
                dpp.prioritises(at(0), FlowTag::of(7), 0, number);
            }
            // Packet number 2 went to the normal queue and is still there: nothing has left.
            assert_eq!(dpp.prioritises(at(10), FlowTag::of(7), 0, 3), expected);
            assert_eq!(
                (dpp.counters.deferred_resets, dpp.counters.reordering_resets),
                if expected { (0, 1) } else { (1, 0) }
            );
        }
    }

    #[test]
    fn a_full_set_evicts_the_oldest_or_leaves_the_newcomer_untracked() {
        for (when_full, express) in [(WhenFull::EvictOldest, true), (WhenFull::Untracked, false)] {
            let mut dpp = dpp(DppReset::OrderSafe, when_full);
            for flow in 1..=4 {
                assert!(dpp.prioritises(at(0), FlowTag::of(flow), 0, 0));
            }
            assert_eq!(dpp.prioritises(at(1), FlowTag::of(5), 0, 0), express);
            assert_eq!(dpp.counters.evictions, u64::from(express));
            assert_eq!(dpp.counters.untracked_frames, u64::from(!express));
            // After the age period an entry is free for anyone.
            assert!(dpp.prioritises(at(9), FlowTag::of(6), 0, 0));
            assert_eq!(dpp.counters.evictions, u64::from(express));
        }
    }

    #[test]
    fn the_entry_of_a_silent_flow_is_not_free_while_its_packets_wait() {
        for (left, is_free) in [(0, false), (1, true)] {
            let mut dpp = dpp(DppReset::OrderSafe, WhenFull::Untracked);
            for packet in [true, true, false] {
                // the third is number 0 of the normal queue
                assert_eq!(dpp.prioritises(at(0), FlowTag::of(1), 0, 0), packet);
            }
            (2..=4).for_each(|flow| assert!(dpp.prioritises(at(9), FlowTag::of(flow), 0, 1)));
            assert_eq!(dpp.prioritises(at(10), FlowTag::of(5), left, 2), is_free);
        }
    }

    #[test]
    fn a_packet_that_was_sent_at_once_does_not_wait() {
        let mut dpp = dpp(DppReset::OrderSafe, WhenFull::EvictOldest);
        let first = |dpp: &mut Dpp, ms| dpp.prioritises(at(ms), FlowTag::of(1), 9, 9);
        assert_eq!([0, 0, 0, 9].map(|ms| first(&mut dpp, ms)), [true, true, false, true]);
        assert_eq!((dpp.counters.resets, dpp.counters.deferred_resets), (1, 0));
    }
}
