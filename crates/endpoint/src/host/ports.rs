//! Ephemeral ports of one host.

/// First ephemeral port (Linux: `ip_local_port_range`).
const FIRST_EPHEMERAL_PORT: u16 = 32_768;
const EPHEMERAL_PORTS: u32 = (u16::MAX - FIRST_EPHEMERAL_PORT) as u32 + 1;

/// Hands out source ports in order, from the first again after the last, and leaves out those that are in use.
#[derive(Clone, Debug)]
pub struct EphemeralPorts {
    next: u16,
    /// A bit for each port, as far as ports were used.
    in_use: Vec<u64>,
    used: u32,
}

impl Default for EphemeralPorts {
    fn default() -> EphemeralPorts {
        EphemeralPorts::new()
    }
}

impl EphemeralPorts {
    /// All are free.
    pub fn new() -> EphemeralPorts {
        EphemeralPorts { next: FIRST_EPHEMERAL_PORT, in_use: Vec::new(), used: 0 }
    }

    /// All are free, and this is the first that is handed out; the usual first where it is below the range.
    pub fn beginning_at(first: u16) -> EphemeralPorts {
        EphemeralPorts { next: first.max(FIRST_EPHEMERAL_PORT), ..EphemeralPorts::new() }
    }

    /// The next free port; `None` where all are in use.
    pub(super) fn take_free(&mut self) -> Option<u16> {
        if self.used == EPHEMERAL_PORTS {
            return None;
        }
        loop {
            let port = self.advance();
            if self.reserve(port) {
                return Some(port);
            }
        }
    }

    /// The next free port, or one that is shared where all are in use.
    pub fn take(&mut self) -> u16 {
        self.take_free().unwrap_or_else(|| self.advance())
    }

    /// Takes this port out of those that are handed out. Returns whether it was free; a port outside the range always is.
    pub(super) fn reserve(&mut self, port: u16) -> bool {
        let Some((word, bit)) = place_of(port) else { return true };
        if self.in_use.len() <= word {
            self.in_use.resize(word + 1, 0);
        }
        let is_free = self.in_use[word] & bit == 0;
        self.in_use[word] |= bit;
        self.used += u32::from(is_free);
        is_free
    }

    /// Nothing uses this port any more. Ports outside the range are not counted.
    pub fn give_back(&mut self, port: u16) {
        if let Some((word, bit)) = place_of(port)
            && let Some(bits) = self.in_use.get_mut(word)
        {
            self.used -= u32::from(*bits & bit != 0);
            *bits &= !bit;
        }
    }

    /// How many are in use.
    pub(super) fn used(&self) -> u32 {
        self.used
    }

    fn advance(&mut self) -> u16 {
        let port = self.next;
        self.next = if port == u16::MAX { FIRST_EPHEMERAL_PORT } else { port + 1 };
        port
    }
}

/// The word and the bit of an ephemeral port.
fn place_of(port: u16) -> Option<(usize, u64)> {
    let index = port.checked_sub(FIRST_EPHEMERAL_PORT)?;
    Some((usize::from(index) / 64, 1 << (index % 64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_begin_where_they_are_told_to_and_go_on_from_the_first_of_all() {
        let mut ports = EphemeralPorts::beginning_at(u16::MAX);
        assert_eq!([ports.take(), ports.take()], [u16::MAX, FIRST_EPHEMERAL_PORT]);
        assert_eq!(EphemeralPorts::beginning_at(80).take(), FIRST_EPHEMERAL_PORT);
    }

    #[test]
    fn ports_are_handed_out_in_order_and_those_in_use_are_left_out() {
        let mut ports = EphemeralPorts::new();
        let all: Vec<u16> = (0..EPHEMERAL_PORTS).map(|_| ports.take_free().expect("free")).collect();
        assert_eq!((all[0], all[1], all[all.len() - 1]), (32_768, 32_769, 65_535));
        assert_eq!((ports.take_free(), ports.used()), (None, EPHEMERAL_PORTS));
        ports.give_back(40_000);
        ports.give_back(33_000);
        assert_eq!([ports.take_free(), ports.take_free(), ports.take_free()], [Some(33_000), Some(40_000), None]);
    }

    #[test]
    fn where_all_ports_are_in_use_they_are_shared_in_order() {
        let mut ports = EphemeralPorts::new();
        (0..EPHEMERAL_PORTS).for_each(|_| assert!(ports.take() >= FIRST_EPHEMERAL_PORT));
        assert_eq!([ports.take(), ports.take()], [32_768, 32_769]);
    }

    #[test]
    fn a_port_outside_the_range_is_not_counted() {
        let mut ports = EphemeralPorts::new();
        assert!(ports.reserve(5_432) && ports.reserve(5_432));
        ports.give_back(5_432);
        assert_eq!(ports.used(), 0);
        assert!(ports.reserve(32_768));
        assert_eq!(ports.take_free(), Some(32_769));
    }
}
