//! Plans of small labs.

use serde_json::{Value, json};
use tailrace_plan::Plan;

pub const US: u64 = 1_000_000;
pub const MS: u64 = 1_000 * US;
pub const S: u64 = 1_000 * MS;

pub fn host(name: &str, mtu_bytes: u32) -> Value {
    json!({
        "name": name,
        "mtu_bytes": mtu_bytes,
        "nic": {
            "queue_bytes": 16 << 20, "tso_bytes": 65_536, "gro_bytes": 65_536, "rx_coalesce_ps": 0,
            "rx_jitter": { "constant": 0 }, "rx_ring_frames": 4_096,
        },
        "cpu": { "per_packet_ps": 0, "per_byte_fs": 0 },
        "tcp": {
            "congestion_control": "cubic", "slow_start_exit": "hystart", "initial_window_segments": 10,
            "window_cap_bytes": 0, "ecn": false, "sack": true, "tail_loss_probe": true, "rto_min_ps": 200 * MS,
            "rto_max_ps": 120 * S, "delayed_ack_ps": 40 * MS, "slow_start_after_idle": true, "small_queue_ps": MS,
            "send_buffer": { "initial_bytes": 65_536, "maximum_bytes": 4 << 20 },
            "receive_buffer": { "initial_bytes": 65_536, "maximum_bytes": 6 << 20 },
        },
    })
}

pub fn queue(name: &str, service: Value, limit_bytes: u64, aqm: Value) -> Value {
    json!({ "name": name, "service": service, "limit": { "bytes": limit_bytes }, "aqm": aqm })
}

/// One queue with tail drop.
pub fn fifo(limit_bytes: u64) -> Value {
    json!({
        "queues": [queue("default", json!({ "dwrr": 1000 }), limit_bytes, json!("none"))],
        "queue_of_priority": vec![0; 8], "dpp": null,
    })
}

/// Dynamic packet prioritisation in front of a queue that marks.
pub fn prioritising(limit_bytes: u64) -> Value {
    json!({
        "queues": [
            queue("express", json!({ "strict": 1 }), limit_bytes, json!("none")),
            queue("default", json!({ "dwrr": 1000 }), limit_bytes, json!({ "step": { "threshold_bytes": limit_bytes / 4 } })),
        ],
        "queue_of_priority": vec![1; 8],
        "dpp": {
            "max_packets": 20, "age_ps": 5 * MS, "express_queue": 0, "reset": "order-safe", "table_entries": 1024,
            "when_full": "evict-oldest",
        },
    })
}

pub fn switch(name: &str, policy: Value) -> Value {
    json!({
        "name": name, "switching": "store-and-forward", "latency_ps": US, "buffer_bytes": 8 << 20, "policy": policy,
        "port_policies": [],
    })
}

/// Two switches in a row: hosts `h0` and `h1` at the first, `h2` and `h3` at the second.
pub fn two_switches(rate_bps: u64, policy: &Value) -> Value {
    let link =
        |a: &str, b: &str| json!({ "a": a, "b": b, "rate_bps": rate_bps, "delay_ps": 2 * US });
    let body = json!({ "stream": {
        "source": "h2", "destination": "h0", "connections": 1, "bytes": 0, "stagger_ps": 0, "pin_forward": [],
        "pin_backward": [],
    } });
    let stream = json!({ "header": { "name": "bulk", "priority": 0, "port": 5432 }, "body": body });
    json!({
        "version": 2, "name": "lab", "seed": 1, "stop_at_ps": S,
        "framing": { "header_bytes": 14, "overhead_bytes": 24 },
        "clock_offset_ppb": 0,
        "hosts": [host("h0", 1500), host("h1", 1500), host("h2", 1500), host("h3", 1500)],
        "switches": [switch("s0", policy.clone()), switch("s1", policy.clone())],
        "links": [link("h0", "s0"), link("h1", "s0"), link("h2", "s1"), link("h3", "s1"), link("s0", "s1")],
        "workloads": [stream],
        "observe": {
            "ports": [["s0", "h0"], ["s1", "s0"]], "series_bins": 64, "series_bin_ps": MS, "transactions_max": 0,
            "digest": true,
        },
    })
}

pub fn parse(plan: &Value) -> Plan {
    Plan::parse(&plan.to_string()).expect("the plan is sound")
}

/// Whether labs can be made here by root. Says why not.
pub fn is_root(test: &str) -> bool {
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let why = if is_root { refusal() } else { Some("root is needed".into()) };
    if let Some(why) = &why {
        let mut output = std::io::stderr().lock();
        std::io::Write::write_all(&mut output, format!("skipped {test}: {why}\n").as_bytes())
            .expect("tests have an output");
    }
    why.is_none()
}

/// The operation of a lab that this machine refuses.
fn refusal() -> Option<String> {
    let output =
        std::process::Command::new(program()).arg("doctor").output().expect("the program is built");
    let found: Value = serde_json::from_slice(&output.stdout).expect("the doctor speaks JSON");
    if found["capabilities"]["lab"] != true {
        return Some("CAP_SYS_ADMIN and CAP_NET_ADMIN are needed".into());
    }
    found["lab_error"].as_str().map(str::to_owned)
}

/// A new folder for a lab.
pub fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("there is a place for scratch files");
    folder
}

/// The program of the fabric.
pub fn program() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_BIN_EXE_tailrace-fabric"))
}

/// A control group of a lab whose supervisor had this number, if one is left.
pub fn groups_of(supervisor: u32) -> Vec<String> {
    let prefix = format!("tailrace-{supervisor}-");
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"];
    let entries = roots.iter().filter_map(|root| std::fs::read_dir(root).ok()).flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(&prefix))
        .collect()
}

/// A counter of /proc/net/netstat or /proc/net/snmp: a line of names, and a line of values.
pub fn counter(netstat: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter(|line| line.starts_with(group));
    let names = lines.next()?.split_whitespace().collect::<Vec<_>>();
    let values = lines.next()?.split_whitespace().collect::<Vec<_>>();
    values.get(names.iter().position(|found| *found == name)?)?.parse().ok()
}
