//! Flow tables of 65 536 entries with 100 000 flows at once: how often a flow loses its entry.
//! `docs/limits.md` states the figures.

mod common;
use common::*;
use tailrace_dataplane::*;
use tailrace_units::{RandomStream, Span, Time};

const ENTRIES: u32 = 65_536;
const FLOWS: u64 = 100_000;
/// Frames per flow; all of them within the age period.
const ROUNDS: u64 = 6;
/// Of these the first is prioritised.
const FRAME_BYTES: u32 = 64;

/// Every flow sends one frame per round, in random order, through a port with prioritisation.
/// Returns the share of later frames that were taken for first ones, and of frames that found no
/// entry.
fn prioritised_wrongly(flows: u64, when_full: WhenFull) -> (f64, f64) {
    let mut policy = dpp(Limit::Bytes(1 << 40), 1, DppReset::Naive);
    let table = policy.dpp.as_mut().expect("it has a table");
    (table.table_entries, table.when_full, table.age) = (ENTRIES, when_full, Span::from_secs(1));
    let mut switch = switch(1 << 41, vec![policy], true);
    let (mut notes, mut stream, mut now) =
        (Notebook::default(), RandomStream::new(1, "order"), Time::ZERO);
    let hashes: Vec<u32> = (0..flows).map(|_| stream.below(1 << 32) as u32).collect();
    for _ in 0..ROUNDS {
        let shift = stream.below(flows);
        for n in 0..flows {
            now += Span::from_ns(100);
            switch.handle_frame(
                now,
                0,
                &mut frame(n, FRAME_BYTES, hashes[((n + shift) % flows) as usize]),
                &mut notes,
            );
        }
        notes.sent.clear();
        notes.depths.clear();
    }
    let counters = switch.dpp_counters(0).expect("it prioritises");
    let later = (flows * (ROUNDS - 1)) as f64;
    (
        (counters.prioritised_frames - flows.min(counters.prioritised_frames)) as f64 / later,
        counters.untracked_frames as f64 / later,
    )
}

/// `large` flows of 100 kB among flows of 384 bytes, all at once. Returns how many became elephants
/// and how many lost their entry.
fn trapped(large: u64) -> (u64, u64) {
    let trap = EtrapPolicy {
        byte_count: 20_000,
        age: Span::from_secs(10),
        bandwidth_threshold: 1,
        table_entries: ENTRIES,
    };
    let policy =
        PortPolicy { etrap: Some((trap, Span::from_us(25))), ..fifo(Limit::Bytes(1 << 40)) };
    let mut switch = switch(1 << 41, vec![policy], true);
    let (mut notes, mut stream, mut now) =
        (Notebook::default(), RandomStream::new(1, "hashes"), Time::ZERO);
    let hashes: Vec<u32> = (0..FLOWS).map(|_| stream.below(1 << 32) as u32).collect();
    for round in 0..66 {
        for n in 0..FLOWS {
            let is_large = n % (FLOWS / large) == 0;
            if is_large || round % 11 == 0 {
                now += Span::from_ns(100);
                let bytes = if is_large { 1_500 } else { FRAME_BYTES };
                switch.handle_frame(now, 0, &mut frame(n, bytes, hashes[n as usize]), &mut notes);
            }
        }
        notes.sent.clear();
        notes.depths.clear();
    }
    let counters = switch.elephants(0).expect("the port has a trap");
    (counters.found, counters.evictions)
}

#[test]
fn prioritisation_forgets_flows_when_there_are_more_than_entries() {
    let (few, _) = prioritised_wrongly(10_000, WhenFull::EvictOldest);
    let (many, _) = prioritised_wrongly(FLOWS, WhenFull::EvictOldest);
    let (none, untracked) = prioritised_wrongly(FLOWS, WhenFull::Untracked);
    assert!(few < 0.004, "{few}");
    assert!((0.70..1.0).contains(&many), "{many}");
    assert!(none < 0.0005, "{none}");
    assert!((0.30..0.60).contains(&untracked), "{untracked}");
}

#[test]
fn the_trap_keeps_elephants_among_many_mice() {
    let (found, lost) = trapped(1_000);
    assert!((990..=1_000).contains(&found), "{found}");
    assert!(lost < 5, "{lost}");
}
