//! Prefetching: data of events that are due soon is brought into the caches of the processor step
//! by step.
//!
//! In a network of thousands of hosts an event finds none of its data in a cache: the wire, the
//! frame on it, the route from the node at its end, the port there and the wire behind it are
//! separate memory locations, each of which is known when the one before has been loaded. The
//! agenda knows which wires are due soon, roughly in which order. Each of these steps is done for
//! another one of them during one event, so that the loads overlap with the event's own. No result
//! depends on it.

use crate::agenda::{Coming, Source};
use crate::attachment::Attachment;
use crate::huge_pages::WIRES_MIN;
use crate::links::Links;
use tailrace_host::{Host, Socket};
use tailrace_network::{End, SwitchNode, Wire};
use tailrace_units::{prefetch, prefetch_all};
use tailrace_wire::{Packet, PacketHead};

/// Whether the network is so large.
#[inline(always)]
pub(super) fn is_wanted(links: &Links) -> bool {
    links.wires.len() >= WIRES_MIN
}

/// Does one step for each of the wires that are likely to be due soon, after this one was
/// postponed.
#[inline(always)]
pub(super) fn bring(
    links: &Links,
    switches: &[SwitchNode<Packet>],
    hosts: &[Host<Attachment>],
    postponed: Source,
) {
    let Coming { next, soon: [soon, later, _, latest] } = links.agenda.coming(postponed);
    prefetch(&links.wires, latest);
    if let Some(wire) = links.wires.get(later) {
        wire.prefetch();
        bring_host(wire, links, hosts);
    }
    if let Some((wire, head)) = next_on(links, soon) {
        match wire.end {
            End::Switch { switch, .. } => {
                if let Some(node) = switches.get(switch as usize) {
                    node.switch.prefetch_route(usize::from(head.to_host()), head.flow_hash());
                }
            }
            End::Host(host) => {
                if let Some(socket) = socket_of(hosts, host, head) {
                    prefetch_all(socket);
                }
            }
            End::Stage { .. } | End::Bonded(_) => {}
        }
    }
    if let Some((wire, head)) = next_on(links, next) {
        match wire.end {
            End::Switch { switch, .. } => {
                let node = switches.get(switch as usize);
                if let Some(out) = node.and_then(|node| {
                    node.prefetch_port(usize::from(head.to_host()), head.flow_hash())
                }) {
                    prefetch(&links.wires, out);
                }
            }
            End::Host(host) => {
                if let Some(socket) = socket_of(hosts, host, head) {
                    socket.tcp().prefetch_oldest();
                    if let Some(record) = links.observe.workloads.get(socket.owner() as usize) {
                        record.prefetch_goodput();
                    }
                }
            }
            End::Stage { .. } | End::Bonded(_) => {}
        }
    }
}

/// The host at the end of a wire.
#[inline(always)]
fn bring_host(wire: &Wire<Packet>, links: &Links, hosts: &[Host<Attachment>]) {
    if let End::Host(host) = wire.end {
        prefetch(&links.moderations, host as usize);
        if let Some(host) = hosts.get(host as usize) {
            prefetch_all(host);
        }
    }
}

/// A wire and the next frame on it.
#[inline(always)]
fn next_on(links: &Links, wire: usize) -> Option<(&Wire<Packet>, &PacketHead)> {
    let wire = links.wires.get(wire)?;
    Some((wire, wire.next_head()?))
}

/// The socket that gets a frame at its host.
#[inline(always)]
fn socket_of<'a>(
    hosts: &'a [Host<Attachment>],
    host: u32,
    head: &PacketHead,
) -> Option<&'a Socket> {
    hosts.get(host as usize)?.sockets().get(head.to_endpoint() as usize)
}
