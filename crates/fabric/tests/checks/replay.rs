//! A log replays to the same outcome, whenever the clock was read.

use crate::common::{parse, prioritising, two_switches};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use tailrace_fabric::log::{Entry, Writer};
use tailrace_fabric::replay::replay;
use tailrace_lab::frame::LiveFrame;
use tailrace_lab::network::Network;
use tailrace_lab::network::outcome;
use tailrace_network::address_of;
use tailrace_outcome::NetworkOutcome;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, FlowKey, Packet, Protocol};

const RATE_BPS: u64 = 100_000_000;

fn frame(number: u64, from: u16, to: u16, bytes: u16) -> LiveFrame {
    let key = FlowKey {
        source: address_of(u32::from(from)),
        destination: address_of(u32::from(to)),
        source_port: 40_000 + from,
        destination_port: 5_432,
        protocol: Protocol::Tcp,
    };
    let packet = Packet {
        seq: number,
        flow_hash: key.hash(),
        to_host: to,
        frame_bytes: bytes,
        ecn: Ecn::Ect0,
        ..Packet::default()
    };
    LiveFrame { packet, key: Some(key), from_host: from, slot: None, on_time: Time::ZERO }
}

/// Frames of three hosts to the fourth, more than its port can send, polled at these moments.
/// Returns the outcome.
fn live(plan: &Plan, polls_us: &[u64], log: &Path) -> NetworkOutcome {
    let mut network = Network::new(plan, None);
    let mut log = Writer::create(log).expect("the folder is there");
    let (mut now, mut number) = (Time::ZERO, 0);
    for (index, &us) in polls_us.iter().enumerate() {
        now += Span::from_us(us);
        for host in 1..4_u16 {
            let bytes = 60 + (number * 487 % 1_455) as u16;
            let (frame, advanced) = (frame(number, host, 0, bytes), network.advanced());
            // The line sent it some time before or after this wake-up.
            let start = now - Span::from_us(number * 13 % 90);
            let arrival = network.enter(
                usize::from(host),
                frame,
                start,
                start + Span::from_ns(u64::from(bytes) * 80),
            );
            log.add(&Entry::Frame { advanced, arrival, frame });
            number += 1;
        }
        network.advance(now);
        (0..4).for_each(|host| while network.poll_delivery(host, now).is_some() {});
        if index == polls_us.len() / 3 {
            network.begin(plan, now);
            log.add(&Entry::Begin(now));
        }
    }
    network.settle(now);
    log.add(&Entry::End(now));
    log.finish().expect("the log is whole");
    let outcome = outcome(plan, &network, now);
    // Frames on their way when the measured interval began count as sent.
    let frames = outcome.conservation.expect("all frames are counted");
    assert_eq!(
        frames.sent,
        frames.delivered + frames.dropped + frames.in_network,
        "no frame is lost without a word"
    );
    outcome
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(folder).expect("there is a place for scratch files");
    folder.join(name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_log_replays_to_the_same_outcome_and_digest(
        polls in proptest::collection::vec(1_u64..3_000, 30..200),
    ) {
        let plan = parse(&two_switches(RATE_BPS, &prioritising(60_000)));
        let log = scratch("polls.log");
        let lived = live(&plan, &polls, &log);
        let again = replay(&plan, &log).expect("the log is whole");
        prop_assert!(lived.conservation.is_some_and(|frames| frames.sent > 0));
        prop_assert_eq!(&lived, &again);
    }
}

#[test]
fn the_mechanisms_of_the_plan_act_in_a_replay() {
    let plan = parse(&two_switches(RATE_BPS, &prioritising(60_000)));
    let log = scratch("mechanisms.log");
    live(&plan, &vec![100; 400], &log);
    let again = replay(&plan, &log).expect("the log is whole");
    let port = &again.ports[0];
    assert_eq!((port.node.as_str(), port.towards.as_str()), ("s0", "h0"));
    assert!(port.queues[1].drops["tail-drop"].frames > 0, "{port:?}");
    assert!(port.queues[1].marked_frames > Some(0), "{port:?}");
    assert!(port.dpp.flatten().is_some_and(|dpp| dpp.normal_frames > 0), "{port:?}");
}

#[test]
fn another_frame_gives_another_digest_and_a_cut_log_is_refused() {
    let plan = parse(&two_switches(RATE_BPS, &prioritising(60_000)));
    let (log, changed) = (scratch("whole.log"), scratch("changed.log"));
    live(&plan, &[100; 50], &log);
    let digest = |log: &Path| replay(&plan, log).map(|outcome| outcome.digest);
    let mut bytes = std::fs::read(&log).expect("it was written");
    let last = bytes.len() - 2 * tailrace_fabric::log::RECORD_BYTES;
    bytes[last + 32] ^= 1; // a bit of the last frame's flow hash
    std::fs::write(&changed, &bytes).expect("the folder is there");
    assert_ne!(digest(&log), digest(&changed));
    bytes.truncate(last);
    std::fs::write(&changed, &bytes).expect("the folder is there");
    assert!(digest(&changed).expect_err("no end").contains("ends before"));
}

#[test]
fn switches_count_from_the_end_of_the_warm_up_and_so_does_a_replay() {
    const WARM_UP_PS: u64 = 10_000_000_000;
    let whole = parse(&two_switches(RATE_BPS, &prioritising(60_000)));
    let mut raw = whole.raw.clone();
    (raw.observe.warm_up_ps, raw.stop_at_ps) = (WARM_UP_PS, 10 * WARM_UP_PS);
    let warm = Plan::from_raw(raw).expect("it is sound");
    let log = scratch("warm-up.log");
    let polls = vec![100; 400]; // 40 ms, of which the last 26.6 are measured
    let counted = |plan: &Plan| {
        let lived = live(plan, &polls, &log);
        assert_eq!(lived, replay(plan, &log).expect("the log is whole"));
        lived
    };
    let (before, after) = (counted(&whole), counted(&warm));
    assert_eq!((before.counted_from_ps, after.counted_from_ps), (Some(0), Some(WARM_UP_PS)));
    assert_eq!(before.end_ps, after.end_ps);
    assert_eq!(before.digest, after.digest, "the same things happened");
    let sent = |outcome: &NetworkOutcome| outcome.ports[0].tx_bytes as f64;
    // The port is never idle: its bytes are in proportion to the counted time, 16.6 ms of 26.6.
    let share = sent(&after) / sent(&before);
    assert!((0.58..0.66).contains(&share), "{share}");
}
