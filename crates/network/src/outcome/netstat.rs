//! The counters of interfaces, as `netstat -i` has them: one row for each interface of a host and each port of a switch.
//!
//! No frame is counted for this: what has arrived at the end of a wire is what was sent on it, plus what was on it when counting
//! began, less what is on it now.

use crate::{NetworkFrame, SwitchNode, Wire};
use serde::Serialize;
use std::borrow::Cow;
use tailrace_plan::Plan;
use tailrace_units::Time;

/// What an interface has counted. `None` is what an engine cannot count, which is not zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InterfaceCounts {
    /// Frames that were received.
    pub rx_frames: Option<u64>,
    /// Frames that were received damaged, or too long.
    pub rx_errors: Option<u64>,
    /// Frames that were received and not taken.
    pub rx_dropped: Option<u64>,
    /// Frames that found the receive ring full.
    pub rx_overruns: Option<u64>,
    /// Frames that were sent.
    pub tx_frames: Option<u64>,
    /// Frames that could not be sent.
    pub tx_errors: Option<u64>,
    /// Frames that did not fit the queue.
    pub tx_dropped: Option<u64>,
    /// Frames that the device did not take in time.
    pub tx_overruns: Option<u64>,
}

/// The frames that are on every wire at one moment.
#[derive(Clone, Debug, Default)]
pub struct OnWires(Vec<u64>);

impl OnWires {
    /// Those of now. A port that has one queue puts a frame on its wire before the frame's transmission starts: until then it is not
    /// counted here.
    pub fn of<F: NetworkFrame>(wires: &[Wire<F>], nodes: &[SwitchNode<F>], now: Time) -> OnWires {
        let mut frames: Vec<u64> = wires.iter().map(Wire::frames).collect();
        for (wire, committed) in nodes.iter().flat_map(|node| node.committed_frames(now)) {
            // Notices of congestion that wait for an interface are on no wire.
            frames[wire] = frames[wire].saturating_sub(committed);
        }
        OnWires(frames)
    }

    /// Those of a wire; none before the first moment.
    fn on(&self, wire: usize) -> u64 {
        self.0.get(wire).copied().unwrap_or(0)
    }
}

/// Flags of an interface that is up, in the letters of netstat(8): broadcast, multicast, running, up.
const FLAGS_UP: &str = "BMRU";

/// A row, with its members in the order of their names, as outcomes have them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InterfaceRow<'a> {
    flags: Cow<'a, str>,
    mtu_bytes: Option<u32>,
    name: Cow<'a, str>,
    node: &'a str,
    rx_dropped: Option<u64>,
    rx_errors: Option<u64>,
    rx_frames: Option<u64>,
    rx_overruns: Option<u64>,
    towards: Option<&'a str>,
    tx_dropped: Option<u64>,
    tx_errors: Option<u64>,
    tx_frames: Option<u64>,
    tx_overruns: Option<u64>,
}

impl<'a> InterfaceRow<'a> {
    /// That of an interface that is up: the one of a host, or the port of a switch towards a node.
    pub fn new(
        node: &'a str,
        towards: Option<&'a str>,
        name: impl Into<Cow<'a, str>>,
        mtu_bytes: Option<u32>,
        counts: InterfaceCounts,
    ) -> InterfaceRow<'a> {
        InterfaceRow {
            flags: FLAGS_UP.into(),
            mtu_bytes,
            name: name.into(),
            node,
            rx_dropped: counts.rx_dropped,
            rx_errors: counts.rx_errors,
            rx_frames: counts.rx_frames,
            rx_overruns: counts.rx_overruns,
            towards,
            tx_dropped: counts.tx_dropped,
            tx_errors: counts.tx_errors,
            tx_frames: counts.tx_frames,
            tx_overruns: counts.tx_overruns,
        }
    }

    /// The same with other flags, in the letters of netstat(8).
    #[must_use]
    pub fn with_flags(self, flags: impl Into<Cow<'a, str>>) -> InterfaceRow<'a> {
        InterfaceRow { flags: flags.into(), ..self }
    }

    /// What it has counted.
    pub fn counts(&self) -> InterfaceCounts {
        InterfaceCounts {
            rx_frames: self.rx_frames,
            rx_errors: self.rx_errors,
            rx_dropped: self.rx_dropped,
            rx_overruns: self.rx_overruns,
            tx_frames: self.tx_frames,
            tx_errors: self.tx_errors,
            tx_dropped: self.tx_dropped,
            tx_overruns: self.tx_overruns,
        }
    }
}

/// The ports of all switches at `now`. `began` are the frames on the wires when counting began, `ended` those of now; `sent` tells what a host
/// has sent over its port of this number since then.
pub fn switch_rows<'a, F: NetworkFrame>(
    plan: &'a Plan,
    nodes: &'a [SwitchNode<F>],
    (began, ended): (&'a OnWires, &'a OnWires),
    now: Time,
    sent: impl Fn(usize, usize) -> u64 + Copy + 'a,
) -> impl Iterator<Item = InterfaceRow<'a>> {
    let graph = &plan.graph;
    let sent_by = move |node: usize, port: usize| match node.checked_sub(graph.hosts) {
        None => sent(node, port),
        Some(switch) => port_sum(&nodes[switch], port, now).0,
    };
    nodes.iter().enumerate().flat_map(move |(index, node)| {
        graph.ports[graph.hosts + index].iter().enumerate().map(move |(port, end)| {
            let wire = 2 * end.link + usize::from(graph.links[end.link].a != end.peer);
            let peer_sent = sent_by(end.peer, graph.port_of_link(end.link, end.peer));
            // A wire that drops, as one does before a hypervisor whose ring is full, has fewer: never less than none.
            let arrived = (peer_sent + began.on(wire)).saturating_sub(ended.on(wire));
            let (tx_frames, tx_dropped) = port_sum(node, port, now);
            let too_long = node.switch.mtu_drops(port);
            let counts = InterfaceCounts {
                rx_frames: Some(arrived.saturating_sub(too_long.map_or(0, |drops| drops.ingress_frames))),
                rx_errors: too_long.map(|drops| drops.ingress_frames),
                tx_frames: Some(tx_frames),
                tx_errors: too_long.map(|drops| drops.egress_frames),
                tx_dropped: Some(tx_dropped),
                ..InterfaceCounts::default()
            };
            let (name, towards) = (&plan.raw.switches[index].name, &graph.names[end.peer]);
            InterfaceRow::new(name, Some(towards), format!("port-{port}"), plan.port_mtu(index, port), counts)
        })
    })
}

/// What a port has sent and dropped.
fn port_sum<F: NetworkFrame>(node: &SwitchNode<F>, port: usize, now: Time) -> (u64, u64) {
    let queues = (0..node.switch.queues(port)).map(|queue| node.switch.counters(port, queue, now));
    queues.fold((0, 0), |(sent, dropped), queue| (sent + queue.tx_frames, dropped + queue.drops.frames()))
}
