//! Prioritisation and approximate fair drop beside another model of them: the `IntelligentBuffer`
//! of inet-tub/ns3-datacenter. Where both say the same, frame by frame; where ours differs by
//! design, by how much. `docs/models/dpp.md` and `docs/models/afd.md` have the figures.

#[path = "../common/mod.rs"]
mod common;
mod fairness;
mod first_packets;
mod rules;

use common::*;
use rules::Settings;
use tailrace_dataplane::*;
use tailrace_units::{RandomStream, Time};

/// One arrival: picoseconds, flow, bytes.
type Arrival = (u64, u32, u32);

/// Our port's treatment of each arrival.
struct Ours {
    /// For each frame: prioritised, accepted.
    verdicts: Vec<(bool, bool)>,
    /// Frames and their starts, in order.
    sent: Vec<(u64, u64)>,
    counters: DppCounters,
}

/// Sends arrivals through our port of an express queue and a normal one.
fn ours(buffer_bytes: u64, policy: PortPolicy, arrivals: &[Arrival]) -> Ours {
    let mut switch = switch(buffer_bytes, vec![policy], true);
    let mut notes = Notebook::default();
    let mut verdicts = Vec::new();
    for (id, &(ps, flow, bytes)) in arrivals.iter().enumerate() {
        let before = (
            switch.dpp_counters(0).expect("it prioritises").prioritised_frames,
            notes.dropped.len(),
        );
        switch.handle_frame(Time::from_ps(ps), 0, &mut frame(id as u64, bytes, flow), &mut notes);
        let after = (
            switch.dpp_counters(0).expect("it prioritises").prioritised_frames,
            notes.dropped.len(),
        );
        verdicts.push((after.0 > before.0, after.1 == before.1));
    }
    switch.handle_timeout(
        Time::from_ps(arrivals.last().map_or(0, |last| last.0) + (1 << 40)),
        &mut notes,
    );
    let mut sent: Vec<(u64, u64)> =
        notes.sent.iter().map(|(at, _, frame)| (frame.id, *at)).collect();
    sent.sort_unstable_by_key(|&(_, at)| at);
    Ours { verdicts, sent, counters: switch.dpp_counters(0).expect("it prioritises").clone() }
}

/// The same through the other model: verdicts (prioritised, accepted) and frames with their starts.
fn theirs(set: Settings, arrivals: &[Arrival]) -> (Vec<rules::Verdict>, Vec<(u64, u64)>) {
    let mut port = rules::Port::new(set);
    let each = arrivals.iter().enumerate();
    let verdicts = each
        .map(|(id, &(ps, flow, bytes))| port.handle(Time::from_ps(ps), id as u64, flow, bytes))
        .collect();
    port.settle(Time::NEVER);
    (verdicts, port.sent)
}

/// Frames of random sizes from random flows: bursts, pauses, silences of up to three ages.
fn random_arrivals(seed: u64, frames: usize, flows: u64, age_ps: u64) -> Vec<Arrival> {
    let mut stream = RandomStream::new(seed, "arrivals");
    let mut now = 0;
    let mut arrival = || {
        now += match stream.below(40) {
            0 => stream.below(3 * age_ps),
            1..=20 => 0,
            _ => stream.below(2_000_000),
        };
        (now, stream.below(flows) as u32, 64 + stream.below(8_900) as u32)
    };
    (0..frames).map(|_| arrival()).collect()
}
