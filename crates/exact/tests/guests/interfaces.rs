//! Frames through the interfaces of guests: all arrive, unchanged, at their times, and counted.

use super::folder::Folder;
use super::outcome;
use serde_json::{Value, json};
use std::fs;

/// Takes a connection, and reports how many bytes came and their checksum.
const TAKER: &str = "import socket, zlib
connection, _ = socket.create_server(('', 7000)).accept()
count, check = 0, 0
while part := connection.recv(65536):
    count, check = count + len(part), zlib.crc32(part, check)
print(count, check)";
/// Sends the bytes that the other one takes.
const GIVER: &str = "import socket, zlib
data = bytes(range(251)) * 8000
connection = socket.create_connection(('10.77.0.2', 7000))
connection.sendall(data)
connection.close()
print(len(data), zlib.crc32(data))";

fn transfer() -> Value {
    json!({
        "h0": [{ "words": ["python3", "-c", GIVER], "is_awaited": true, "delay_ns": 1_200_000_000 }],
        "h1": [{ "words": ["python3", "-c", TAKER], "is_awaited": true }],
    })
}

fn each_host(plan: &mut Value, change: impl Fn(&mut Value)) {
    plan["hosts"].as_array_mut().expect("it has hosts").iter_mut().for_each(change);
}

/// A counter of `/proc/net/netstat` or `/proc/net/snmp`: a line of names, and one of values.
fn counter(text: &str, name: &str) -> u64 {
    let lines: Vec<&str> = text.lines().collect();
    let of_pair = |pair: &[&str]| {
        let place = pair[0].split_whitespace().position(|word| word == name)?;
        pair[1].split_whitespace().nth(place)?.parse().ok()
    };
    lines.chunks(2).find_map(of_pair).expect("the kernel counts it")
}

#[test]
#[ignore = "only in make test-all"]
fn jumbo_frames_arrive_whole_and_in_order() {
    let folder = Folder::new("jumbo");
    // The bytes of a millisecond take more than the ring's 256 buffers.
    let change = |plan: &mut Value| {
        each_host(plan, |host| {
            host["mtu_bytes"] = 9_000.into();
            host["nic"]["rx_coalesce_ps"] = 1_000_000_000_u64.into();
        });
        for link in plan["links"].as_array_mut().expect("it has links") {
            link["rate_bps"] = 10_000_000_000_u64.into();
        }
    };
    let Some(mut command) = folder.changed(change, &transfer()) else { return };
    let outcome = outcome(&command.output().expect("it starts"));
    assert_eq!(folder.output("h1", "0.out"), folder.output("h0", "0.out"));
    let frames = outcome["hosts"][1]["rx_frames"].as_u64().expect("a count");
    assert!((2_008_000 / 8_948..300).contains(&frames), "{frames} frames");
    assert_eq!(counter(&folder.output("h0", "snmp"), "RetransSegs"), 0);
}

#[test]
fn a_mark_of_a_switch_arrives_in_the_frame() {
    let folder = Folder::new("marks");
    let change = |plan: &mut Value| {
        each_host(plan, |host| host["tcp"]["ecn"] = true.into());
        plan["switches"][0]["policy"]["queues"][0]["aqm"] =
            json!({ "step": { "threshold_bytes": 20_000 } });
        plan["links"][0]["rate_bps"] = 1_000_000_000.into();
        plan["observe"]["ports"] = json!([["sw", "h1"]]);
    };
    let Some(mut command) = folder.changed(change, &transfer()) else { return };
    let outcome = outcome(&command.output().expect("it starts"));
    assert_eq!(folder.output("h1", "0.out"), folder.output("h0", "0.out"));
    let ports = outcome["ports"].as_array().expect("a list");
    let port = ports.iter().find(|port| port["towards"] == "h1").expect("it is there");
    let marked = port["queues"][0]["marked_frames"].as_u64().expect("a count");
    assert!(marked > 10, "{marked}");
    assert_eq!(counter(&folder.output("h1", "netstat"), "InCEPkts"), marked);
}

#[test]
#[ignore = "only in make test-all"]
fn what_finds_the_receive_ring_full_is_counted() {
    const SENDER: &str = "import socket
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    out.sendto(bytes(100), ('10.77.0.2', 7000))";
    const COUNTER: &str = "import socket
own, count = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0
own.bind(('', 7000))
own.settimeout(1)
try:
    while own.recv(1000):
        count += 1
except TimeoutError:
    print(count)";
    let folder = Folder::new("ring");
    let programs = json!({
        "h0": [{ "words": ["python3", "-c", SENDER], "is_awaited": true, "delay_ns": 500_000_000 }],
        "h1": [{ "words": ["python3", "-c", COUNTER], "is_awaited": true }],
    });
    let change = |plan: &mut Value| {
        plan["hosts"][1]["nic"]["rx_ring_frames"] = 4.into();
        plan["hosts"][1]["nic"]["rx_coalesce_ps"] = 1_000_000_000.into();
    };
    let Some(mut command) = folder.changed(change, &programs) else { return };
    let outcome = outcome(&command.output().expect("it starts"));
    assert_eq!(folder.output("h1", "0.out"), "4\n");
    assert_eq!(
        (&outcome["hosts"][1]["rx_frames"], &outcome["hosts"][1]["rx_ring_drops"]),
        (&json!(10), &json!(6))
    );
}

#[test]
#[ignore = "only in make test-all"]
fn a_frame_for_no_host_is_counted_and_enters_no_network() {
    let folder = Folder::new("nobody");
    let words = ["sh", "-c", "ping -c 1 -W 1 10.77.0.9; true"];
    let programs = json!({ "h0": [{ "words": words, "is_awaited": true }] });
    let Some(mut command) = folder.changed(|_| (), &programs) else { return };
    let outcome = outcome(&command.output().expect("it starts"));
    assert_eq!(
        outcome["exact"]["hosts"][0]["foreign_frames"],
        json!(1),
        "a question for its address"
    );
    assert_eq!(outcome["exact"]["hosts"][1]["foreign_frames"], json!(0));
    assert_eq!(outcome["conservation"]["sent"], json!(0));
}

/// Times of the frames of a capture, in nanoseconds (pcapng: enhanced packet blocks).
fn times(capture: &[u8]) -> Vec<u64> {
    let word = |at: usize| {
        u64::from(u32::from_le_bytes(capture[at..at + 4].try_into().expect("four bytes")))
    };
    let (mut at, mut times) = (0, Vec::new());
    while at < capture.len() {
        if word(at) == 6 {
            times.push(word(at + 12) << 32 | word(at + 16));
        }
        at += word(at + 4) as usize;
    }
    times
}

#[test]
fn a_guest_answers_at_the_nanosecond_of_the_request() {
    let folder = Folder::new("moment");
    let programs = json!({ "h0": [{ "words": ["ping", "-c", "3", "-i", "0.5", "10.77.0.2"], "is_awaited": true }] });
    let Some(mut command) = folder.command((1_000_000_000, 1_000_000, 1), &programs) else {
        return;
    };
    let file = folder.0.join("h1.pcapng");
    outcome(&command.arg("--capture").arg("h1>sw").arg(&file).output().expect("it starts"));
    let times = times(&fs::read(file).expect("the engine has written it"));
    // 98 bytes and 24 of overhead leave in 976 ns.
    let answered: Vec<u64> = times.chunks(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(answered, [976; 3]);
}

#[test]
#[ignore = "only in make test-all"]
fn a_trial_runs_a_second_time_in_the_same_folder() {
    let folder = Folder::new("again");
    let run = || {
        Some(
            outcome(&folder.changed(|_| (), &transfer())?.output().expect("it starts"))["digest"]
                .clone(),
        )
    };
    let Some(first) = run() else { return };
    assert_eq!(run(), Some(first));
}
