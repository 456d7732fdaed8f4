//! Forwarding: the output port for a destination; among equal-cost paths the flow's hash selects
//! one.

use crate::{Frame, PortNo};
use std::collections::BTreeMap;
use tailrace_units::{mix64, prefetch};

/// Most output ports that are equally short to one destination.
const EQUAL_PATHS_MAX: usize = 256;
/// Entries from here on are groups of ports, entries below are ports.
const FIRST_GROUP: u16 = 1 << 15;
/// The entry of a destination without a path: a group number that is never used.
const UNREACHABLE: u16 = u16::MAX;
/// Most different groups of one switch.
const GROUPS_MAX: usize = (UNREACHABLE - FIRST_GROUP) as usize;

/// The forwarding table of one switch. A network of a thousand switches has ten million entries:
/// each is two bytes.
#[derive(Clone, Debug, Default)]
pub struct Forwarding {
    /// For each destination its only port, or [`FIRST_GROUP`] and the number of a group.
    routes: Vec<u16>,
    groups: Groups,
    /// Differs between switches, so that hashing does not select the same way at every stage
    /// (polarisation).
    salt: u64,
    pins: Pins,
}

/// The sets of ports that lie on equally short paths. Destinations with the same ports share a
/// group.
#[derive(Clone, Debug, Default)]
struct Groups {
    /// For each group the index of its first port in `ports`, and their number.
    ends: Vec<(u32, u32)>,
    ports: Vec<u16>,
    known: BTreeMap<Box<[u16]>, u16>,
}

/// Ports pinned for single flows, by flow hash: a table at most three quarters full, in which a
/// flow stands at its home slot or behind it.
#[derive(Clone, Debug, Default)]
struct Pins {
    /// None or a power of two: the hash, and below it one more than the port, in one word; 0 for a
    /// free slot.
    slots: Vec<u64>,
    len: usize,
}

/// The word of a pin.
fn pinned(flow_hash: u32, port: u16) -> u64 {
    u64::from(flow_hash) << 32 | (u64::from(port) + 1)
}

impl Forwarding {
    /// A table without routes. `salt` is this switch's own.
    pub fn new(salt: u64) -> Forwarding {
        Forwarding { salt, ..Forwarding::default() }
    }

    /// Has room for so many destinations, none of which is reachable yet.
    pub fn expect_destinations(&mut self, count: usize) {
        self.routes = vec![UNREACHABLE; count];
    }

    /// Sets the ports that lie on the shortest paths to these destinations. None means unreachable.
    pub fn set_destinations(&mut self, destinations: &[usize], ports: &[PortNo]) {
        let entry = self.entry(ports);
        destinations.iter().for_each(|&destination| self.routes[destination] = entry);
    }

    /// Adds the next destination with the ports that lie on its shortest paths. None means
    /// unreachable.
    pub fn push_destination(&mut self, ports: &[PortNo]) {
        let entry = self.entry(ports);
        self.routes.push(entry);
    }

    fn entry(&mut self, ports: &[PortNo]) -> u16 {
        assert!(ports.len() <= EQUAL_PATHS_MAX, "at most {EQUAL_PATHS_MAX} equal paths");
        match ports {
            [] => UNREACHABLE,
            [only] if *only < usize::from(FIRST_GROUP) => number(*only),
            _ => {
                FIRST_GROUP
                    + self.groups.number_of(ports.iter().map(|&port| number(port)).collect())
            }
        }
    }

    /// Sends one flow always through `port`.
    pub fn pin(&mut self, flow_hash: u32, port: PortNo) {
        self.pins.insert(flow_hash, number(port));
    }

    /// Prefetches the output port for a destination and a flow.
    #[inline(always)]
    pub fn prefetch(&self, destination: usize, flow_hash: u32) {
        if self.pins.slots.is_empty() {
            prefetch(&self.routes, destination);
        } else {
            prefetch(&self.pins.slots, flow_hash as usize & (self.pins.slots.len() - 1));
        }
    }

    /// The output port for `frame`, or `None` when its destination is unreachable.
    #[inline(always)]
    pub fn route<F: Frame>(&self, frame: &F) -> Option<PortNo> {
        self.port_to(frame.destination() as usize, frame.flow_hash())
    }

    /// The output port for a destination and a flow, or `None` when it is unreachable.
    #[inline(always)]
    pub fn port_to(&self, destination: usize, flow_hash: u32) -> Option<PortNo> {
        if let Some(port) = self.pins.port_of(flow_hash) {
            return Some(usize::from(port));
        }
        let entry = self.routes[destination];
        if entry < FIRST_GROUP {
            return Some(usize::from(entry));
        }
        let &(first, count) = self.groups.ends.get(usize::from(entry - FIRST_GROUP))?;
        let hash = mix64(u64::from(flow_hash) ^ self.salt) >> 32;
        Some(usize::from(
            self.groups.ports[first as usize + ((hash * u64::from(count)) >> 32) as usize],
        ))
    }
}

fn number(port: PortNo) -> u16 {
    u16::try_from(port).expect("a switch has fewer than 65 536 ports")
}

impl Groups {
    /// The number of the group of these ports, which may be new.
    fn number_of(&mut self, ports: Box<[u16]>) -> u16 {
        if let Some(&known) = self.known.get(&ports) {
            return known;
        }
        assert!(
            self.ends.len() < GROUPS_MAX,
            "at most {GROUPS_MAX} sets of equal paths at one switch"
        );
        let group = self.ends.len() as u16;
        self.ends.push((self.ports.len() as u32, ports.len() as u32));
        self.ports.extend(&ports);
        self.known.insert(ports, group);
        group
    }
}

impl Pins {
    /// The slot of a flow and its word, or the free slot where it would stand. There must be slots.
    #[inline]
    fn find(&self, flow_hash: u32) -> (usize, u64) {
        let mask = self.slots.len() - 1;
        let mut slot = flow_hash as usize & mask;
        loop {
            let pin = self.slots[slot];
            if (pin >> 32) as u32 == flow_hash || pin == 0 {
                return (slot, pin);
            }
            slot = (slot + 1) & mask;
        }
    }

    #[inline]
    fn port_of(&self, flow_hash: u32) -> Option<u16> {
        if self.slots.is_empty() {
            return None;
        }
        let (_, pin) = self.find(flow_hash);
        if pin == 0 { None } else { Some((pin as u32 - 1) as u16) }
    }

    fn insert(&mut self, flow_hash: u32, port: u16) {
        if 4 * (self.len + 1) > 3 * self.slots.len() {
            let slots = vec![0; (2 * self.slots.len()).max(4)];
            let before = std::mem::replace(self, Pins { slots, len: 0 });
            for pin in before.slots.into_iter().filter(|&pin| pin != 0) {
                self.insert((pin >> 32) as u32, (pin as u32 - 1) as u16);
            }
        }
        let (slot, before) = self.find(flow_hash);
        self.len += usize::from(before == 0);
        self.slots[slot] = pinned(flow_hash, port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn pinned_flows_find_their_ports_and_others_find_none() {
        let mut pins = Pins::default();
        assert_eq!(pins.port_of(0), None);
        // Half of them have the same few home slots.
        let flows: Vec<u32> =
            (0..100).map(|flow| if flow % 2 == 0 { flow << 16 } else { flow }).collect();
        for (&flow, port) in flows.iter().zip(0..) {
            pins.insert(flow, port);
            pins.insert(flow, port + 1);
        }
        for (&flow, port) in flows.iter().zip(0..) {
            assert_eq!(pins.port_of(flow), Some(port + 1));
        }
        assert_eq!(pins.port_of(1000), None);
        assert_eq!((pins.len, pins.slots.len()), (100, 256));
    }
    fn packet(flow_hash: u32, to_host: u16) -> tailrace_wire::Packet {
        tailrace_wire::Packet { flow_hash, to_host, ..Default::default() }
    }

    #[test]
    fn pins_go_before_routes_and_without_a_route_there_is_no_port() {
        let mut table = Forwarding::new(1);
        table.push_destination(&[3]);
        table.push_destination(&[]);
        table.pin(7, 5);
        assert_eq!(
            [packet(1, 0), packet(7, 0), packet(1, 1), packet(7, 1)].map(|p| table.route(&p)),
            [Some(3), Some(5), None, Some(5)]
        );
    }

    #[test]
    fn destinations_with_the_same_ports_share_a_group_and_those_not_set_have_none() {
        let mut table = Forwarding::new(1);
        table.expect_destinations(6);
        table.set_destinations(&[0, 5], &[0, 1]);
        table.set_destinations(&[1, 2], &[1, 2, 40_000]);
        table.set_destinations(&[3], &[40_000]);
        table.set_destinations(&[5], &[1, 2, 40_000]);
        assert_eq!((table.groups.ends.len(), table.groups.ports.len()), (3, 6));
        let reached = |to_host| -> Vec<Option<PortNo>> {
            let found: BTreeSet<_> =
                (0..200).map(|flow| table.route(&packet(mix64(flow) as u32, to_host))).collect();
            found.into_iter().collect()
        };
        assert_eq!(reached(0), [Some(0), Some(1)]);
        assert_eq!(reached(5), [Some(1), Some(2), Some(40_000)]);
        assert_eq!(reached(3), [Some(40_000)]);
        assert_eq!(reached(4), [None]);
    }

    /// Two switches in a row: of the flows that the first sends to its first port, the second sends
    /// half to each.
    #[test]
    fn switches_hash_differently() {
        let [near, far] = [11, 12].map(|salt| {
            let mut table = Forwarding::new(salt);
            table.push_destination(&[0, 1]);
            table
        });
        let flows: Vec<_> = (0..4_000)
            .map(|flow| packet(mix64(flow) as u32, 0))
            .filter(|p| near.route(p) == Some(0))
            .collect();
        let again = flows.iter().filter(|&p| far.route(p) == Some(0)).count();
        assert!((1_850..=2_150).contains(&flows.len()), "{}", flows.len());
        assert!((900..=1_100).contains(&again), "{again} of {}", flows.len());
    }
}
