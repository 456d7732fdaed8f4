//! The effect of lateness on a network: replays the frames of a log with perfect timing, and again
//! with a known lateness added.
//!
//! The log says for each frame when it came to its switch and when it would have on a fabric
//! without lateness. Fed at the latter times, the same data plane shows the delays and drops of a
//! fabric without any lateness; the real ones are beside them in the outcome of the lab. The
//! difference is a lower bound of the effect of lateness: senders had already reacted to it.

use crate::delays::Delays;
use crate::lab::queue_limit_bytes;
use crate::log::{Entry, read};
use crate::replay::{catch_up, require_known};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tailrace_lab::frame::LiveFrame;
use tailrace_lab::network::Network;
use tailrace_lab::network::{outcome, port_towards};
use tailrace_outcome::{NetworkOutcome, Port};
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// The known lateness of the second pass: nothing moves for so long at a time, as when a hypervisor
/// stops a core,
const STOP: Span = Span::from_ms(1);
/// once in so long.
const STOP_EVERY: Span = Span::from_ms(10);
/// The smallest step of time.
const STEP: Span = Span::from_ps(1);
const BITS_PER_BYTE: f64 = 8.0;
const US_PER_S: f64 = 1e6;

/// Frames that entered in a measured interval and before it, and the interval.
struct Entered {
    /// In the order in which a fabric without lateness would have seen them.
    frames: Vec<LiveFrame>,
    begin: Time,
    end: Time,
}

/// Compares a log with itself on a fabric without lateness and on one that stops now and then, by
/// port: delays, drops, and how long the longest queue of the port takes to drain.
///
/// # Errors
/// When the log cannot be read, is not of this plan, or has no measured interval.
pub fn effect(plan: &Plan, log: &Path) -> Result<Value, String> {
    let entered = read_frames(plan, log)?;
    let on_time = Pass::run(plan, &entered, |at| at);
    let late = Pass::run(plan, &entered, stopped);
    let ports = on_time.drops.keys().map(|port| {
        let of = |pass: &Pass| json!({ "drops": pass.drops[port], "delay_us": pass.delay(plan, port) });
        (port.clone(), json!({ "drain_us": drain_us(plan, port), "punctual": of(&on_time), "stopped": of(&late) }))
    });
    let stops = json!({ "stop_us": STOP.as_secs_f64() * US_PER_S, "every_us": STOP_EVERY.as_secs_f64() * US_PER_S,
                        "added_mean_us": late.added_mean_us() });
    Ok(json!({ "ports": ports.collect::<Map<_, _>>(), "stops": stops }))
}

/// When a fabric that stops now and then acts on something: not while it is stopped.
fn stopped(at: Time) -> Time {
    let since = at.ps() % STOP_EVERY.ps();
    if since < STOP.ps() { at + Span::from_ps(STOP.ps() - since) } else { at }
}

fn read_frames(plan: &Plan, log: &Path) -> Result<Entered, String> {
    let explain = |error: std::io::Error| format!("{}: {error}", log.display());
    let (mut frames, mut begin, mut end) = (Vec::new(), Time::ZERO, None);
    for entry in read(log).map_err(explain)? {
        match entry.map_err(explain)? {
            Entry::Frame { frame, .. } => {
                require_known(plan, &frame, log)?;
                frames.push(frame);
            }
            Entry::Begin(at) => begin = at,
            Entry::End(at) => end = Some(at),
        }
    }
    // Stable: frames of one moment stay in the order in which they were read, and so do those of
    // one host.
    frames.sort_by_key(|frame| frame.on_time);
    let end = end.ok_or_else(|| {
        format!("{}: the log ends before the measured interval does", log.display())
    })?;
    Ok(Entered { frames, begin, end })
}

/// The result of one pass over the frames.
struct Pass {
    delays: Vec<Delays>,
    /// Time for which frames were kept waiting on purpose, and how many frames there were.
    added: Delays,
    drops: BTreeMap<String, u64>,
}

impl Pass {
    /// Lets the frames enter when a fabric `acts` on their arrival, and delivers frames to hosts
    /// when it acts on that.
    fn run(plan: &Plan, entered: &Entered, acts: impl Fn(Time) -> Time) -> Pass {
        let mut network = Network::new(plan, None);
        let (mut delays, mut added) = (vec![Delays::new(); plan.graph.hosts], Delays::new());
        let mut take = |host: usize, due: Time, frame: &LiveFrame| {
            let given = acts(due);
            if given < entered.begin || given > entered.end || frame.on_time == Time::ZERO {
                return;
            }
            delays[host].record(given.since(frame.on_time));
            added.record(given.since(due) + acts(frame.on_time).since(frame.on_time));
        };
        let mut has_begun = false;
        for frame in &entered.frames {
            let arrival = acts(frame.on_time);
            if !has_begun && arrival > entered.begin {
                catch_up(plan, &mut network, entered.begin, &mut take);
                network.begin(plan, entered.begin);
                has_begun = true;
            }
            if arrival > entered.end {
                break;
            }
            catch_up(plan, &mut network, arrival - STEP, &mut take);
            // Of frames of one moment, the later ones enter a step after the first.
            network.enter_at(
                usize::from(frame.from_host),
                *frame,
                arrival.max(network.advanced() + STEP),
            );
        }
        catch_up(plan, &mut network, entered.end, &mut take);
        network.settle(entered.end);
        Pass { delays, added, drops: drops(&outcome(plan, &network, entered.end)) }
    }

    /// Delays at a port towards a host; none at one between switches.
    fn delay(&self, plan: &Plan, port: &str) -> Value {
        let host = (0..plan.graph.hosts).find(|&host| port_towards(plan, host) == port);
        json!(host.map(|host| self.delays[host].summary()))
    }

    fn added_mean_us(&self) -> f64 {
        self.added.mean_us()
    }
}

/// Frames that each port of a switch has dropped.
fn drops(outcome: &NetworkOutcome) -> BTreeMap<String, u64> {
    let of_port = |port: &Port| {
        port.queues
            .iter()
            .flat_map(|queue| queue.drops.values())
            .map(|dropped| dropped.frames)
            .sum()
    };
    outcome
        .ports
        .iter()
        .map(|port| (format!("{}>{}", port.node, port.towards), of_port(port)))
        .collect()
}

/// How long the longest queue of a port takes to drain when it is full.
fn drain_us(plan: &Plan, port: &str) -> f64 {
    let graph = &plan.graph;
    let ends = (graph.hosts..graph.ports.len())
        .flat_map(|node| graph.ports[node].iter().enumerate().map(move |end| (node, end)));
    let mut named = ends.filter(|(node, (_, end))| {
        format!("{}>{}", graph.names[*node], graph.names[end.peer]) == port
    });
    let Some((node, (number, end))) = named.next() else { return 0.0 };
    let switch = &plan.raw.switches[node - graph.hosts];
    let policy = plan.policy(node - graph.hosts, number);
    let frame_bytes = plan.raw.hosts.iter().map(|host| host.mtu_bytes).max().unwrap_or(0)
        + plan.raw.framing.header_bytes;
    let limit = |limit| {
        queue_limit_bytes(limit, switch.buffer_bytes, u64::from(frame_bytes))
            .min(switch.buffer_bytes)
    };
    let longest = policy.queues.iter().map(|queue| limit(queue.limit)).max().unwrap_or(0);
    longest as f64 * BITS_PER_BYTE / graph.links[end.link].rate.bps() as f64 * US_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Writer;
    use tailrace_wire::Packet;

    const MS: u64 = 1_000_000_000;

    /// Frames of h1 for h0, 1 000 bytes each, with when a fabric without lateness would have had
    /// them and when the real one did (ps).
    fn logged(name: &str, frames: &[(u64, u64)]) -> (Plan, std::path::PathBuf) {
        let plan =
            Plan::parse(&tailrace_lab::measured_plan::two_hosts(100_000_000, 1_500).to_string())
                .expect("a sound plan");
        let path =
            std::env::temp_dir().join(format!("tailrace-effect-{}-{name}.log", std::process::id()));
        let mut log = Writer::create(&path).expect("there is a place");
        log.add(&Entry::Begin(Time::from_ps(1)));
        for &(on_time, arrival) in frames {
            let packet = Packet { to_host: 0, frame_bytes: 1_000, ..Packet::default() };
            let frame = LiveFrame {
                from_host: 1,
                on_time: Time::from_ps(on_time),
                ..LiveFrame::bare(packet)
            };
            log.add(&Entry::Frame { advanced: Time::ZERO, arrival: Time::from_ps(arrival), frame });
        }
        log.add(&Entry::End(Time::from_ps(1_000 * MS)));
        log.finish().expect("the log is whole");
        (plan, path)
    }

    fn report_of(name: &str, frames: &[(u64, u64)]) -> Value {
        let (plan, path) = logged(name, frames);
        let report = effect(&plan, &path).expect("the log is whole");
        std::fs::remove_file(path).expect("it is there");
        report
    }

    #[test]
    fn a_punctual_pass_has_the_delays_of_the_network_alone() {
        // Two frames that came with one late wake-up, 3 ms apart for one without lateness: neither
        // waits for the other then.
        let report = report_of("alone", &[(22 * MS, 25 * MS), (25 * MS, 25 * MS + 1_000)]);
        let port = &report["ports"]["sw>h0"];
        let alone_us = 1_024.0 * 8.0 / 100.0;
        let mean_us = port["punctual"]["delay_us"]["mean"].as_f64().expect("a number");
        assert!((mean_us - alone_us).abs() < 0.1, "{report}");
        assert_eq!(
            (&port["punctual"]["delay_us"]["frames"], &port["punctual"]["drops"]),
            (&json!(2), &json!(0))
        );
        assert!(
            (port["drain_us"].as_f64().expect("a number") - 80_000.0).abs() < 0.1,
            "1 MB at 100 Mbit/s: {report}"
        );
    }

    #[test]
    fn a_known_lateness_shows_in_delay_by_as_much_as_was_added() {
        // One frame in a stop of 1 ms, a quarter of it over, and one far from any.
        let report =
            report_of("added", &[(20 * MS + MS / 4, 20 * MS + MS / 4), (25 * MS, 25 * MS)]);
        let port = &report["ports"]["sw>h0"];
        let mean = |pass: &str| port[pass]["delay_us"]["mean"].as_f64().expect("a number");
        assert!((mean("stopped") - mean("punctual") - 375.0).abs() < 0.1, "{report}");
        assert!(
            (report["stops"]["added_mean_us"].as_f64().expect("a number") - 375.0).abs() < 0.1,
            "{report}"
        );
    }

    #[test]
    fn what_came_in_one_piece_because_the_fabric_was_late_is_not_dropped_by_a_punctual_one() {
        // 2 000 frames of 1 kB at 90 % of the line; in a piece they would overflow the megabyte of
        // the port.
        let frames: Vec<(u64, u64)> =
            (1..=2_000_u64).map(|n| (n * 91_000_000, 200 * MS + n)).collect();
        let report = report_of("burst", &frames);
        assert_eq!(report["ports"]["sw>h0"]["punctual"]["drops"], 0, "{report}");
        let (plan, path) = logged("burst-again", &frames);
        let happened = drops(&crate::replay::replay(&plan, &path).expect("the log is whole"));
        std::fs::remove_file(path).expect("it is there");
        assert!(happened["sw>h0"] > 900, "{happened:?}");
    }
}
