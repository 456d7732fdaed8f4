//! From a frame's destination to an output port: equal-cost paths are chosen by the flow's hash.

use crate::{Frame, PortNo};
use tailrace_units::mix64;

/// Most output ports that are equally short to one destination.
const EQUAL_PATHS_MAX: usize = 256;

/// The forwarding table of one switch.
#[derive(Clone, Debug, Default)]
pub struct Forwarding {
    /// For each destination the number of equal ports, and their first index in `ports`; a single port itself.
    routes: Vec<(u32, u32)>,
    ports: Vec<u16>,
    /// Differs between switches, so that hashing does not choose alike at every stage (polarisation).
    salt: u64,
    pins: Pins,
}

/// Ports pinned for single flows, by flow hash: a table at most half full, in which a flow stands at its place or behind it.
#[derive(Clone, Debug, Default)]
struct Pins {
    /// None or a power of two.
    places: Vec<Option<(u32, u16)>>,
    len: usize,
}

impl Forwarding {
    /// A table without routes. `salt` is this switch's own.
    pub fn new(salt: u64) -> Forwarding {
        Forwarding { salt, ..Forwarding::default() }
    }

    /// Adds the next destination with the ports that lie on its shortest paths. None means unreachable.
    pub fn push_destination(&mut self, ports: &[PortNo]) {
        assert!(ports.len() <= EQUAL_PATHS_MAX, "at most {EQUAL_PATHS_MAX} equal paths");
        let number = |&port: &PortNo| u16::try_from(port).expect("a switch has fewer than 65 536 ports");
        if let [only] = ports {
            return self.routes.push((u32::from(number(only)), 1));
        }
        self.routes.push((self.ports.len() as u32, ports.len() as u32));
        self.ports.extend(ports.iter().map(number));
    }

    /// Sends one flow always through `port`.
    pub fn pin(&mut self, flow_hash: u32, port: PortNo) {
        self.pins.insert(flow_hash, u16::try_from(port).expect("a switch has fewer than 65 536 ports"));
    }

    /// The output port for `frame`, or `None` when its destination is unreachable.
    #[inline]
    pub fn route<F: Frame>(&self, frame: &F) -> Option<PortNo> {
        if let Some(port) = self.pins.port_of(frame.flow_hash()) {
            return Some(usize::from(port));
        }
        let (first, count) = self.routes[frame.destination() as usize];
        match count {
            0 => None,
            1 => Some(first as usize),
            _ => {
                let hash = mix64(u64::from(frame.flow_hash()) ^ self.salt) >> 32;
                Some(usize::from(self.ports[first as usize + ((hash * u64::from(count)) >> 32) as usize]))
            }
        }
    }
}

impl Pins {
    /// The place of a flow, or the free place where it would stand. There must be places.
    #[inline]
    fn place_of(&self, flow_hash: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut place = flow_hash as usize & mask;
        while self.places[place].is_some_and(|pin| pin.0 != flow_hash) {
            place = (place + 1) & mask;
        }
        place
    }

    #[inline]
    fn port_of(&self, flow_hash: u32) -> Option<u16> {
        if self.places.is_empty() { None } else { self.places[self.place_of(flow_hash)].map(|pin| pin.1) }
    }

    fn insert(&mut self, flow_hash: u32, port: u16) {
        if 2 * (self.len + 1) > self.places.len() {
            let places = vec![None; (2 * self.places.len()).max(4)];
            let before = std::mem::replace(self, Pins { places, len: 0 });
            before.places.into_iter().flatten().for_each(|(flow_hash, port)| self.insert(flow_hash, port));
        }
        let place = self.place_of(flow_hash);
        self.len += usize::from(self.places[place].is_none());
        self.places[place] = Some((flow_hash, port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_flows_find_their_ports_and_others_find_none() {
        let mut pins = Pins::default();
        assert_eq!(pins.port_of(0), None);
        // Half of them want the same few places.
        let flows: Vec<u32> = (0..100).map(|flow| if flow % 2 == 0 { flow << 16 } else { flow }).collect();
        for (&flow, port) in flows.iter().zip(0..) {
            pins.insert(flow, port);
            pins.insert(flow, port + 1);
        }
        for (&flow, port) in flows.iter().zip(0..) {
            assert_eq!(pins.port_of(flow), Some(port + 1));
        }
        assert_eq!(pins.port_of(1000), None);
        assert_eq!((pins.len, pins.places.len()), (100, 256));
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

    /// Two switches in a row: of the flows that the first sends to its first port, the second sends half to each.
    #[test]
    fn switches_hash_differently() {
        let [near, far] = [11, 12].map(|salt| {
            let mut table = Forwarding::new(salt);
            table.push_destination(&[0, 1]);
            table
        });
        let flows: Vec<_> = (0..4_000).map(|flow| packet(mix64(flow) as u32, 0)).filter(|p| near.route(p) == Some(0)).collect();
        let again = flows.iter().filter(|&p| far.route(p) == Some(0)).count();
        assert!((1_850..=2_150).contains(&flows.len()), "{}", flows.len());
        assert!((900..=1_100).contains(&again), "{again} of {}", flows.len());
    }
}
