//! The counters of interfaces, as `netstat -i` has them: one row for each interface of a host and
//! each port of a switch.
//!
//! No frame is counted for this: the frames that have arrived at the end of a wire are those sent
//! on it, plus those on it when counting began, less those on it now.

use crate::{NetworkFrame, SwitchNode, Wire};
use tailrace_outcome::Interface;
use tailrace_plan::Plan;
use tailrace_units::Time;

/// The frames that are on every wire at one moment.
#[derive(Clone, Debug, Default)]
pub struct OnWires(Vec<u64>);

impl OnWires {
    /// The frames on the wires now. A port that has one queue puts a frame on its wire before the
    /// frame's transmission starts: until then it is not counted here.
    pub fn of<F: NetworkFrame>(wires: &[Wire<F>], nodes: &[SwitchNode<F>], now: Time) -> OnWires {
        let mut frames: Vec<u64> = wires.iter().map(Wire::frames).collect();
        for (wire, committed) in nodes.iter().flat_map(|node| node.committed_frames(now)) {
            // Notices of congestion that wait for an interface are on no wire.
            frames[wire] = frames[wire].saturating_sub(committed);
        }
        OnWires(frames)
    }

    /// The frames on a wire; none before the first moment.
    fn on(&self, wire: usize) -> u64 {
        self.0.get(wire).copied().unwrap_or(0)
    }
}

/// The ports of all switches at `now`. `began` are the frames on the wires when counting began,
/// `ended` those of now; `sent` returns the frames that a host has sent over its port of this
/// number since then.
pub fn switch_rows<'a, F: NetworkFrame>(
    plan: &'a Plan,
    nodes: &'a [SwitchNode<F>],
    (began, ended): (&'a OnWires, &'a OnWires),
    now: Time,
    sent: impl Fn(usize, usize) -> u64 + Copy + 'a,
) -> impl Iterator<Item = Interface> {
    let graph = &plan.graph;
    let sent_by = move |node: usize, port: usize| match node.checked_sub(graph.hosts) {
        None => sent(node, port),
        Some(switch) => port_sum(&nodes[switch], port, now).0,
    };
    nodes.iter().enumerate().flat_map(move |(index, node)| {
        graph.ports[graph.hosts + index].iter().enumerate().map(move |(port, end)| {
            let wire = 2 * end.link + usize::from(graph.links[end.link].a != end.peer);
            let peer_sent = sent_by(end.peer, graph.port_of_link(end.link, end.peer));
            // A wire that drops, as one does before a hypervisor whose ring is full, has fewer:
            // never less than none.
            let arrived = (peer_sent + began.on(wire)).saturating_sub(ended.on(wire));
            let (tx_frames, tx_dropped) = port_sum(node, port, now);
            let too_long = node.switch.mtu_drops(port);
            let (name, towards) = (&plan.raw.switches[index].name, &graph.names[end.peer]);
            Interface {
                rx_frames: Some(
                    arrived.saturating_sub(too_long.map_or(0, |drops| drops.ingress_frames)),
                ),
                rx_errors: too_long.map(|drops| drops.ingress_frames),
                tx_frames: Some(tx_frames),
                tx_errors: too_long.map(|drops| drops.egress_frames),
                tx_dropped: Some(tx_dropped),
                ..Interface::up(
                    name,
                    Some(towards),
                    format!("port-{port}"),
                    plan.port_mtu(index, port),
                )
            }
        })
    })
}

/// Frames that a port has sent and dropped.
fn port_sum<F: NetworkFrame>(node: &SwitchNode<F>, port: usize, now: Time) -> (u64, u64) {
    let queues = (0..node.switch.queues(port)).map(|queue| node.switch.counters(port, queue, now));
    queues.fold((0, 0), |(sent, dropped), queue| {
        (sent + queue.tx_frames, dropped + queue.drops.frames())
    })
}
