//! Limits of this machine: how many frames a plan asks the fabric to carry, and how many it can.

use tailrace_plan::Plan;

/// Frames per second that are assumed to be possible when nothing was measured: the rate of a
/// two-core machine of 2024 with half of its time left for the programs.
pub const FRAMES_PER_S_DEFAULT: u64 = 150_000;
/// Receivers acknowledge every second segment.
const ACKS_PER_FRAME: f64 = 0.5;
const BITS_PER_BYTE: u64 = 8;

/// Frames per second when every host that receives bulk data receives it as fast as its link
/// allows, in frames of its MTU, and acknowledges it.
pub fn frames_per_s_asked(plan: &Plan) -> u64 {
    let mut receivers = receivers(plan);
    receivers.sort_unstable();
    receivers.dedup();
    let into = receivers.iter().map(|&host| frames_per_s_into(plan, host)).sum::<u64>();
    (into as f64 * (1.0 + ACKS_PER_FRAME)) as u64
}

/// Refuses a plan that asks for more than the machine carries.
///
/// # Errors
/// The demand, the limit, and a hint.
pub fn check(plan: &Plan, frames_per_s_max: u64) -> Result<(), String> {
    let asked = frames_per_s_asked(plan);
    if asked <= frames_per_s_max {
        return Ok(());
    }
    let factor = asked as f64 / frames_per_s_max as f64;
    Err(format!(
        "the plan can offer {asked} frames per second, but this machine sustains {frames_per_s_max}: divide the rates of the \
         links by {factor:.1} or more, use a larger MTU, or measure the machine with `tailrace-fabric limits` and set --frames-per-second-max"
    ))
}

/// Hosts that bulk data flows to.
fn receivers(plan: &Plan) -> Vec<usize> {
    plan.workloads.iter().flat_map(|workload| workload.header.receivers()).copied().collect()
}

fn frames_per_s_into(plan: &Plan, host: usize) -> u64 {
    let framing = &plan.raw.framing;
    let wire_bytes =
        u64::from(plan.raw.hosts[host].mtu_bytes + framing.header_bytes + framing.overhead_bytes);
    plan.graph.links[plan.graph.ports[host][0].link].rate.bps() / (wire_bytes * BITS_PER_BYTE)
}
