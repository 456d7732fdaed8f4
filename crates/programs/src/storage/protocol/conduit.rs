//! The content of the bytes of a connection, in one direction.

use super::Pdu;
use std::collections::VecDeque;

/// Units that were written to one direction of a connection and have not arrived completely, in
/// order.
///
/// Packets carry offsets and lengths, not bytes. The stream decides *when* bytes arrive; the
/// conduit describes their content.
#[derive(Default, Debug)]
pub struct Conduit {
    written: VecDeque<Pdu>,
}

/// The part of the next unit that has arrived.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reader {
    arrived: u64,
}

impl Conduit {
    /// This was written to the connection.
    pub fn write(&mut self, pdu: Pdu) {
        self.written.push_back(pdu);
    }

    /// Bytes that were written and are not read as whole units.
    pub fn bytes(&self) -> u64 {
        self.written.iter().map(|pdu| u64::from(pdu.bytes)).sum()
    }
}

impl Reader {
    /// Bytes have arrived.
    pub fn handle_bytes(&mut self, bytes: u64) {
        self.arrived += bytes;
    }

    /// Bytes that have arrived of a unit that is not whole.
    pub fn partly(&self) -> u64 {
        self.arrived
    }

    /// The next unit that has arrived whole.
    pub fn poll_pdu(&mut self, conduit: &mut Conduit) -> Option<Pdu> {
        let next = conduit.written.front().filter(|pdu| u64::from(pdu.bytes) <= self.arrived)?;
        self.arrived -= u64::from(next.bytes);
        conduit.written.pop_front()
    }
}
