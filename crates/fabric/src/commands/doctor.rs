//! `tailrace-fabric doctor`: reports the properties of this machine on which a lab depends.

use super::print_json;
use crate::cgroup::Hierarchies;
use crate::client::Client;
use crate::lab;
use crate::scratch::Scratch;
use crate::supervisor::{CAPABILITIES_NEEDED, capabilities};
use crate::sys::thread::be_realtime;
use serde_json::{Value, json};
use std::fs;
use tailrace_lab::measured_plan::two_hosts;

/// Rate and MTU of the lab that is tried: any will do.
const TRIED: (u64, u64) = (100_000_000, 1_500);
/// CAP_SYS_NICE (linux/capability.h).
const CAPABILITY_NICE: u64 = 1 << 23;

pub(super) fn run() -> Result<(), String> {
    super::end_with_starter()?;
    let tried = try_lab(); // before there are threads
    let ready = tried.as_ref().ok();
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let number = |path: &str| read(path).and_then(|text| text.parse::<i64>().ok());
    let capabilities = capabilities();
    let tun = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let controls = read("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    // A thread of its own, so that this one stays as it is.
    let is_realtime = std::thread::spawn(|| be_realtime().is_ok()).join().unwrap_or(false);
    print_json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "kernel": read("/proc/sys/kernel/osrelease"),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "capabilities": {
            "lab": capabilities & CAPABILITIES_NEEDED == CAPABILITIES_NEEDED,
            "realtime": capabilities & CAPABILITY_NICE != 0,
        },
        "lab_error": tried.as_ref().err(),
        "nested": ready.map(|ready| &ready["nested"]),
        "cgroup_usable": ready.map(|ready| ready["cgroup"].is_string()),
        "cpu_limits": ready.map(|ready| &ready["cpu_limits"]),
        "io_limits": ready.map(|ready| &ready["io_limits"]),
        "priorities": ready.map(|ready| &ready["priorities"]),
        "user_namespaces": number("/proc/sys/user/max_user_namespaces").unwrap_or(0) > 0,
        "tun": tun.is_ok(),
        "tun_is_missing": tun.err().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound),
        "fabrics": lab::lacking(),
        "cgroup": Hierarchies::find().kind(),
        "realtime": is_realtime,
        "realtime_runtime_us": number("/proc/sys/kernel/sched_rt_runtime_us"),
        "timer_slack_ns": number("/proc/self/timerslack_ns"),
        "clock_source": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "congestion_controls": controls.split_whitespace().collect::<Vec<_>>(),
        "congestion_control": read("/proc/sys/net/ipv4/tcp_congestion_control"),
        "qdisc": read("/proc/sys/net/core/default_qdisc"),
    }))
}

/// Makes a lab and takes it down again; returns its first message. This takes some tens of
/// milliseconds. Containers may refuse a lab's system calls, mounts or files without an earlier
/// sign.
///
/// # Errors
/// The refused operation.
fn try_lab() -> Result<Value, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let scratch = Scratch::new("doctor")?;
    let (rate, mtu) = TRIED;
    let mut lab = Client::start_silent(&program, &two_hosts(rate, mtu), scratch.path(), &[])?;
    let ready = lab.ready.take();
    lab.down().map(|_| ready)
}
