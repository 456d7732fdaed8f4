//! The parts of a world, each of which is a whole world in which only its own nodes act, and the
//! world that they form together.
//!
//! Between two stretches of time everything is in the first world, as if one thread had run it.

use super::partition::Partition;
use super::receivers::FlowEndpoints;
use crate::boundary::{Boundary, PartNo};
use crate::bridging::AgendaMember;
use crate::part_flows::PartFlows;
use crate::workload_events::Log;
use crate::world::World;
use std::mem::swap;
use tailrace_network::{End, Origin};
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// The assignment of everything that belongs to one part.
#[derive(Debug)]
pub(super) struct Owners {
    hosts: Vec<PartNo>,
    switches: Vec<PartNo>,
    /// The part in which a wire ends.
    wires: Vec<PartNo>,
    /// The part in which it begins.
    origins: Vec<PartNo>,
    generators: Vec<PartNo>,
    hypervisors: Vec<PartNo>,
    interfaces: Vec<PartNo>,
    /// Sources of the agenda.
    sources: Vec<PartNo>,
    pub(super) flow_endpoints: FlowEndpoints,
}

/// The nodes of a part, by number.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) hosts: Vec<u32>,
    pub(super) switches: Vec<u32>,
    pub(super) hypervisors: Vec<u32>,
}

/// A wire out of a part whose port decides late.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateWire {
    pub(super) wire: u32,
    pub(super) to: PartNo,
    pub(super) switch: u32,
    pub(super) port: u16,
}

impl Owners {
    pub(super) fn of(plan: &Plan, partition: &Partition, world: &World) -> Owners {
        let hosts: Vec<PartNo> =
            (0..world.hosts.len()).map(|host| partition.of_node(host)).collect();
        let switches: Vec<PartNo> = (0..world.switches.len())
            .map(|switch| partition.of_node(world.hosts.len() + switch))
            .collect();
        let hypervisors: Vec<PartNo> =
            world.hypervisors.iter().map(|node| switches[node.switch as usize]).collect();
        let end_of = |end: End| match end {
            End::Switch { switch, .. } => switches[switch as usize],
            End::Host(host) | End::Bonded(host) => hosts[host as usize],
            End::Stage { hypervisor, .. } => hypervisors[hypervisor as usize],
        };
        let wires: Vec<PartNo> = world.links.wires.iter().map(|wire| end_of(wire.end)).collect();
        // Two wires for each link, back and forth, and then those from hypervisors into their
        // machines.
        let of_links = 2 * plan.graph.links.len();
        let origins = (0..wires.len())
            .map(|wire| if wire < of_links { wires[wire ^ 1] } else { wires[wire] })
            .collect();
        let generators =
            world.generators.iter().map(|generator| hosts[generator.host() as usize]).collect();
        let interfaces = world
            .links
            .bridging
            .interfaces
            .iter()
            .map(|interface| hosts[interface.host as usize])
            .collect();
        let (sources, flow_endpoints) = (Vec::new(), FlowEndpoints::of(world));
        let mut owners = Owners {
            hosts,
            switches,
            wires,
            origins,
            generators,
            hypervisors,
            interfaces,
            sources,
            flow_endpoints,
        };
        owners.sources = owners.sources_of(world);
        owners
    }

    /// In the order of the agenda.
    fn sources_of(&self, world: &World) -> Vec<PartNo> {
        let of_host = |host: u32| self.hosts[host as usize];
        let members = world.links.bridging.members.iter().map(|member| match *member {
            AgendaMember::Interface(interface) => self.interfaces[interface as usize],
            AgendaMember::Switch(switch) => self.switches[switch as usize],
        });
        let sources = self.wires.iter().chain(&self.generators).copied().chain(members);
        let sources = sources
            .chain(world.processors.iter().map(|&host| of_host(host)))
            .chain(self.hypervisors.iter().copied());
        let sources = sources.chain(world.programs.iter().map(|place| of_host(place.host)));
        let sources: Vec<PartNo> =
            sources.chain(world.sockets.iter().map(|place| of_host(place.host))).collect();
        assert_eq!(
            sources.len(),
            world.sources.sockets as usize + world.sockets.len(),
            "every source has an owner"
        );
        sources
    }

    fn is_cut(&self, wire: usize) -> bool {
        self.wires[wire] != self.origins[wire]
    }

    /// The lookahead: the least time from the beginning of a transmission to the arrival of
    /// anything in another part; none if no wire leads there.
    pub(super) fn lookahead(&self, world: &World) -> Option<Span> {
        let cut = (0..self.wires.len()).filter(|&wire| self.is_cut(wire));
        // The end of a flow is known when its last frame is on the wire to its host.
        let last = self
            .flow_endpoints
            .receivers
            .values()
            .flat_map(|receiver| &receiver.wires)
            .map(|&wire| wire as usize);
        cut.chain(last)
            .map(|wire| world.links.wires[wire].arrival(Time::ZERO, Time::ZERO).since(Time::ZERO))
            .min()
    }

    /// Makes one of the worlds at time zero a part: nodes of others do not act.
    pub(super) fn confine(&self, part: PartNo, world: &mut World) {
        let openers = &self.flow_endpoints.openers;
        let of_others = (0..)
            .zip(&self.sources)
            .filter(|&(source, &owner)| owner != part && !openers.contains(&source));
        of_others.for_each(|(source, _)| world.links.agenda.arm(source, Time::NEVER));
        for wire in
            (0..self.wires.len()).filter(|&wire| self.is_cut(wire) && self.wires[wire] == part)
        {
            // The port at its beginning is settled in its own part.
            world.links.wires[wire].origin = Origin::Settled;
        }
        let ends = (0..self.wires.len()).map(|wire| {
            let is_late = matches!(world.links.wires[wire].origin, Origin::LatePort { .. });
            (self.is_cut(wire) && self.origins[wire] == part && !is_late)
                .then_some(self.wires[wire])
        });
        let flows = PartFlows::new(self.hosts.iter().map(|&owner| owner == part).collect());
        world.links.boundary = Some(Box::new(Boundary::new(ends, flows)));
        world.links.observe.log = Some(Box::new(Log::default()));
    }

    /// The wires out of a part whose ports decide late.
    pub(super) fn late_wires(&self, part: PartNo, world: &World) -> Vec<LateWire> {
        let cut =
            (0..self.wires.len()).filter(|&wire| self.is_cut(wire) && self.origins[wire] == part);
        let late = cut.filter_map(|wire| match world.links.wires[wire].origin {
            Origin::LatePort { switch, port } => {
                Some(LateWire { wire: wire as u32, to: self.wires[wire], switch, port })
            }
            Origin::Settled => None,
        });
        late.collect()
    }

    /// The sources that belong to a part.
    pub(super) fn own(&self, part: PartNo) -> Own {
        let numbers = |owners: &[PartNo]| {
            (0..)
                .zip(owners)
                .filter(|&(_, &owner)| owner == part)
                .map(|(number, _)| number)
                .collect()
        };
        Own {
            hosts: numbers(&self.hosts),
            switches: numbers(&self.switches),
            hypervisors: numbers(&self.hypervisors),
        }
    }

    /// Exchanges the nodes of all parts but the first between their worlds and the first; a second
    /// call restores them.
    pub(super) fn exchange(&self, worlds: &mut [World]) {
        let (whole, others) = worlds.split_first_mut().expect("there is a world");
        for (part, other) in (1..).zip(others) {
            let own = |owners: &[PartNo]| {
                owners
                    .iter()
                    .enumerate()
                    .filter(|&(_, &owner)| owner == part)
                    .map(|(at, _)| at)
                    .collect::<Vec<_>>()
            };
            for host in own(&self.hosts) {
                swap(&mut whole.hosts[host], &mut other.hosts[host]);
                swap(&mut whole.links.moderations[host], &mut other.links.moderations[host]);
            }
            own(&self.switches)
                .into_iter()
                .for_each(|at| swap(&mut whole.switches[at], &mut other.switches[at]));
            own(&self.wires)
                .into_iter()
                .for_each(|at| swap(&mut whole.links.wires[at], &mut other.links.wires[at]));
            own(&self.generators)
                .into_iter()
                .for_each(|at| swap(&mut whole.generators[at], &mut other.generators[at]));
            own(&self.hypervisors)
                .into_iter()
                .for_each(|at| swap(&mut whole.hypervisors[at], &mut other.hypervisors[at]));
            let (one, two) =
                (&mut whole.links.bridging.interfaces, &mut other.links.bridging.interfaces);
            own(&self.interfaces).into_iter().for_each(|at| swap(&mut one[at], &mut two[at]));
        }
    }
}
