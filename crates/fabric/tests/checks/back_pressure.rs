//! A sender whose own link is the bottleneck waits with its frames, as it does in front of a real
//! interface.

use crate::common::{counter, fifo, folder, is_root, program, two_switches};
use serde_json::json;
use tailrace_fabric::client::Client;

const RATE_BPS: u64 = 100_000_000;
const DATAGRAMS: u64 = 10_000;
/// The source's buffer of 4 MB holds 1 800 of them, and a millisecond's worth may be in the TAP.
/// Beyond that what the fabric does not read while the machine stops it waits there too: 0.3 s of
/// the line.
const HELD_MAX: u64 = DATAGRAMS / 2;

#[test]
fn a_socket_is_done_with_a_frame_when_its_line_has_taken_it() {
    if !is_root("a_socket_is_done_with_a_frame_when_its_line_has_taken_it") {
        return;
    }
    let plan = two_switches(RATE_BPS, &fifo(100_000));
    let mut lab =
        Client::start(program(), &plan, &folder("back-pressure"), &[]).expect("root makes a lab");
    lab.ask(json!({ "op": "begin" })).expect("it begins");
    let (exe, count) = (program().to_str().expect("a path in UTF-8"), DATAGRAMS.to_string());
    let source = [
        exe,
        "source",
        "--to",
        "10.77.0.1:9",
        "--payload-bytes",
        "1400",
        "--count",
        &count,
        "--seconds",
        "60",
    ];
    lab.spawn("source", "h1", &source).expect("it starts");
    lab.wait("source").expect("the lab goes on");
    // The source has ended: whatever did not come to the switch until now still waits in the host.
    let counted = lab.ask(json!({ "op": "counters" })).expect("it answers");
    let fabric = &counted["outcome"]["fabric"];
    let entered = fabric["frames_in"].as_u64().expect("a count");
    assert!(entered + HELD_MAX >= DATAGRAMS, "{entered} of {DATAGRAMS} frames have left the host");
    assert_eq!(fabric["frames_lost_outside"]["h1"]["tx_dropped"], json!(0));
    lab.down().expect("it ends");
}

/// A row of frames that is cut behind the queue would be charged with the overhead of one frame.
#[test]
fn the_queue_of_a_line_gets_one_frame_at_a_time() {
    if !is_root("the_queue_of_a_line_gets_one_frame_at_a_time") {
        return;
    }
    let plan = two_switches(RATE_BPS, &fifo(1 << 20));
    let mut lab =
        Client::start(program(), &plan, &folder("one-frame"), &[]).expect("root makes a lab");
    let exe = program().to_str().expect("a path in UTF-8");
    lab.spawn("drain", "h0", &[exe, "drain", "--port", "9"]).expect("it starts");
    lab.spawn("fill", "h1", &[exe, "fill", "--to", "10.77.0.1:9", "--bytes", "6000000"])
        .expect("it starts");
    lab.wait("drain").expect("the lab goes on");
    lab.spawn("look", "h1", &["cat", "/proc/net/snmp", "/proc/net/dev"]).expect("it starts");
    let (_, text) = lab.wait("look").expect("the lab goes on");
    lab.down().expect("it ends");
    // The kernel's IP counts the packets that it is given to send, the interface those that it has
    // sent.
    let given = counter(&text, "Ip:", "OutRequests").expect("a count");
    let interface =
        text.lines().find_map(|line| line.trim().strip_prefix("eth0:")).expect("the host has it");
    let sent: u64 =
        interface.split_whitespace().nth(9).and_then(|count| count.parse().ok()).expect("a count");
    assert!(sent > 4_000 && given >= sent, "{sent} frames of {given} packets");
}
