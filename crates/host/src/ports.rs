//! Ports of the clients of one host.

use std::collections::BTreeMap;

/// Ephemeral ports (Linux: `ip_local_port_range` begins there).
const EPHEMERAL: (u16, u16) = (32_768, u16::MAX);

/// Hands out the source ports of a host: ephemeral ones, and to owners with a range those of their
/// range, which are kept from all others (Linux: `ip_local_reserved_ports`).
#[derive(Clone, Debug)]
pub struct ClientPorts {
    ephemeral: PortRange,
    ranges: Vec<PortRange>,
    /// By owner, the index of its range.
    owners: BTreeMap<u32, usize>,
}

impl Default for ClientPorts {
    fn default() -> ClientPorts {
        ClientPorts::new()
    }
}

impl ClientPorts {
    /// All are free, and no owner has a range.
    pub fn new() -> ClientPorts {
        ClientPorts {
            ephemeral: PortRange::new(EPHEMERAL),
            ranges: Vec::new(),
            owners: BTreeMap::new(),
        }
    }

    /// An owner has this range, the first and the last port. Owners with equal ranges share them;
    /// others do not overlap.
    pub fn give_range(&mut self, owner: u32, range: (u16, u16)) {
        let known = self.ranges.iter().position(|known| known.ends == range);
        let index = known.unwrap_or_else(|| {
            (range.0..=range.1).for_each(|port| {
                self.ephemeral.reserve(port);
            });
            self.ranges.push(PortRange::new(range));
            self.ranges.len() - 1
        });
        self.owners.insert(owner, index);
    }

    /// The next free port for a connection of this owner; `None` where all are in use.
    pub(super) fn take_free(&mut self, owner: u32) -> Option<u16> {
        self.of(owner).take_free()
    }

    /// The next free port, or one that is shared where all are in use.
    pub fn take(&mut self, owner: u32) -> u16 {
        self.of(owner).take()
    }

    /// Takes this port out of those that are handed out. Returns whether it was free; a port
    /// outside of all ranges always is.
    pub(super) fn reserve(&mut self, port: u16) -> bool {
        self.holding(port).reserve(port)
    }

    /// Nothing uses this port any more. Ports outside of all ranges are not counted.
    pub fn give_back(&mut self, port: u16) {
        self.holding(port).give_back(port);
    }

    /// How many are in use or kept for owners.
    pub(super) fn used(&self) -> u32 {
        self.ephemeral.used + self.ranges.iter().map(|range| range.used).sum::<u32>()
    }

    fn of(&mut self, owner: u32) -> &mut PortRange {
        match self.owners.get(&owner) {
            Some(&index) => &mut self.ranges[index],
            None => &mut self.ephemeral,
        }
    }

    /// The range that a port belongs to.
    fn holding(&mut self, port: u16) -> &mut PortRange {
        let index = self.ranges.iter().position(|range| range.bit_of(port).is_some());
        index.map_or(&mut self.ephemeral, |index| &mut self.ranges[index])
    }
}

/// Hands out the free ports of a range in order, and begins again with the first after the last.
#[derive(Clone, Debug)]
struct PortRange {
    ends: (u16, u16),
    next: u16,
    /// A bit for each port, as far as ports were used.
    in_use: Vec<u64>,
    used: u32,
}

impl PortRange {
    fn new(ends: (u16, u16)) -> PortRange {
        PortRange { ends, next: ends.0, in_use: Vec::new(), used: 0 }
    }

    fn len(&self) -> u32 {
        u32::from(self.ends.1 - self.ends.0) + 1
    }

    fn take_free(&mut self) -> Option<u16> {
        if self.used == self.len() {
            return None;
        }
        loop {
            let port = self.advance();
            if self.reserve(port) {
                return Some(port);
            }
        }
    }

    fn take(&mut self) -> u16 {
        self.take_free().unwrap_or_else(|| self.advance())
    }

    fn reserve(&mut self, port: u16) -> bool {
        let Some((word, bit)) = self.bit_of(port) else { return true };
        if self.in_use.len() <= word {
            self.in_use.resize(word + 1, 0);
        }
        let is_free = self.in_use[word] & bit == 0;
        self.in_use[word] |= bit;
        self.used += u32::from(is_free);
        is_free
    }

    fn give_back(&mut self, port: u16) {
        if let Some((word, bit)) = self.bit_of(port)
            && let Some(bits) = self.in_use.get_mut(word)
        {
            self.used -= u32::from(*bits & bit != 0);
            *bits &= !bit;
        }
    }

    fn advance(&mut self) -> u16 {
        let port = self.next;
        self.next = if port == self.ends.1 { self.ends.0 } else { port + 1 };
        port
    }

    /// The word and the bit of a port of the range.
    fn bit_of(&self, port: u16) -> Option<(usize, u64)> {
        let index = port.checked_sub(self.ends.0).filter(|_| port <= self.ends.1)?;
        Some((usize::from(index) / 64, 1 << (index % 64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_OWNER: u32 = 0;
    const EPHEMERAL_PORTS: u32 = (EPHEMERAL.1 - EPHEMERAL.0) as u32 + 1;

    #[test]
    fn ports_of_a_range_are_given_to_its_owners_only() {
        let mut ports = ClientPorts::new();
        ports.give_range(1, (32_768, 32_769));
        ports.give_range(2, (32_768, 32_769));
        ports.give_range(3, (100, 101));
        assert_eq!([ports.take(NO_OWNER), ports.take(1), ports.take(2)], [32_770, 32_768, 32_769]);
        assert_eq!(
            (ports.take_free(1), ports.take(3), ports.take(3), ports.take_free(3)),
            (None, 100, 101, None)
        );
        ports.give_back(32_768);
        ports.give_back(101);
        assert_eq!(
            (ports.take(NO_OWNER), ports.take_free(2), ports.take_free(3)),
            (32_771, Some(32_768), Some(101))
        );
    }

    #[test]
    fn ports_are_handed_out_in_order_and_those_in_use_are_left_out() {
        let mut ports = ClientPorts::new();
        let all: Vec<u16> =
            (0..EPHEMERAL_PORTS).map(|_| ports.take_free(NO_OWNER).expect("free")).collect();
        assert_eq!((all[0], all[1], all[all.len() - 1]), (32_768, 32_769, 65_535));
        assert_eq!((ports.take_free(NO_OWNER), ports.used()), (None, EPHEMERAL_PORTS));
        ports.give_back(40_000);
        ports.give_back(33_000);
        let more =
            [ports.take_free(NO_OWNER), ports.take_free(NO_OWNER), ports.take_free(NO_OWNER)];
        assert_eq!(more, [Some(33_000), Some(40_000), None]);
    }

    #[test]
    fn where_all_ports_are_in_use_they_are_shared_in_order() {
        let mut ports = ClientPorts::new();
        (0..EPHEMERAL_PORTS).for_each(|_| assert!(ports.take(NO_OWNER) >= EPHEMERAL.0));
        assert_eq!([ports.take(NO_OWNER), ports.take(NO_OWNER)], [32_768, 32_769]);
    }

    #[test]
    fn a_port_outside_the_range_is_not_counted() {
        let mut ports = ClientPorts::new();
        assert!(ports.reserve(5_432) && ports.reserve(5_432));
        ports.give_back(5_432);
        assert_eq!(ports.used(), 0);
        assert!(ports.reserve(32_768));
        assert_eq!(ports.take_free(NO_OWNER), Some(32_769));
    }
}
