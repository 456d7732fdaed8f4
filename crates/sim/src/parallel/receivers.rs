//! Agenda sources that open flows, and the hosts at which flows end.

use crate::agenda::Source;
use crate::attachment::Attachment;
use crate::links::Links;
use crate::world::World;
use std::collections::BTreeMap;
use tailrace_host::Host;
use tailrace_network::{End, NetworkFrame};
use tailrace_transport::ip::protocol;
use tailrace_wire::{Packet, Protocol};
use tailrace_workloads::Arriving;

/// A host at which flows end.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    pub(super) wires: Vec<u32>,
    /// Arrivals are read when they have been processed, and not when they are polled.
    pub(super) works: bool,
}

/// Origins and destinations of flows, of all parts, known to every part.
#[derive(Debug)]
pub(super) struct FlowEndpoints {
    /// Agenda sources that open flows.
    pub(super) openers: Vec<Source>,
    /// By host.
    pub(super) receivers: BTreeMap<u32, Receiver>,
}

impl FlowEndpoints {
    pub(super) fn of(world: &World) -> FlowEndpoints {
        FlowEndpoints { openers: openers(world), receivers: receivers(world) }
    }
}

/// Agenda sources that open flows.
pub(super) fn openers(world: &World) -> Vec<Source> {
    let opens = |arriving: &Arriving| matches!(arriving, Arriving::Flows { .. });
    let places = (world.sources.generators..).zip(&world.generators);
    places
        .filter(|(_, generator)| opens(generator.arrivals.what()))
        .map(|(source, _)| source)
        .collect()
}

/// The hosts at which flows end.
fn receivers(world: &World) -> BTreeMap<u32, Receiver> {
    let mut receivers: BTreeMap<u32, Receiver> = BTreeMap::new();
    for generator in &world.generators {
        if let Arriving::Flows { destinations, .. } = generator.arrivals.what() {
            receivers.extend(destinations.iter().map(|&host| (host, Receiver::default())));
        }
    }
    for (wire, link) in (0..).zip(&world.links.wires) {
        if let End::Host(host) | End::Bonded(host) = link.end
            && let Some(receiver) = receivers.get_mut(&host)
        {
            receiver.wires.push(wire);
        }
    }
    for (&host, receiver) in &mut receivers {
        let model = &world.hosts[host as usize];
        receiver.works = model.receives_at_a_cost() || receiver.wires.len() > 1;
    }
    receivers
}

/// A segment came into the part: the last bytes of a flow may be here now.
pub(super) fn note_arriving(
    links: &mut Links,
    hosts: &[Host<Attachment>],
    packet: &Packet,
    first_socket: Source,
) {
    if packet.is_control() || protocol(packet) == Protocol::Udp {
        return;
    }
    let socket = hosts[usize::from(packet.to_host)].sockets().get(packet.to_endpoint as usize);
    if let Some(socket) =
        socket.filter(|socket| socket.expects(packet.flow_hash) && socket.awaited().is_some())
        && let Some(boundary) = &mut links.boundary
    {
        boundary.flows.came_in(socket.timer() - first_socket, packet);
    }
}
