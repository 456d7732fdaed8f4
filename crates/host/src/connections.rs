//! Open and recently closed connections of programs, found by the flow hash of their packets.
//!
//! A packet carries the number of its destination socket and no addresses. The number may be out of
//! date: the connection may be closed, or a new connection with another number may use its ports.
//! Then the hash of the packet's flow identifies the connection, as addresses and ports do on a
//! real host.

use std::collections::{BTreeMap, VecDeque};
use tailrace_transport::ip::Identity;

/// Closed connections that are remembered, so that a late segment can be answered. On a real host
/// the segment itself names the sender, and there is no such limit.
const GONE_MAX: usize = 65_536;

/// A connection, open or closed, to which the packets of one flow belong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// They are for this socket.
    Live(u32),
    /// The connection is closed; the identity that packets of this end carried.
    Gone(Identity),
}

/// Connections by the hash of the packets that come for them.
#[derive(Default)]
pub(super) struct Connections {
    by_hash: BTreeMap<u32, Known>,
    /// Closed connections, the oldest first: hash and number.
    gone: VecDeque<(u32, u64)>,
    next: u64,
}

#[derive(Clone, Copy)]
struct Known {
    found: Found,
    /// Distinguishes successive connections with the same ports.
    number: u64,
}

impl Connections {
    /// This socket expects packets of this hash.
    pub(super) fn opened(&mut self, expects: u32, socket: u32) {
        self.note(expects, Found::Live(socket));
    }

    /// The connection is gone.
    pub(super) fn closed(&mut self, expects: u32, identity: Identity) {
        let number = self.note(expects, Found::Gone(identity));
        self.gone.push_back((expects, number));
        if self.gone.len() > GONE_MAX
            && let Some((hash, number)) = self.gone.pop_front()
            && self.by_hash.get(&hash).is_some_and(|known| known.number == number)
        {
            self.by_hash.remove(&hash);
        }
    }

    /// The connection to which packets with this hash belong.
    pub(super) fn find(&self, flow_hash: u32) -> Option<Found> {
        self.by_hash.get(&flow_hash).map(|known| known.found)
    }

    /// The peer's socket of the connection that was the last with packets of this hash.
    pub(super) fn peer_of(&self, flow_hash: u32) -> Option<u32> {
        match self.find(flow_hash)? {
            Found::Gone(identity) => Some(identity.to_endpoint),
            Found::Live(_) => None,
        }
    }

    fn note(&mut self, hash: u32, found: Found) -> u64 {
        self.next += 1;
        self.by_hash.insert(hash, Known { found, number: self.next });
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::Tag;

    #[test]
    fn the_oldest_of_too_many_connections_that_are_gone_is_forgotten_and_none_that_lives() {
        let mut connections = Connections::default();
        let identity =
            Identity { flow_hash: 1, to_endpoint: 2, to_host: 3, tag: Tag::default(), dscp: 0 };
        let close = |connections: &mut Connections, hash| {
            connections.opened(hash, hash);
            connections.closed(hash, identity);
        };
        (0..3).for_each(|hash| close(&mut connections, hash));
        close(&mut connections, 0); // the same ports again
        connections.opened(1, 70);
        (3..GONE_MAX as u32 + 1).for_each(|hash| close(&mut connections, hash));
        assert!(
            matches!(connections.find(0), Some(Found::Gone(_))),
            "the later of two with the same ports is remembered"
        );
        assert!(matches!(connections.find(1), Some(Found::Live(70))));
        assert!(connections.find(2).is_none_or(|found| matches!(found, Found::Gone(_))));
        (100_000..100_002).for_each(|hash| close(&mut connections, hash));
        assert!(connections.find(2).is_none());
        assert!(connections.find(3).is_some());
    }
}
