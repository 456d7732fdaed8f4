//! Each mechanism of data-centre bridging, compared with its source.

mod afd;
mod circle;
mod classes;
mod lossless;
pub mod pfc;
mod qcn;
mod spreading;
mod storm;

use crate::common::*;
use serde_json::Value;
use tailrace_dataplane::headroom_bytes;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// The priority without loss.
pub const SAN: u8 = 3;
const SAN_BIT: u8 = 1 << SAN;
/// 802.3 annex 31B.3.7: 67 quanta of 512 bits at 10 Gbit/s.
const RESPONSE_QUANTA: u64 = 67;
const RESPONSE_PS: u64 = RESPONSE_QUANTA * 512 * 100;
/// Delay of every link here, and the cable that has it (198 m per microsecond).
const DELAY_PS: u64 = US;
const CABLE_METRES: u64 = 198;
const BUFFER_BYTES: u64 = 12_000_000;
const XOFF_BYTES: u64 = 100_000;

/// Bytes that arrive after a pause at 10 Gbit/s with frames of this MTU.
pub fn computed_headroom(mtu: u64) -> u64 {
    let frame = mtu + 14;
    headroom_bytes(10 * GBPS, CABLE_METRES, frame, frame, RESPONSE_QUANTA)
}

fn pausing(obeys: u8) -> RawPause {
    RawPause {
        obeys,
        obeys_link_pause: false,
        response_ps: RESPONSE_PS,
        quanta: u16::MAX,
        sends_link_pause: false,
        watchdog: None,
    }
}

/// Two classes with half of the line each: `default`, and `san` without loss in [`SAN`].
pub fn lossless_policy(headroom_bytes: u64) -> RawPolicy {
    let queues = vec![
        queue("default", RawService::Dwrr(500), BUFFER_BYTES),
        queue("san", RawService::Dwrr(500), BUFFER_BYTES),
    ];
    let group = |priorities, bytes, lossless| RawGroup {
        priorities,
        reserved_bytes: 0,
        limit: RawLimit::Bytes(bytes),
        lossless,
    };
    let lossless = RawLossless { xon_offset_bytes: 20_000, headroom_bytes };
    RawPolicy {
        pause: Some(pausing(SAN_BIT)),
        groups: vec![group(SAN_BIT, XOFF_BYTES, Some(lossless)), group(!SAN_BIT, 1_000_000, None)],
        ..policy(queues, [0, 0, 0, 1, 0, 0, 0, 0])
    }
}

/// The same classes with a queue limit instead of pauses.
fn lossy_policy() -> RawPolicy {
    let queues = vec![
        queue("default", RawService::Dwrr(500), 500_000),
        queue("san", RawService::Dwrr(500), 500_000),
    ];
    policy(queues, [0, 0, 0, 1, 0, 0, 0, 0])
}

/// An interface that obeys pauses of [`SAN`].
fn obedient() -> RawNicLossless {
    RawNicLossless {
        obeys: SAN_BIT,
        obeys_link_pause: true,
        response_ps: RESPONSE_PS,
        qcn: None,
        storm: None,
        classes: vec![],
    }
}

/// Hosts with obedient interfaces around one switch, 10 Gbit/s.
fn lossless_star(hosts: usize, policy: RawPolicy) -> RawPlan {
    let mut plan = star(hosts, 1500, 10 * GBPS, DELAY_PS, switch("sw", BUFFER_BYTES, policy));
    plan.hosts.iter_mut().for_each(|host| host.nic.lossless = Some(obedient()));
    plan.stop_at_ps = 60 * MS;
    plan
}

/// An endless stream of one connection.
fn endless(source: &str, destination: &str, priority: u8) -> RawWorkload {
    let mut work = stream(&format!("{source}>{destination}"), source, destination, 1, 0);
    work.header.priority = priority;
    RawWorkload::from(work)
}

/// Datagrams of 1 000 bytes on the wire, evenly spaced at this rate.
fn constant(source: &str, destination: &str, priority: u8, bps: u64) -> RawWorkload {
    let gap = RawDistribution::Constant(1_000 * 8 * S / bps);
    let name = format!("{source}>{destination}");
    let mut work = datagrams(&name, source, destination, 1_000 - wire_bytes(0), gap);
    work.header.priority = priority;
    RawWorkload::from(work)
}

/// Mean goodput over the whole run in Gbit/s.
fn gbps(outcome: &Outcome, name: &str) -> f64 {
    number(workload(outcome, name), "goodput_bytes") * 8e3 / number(outcome.summary(), "end_ps")
}

/// Sum of a figure over a list of objects.
fn total<'a>(list: &'a Value, figure: impl Fn(&'a Value) -> u64) -> u64 {
    list.as_array().expect("a list").iter().map(figure).sum()
}

/// Frames dropped for a cause at all ports and entrances.
fn drops(outcome: &Outcome, cause: &str) -> u64 {
    let of = |drops: &Value| drops[cause]["frames"].as_u64().unwrap_or(0);
    let early = total(&outcome.summary()["switches"], |switch| of(&switch["early_drops"]));
    early
        + total(&outcome.summary()["ports"], |port| {
            total(&port["queues"], |queue| of(&queue["drops"]))
        })
}

/// Pauses that a switch has sent to a neighbour.
fn pauses_sent(outcome: &Outcome, node: &str, towards: &str) -> u64 {
    total(&port(outcome, node, towards)["groups"], |group| count(group, "xoff_sent"))
}
