//! The part of a plan that a comparison fabric uses: one switch with hosts around it, and the rate
//! and queue limit of each line.

use tailrace_lab::netlink::Shape;
use tailrace_plan::{Plan, RawLimit, RawPolicy};

/// Bytes that a line may send at once after silence or when the kernel comes late. Measured at 1
/// Gbit/s: with 0.3 ms a TCP connection loses 0.4 % of its rate on a busy machine, with 5 ms its
/// queue is 5 ms longer.
const BURST_US: u64 = 1_000;
/// A token bucket needs room for this many of the largest frames.
const BURST_FRAMES_MIN: u64 = 2;
const US_PER_S: u64 = 1_000_000;
const BITS_PER_BYTE: u64 = 8;
/// Thousandths in alpha.
const MILLI: u64 = 1_000;

/// One switch with hosts around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Star {
    /// Name of the switch.
    pub(super) switch: String,
    /// Its memory, which nothing here shares.
    pub(super) buffer_bytes: u64,
    /// The line of every host.
    pub(super) lines: Vec<LineOf>,
}

/// The line of a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LineOf {
    /// Name of the host.
    pub(super) host: String,
    /// The port of the switch: its rate, and its queue limit.
    pub(super) port: Shape,
}

impl Star {
    /// Reads a plan as a star.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn parse(plan: &Plan) -> Result<Star, String> {
        let [switch] = plan.raw.switches.as_slice() else {
            let found = plan.raw.switches.len();
            return Err(format!(
                "the plan has {found} switches, but this kind of fabric supports only a star with one (hint: use --kind tap)"
            ));
        };
        let graph = &plan.graph;
        let line = |host: usize| {
            let [_] = graph.ports[host].as_slice() else {
                return Err(format!(
                    "host {:?} has {} links, but must have one",
                    graph.names[host],
                    graph.ports[host].len()
                ));
            };
            let policy = plan.policy(0, graph.port_of_link(graph.ports[host][0].link, graph.hosts));
            let port = shape_of(plan, host, |frame_bytes| {
                limit_bytes(policy, switch.buffer_bytes, frame_bytes)
            });
            Ok(LineOf { host: graph.names[host].clone(), port })
        };
        let lines = (0..graph.hosts).map(line).collect::<Result<_, String>>()?;
        Ok(Star { switch: switch.name.clone(), buffer_bytes: switch.buffer_bytes, lines })
    }
}

/// The line of a host, by its first link; `limit_bytes` returns the queue limit for its largest
/// frame.
pub(super) fn shape_of(plan: &Plan, host: usize, limit_bytes: impl FnOnce(u64) -> u64) -> Shape {
    let framing = &plan.raw.framing;
    let frame_bytes = u64::from(plan.raw.hosts[host].mtu_bytes + framing.header_bytes);
    let rate_bps = plan.graph.links[plan.graph.ports[host][0].link].rate.bps();
    shape(rate_bps, framing.overhead_bytes, frame_bytes, limit_bytes(frame_bytes))
}

/// A line of this rate.
pub(super) fn shape(
    rate_bps: u64,
    overhead_bytes: u32,
    frame_bytes: u64,
    limit_bytes: u64,
) -> Shape {
    let burst =
        (rate_bps / BITS_PER_BYTE * BURST_US / US_PER_S).max(BURST_FRAMES_MIN * frame_bytes);
    let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    Shape {
        rate_bps,
        overhead_bytes: u16::try_from(overhead_bytes).unwrap_or(u16::MAX),
        burst_bytes: narrow(burst),
        limit_bytes: narrow(limit_bytes),
    }
}

/// Bytes that the queues of a port hold together when all of them are full and nothing else is in
/// the buffer; at least one frame.
fn limit_bytes(policy: &RawPolicy, buffer_bytes: u64, frame_bytes: u64) -> u64 {
    let limits =
        policy.queues.iter().map(|queue| queue_limit_bytes(queue.limit, buffer_bytes, frame_bytes));
    limits.sum::<u64>().clamp(frame_bytes, buffer_bytes.max(frame_bytes))
}

/// Bytes that one queue holds when it is alone in the buffer.
pub(crate) fn queue_limit_bytes(limit: RawLimit, buffer_bytes: u64, frame_bytes: u64) -> u64 {
    match limit {
        RawLimit::Bytes(bytes) => bytes,
        RawLimit::Frames(frames) => u64::from(frames) * frame_bytes,
        // Alpha times the free bytes, alone in the buffer: alpha / (1 + alpha) of it.
        RawLimit::AlphaMilli(alpha) => buffer_bytes * u64::from(alpha) / (MILLI + u64::from(alpha)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(change: impl Fn(&mut serde_json::Value)) -> Plan {
        let mut plan = tailrace_lab::measured_plan::two_hosts(100_000_000, 1_500);
        change(&mut plan);
        Plan::parse(&plan.to_string()).expect("a sound plan")
    }

    #[test]
    fn a_line_has_the_rate_of_its_link_and_the_limit_of_its_queues() {
        let star = Star::parse(&plan(|_| {})).expect("a star");
        assert_eq!(
            star.lines.iter().map(|line| line.host.as_str()).collect::<Vec<_>>(),
            ["h0", "h1"]
        );
        let expected = Shape {
            rate_bps: 100_000_000,
            overhead_bytes: 24,
            burst_bytes: 12_500,
            limit_bytes: 1_000_000,
        };
        assert_eq!(star.lines[0].port, expected);
        assert_eq!(star.lines[1].port.rate_bps, 200_000_000);
    }

    #[test]
    fn limits_in_frames_and_by_alpha_become_bytes() {
        let of = |limit: serde_json::Value| {
            let star = Star::parse(&plan(|plan| {
                plan["switches"][0]["policy"]["queues"][0]["limit"] = limit.clone()
            }));
            star.expect("a star").lines[0].port.limit_bytes
        };
        assert_eq!(of(serde_json::json!({ "frames": 10 })), 15_140);
        assert_eq!(of(serde_json::json!({ "alpha-milli": 1_000 })), 4_194_304 / 2);
        assert_eq!(of(serde_json::json!({ "bytes": 100 })), 1_514, "one frame fits");
    }

    #[test]
    fn a_slow_line_has_room_for_two_frames() {
        assert_eq!(shape(10_000_000, 24, 9_014, 100_000).burst_bytes, 18_028);
    }

    #[test]
    fn two_switches_are_refused() {
        let two = plan(|plan| {
            let mut second = plan["switches"][0].clone();
            second["name"] = "other".into();
            plan["switches"].as_array_mut().expect("switches").push(second);
            plan["links"][1]["b"] = "other".into();
            let between = serde_json::json!({ "a": "sw", "b": "other", "rate_bps": 100_000_000, "delay_ps": 0 });
            plan["links"].as_array_mut().expect("links").push(between);
        });
        assert!(Star::parse(&two).expect_err("no star").contains("2 switches"));
    }
}
