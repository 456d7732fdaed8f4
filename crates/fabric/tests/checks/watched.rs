//! Frames of chosen windows, taken from the log of a run by a replay.

use serde_json::{Value, json};
use tailrace_fabric::log::{Entry, Writer};
use tailrace_fabric::replay::{replay, replay_watched};
use tailrace_lab::frame::LiveFrame;
use tailrace_lab::network::Watched;
use tailrace_plan::Plan;
use tailrace_units::Time;
use tailrace_wire::Packet;

const MS: u64 = 1_000_000_000;
const BEGIN: u64 = 5 * MS;
/// Frames of 1 000 bytes enter a link of 100 Mbit/s together: each takes 81.92 us with what
/// surrounds it.
const SEND: u64 = 81_920_000;

/// This many frames of h1 for h0 that come 10 ms after the measured interval begins, a picosecond
/// apart.
fn logged(name: &str, frames: u64) -> (Plan, std::path::PathBuf) {
    let plan = Plan::parse(&tailrace_lab::measured_plan::two_hosts(100_000_000, 1_500).to_string())
        .expect("a sound plan");
    let path =
        std::env::temp_dir().join(format!("tailrace-timeline-{}-{name}.log", std::process::id()));
    let mut log = Writer::create(&path).expect("there is a place");
    log.add(&Entry::Begin(Time::from_ps(BEGIN)));
    for number in 0..frames {
        let packet = Packet { to_host: 0, frame_bytes: 1_000, seq: number, ..Packet::default() };
        let arrival = Time::from_ps(BEGIN + 10 * MS + number);
        let frame = LiveFrame { from_host: 1, on_time: arrival, ..LiveFrame::bare(packet) };
        log.add(&Entry::Frame { advanced: Time::ZERO, arrival, frame });
    }
    log.add(&Entry::End(Time::from_ps(BEGIN + 1_000 * MS)));
    log.finish().expect("the log is whole");
    (plan, path)
}

fn timeline_of(name: &str, frames: u64, windows_ps: &[(u64, u64)]) -> Value {
    timeline_between(name, frames, windows_ps, &[])
}

fn timeline_between(
    name: &str,
    frames: u64,
    windows_ps: &[(u64, u64)],
    between: &[(u32, u32)],
) -> Value {
    let (plan, path) = logged(name, frames);
    let watched = Watched { windows_ps: windows_ps.to_vec(), between: between.to_vec() };
    let replayed = replay_watched(&plan, &path, &watched).expect("the log is whole");
    let plain = replay(&plan, &path).expect("the log is whole");
    std::fs::remove_file(path).expect("it is there");
    assert_eq!(replayed.outcome, plain, "what is watched happens in the same way");
    replayed.timeline.expect("frames are watched")
}

#[test]
fn frames_wait_one_behind_the_other_in_the_time_of_the_measured_interval() {
    let timeline = timeline_of("wait", 3, &[(0, 20 * MS)]);
    let (hops, at) = (&timeline["hops"], 10 * MS);
    assert_eq!(hops["frame"], json!([0, 1, 2]), "{timeline}");
    assert_eq!(hops["since_ps"], json!([at, at + 1, at + 2]));
    assert_eq!(hops["start_ps"], json!([at, at + SEND, at + 2 * SEND]));
    assert_eq!(hops["end_ps"], json!([at + SEND, at + 2 * SEND, at + 3 * SEND]));
    assert_eq!(timeline["frames"]["entered_ps"], json!([at, at + 1, at + 2]));
    assert_eq!(timeline["frames"]["delivered_ps"], hops["arrival_ps"]);
}

#[test]
fn only_what_touches_a_window_is_kept() {
    // The second frame is sent from one to two times of a frame after the first one came.
    let from = 10 * MS + SEND + SEND / 2;
    let timeline = timeline_of("window", 3, &[(from, from + 1)]);
    assert_eq!(timeline["hops"]["frame"], json!([1]), "{timeline}");
    assert_eq!(timeline["hops"]["since_ps"], json!([u64::MAX]), "it came before the window");
}

#[test]
fn only_frames_between_chosen_hosts_are_kept() {
    let frames_between =
        |name, hosts| timeline_between(name, 3, &[(0, 20 * MS)], &[hosts])["hops"]["frame"].clone();
    assert_eq!(frames_between("there", (0, 1)), json!([0, 1, 2]));
    assert_eq!(frames_between("back", (1, 0)), json!([0, 1, 2]));
    assert_eq!(frames_between("others", (1, 1)), json!([]));
}

#[test]
fn what_a_full_queue_drops_has_its_time_and_cause() {
    // The port has a megabyte.
    let timeline = timeline_of("drops", 2_000, &[(0, 20 * MS)]);
    let dropped = timeline["drops"]["frame"].as_array().expect("a column").len() as u64;
    assert!(dropped > 900, "{dropped}");
    assert_eq!(
        timeline["drops"]["at_ps"][0], timeline["drops"]["since_ps"][0],
        "a newcomer is dropped"
    );
    let cause = timeline["drops"]["cause"][0].as_u64().expect("an index") as usize;
    assert_eq!(tailrace_dataplane::DropCause::ALL[cause].name(), "tail-drop");
}
