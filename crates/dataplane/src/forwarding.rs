//! From a frame's destination to an output port: equal-cost paths are chosen by the flow's hash.

use crate::{Frame, PortNo};
use tailrace_units::mix64;

/// Most output ports that are equally short to one destination.
const EQUAL_PATHS_MAX: usize = 256;

/// The forwarding table of one switch.
#[derive(Clone, Debug, Default)]
pub struct Forwarding {
    /// For each destination: first index in `ports` and number of equal ports.
    routes: Vec<(u32, u32)>,
    ports: Vec<u16>,
    /// Differs between switches, so that hashing does not choose alike at every stage (polarisation).
    salt: u64,
    /// Ports pinned for single flows, sorted by flow hash.
    pins: Vec<(u32, u16)>,
}

impl Forwarding {
    /// A table without routes. `salt` is this switch's own.
    pub fn new(salt: u64) -> Forwarding {
        Forwarding { salt, ..Forwarding::default() }
    }

    /// Adds the next destination with the ports that lie on its shortest paths. None means unreachable.
    pub fn push_destination(&mut self, ports: &[PortNo]) {
        assert!(ports.len() <= EQUAL_PATHS_MAX, "at most {EQUAL_PATHS_MAX} equal paths");
        self.routes.push((self.ports.len() as u32, ports.len() as u32));
        self.ports.extend(ports.iter().map(|&port| u16::try_from(port).expect("a switch has fewer than 65 536 ports")));
    }

    /// Sends one flow always through `port`.
    pub fn pin(&mut self, flow_hash: u32, port: PortNo) {
        let at = self.pins.partition_point(|pin| pin.0 < flow_hash);
        self.pins.insert(at, (flow_hash, u16::try_from(port).expect("a switch has fewer than 65 536 ports")));
    }

    /// The output port for `frame`, or `None` when its destination is unreachable.
    #[inline]
    pub fn route<F: Frame>(&self, frame: &F) -> Option<PortNo> {
        if !self.pins.is_empty()
            && let Ok(at) = self.pins.binary_search_by_key(&frame.flow_hash(), |pin| pin.0)
        {
            return Some(usize::from(self.pins[at].1));
        }
        let (first, count) = self.routes[frame.destination() as usize];
        match count {
            0 => None,
            1 => Some(usize::from(self.ports[first as usize])),
            _ => {
                let hash = mix64(u64::from(frame.flow_hash()) ^ self.salt) >> 32;
                Some(usize::from(self.ports[first as usize + ((hash * u64::from(count)) >> 32) as usize]))
            }
        }
    }
}
