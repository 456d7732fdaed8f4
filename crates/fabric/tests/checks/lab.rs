//! Labs with real programs.

use crate::common::{
    MS, counter, fifo, folder, groups_of, is_root, prioritising, program, two_switches,
};
use crate::killing::children;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use tailrace_fabric::client::Client;
use tailrace_outcome::NetworkOutcome;

const RATE_BPS: u64 = 100_000_000;

fn lab(name: &str, plan: &Value, options: &[&str]) -> Client {
    Client::start(program(), plan, &folder(name), options).expect("root makes a lab")
}

/// Five thousand datagrams from `from` to `h0`, as fast as its link takes them.
fn overload(lab: &mut Client, from: &str) -> Value {
    let program = program().to_str().expect("a path in UTF-8");
    lab.spawn("sink", "h0", &[program, "sink", "--port", "9"]).expect("it starts");
    let source = [
        "source",
        "--to",
        "10.77.0.1:9",
        "--payload-bytes",
        "1400",
        "--count",
        "5000",
        "--seconds",
        "60",
    ];
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
    let supervisor = lab.supervisor();
    assert_eq!(lab.ready["hosts"][3]["address"], "10.77.0.4");
    assert!(!groups_of(supervisor).is_empty(), "programs have control groups");
    let shell = "hostname; getent hosts h3; cat /sys/class/net/eth0/mtu 2>/dev/null; exec cat /proc/net/dev";
    lab.spawn("look", "h1", &["sh", "-c", shell]).expect("it starts");
    let (event, text) = lab.wait("look").expect("the lab goes on");
    assert_eq!(event["status"], json!({ "exit": 0 }));
    assert!(text.starts_with("h1\n10.77.0.4"), "{text}");
    let devices: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert_eq!(devices, ["lo", "eth0"]);
    assert!(lab.spawn("x", "h9", &["true"]).expect_err("no such host").contains("h9"));
    assert!(
        lab.spawn("x", "h1", &["/no/such/program"])
            .expect_err("no such program")
            .contains("/no/such/program")
    );
    lab.down().expect("it ends");
    assert_eq!(groups_of(supervisor), Vec::<String>::new());
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
    serde_json::from_value::<NetworkOutcome>(outcome.clone())
        .expect("it has the keys of outcomes and no others");
    let kept = &outcome["conservation"];
    let count = |key: &str| kept[key].as_u64().expect("a count");
    assert_eq!(
        count("sent"),
        count("delivered") + count("dropped") + count("in_network"),
        "{kept}"
    );
    assert!(sink["datagrams"].as_u64() > Some(1_000), "{sink}");
    for host in ["h0", "h2"] {
        let lost = &outcome["fabric"]["frames_lost_outside"][host];
        assert_eq!((&lost["tx_dropped"], &lost["write_failed"]), (&json!(0), &json!(0)), "{host}");
    }
    assert!(
        outcome["tables"]["port_series"]["tx_bytes"].as_array().is_some_and(|bins| bins.len() > 1)
    );
    let again = replay(&folder("overload"));
    for key in ["digest", "conservation", "ports", "switches", "end_ps"] {
        assert_eq!(outcome[key], again[key], "{key}");
    }
}

fn replay(dir: &Path) -> Value {
    let mut command = Command::new(program());
    command
        .arg("replay")
        .arg("--plan")
        .arg(dir.join("plan.json"))
        .arg("--log")
        .arg(dir.join("ingress.log"));
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it writes JSON")
}

/// A host that obeys pauses of priority 3, behind a switch that sends them.
fn lossless(plan: &mut Value) {
    for host in plan["hosts"].as_array_mut().expect("hosts") {
        host["nic"]["lossless"] =
            json!({ "obeys": 0b1000, "obeys_link_pause": false, "response_ps": 0 });
    }
    let group = |priorities: u32, lossless: Value| {
        let limit = json!({ "bytes": 60_000 });
        json!({ "priorities": priorities, "reserved_bytes": 0, "limit": limit, "lossless": lossless })
    };
    let headroom = json!({ "xon_offset_bytes": 20_000, "headroom_bytes": 100_000 });
    for switch in plan["switches"].as_array_mut().expect("switches") {
        let policy = &mut switch["policy"];
        policy["pause"] = json!({
            "obeys": 0b1000, "obeys_link_pause": false, "response_ps": 0, "quanta": 65_535, "sends_link_pause": false,
        });
        policy["groups"] =
            json!([group(0b1000, headroom.clone()), group(0b1111_0111, Value::Null)]);
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
    // The sender's link is ten times as fast as the receiver's: without pauses the queue would
    // overflow.
    plan["links"][1]["rate_bps"] = (10 * RATE_BPS).into();
    let (mut lab, dir) = (lab("pause", &plan, &["--log-ingress"]), folder("pause"));
    let exe = program().to_str().expect("a path in UTF-8");
    lab.spawn("drain", "h0", &[exe, "drain", "--port", "9"]).expect("it starts");
    let argv = [exe, "fill", "--to", "10.77.0.1:9", "--bytes", "12000000"];
    lab.ask(json!({ "op": "spawn", "name": "fill", "host": "h1", "argv": argv, "stdout": dir.join("fill.out"),
                    "stderr": dir.join("fill.err"), "priority": 3 }))
        .expect("it starts");
    let (_, drained) = lab.wait("drain").expect("the lab goes on");
    let outcome = lab.down().expect("it ends");
    assert_eq!(drained, "{\"bytes\":12000000}\n");
    let pause = &outcome["interfaces"]["h1"]["pause"];
    assert!(
        pause["received"][3].as_u64() > Some(0) && pause["paused_ps"][3].as_u64() > Some(0),
        "{pause}"
    );
    assert_eq!(outcome["conservation"]["dropped"], 0, "{}", outcome["ports"]);
    assert_eq!(outcome["digest"], replay(&dir)["digest"]);
}

#[test]
fn a_congested_queue_slows_the_flows_that_fill_it() {
    if !is_root("a_congested_queue_slows_the_flows_that_fill_it") {
        return;
    }
    let mut plan = two_switches(RATE_BPS, &fifo(1 << 20));
    for host in plan["hosts"].as_array_mut().expect("hosts") {
        let reaction = json!({
            "timer_ps": 15 * MS, "byte_counter": 150_000, "active_increase_bps": 500_000, "hyper_increase_bps": 5_000_000,
            "rate_min_bps": 1_000_000,
        });
        host["nic"]["lossless"] =
            json!({ "obeys": 0, "obeys_link_pause": false, "response_ps": 0, "qcn": reaction });
    }
    plan["switches"][0]["policy"]["queues"][0]["qcn"] =
        json!({ "set_point_bytes": 26_000, "weight": 2 });
    plan["links"][1]["rate_bps"] = (10 * RATE_BPS).into();
    let mut lab = lab("qcn", &plan, &["--log-ingress"]);
    overload(&mut lab, "h1");
    let outcome = lab.down().expect("it ends");
    let interface = &outcome["interfaces"]["h1"];
    assert!(interface["notifications"].as_u64() > Some(10), "{interface}");
    let limited: Vec<u64> =
        interface["limiters"].as_array().expect("rates").iter().filter_map(Value::as_u64).collect();
    assert!(limited.iter().all(|&rate| rate < 10 * RATE_BPS) && !limited.is_empty(), "{interface}");
    // Without the limiter everything beyond the port's rate would wait here: a fifth of the offered
    // bytes.
    let sent = outcome["ports"][0]["queues"][0]["tx_bytes"].as_u64().expect("a count");
    let deepest = outcome["ports"][0]["queues"][0]["depth_max_bytes"].as_u64().expect("a count");
    assert!(sent > 1_000_000 && deepest < 1 << 20, "{sent} {deepest}");
    assert_eq!(outcome["digest"], replay(&folder("qcn"))["digest"]);
}

/// A host answers marks with echoes: both ends of a connection speak ECN, and no segment is lost.
#[test]
fn a_marking_queue_is_heard_by_the_kernels_tcp() {
    if !is_root("a_marking_queue_is_heard_by_the_kernels_tcp") {
        return;
    }
    let mut plan = two_switches(RATE_BPS, &fifo(2 << 20));
    for host in plan["hosts"].as_array_mut().expect("hosts") {
        host["tcp"]["ecn"] = true.into();
    }
    plan["switches"][0]["policy"]["queues"][0]["aqm"] =
        json!({ "step": { "threshold_bytes": 30_000 } });
    plan["links"][1]["rate_bps"] = (10 * RATE_BPS).into();
    let mut lab = lab("ecn", &plan, &[]);
    let exe = program().to_str().expect("a path in UTF-8");
    lab.spawn("drain", "h0", &[exe, "drain", "--port", "9"]).expect("it starts");
    lab.spawn("fill", "h1", &[exe, "fill", "--to", "10.77.0.1:9", "--bytes", "12000000"])
        .expect("it starts");
    let (_, filled) = lab.wait("fill").expect("the lab goes on");
    let (_, drained) = lab.wait("drain").expect("the lab goes on");
    lab.spawn("netstat", "h0", &["cat", "/proc/net/netstat"]).expect("it starts");
    let (_, netstat) = lab.wait("netstat").expect("the lab goes on");
    let outcome = lab.down().expect("it ends");
    let queue = &outcome["ports"][0]["queues"][0];
    let marked = queue["marked_frames"].as_u64().expect("a count");
    assert!(marked > 0 && queue["drops"] == json!({}), "{queue}");
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["bytes"].as_u64();
    assert_eq!((read(&filled), read(&drained)), (Some(12_000_000), Some(12_000_000)));
    assert_eq!(
        counter(&netstat, "IpExt:", "InCEPkts"),
        Some(marked),
        "every marked frame has a valid header"
    );
}

#[test]
fn a_bridge_without_rates_joins_the_hosts_of_any_plan() {
    if !is_root("a_bridge_without_rates_joins_the_hosts_of_any_plan") {
        return;
    }
    let mut lab =
        lab("bridge", &two_switches(RATE_BPS, &fifo(100_000)), &["--kind", "bridge", "--unshaped"]);
    let exe = program().to_str().expect("a path in UTF-8");
    lab.spawn("drain", "h0", &[exe, "drain", "--port", "9"]).expect("it starts");
    lab.spawn("fill", "h3", &[exe, "fill", "--to", "10.77.0.1:9", "--bytes", "50000000"])
        .expect("it starts");
    let (_, drained) = lab.wait("drain").expect("the lab goes on");
    assert_eq!(drained, "{\"bytes\":50000000}\n");
    assert!(
        lab.ask(json!({ "op": "capture", "port": ["s0", "h0"], "path": "/tmp/x" })).is_err(),
        "nothing passes the fabric"
    );
    let outcome = lab.down().expect("it ends");
    assert_eq!((&outcome["digest"], &outcome["ports"]), (&Value::Null, &json!([])));
}

#[test]
fn a_plan_beyond_the_machine_is_refused_with_what_to_do() {
    let plan = two_switches(100 * RATE_BPS, &fifo(100_000));
    let refused = Client::start(program(), &plan, &folder("refused"), &[])
        .expect_err("10 Gbit/s are too much");
    assert!(
        refused.contains("frames per second") && refused.contains("divide the rates"),
        "{refused}"
    );
}

#[test]
fn cleaning_removes_groups_of_the_dead_and_no_others() {
    if !is_root("cleaning_removes_groups_of_the_dead_and_no_others") {
        return;
    }
    let alive = lab("clean", &two_switches(RATE_BPS, &fifo(100_000)), &[]);
    let groups = groups_of(alive.supervisor());
    let dead = lab("dead", &two_switches(RATE_BPS, &fifo(100_000)), &[]);
    let supervisor = dead.supervisor();
    let cleanup = children(supervisor)[0]; // made before the lab
    for pid in [cleanup, supervisor] {
        kill(Pid::from_raw(pid as i32), Signal::SIGKILL).expect("it lives");
    }
    // no process has such a number, and not our check
    let foreign = format!("tailrace-{}-1-0123456789abcdef", u32::MAX);
    let roots = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(Path::new);
    let root = roots
        .into_iter()
        .find(|root| root.join("cgroup.procs").exists())
        .expect("labs have groups here");
    let group = root.join(foreign);
    std::fs::create_dir_all(&group).expect("root makes groups");
    let mut sleeper = Command::new("sleep").arg("600").spawn().expect("it starts");
    std::fs::write(group.join("cgroup.procs"), sleeper.id().to_string())
        .expect("root moves processes");
    // Remains that have gone already were removed by another command at the same time: its output
    // is not checked.
    let status = Command::new(program())
        .arg("clean")
        .stdout(Stdio::null())
        .status()
        .expect("the program runs");
    let is_asleep = sleeper.try_wait().expect("it is a child").is_none();
    sleeper.kill().and_then(|()| sleeper.wait()).expect("it is a child");
    let is_there = group.is_dir();
    std::fs::remove_dir(&group).expect("it is empty");
    assert!(status.success() && is_asleep && is_there);
    assert_eq!(groups_of(supervisor), Vec::<String>::new());
    assert_eq!(groups_of(alive.supervisor()), groups);
    drop(dead);
    alive.down().expect("it ends");
}

#[test]
fn a_program_with_a_priority_has_the_class_of_that_priority() {
    if !is_root("a_program_with_a_priority_has_the_class_of_that_priority") {
        return;
    }
    let mut plan = two_switches(RATE_BPS, &fifo(100_000));
    plan["workloads"][0]["header"]["priority"] = 5.into();
    let second = plan["switches"][0]["policy"]["queues"][0].clone();
    plan["switches"][0]["policy"]["queues"].as_array_mut().expect("queues").push(second);
    plan["switches"][0]["policy"]["queue_of_priority"] = json!([0, 0, 0, 0, 0, 1, 0, 0]);
    let (mut lab, dir) = (lab("priority", &plan, &[]), folder("priority"));
    let exe = program().to_str().expect("a path in UTF-8");
    lab.spawn("drain", "h0", &[exe, "drain", "--port", "9"]).expect("it starts");
    let argv = [exe, "fill", "--to", "10.77.0.1:9", "--bytes", "1000000"];
    lab.ask(json!({ "op": "spawn", "name": "fill", "host": "h1", "argv": argv, "stdout": dir.join("fill.out"),
                    "stderr": dir.join("fill.err"), "priority": 5 }))
        .expect("it starts");
    lab.wait("drain").expect("the lab goes on");
    let outcome = lab.down().expect("it ends");
    let sent = |queue: usize| outcome["ports"][0]["queues"][queue]["tx_bytes"].as_u64();
    assert!(sent(0) < Some(10_000) && sent(1) > Some(1_000_000), "{}", outcome["ports"][0]);
}

#[test]
fn a_lab_knows_beforehand_whether_its_programs_can_have_priorities() {
    if !is_root("a_lab_knows_beforehand_whether_its_programs_can_have_priorities") {
        return;
    }
    let (mut lab, dir) =
        (lab("priorities", &two_switches(RATE_BPS, &fifo(100_000)), &[]), folder("priorities"));
    let has_priorities = lab.ready["priorities"].as_bool().expect("it says so or not");
    let doctor = Command::new(program()).arg("doctor").output().expect("the program runs");
    let doctor: Value = serde_json::from_slice(&doctor.stdout).expect("the doctor speaks JSON");
    for what in ["priority", "dscp"] {
        let done = lab.ask(json!({ "op": "spawn", "name": what, "host": "h1", "argv": ["true"], "stdout": dir.join("out"),
                                   "stderr": dir.join("err"), what: 5 }));
        assert_eq!(done.is_ok(), has_priorities, "{what}: {done:?}");
    }
    lab.down().expect("it ends");
    assert_eq!(doctor["priorities"], has_priorities);
}
