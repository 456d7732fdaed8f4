//! Sockets of explained connections, numbered in the order in which they were opened: a host gives
//! its own numbers again.

use super::{Recorder, SocketId};
use crate::causes::number::SocketNumber;

/// The record of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownSocket {
    pub(crate) workload: u32,
    /// The user of its connection, of programs with one socket each.
    pub(crate) user: Option<u32>,
    /// The host, and its number there.
    pub(crate) id: SocketId,
    pub(crate) port: u16,
    /// It has opened the connection.
    pub(crate) is_client: bool,
    /// The other end, once it is there.
    pub(crate) peer: Option<SocketNumber>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Sockets(Vec<KnownSocket>);

impl Sockets {
    /// Adds a socket; its peer, if there is one, learns of it. Returns its number.
    pub(super) fn add(&mut self, socket: KnownSocket) -> SocketNumber {
        let number = self.0.len() as SocketNumber;
        if let Some(peer) = socket.peer.and_then(|peer| self.0.get_mut(peer as usize)) {
            peer.peer = Some(number);
        }
        self.0.push(socket);
        number
    }

    pub(super) fn get(&self, number: SocketNumber) -> Option<&KnownSocket> {
        self.0.get(number as usize)
    }
}

impl Recorder {
    /// A socket by its number.
    pub(crate) fn socket(&self, number: SocketNumber) -> Option<&KnownSocket> {
        self.sockets.get(number)
    }

    /// Where this socket is, as long as it is there.
    pub(crate) fn current_socket(&self, number: SocketNumber) -> Option<SocketId> {
        let id = self.sockets.get(number)?.id;
        self.ends.get(id).is_some_and(|end| end.number == number).then_some(id)
    }

    /// Both ends of the connection of a socket, the client's first.
    pub(super) fn both_ends(&self, number: SocketNumber) -> Option<[SocketNumber; 2]> {
        let socket = self.sockets.get(number)?;
        let peer = socket.peer?;
        Some(if socket.is_client { [number, peer] } else { [peer, number] })
    }

    /// Both ends of a user's connection that exists from the start, the client's first. None for
    /// programs with several sockets.
    pub(crate) fn connection_of(&self, workload: u32, user: u32) -> Option<[SocketNumber; 2]> {
        self.connections.get(&(workload, user)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_opened_first_learns_of_its_peer() {
        let mut sockets = Sockets::default();
        let socket = |host, peer: Option<SocketNumber>| {
            let is_client = peer.is_none();
            KnownSocket { workload: 0, user: None, id: (host, 0), port: 1, is_client, peer }
        };
        let client = sockets.add(socket(0, None));
        assert_eq!(sockets.get(client).expect("it was added").peer, None);
        let server = sockets.add(socket(1, Some(client)));
        let peers = [client, server].map(|number| sockets.get(number).expect("it was added").peer);
        assert_eq!(peers, [Some(server), Some(client)]);
    }
}
