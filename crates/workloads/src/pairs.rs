//! Pairs of sockets for datagrams: one at a client, one at the server that it asks.

use crate::{DatagramPair, Ends, Engine};

/// Indices of client and server, and a number between them.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) client: u32,
    pub(crate) server: u32,
    pub(crate) turn: u32,
}

impl Pair {
    pub(crate) fn key(self) -> u64 {
        u64::from(self.client) << 48 | u64::from(self.server) << 32 | u64::from(self.turn)
    }
}

/// Opens the pairs of one client. `hosts` are those of all clients and of all servers, `programs`
/// that of the client and those of all servers.
pub(crate) fn connect(
    engine: &mut dyn Engine,
    workload: u32,
    pairs: impl Iterator<Item = Pair>,
    hosts: (&[usize], &[usize]),
    programs: (u32, &[u32]),
) {
    for pair in pairs {
        let (client, server) = (pair.client as usize, pair.server as usize);
        let ends = Ends { client: hosts.0[client] as u32, server: hosts.1[server] as u32 };
        engine.pair(DatagramPair { workload, ends, programs: [programs.0, programs.1[server]] });
    }
}
