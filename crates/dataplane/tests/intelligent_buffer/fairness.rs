//! The flows that lose frames when a port is offered more than it carries.

use super::rules::{Form, Settings};
use super::*;
use tailrace_units::Span;

const FRAME_BYTES: u32 = 1_476;
/// Two flows of 4 Gbit/s, eight of half a Gbit/s, and short flows of 20 frames: 12.5 Gbit/s for a
/// line of 10.
const HOGS: u32 = 2;
const MODEST: u32 = 8;
const MOUSE_FRAMES: u64 = 20;
/// A mouse's frames leave its source back to back at 1 Gbit/s; a new mouse every 480 us makes half
/// a Gbit/s.
const MOUSE_GAP_PS: u64 = 12_000_000;
const NEW_MOUSE_PS: u64 = 480_000_000;
const RUN_PS: u64 = 100_000_000_000;
/// Losses count from here on.
const SETTLED_PS: u64 = 30_000_000_000;
const BUFFER_BYTES: u64 = 4_000_000;
const WINDOW: Span = Span::from_us(50);
/// Above the 150 KiB below which theirs drops nothing.
const WANTED_BYTES: u64 = 300_000;

/// Frames of all flows by time; the gaps of one flow lie anywhere between zero and twice their
/// mean.
fn arrivals() -> Vec<Arrival> {
    let mut stream = RandomStream::new(1, "fairness");
    let mut all = Vec::new();
    for flow in 0..HOGS + MODEST {
        let gap = if flow < HOGS { 3_000_000 } else { 24_000_000 };
        let mut now = 0;
        while now < RUN_PS {
            now += stream.below(2 * gap);
            all.push((now, flow, FRAME_BYTES));
        }
    }
    for mouse in 0..RUN_PS / NEW_MOUSE_PS {
        let flow = HOGS + MODEST + mouse as u32;
        all.extend(
            (0..MOUSE_FRAMES).map(|n| (mouse * NEW_MOUSE_PS + n * MOUSE_GAP_PS, flow, FRAME_BYTES)),
        );
    }
    all.sort_unstable();
    all
}

/// Loss in thousandths: of hogs, of modest flows, of mice.
fn losses(arrivals: &[Arrival], is_accepted: impl Fn(usize) -> bool) -> [f64; 3] {
    let mut sent = [0_u64; 3];
    let mut lost = [0_u64; 3];
    for (id, &(_, flow, _)) in
        arrivals.iter().enumerate().filter(|(_, arrival)| arrival.0 > SETTLED_PS)
    {
        let kind = usize::from(flow >= HOGS) + usize::from(flow >= HOGS + MODEST);
        sent[kind] += 1;
        lost[kind] += u64::from(!is_accepted(id));
    }
    std::array::from_fn(|kind| 1_000.0 * lost[kind] as f64 / sent[kind] as f64)
}

fn loss_of_theirs(form: Form, arrivals: &[Arrival]) -> [f64; 3] {
    let set = Settings {
        buffer_bytes: BUFFER_BYTES,
        alpha_milli: [8_000, 1_000],
        below_number: 3,
        silence: Span::from_ms(5),
        window: WINDOW,
        wanted_bytes: WANTED_BYTES,
        form,
    };
    let (verdicts, _) = theirs(set, arrivals);
    losses(arrivals, |id| verdicts[id].is_accepted)
}

fn loss_of_ours(arrivals: &[Arrival]) -> [f64; 3] {
    let mut policy = dpp(Limit::Alpha(1_000), 2, DppReset::OrderSafe);
    policy.queues[0].room.limit = Limit::Alpha(8_000);
    let line_bytes = WINDOW.ps() / 800;
    policy.queues[1].aqm = Aqm::Afd(Box::new(Afd::new(
        WANTED_BYTES,
        WINDOW,
        line_bytes,
        false,
        RandomStream::new(1, "afd"),
    )));
    let trap = EtrapPolicy {
        byte_count: 100_000,
        age: Span::from_us(100),
        bandwidth_threshold: 500,
        table_entries: 1_024,
    };
    policy.etrap = Some((trap, WINDOW));
    let mine = ours(BUFFER_BYTES, policy, arrivals);
    losses(arrivals, |id| mine.verdicts[id].1)
}

/// Asserts the losses of hogs, modest flows and mice, in thousandths, and prints them.
#[track_caller]
fn assert_losses(what: &str, losses: [f64; 3], expected: [f64; 3]) {
    let [hogs, modest, mice] = losses;
    eprintln!("{what}: hogs {hogs:.0}, modest {modest:.0}, mice {mice:.0} of 1000");
    let is_near =
        losses.iter().zip(expected).all(|(loss, expected)| (loss - expected).abs() <= 15.0);
    assert!(is_near, "{what}: {losses:?} instead of {expected:?}");
}

/// Of 12.5 Gbit/s a line of 10 leaves a fifth.
const OF_EVERYBODY: [f64; 3] = [200.0; 3];
/// The same 2.5 Gbit/s, all taken from the two flows that send 8.
const OF_HOGS: [f64; 3] = [2_500.0 / 8.0, 0.0, 0.0];

#[test]
fn ours_takes_the_excess_from_those_above_the_fair_share() {
    assert_losses("ours", loss_of_ours(&arrivals()), OF_HOGS);
}

/// The same rule with a count for each flow comes to the same, with other gains and without a trap.
#[test]
fn theirs_with_a_count_for_each_flow_agrees_with_ours() {
    assert_losses("theirs, by flow", loss_of_theirs(Form::PerFlow, &arrivals()), OF_HOGS);
}

/// With one count for the priority there is one probability for all of its packets.
#[test]
fn theirs_counts_by_priority_and_takes_it_from_everybody() {
    assert_losses(
        "theirs, by priority",
        loss_of_theirs(Form::PerPriority, &arrivals()),
        OF_EVERYBODY,
    );
}

/// As it runs, fair drop checks the wrong queue: the dynamic threshold drops, blindly.
#[test]
fn theirs_as_it_runs_is_the_dynamic_threshold_alone() {
    assert_losses("theirs, as it runs", loss_of_theirs(Form::AsRun, &arrivals()), OF_EVERYBODY);
}
