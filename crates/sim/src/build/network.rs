//! Wires, and the oscillators that pace what is put on them.

use crate::wire::{End, Origin, Wire};
use tailrace_dataplane::{Frame, Switch};
use tailrace_plan::{Plan, RawSwitching};
use tailrace_units::{BitRate, Pace, Span, Stream};

/// A cut-through switch forwards when it has seen this much of a frame.
const CUT_THROUGH_BYTES: u64 = 64;

/// The pace of a node's port with the node's own oscillator.
pub fn pace_of(plan: &Plan, node: usize, port: usize) -> Pace {
    let link = plan.graph.ports[node][port].link;
    pace_at(plan, node, plan.graph.links[link].rate)
}

fn pace_at(plan: &Plan, node: usize, rate: BitRate) -> Pace {
    let most = u64::from(plan.raw.clock_offset_ppb);
    let mut luck = Stream::new(plan.raw.seed, &format!("{}/clock", plan.graph.names[node]));
    let offset = luck.below(2 * most + 1) as i64 - most as i64;
    rate.pace(i32::try_from(offset).expect("offsets are below 1e6 ppb"))
}

/// Two wires for each link, and for each node the wire out of each of its ports.
pub(super) fn build_wires<F: Frame>(plan: &Plan, switches: &[Switch<F>]) -> (Vec<Wire>, Vec<Vec<u32>>) {
    let graph = &plan.graph;
    let mut wire_of: Vec<Vec<u32>> = graph.ports.iter().map(|ports| vec![0; ports.len()]).collect();
    let mut wires = Vec::with_capacity(2 * graph.links.len());
    for (index, link) in graph.links.iter().enumerate() {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            let port = graph.port_of_link(index, from);
            wire_of[from][port] = wires.len() as u32;
            wires.push(build_wire(plan, switches, index, (from, port), to));
        }
    }
    (wires, wire_of)
}

fn build_wire<F: Frame>(plan: &Plan, switches: &[Switch<F>], link: usize, (from, port): (usize, usize), to: usize) -> Wire {
    let graph = &plan.graph;
    let Some(from_switch) = from.checked_sub(graph.hosts) else {
        return wire_to(plan, link, from, Origin::Settled, to);
    };
    let late = Origin::LatePort { switch: from_switch as u32, port: port as u16 };
    let origin = if switches[from_switch].chooses_late(port) { late } else { Origin::Settled };
    wire_to(plan, link, from, origin, to)
}

fn wire_to(plan: &Plan, link: usize, from: usize, origin: Origin, to: usize) -> Wire {
    let graph = &plan.graph;
    let Flight { delay, header_time } = flight(plan, link, from, to);
    let Some(switch) = to.checked_sub(graph.hosts) else {
        return Wire::new(origin, End::Host(to as u32), delay, header_time);
    };
    let end = End::Switch { switch: switch as u32, port: graph.port_of_link(link, to) as u16 };
    Wire::new(origin, end, delay, header_time)
}

/// How long a frame is on its way over one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// Propagation, and the pipeline of the switch at the end.
    pub delay: Span,
    /// Cut-through: the frame counts as arrived when this much of it was sent; `None` for the whole frame.
    pub header_time: Option<Span>,
}

/// The flight over a link between these nodes.
pub fn flight(plan: &Plan, link: usize, from: usize, to: usize) -> Flight {
    let graph = &plan.graph;
    let delay = graph.links[link].delay;
    let Some(switch) = to.checked_sub(graph.hosts) else { return Flight { delay, header_time: None } };
    let raw = &plan.raw.switches[switch];
    let rate = graph.links[link].rate;
    let cuts_through = raw.switching == RawSwitching::CutThrough && graph.fastest_link(to) <= Some(rate);
    let header_time = cuts_through.then(|| pace_at(plan, from, rate).time_to_send(CUT_THROUGH_BYTES));
    Flight { delay: delay + Span::from_ps(raw.latency_ps), header_time }
}
