//! The sockets of a host, in slots that are used again.

use super::socket::Socket;
use std::collections::BTreeMap;

/// A host with few sockets grows their table one by one: a network has thousands of such hosts.
const GROW_BY_ONE_UP_TO: usize = 8;

/// A slot for each connection that the host has at the same time.
#[derive(Default)]
pub(super) struct SocketTable {
    pub(super) sockets: Vec<Socket>,
    /// Receive merging: one for each socket.
    pub(super) merge_slots: Vec<u32>,
    /// Slots that were given back, by the workload of their sockets. Other workloads do not reuse
    /// them: a late packet is counted for the same workload whatever has been opened since.
    free: BTreeMap<u32, Vec<u32>>,
}

impl SocketTable {
    /// The number that the next socket of this owner will have.
    pub(super) fn next(&self, owner: u32) -> u32 {
        self.free
            .get(&owner)
            .and_then(|free| free.last())
            .copied()
            .unwrap_or(self.sockets.len() as u32)
    }

    /// Puts a socket into a free slot or a new one. Returns its number.
    pub(super) fn add(&mut self, socket: Socket) -> u32 {
        if let Some(number) = self.free.get_mut(&socket.owner).and_then(Vec::pop) {
            self.sockets[number as usize] = socket;
            return number;
        }
        if self.sockets.len() < GROW_BY_ONE_UP_TO {
            self.sockets.reserve_exact(1);
        }
        self.sockets.push(socket);
        self.merge_slots.push(0);
        self.sockets.len() as u32 - 1
    }

    /// Gives a slot back. Late packets of its connection find that they are not expected. Returns
    /// the socket's port.
    pub(super) fn release(&mut self, number: u32) -> u16 {
        let socket = &mut self.sockets[number as usize];
        socket.expects = 0;
        self.free.entry(socket.owner).or_default().push(number);
        socket.port
    }
}
