//! The plan on which a machine is measured: two hosts and one port between them.

use serde_json::Value;

/// Bytes that a port's queue holds while it is measured.
pub const QUEUE_BYTES: u64 = 1_000_000;
/// The sender's link is so many times as fast as the port.
pub const SENDER_FACTOR: u64 = 2;

/// Two hosts at one switch; the sender's link is faster, so that the other port is the bottleneck.
pub fn two_hosts(rate_bps: u64, mtu_bytes: u64) -> Value {
    let template = include_str!("measured_plan.json");
    let mut plan: Value = serde_json::from_str(template).expect("the template is JSON");
    for (link, factor) in
        plan["links"].as_array_mut().expect("it has links").iter_mut().zip([1, SENDER_FACTOR])
    {
        link["rate_bps"] = (rate_bps * factor).into();
    }
    for host in plan["hosts"].as_array_mut().expect("it has hosts") {
        host["mtu_bytes"] = mtu_bytes.into();
    }
    plan["switches"][0]["policy"]["queues"][0]["limit"]["bytes"] = QUEUE_BYTES.into();
    plan
}
