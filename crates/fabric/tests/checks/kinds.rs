//! Fabrics for comparison: hosts joined by switches that are not ours, with the plan's rates.

use crate::common::{fifo, folder, host, is_root, prioritising, program, switch, two_switches};
use crate::killing::{children, is_running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tailrace_fabric::client::Client;

const RATE_BPS: u64 = 100_000_000;
const QUEUE_BYTES: u64 = 200_000;
/// A machine that is busy with other work may keep the programs from filling the queue.
const ATTEMPTS_MAX: usize = 5;

/// Hosts `h0` (at `RATE_BPS`), `h1` and `h2` (ten times as fast) around one switch.
fn star(mtu_bytes: u32, policy: &Value) -> Value {
    let mut plan = two_switches(RATE_BPS, policy);
    plan["hosts"] = json!([host("h0", mtu_bytes), host("h1", mtu_bytes), host("h2", mtu_bytes)]);
    plan["switches"] = json!([switch("s0", policy.clone())]);
    let link = |host: &str, rate_bps: u64| json!({ "a": host, "b": "s0", "rate_bps": rate_bps, "delay_ps": 0 });
    plan["links"] =
        json!([link("h0", RATE_BPS), link("h1", 10 * RATE_BPS), link("h2", 10 * RATE_BPS)]);
    plan["observe"]["ports"] = json!([]);
    plan
}

fn lab(name: &str, kind: &str, mtu_bytes: u32) -> Client {
    let plan = star(mtu_bytes, &fifo(QUEUE_BYTES));
    Client::start(program(), &plan, &folder(name), &["--kind", kind]).expect("root makes a lab")
}

/// Whether a kind can be had here. Says why not.
fn has(test: &str, kind: &str) -> bool {
    let found =
        std::process::Command::new(program()).arg("doctor").output().expect("the program is built");
    let found: Value = serde_json::from_slice(&found.stdout).expect("the doctor speaks JSON");
    let lacks = &found["fabrics"][kind];
    if let Some(why) = lacks.as_str() {
        let mut output = std::io::stderr().lock();
        std::io::Write::write_all(&mut output, format!("skipped {test}: {why}\n").as_bytes())
            .expect("tests have an output");
    }
    lacks.is_null()
}

/// Twelve thousand datagrams to `h0` at twice the rate of its line, or so.
fn overload(lab: &mut Client) -> (Value, Value) {
    let program = program().to_str().expect("a path in UTF-8");
    lab.spawn("sink", "h0", &[program, "sink", "--port", "9", "--skip-ms", "200"])
        .expect("it starts");
    lab.ask(json!({ "op": "begin" })).expect("it begins");
    let source = [
        "source",
        "--to",
        "10.77.0.1:9",
        "--payload-bytes",
        "1400",
        "--interval-ns",
        "60000",
        "--seconds",
        "2",
    ];
    lab.spawn("source", "h1", &[&[program][..], &source].concat()).expect("it starts");
    let (_, sent) = lab.wait("source").expect("the lab goes on");
    let (_, text) = lab.wait("sink").expect("the lab goes on");
    lab.ask(json!({ "op": "end" })).expect("it ends");
    let parse = |text: &str| serde_json::from_str(text).expect("it writes JSON");
    (parse(&sent), parse(&text))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A port has its rate, a full queue of the plan's size, and counts its drops.
fn a_port_keeps_its_rate(kind: &str) {
    let mut lab = lab(&format!("rate-{kind}"), kind, 1_500);
    let full_us = QUEUE_BYTES as f64 / 1_442.0 * 1_466.0 * 8.0 / RATE_BPS as f64 * 1e6;
    let mut seen = Vec::new();
    let sent = loop {
        let (sent, received) = overload(&mut lab);
        // 1400 bytes of payload, 28 of UDP and IP, 14 of Ethernet, 24 besides the frame.
        let rate_bps =
            number(&received["datagrams"]) * 1_466.0 * 8.0 / (number(&received["span_ns"]) * 1e-9);
        let (share, delay) =
            (rate_bps / RATE_BPS as f64, number(&received["delay_us"]["p50"]) / full_us);
        seen.push((share, delay));
        if (0.98..1.02).contains(&share) && (0.8..1.2).contains(&delay) {
            break sent;
        }
        assert!(
            seen.len() < ATTEMPTS_MAX,
            "share of the rate, and delay in parts of a full queue's: {seen:?}"
        );
    };
    let outcome = lab.down().expect("it ends");
    assert_eq!(outcome["fabric"]["kind"], kind);
    let port = &outcome["ports"][0];
    assert_eq!(
        (&port["node"], &port["towards"], &port["rate_bps"]),
        (&json!("s0"), &json!("h0"), &json!(RATE_BPS))
    );
    let queue = &port["queues"][0];
    let (tx, dropped) =
        (number(&queue["tx_frames"]), number(&queue["drops"]["tail-drop"]["frames"]));
    let early = &outcome["switches"][0]["early_drops"]["in-switch"]["frames"];
    let in_switch = early.as_f64().unwrap_or(0.0);
    let all = number(&sent["sent"]) - number(&sent["refused"]);
    assert!(
        (tx + dropped + in_switch - all).abs() <= 2.0,
        "{tx} + {dropped} + {in_switch} of {all}"
    );
    for host in ["h0", "h1", "h2"] {
        let lost = &outcome["fabric"]["frames_lost_outside"][host];
        assert_eq!((&lost["tx_dropped"], &lost["rx_dropped"]), (&json!(0), &json!(0)), "{host}");
    }
}

/// TCP fills the line, whole and in order, and the sender is not held back by the queue behind the
/// switch.
fn a_stream_fills_its_line(kind: &str, mtu_bytes: u32) {
    let mut lab = lab(&format!("stream-{kind}"), kind, mtu_bytes);
    let exe = program().to_str().expect("a path in UTF-8");
    lab.spawn("drain", "h0", &[exe, "drain", "--port", "9"]).expect("it starts");
    lab.spawn("fill", "h1", &[exe, "fill", "--to", "10.77.0.1:9", "--bytes", "12000000"])
        .expect("it starts");
    let (_, drained) = lab.wait("drain").expect("the lab goes on");
    assert_eq!(drained, "{\"bytes\":12000000}\n");
    let outcome = lab.down().expect("it ends");
    let queue = &outcome["ports"][0]["queues"][0];
    assert!(number(&queue["tx_bytes"]) > 12e6, "{queue}");
    assert!(
        number(&queue["drops"]["tail-drop"]["frames"]) > 0.0,
        "one stream overruns a queue of 200 kB: {queue}"
    );
    let frame_bytes = number(&queue["tx_bytes"]) / number(&queue["tx_frames"]);
    assert!(
        frame_bytes <= f64::from(mtu_bytes + 14) && frame_bytes > f64::from(mtu_bytes) * 0.9,
        "{frame_bytes} bytes a frame"
    );
}

#[test]
fn a_bridge_keeps_the_rate_of_a_line_and_the_size_of_its_queue() {
    if is_root("a_bridge_keeps_the_rate_of_a_line_and_the_size_of_its_queue") {
        a_port_keeps_its_rate("bridge");
    }
}

#[test]
fn a_stream_over_a_bridge_fills_its_line() {
    if is_root("a_stream_over_a_bridge_fills_its_line") {
        a_stream_fills_its_line("bridge", 9_000);
    }
}

#[test]
fn open_vswitch_keeps_the_rate_of_a_line_and_the_size_of_its_queue() {
    let test = "open_vswitch_keeps_the_rate_of_a_line_and_the_size_of_its_queue";
    if is_root(test) && has(test, "ovs") {
        a_port_keeps_its_rate("ovs");
        a_stream_fills_its_line("ovs", 9_000);
    }
}

#[test]
fn open_vswitch_with_dpdk_keeps_the_rate_of_a_line_and_the_size_of_its_queue() {
    let test = "open_vswitch_with_dpdk_keeps_the_rate_of_a_line_and_the_size_of_its_queue";
    if is_root(test) && has(test, "ovs-dpdk") {
        a_port_keeps_its_rate("ovs-dpdk");
        a_stream_fills_its_line("ovs-dpdk", 1_500);
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    if !is_root("what_cannot_be_compared_is_refused") {
        return;
    }
    let refused = |plan: &Value, options: &[&str]| {
        Client::start(program(), plan, &folder("no-star"), options)
            .expect_err("it cannot be compared")
    };
    let two = refused(&two_switches(RATE_BPS, &fifo(QUEUE_BYTES)), &["--kind", "bridge"]);
    assert!(two.contains("2 switches") && two.contains("star"), "{two}");
    let jumbo = refused(&star(9_000, &prioritising(QUEUE_BYTES)), &["--kind", "ovs-dpdk"]);
    assert!(jumbo.contains("MTU") && jumbo.contains("1500"), "{jumbo}");
    let logged = refused(&star(1_500, &fifo(QUEUE_BYTES)), &["--kind", "bridge", "--log-ingress"]);
    assert!(logged.contains("--log-ingress"), "{logged}");
}

#[test]
fn a_switch_that_ends_in_a_trial_is_reported() {
    let test = "a_switch_that_ends_in_a_trial_is_reported";
    if !is_root(test) || !has(test, "ovs") {
        return;
    }
    let mut lab = lab("ended-ovs", "ovs", 1_500);
    lab.ask(json!({ "op": "begin" })).expect("it begins");
    let supervisor = children(lab.supervisor());
    let programs: Vec<u32> = supervisor.into_iter().flat_map(children).collect();
    let name = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let daemon = programs
        .into_iter()
        .find(|&pid| name(pid).trim() == "ovs-vswitchd")
        .expect("the lab has made it");
    kill(Pid::from_raw(daemon as i32), Signal::SIGKILL).expect("it lives");
    let deadline = Instant::now() + Duration::from_secs(20);
    while is_running(daemon) && Instant::now() < deadline {
        sleep(Duration::from_millis(10));
    }
    let error = lab.ask(json!({ "op": "end" })).expect_err("nothing was switched");
    assert!(
        error.contains("Open vSwitch has ended: see ") && error.contains("ovs-vswitchd.log"),
        "{error}"
    );
    assert!(lab.down().is_err(), "there is no outcome");
}
