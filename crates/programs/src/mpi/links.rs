//! Connections of the ranks of a host, opened when a rank first sends to another (Open MPI's
//! `btl_tcp_endpoint.c`).
//!
//! Two ranks may open one to each other at the same time. That of the lower rank stays
//! (`mca_btl_tcp_endpoint_complete_accept`).

use super::wire::{From, Item, Ledger, StreamKey};
use crate::{HostCalls, Peer};
use std::collections::{BTreeMap, VecDeque};

/// A pair of ranks: the one on this host, and the other.
type Pair = (u32, u32);

/// The connection of two ranks.
#[derive(Debug, Default)]
struct Link {
    state: State,
    /// Items that wait until it is open.
    waiting: VecDeque<Item>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum State {
    #[default]
    Closed,
    /// Asked for from here.
    Opening(u32),
    Open(u32),
}

/// A socket of the program.
#[derive(Debug)]
struct Wire {
    key: StreamKey,
    side: From,
    /// The opener knows it from the start.
    pair: Option<Pair>,
    /// Bytes that have come and are of no whole item.
    arrived: u64,
}

/// All connections of a host's ranks.
#[derive(Debug)]
pub(super) struct Links {
    host: u16,
    ledger: Ledger,
    /// Where each rank is found.
    peers: Vec<Peer>,
    links: BTreeMap<Pair, Link>,
    wires: BTreeMap<u32, Wire>,
    /// Connections that were asked for.
    pub(super) opened: u64,
    /// Broken connections, apart from those that gave way to one of the lower rank.
    pub(super) failed: u64,
}

impl Links {
    pub(super) fn new(host: u16, ledger: Ledger, peers: Vec<Peer>) -> Links {
        Links {
            host,
            ledger,
            peers,
            links: BTreeMap::new(),
            wires: BTreeMap::new(),
            opened: 0,
            failed: 0,
        }
    }

    /// Hands something to the connection of two ranks, or opens it.
    pub(super) fn send(&mut self, pair: Pair, item: Item, calls: &mut dyn HostCalls) {
        let link = self.links.entry(pair).or_default();
        match link.state {
            State::Open(socket) => self.write(socket, item, calls),
            State::Opening(_) => link.waiting.push_back(item),
            State::Closed => {
                link.waiting.push_back(item);
                self.connect(pair, calls);
            }
        }
    }

    fn connect(&mut self, pair: Pair, calls: &mut dyn HostCalls) {
        let peer = self.peers[pair.1 as usize];
        self.opened += 1;
        let Some(socket) = calls.connect(peer) else {
            self.failed += 1;
            return;
        };
        let key = StreamKey {
            opener: (self.host, calls.ends(socket).own_port),
            acceptor: (peer.host, peer.port),
        };
        self.ledger.open(key);
        self.wires.insert(socket, Wire { key, side: From::Opener, pair: Some(pair), arrived: 0 });
        self.links.entry(pair).or_default().state = State::Opening(socket);
    }

    fn write(&self, socket: u32, item: Item, calls: &mut dyn HostCalls) {
        let Wire { key, side, .. } = self.wires[&socket];
        self.ledger.push(key, side, item);
        calls.write(socket, item.bytes());
    }

    /// A requested connection is open: it announces its rank to the other end.
    pub(super) fn handle_connected(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        if let Some(Wire { pair: Some((from, to)), .. }) = self.wires.get(&socket) {
            self.write(socket, Item::Hello { from: *from, to: *to }, calls);
        }
    }

    /// Another host has opened a connection.
    pub(super) fn handle_accepted(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        let ends = calls.ends(socket);
        let key = StreamKey {
            opener: (ends.peer.host, ends.peer.port),
            acceptor: (self.host, ends.own_port),
        };
        self.wires.insert(socket, Wire { key, side: From::Acceptor, pair: None, arrived: 0 });
    }

    /// Bytes have come. Notifies ranks of this host of the items and their senders, in order.
    pub(super) fn handle_readable(
        &mut self,
        socket: u32,
        bytes: u64,
        calls: &mut dyn HostCalls,
        mut tell: impl FnMut(u32, u32, Item),
    ) {
        if let Some(wire) = self.wires.get_mut(&socket) {
            wire.arrived += bytes;
        }
        while let Some(wire) = self.wires.get_mut(&socket)
            && let Some(item) = self.ledger.pop(wire.key, wire.side.other(), wire.arrived)
        {
            wire.arrived -= item.bytes();
            match (item, wire.pair) {
                (Item::Hello { from, to }, _) => self.greet(socket, (to, from), calls),
                (Item::Welcome, Some(pair)) => self.open(pair, socket, calls),
                (item, Some((own, other))) => tell(own, other, item),
                (_, None) => unreachable!("a connection begins with a greeting"),
            }
        }
    }

    /// A rank wants this connection. It is refused where one is open, or where that of this end has
    /// precedence.
    fn greet(&mut self, socket: u32, pair: Pair, calls: &mut dyn HostCalls) {
        let (own, other) = pair;
        let state = self.links.entry(pair).or_default().state;
        let gives_way = other < own;
        match state {
            State::Opening(mine) if gives_way => self.close(mine, calls),
            State::Closed => {}
            State::Opening(_) | State::Open(_) => return self.close(socket, calls),
        }
        self.wires.get_mut(&socket).expect("it has just reported something").pair = Some(pair);
        self.write(socket, Item::Welcome, calls);
        self.open(pair, socket, calls);
    }

    fn open(&mut self, pair: Pair, socket: u32, calls: &mut dyn HostCalls) {
        let link = self.links.entry(pair).or_default();
        link.state = State::Open(socket);
        for item in std::mem::take(&mut link.waiting) {
            self.write(socket, item, calls);
        }
    }

    fn close(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        self.wires.remove(&socket);
        calls.close(socket);
    }

    /// The other end has closed a connection: it gave way, or the other rank's has precedence,
    /// which will come.
    pub(super) fn handle_ended(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        self.handle_gone(socket);
        calls.close(socket);
    }

    /// A connection is gone.
    pub(super) fn handle_gone(&mut self, socket: u32) {
        let Some(Wire { pair: Some(pair), .. }) = self.wires.remove(&socket) else { return };
        let link = self.links.entry(pair).or_default();
        match link.state {
            State::Opening(mine) if mine == socket => {
                link.state = State::Closed;
                self.failed += u64::from(pair.0 < pair.1);
            }
            State::Open(mine) if mine == socket => self.failed += 1,
            _ => {}
        }
    }
}
