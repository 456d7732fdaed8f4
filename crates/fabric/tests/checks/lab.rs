//! Labs with real programs.

use crate::common::{MS, fifo, folder, groups_of, is_root, prioritising, program, two_switches};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tailrace_fabric::client::Client;

const RATE_BPS: u64 = 100_000_000;

fn lab(name: &str, plan: &Value, options: &[&str]) -> Client {
    Client::start(program(), plan, &folder(name), options).expect("root makes a lab")
}

/// Datagrams from `from` to `h0` at 120 % of the rate, until the source ends.
fn overload(lab: &mut Client, from: &str) -> Value {
    let program = program().to_str().expect("a path in UTF-8");
    lab.spawn("sink", "h0", &[program, "sink", "--port", "9"]).expect("it starts");
    let source = ["source", "--to", "10.77.0.1:9", "--payload-bytes", "1400", "--interval-ns", "100000", "--seconds", "1"];
    lab.spawn("source", from, &[&[program][..], &source].concat()).expect("it starts");
    lab.wait("source").expect("the lab goes on");
    let (_, text) = lab.wait("sink").expect("the lab goes on");
    serde_json::from_str(&text).expect("the sink writes JSON")
}

#[test]
fn programs_of_hosts_reach_each_other_by_name_and_nothing_stays() {
    if !is_root("programs_of_hosts_reach_each_other_by_name_and_nothing_stays") {
        return;
    }
    let mut lab = lab("names", &two_switches(RATE_BPS, &fifo(100_000)), &[]);
    let guardian = lab.guardian();
    assert_eq!(lab.ready["hosts"][3]["address"], "10.77.0.4");
    assert!(!groups_of(guardian).is_empty(), "programs have control groups");
    let shell = "hostname; getent hosts h3; cat /sys/class/net/eth0/mtu 2>/dev/null; exec cat /proc/net/dev";
    lab.spawn("look", "h1", &["sh", "-c", shell]).expect("it starts");
    let (event, text) = lab.wait("look").expect("the lab goes on");
    assert_eq!(event["status"], json!({ "exit": 0 }));
    assert!(text.starts_with("h1\n10.77.0.4"), "{text}");
    let devices: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert_eq!(devices, ["lo", "eth0"]);
    assert!(lab.spawn("x", "h9", &["true"]).expect_err("no such host").contains("h9"));
    assert!(lab.spawn("x", "h1", &["/no/such/program"]).expect_err("no such program").contains("/no/such/program"));
    lab.down().expect("it ends");
    assert_eq!(groups_of(guardian), Vec::<String>::new());
}

#[test]
fn an_overloaded_port_drops_and_its_log_replays_to_the_same_digest() {
    if !is_root("an_overloaded_port_drops_and_its_log_replays_to_the_same_digest") {
        return;
    }
    let plan = two_switches(RATE_BPS, &prioritising(100_000));
    let mut lab = lab("overload", &plan, &["--log-ingress"]);
    lab.ask(json!({ "op": "begin" })).expect("it begins");
    // The only bottleneck is the port towards h0: two hosts send there.
    let sink = overload(&mut lab, "h2");
    lab.ask(json!({ "op": "end" })).expect("it ends");
    let outcome = lab.down().expect("it ends");
    let kept = &outcome["conservation"];
    let count = |key: &str| kept[key].as_u64().expect("a count");
    assert_eq!(count("sent"), count("delivered") + count("dropped") + count("in_network"), "{kept}");
    assert!(sink["datagrams"].as_u64() > Some(1_000), "{sink}");
    for host in ["h0", "h2"] {
        let lost = &outcome["fabric"]["frames_lost_outside"][host];
        assert_eq!((&lost["tx_dropped"], &lost["write_failed"]), (&json!(0), &json!(0)), "{host}");
    }
    assert!(outcome["tables"]["port_series"]["tx_bytes"].as_array().is_some_and(|bins| bins.len() > 1));
    let again = replay(&folder("overload"));
    for key in ["digest", "conservation", "ports", "switches", "end_ps"] {
        assert_eq!(outcome[key], again[key], "{key}");
    }
}

fn replay(dir: &Path) -> Value {
    let mut command = Command::new(program());
    command.arg("replay").arg("--plan").arg(dir.join("plan.json")).arg("--log").arg(dir.join("ingress.log"));
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it writes JSON")
}

/// A host that obeys pauses of priority 3, behind a switch that sends them.
fn lossless(plan: &mut Value) {
    for host in plan["hosts"].as_array_mut().expect("hosts") {
        host["nic"]["lossless"] = json!({ "obeys": 0b1000, "obeys_link_pause": false, "response_ps": 0 });
    }
    let group = |priorities: u32, lossless: Value| json!({ "priorities": priorities, "reserved_bytes": 0, "limit": { "bytes": 60_000 }, "lossless": lossless });
    let headroom = json!({ "xon_offset_bytes": 20_000, "headroom_bytes": 100_000 });
    for switch in plan["switches"].as_array_mut().expect("switches") {
        let policy = &mut switch["policy"];
        policy["pause"] = json!({
            "obeys": 0b1000, "obeys_link_pause": false, "response_ps": 0, "quanta": 65_535, "sends_link_pause": false,
        });
        policy["groups"] = json!([group(0b1000, headroom.clone()), group(0b1111_0111, Value::Null)]);
        policy["queues"][0]["limit"]["bytes"] = (4 << 20).into();
    }
}

#[test]
fn a_paused_priority_waits_in_its_host_and_loses_nothing() {
    if !is_root("a_paused_priority_waits_in_its_host_and_loses_nothing") {
        return;
    }
    let mut plan = two_switches(RATE_BPS, &fifo(100_000));
    lossless(&mut plan);
    // The sender's link is ten times as fast as the receiver's: without pauses the queue would overflow.
    plan["links"][1]["rate_bps"] = (10 * RATE_BPS).into();
    let mut lab = lab("pause", &plan, &["--log-ingress"]);
    let (exe, dir) = (program().to_str().expect("a path in UTF-8"), folder("pause"));
    lab.spawn("sink", "h0", &[exe, "sink", "--port", "9"]).expect("it starts");
    let argv = [exe, "source", "--to", "10.77.0.1:9", "--payload-bytes", "1400", "--interval-ns", "50000", "--seconds", "1"];
    lab.ask(json!({
        "op": "spawn", "name": "source", "host": "h1", "argv": argv, "stdout": dir.join("source.out"),
        "stderr": dir.join("source.err"), "priority": 3,
    }))
    .expect("it starts");
    let (_, sent) = lab.wait("source").expect("the lab goes on");
    let (_, received) = lab.wait("sink").expect("the lab goes on");
    let outcome = lab.down().expect("it ends");
    let (sent, received): (Value, Value) =
        (serde_json::from_str(&sent).expect("JSON"), serde_json::from_str(&received).expect("JSON"));
    let paused = outcome["interfaces"]["h1"]["pause"]["paused_ps"][3].as_u64();
    assert!(paused > Some(100 * MS), "{}", outcome["interfaces"]["h1"]);
    assert_eq!(outcome["conservation"]["dropped"], 0, "{}", outcome["ports"]);
    assert!(sent["sent"].as_u64() > Some(5_000) && received["datagrams"].as_u64() > Some(5_000), "{sent} {received}");
    assert_eq!(outcome["digest"], replay(&dir)["digest"]);
}
