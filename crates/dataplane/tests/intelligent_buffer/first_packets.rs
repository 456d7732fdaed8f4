//! Which packets are prioritised and which find no room.

use super::rules::{Form, Settings};
use super::*;
use tailrace_units::Span;

const AGE: Span = Span::from_us(100);
const BUFFER_BYTES: u64 = 400_000;
/// Drops of their fair drop are off: the fair bytes are never computed, and the express queue stays
/// below 150 KiB.
const NEVER: Span = Span::from_secs(1_000_000);

/// Their port: `below_number - 1` packets of a flow are prioritised; the express queue may hold a
/// quarter of the free bytes.
fn settings(below_number: u32) -> Settings {
    Settings {
        buffer_bytes: BUFFER_BYTES,
        alpha_milli: [250, 8_000],
        below_number,
        silence: AGE,
        window: NEVER,
        wanted_bytes: 15_000,
        form: Form::AsRun,
    }
}

fn policy(max_packets: u32, age: Span, reset: DppReset) -> PortPolicy {
    let mut policy = dpp(Limit::Alpha(8_000), max_packets, reset);
    policy.queues[0].room.limit = Limit::Alpha(250);
    let prioritisation = policy.dpp.as_mut().expect("it prioritises");
    (prioritisation.age, prioritisation.table_entries) = (age, 4_096);
    policy
}

fn reordered(sent: &[(u64, u64)], arrivals: &[Arrival]) -> usize {
    let mut last = std::collections::BTreeMap::new();
    let overtaken = |&&(id, _): &&(u64, u64)| {
        let newest = last.entry(arrivals[id as usize].1).or_insert(0);
        let is_late = id < *newest;
        *newest = id.max(*newest);
        is_late
    };
    sent.iter().filter(overtaken).count()
}

/// With a packet less, an age a picosecond longer and the naive reset, both decide alike: every
/// queue, drop and start.
#[test]
fn every_packet_goes_the_same_way_in_both_models() {
    let (mut frames, mut express, mut dropped) = (0, 0, 0);
    for seed in 0..20 {
        let below_number = 2 + seed as u32 % 7;
        let arrivals = random_arrivals(seed, 4_000, 40, AGE.ps());
        let mine = ours(
            BUFFER_BYTES,
            policy(below_number - 1, AGE + Span::from_ps(1), DppReset::Naive),
            &arrivals,
        );
        let (verdicts, sent) = theirs(settings(below_number), &arrivals);
        let verdicts: Vec<(bool, bool)> =
            verdicts.iter().map(|verdict| (verdict.is_express, verdict.is_accepted)).collect();
        let first = (0..arrivals.len()).find(|&id| verdicts[id] != mine.verdicts[id]);
        assert_eq!(first.map(|id| (id, verdicts[id], mine.verdicts[id])), None, "seed {seed}");
        assert_eq!(sent, mine.sent, "seed {seed}");
        frames += arrivals.len();
        express += verdicts.iter().filter(|verdict| verdict.0).count();
        dropped += verdicts.iter().filter(|verdict| !verdict.1).count();
    }
    eprintln!("{frames} frames, {express} prioritised, {dropped} dropped, 0 differ");
    assert!(
        express > frames / 10 && dropped > frames / 50,
        "the sequences exercise both rules: {express}, {dropped}"
    );
}

/// Twelve packets 1 us apart, silence of exactly the age, four more.
#[test]
fn at_the_same_numbers_ours_prioritises_one_packet_more_and_ends_the_age_a_moment_earlier() {
    let mut arrivals: Vec<Arrival> = (0..12).map(|n| (n * 1_000_000, 1, 64)).collect();
    let silent_until = 11_000_000 + AGE.ps();
    arrivals.extend((0..4).map(|n| (silent_until + n * 1_000_000, 1, 64)));
    let mine = ours(BUFFER_BYTES, policy(5, AGE, DppReset::OrderSafe), &arrivals);
    let (verdicts, _) = theirs(settings(5), &arrivals);
    let count = |range: std::ops::Range<usize>| {
        let ours = mine.verdicts[range.clone()].iter().filter(|verdict| verdict.0).count();
        (ours, verdicts[range].iter().filter(|verdict| verdict.is_express).count())
    };
    assert_eq!(count(0..12), (5, 4));
    assert_eq!(count(12..16), (4, 0));
}

/// A silent flow whose packets still wait is new to them, and its next packets overtake; the
/// order-safe rule waits.
#[test]
fn their_rule_reorders_and_the_order_safe_one_does_not() {
    let (mut naive, mut safe, mut deferred) = (0, 0, 0);
    for seed in 0..20 {
        let arrivals = random_arrivals(seed, 4_000, 40, AGE.ps());
        let (_, sent) = theirs(settings(4), &arrivals);
        naive += reordered(&sent, &arrivals);
        let mine = ours(BUFFER_BYTES, policy(3, AGE, DppReset::OrderSafe), &arrivals);
        safe += reordered(&mine.sent, &arrivals);
        deferred += mine.counters.deferred_resets;
    }
    eprintln!(
        "reordered: {naive} by their rule, {safe} by the order-safe one, which deferred {deferred} resets"
    );
    assert_eq!(safe, 0);
    assert!(naive > 100, "{naive}");
}
