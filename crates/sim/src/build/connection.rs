//! Connections: addresses, ports and the two sockets.

use crate::socket::{Owner, Socket};
use crate::world::World;
use tailrace_endpoint::app::App;
use tailrace_endpoint::transport::{Identity, Tcp};
use tailrace_network::address_of;
use tailrace_plan::Plan;
use tailrace_wire::{FlowKey, Protocol, Tag};

/// First ephemeral port (Linux: ip_local_port_range).
pub(crate) const FIRST_EPHEMERAL_PORT: u16 = 32_768;
/// Server port of every connection (PostgreSQL's; the number only enters the flow's hash).
pub const SERVER_PORT: u16 = 5_432;

/// The hosts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) client: u32,
    pub(crate) server: u32,
}

/// A connection to be made.
pub(crate) struct Connection {
    pub(crate) ends: Ends,
    pub(crate) workload: u32,
    pub(crate) tag: Tag,
    pub(crate) dscp: u8,
    /// Programs of the client and of the server.
    pub(crate) apps: [App; 2],
    /// Which end's received bytes are goodput: 0 client, 1 server.
    pub(crate) goodput_at: usize,
    pub(crate) is_transient: bool,
}

/// The key of the packets from client to server.
pub(crate) fn flow_key(ends: Ends, source_port: u16, protocol: Protocol) -> FlowKey {
    FlowKey {
        source: address_of(ends.client),
        destination: address_of(ends.server),
        source_port,
        destination_port: SERVER_PORT,
        protocol,
    }
}

impl World {
    /// Makes both ends of a connection, in a slot that is free or new. Returns the client's and the server's socket.
    pub(crate) fn connect(&mut self, connection: Connection) -> (u32, u32) {
        let Connection { ends, workload, tag, dscp, apps, goodput_at, is_transient } = connection;
        let port = self.take_port(ends.client);
        let key = flow_key(ends, port, Protocol::Tcp);
        let (out, back) = (key.hash(), key.reversed().hash());
        self.tell_flow(key);
        self.tell_flow(key.reversed());
        let reused = self.free_sockets.pop();
        let client = reused.unwrap_or(self.sockets.len() as u32);
        let server = client + 1;
        let hosts = [ends.client, ends.server];
        let tags = hosts.map(|host| tag.written(self.hosts[host as usize].is_tagged));
        let identities = [
            Identity { flow_hash: out, to_endpoint: server, to_host: ends.server as u16, tag: tags[0], dscp },
            Identity { flow_hash: back, to_endpoint: client, to_host: ends.client as u16, tag: tags[1], dscp },
        ];
        for (side, (app, identity)) in apps.into_iter().zip(identities).enumerate() {
            let socket = Socket {
                tcp: Tcp::new(&self.tcp[hosts[side] as usize], identity),
                app,
                host: hosts[side],
                owner: Owner { socket: [client, server][side], workload },
                expects: [back, out][side],
                counts_goodput: side == goodput_at,
                is_transient,
                peer: [server, client][side],
            };
            match reused {
                Some(_) => self.sockets[client as usize + side] = socket,
                None => self.sockets.push(socket),
            }
        }
        let workload_of = &mut self.roads.observe.workload_of;
        workload_of.resize(self.sockets.len(), workload);
        workload_of[client as usize..=server as usize].fill(workload);
        self.merge_slots.resize(self.sockets.len(), 0);
        self.roads.agenda.grow(self.first_socket_source as usize + self.sockets.len());
        (client, server)
    }

    /// Tells of a flow the switches that have rules about flows.
    pub(super) fn tell_flow(&mut self, key: FlowKey) {
        for &switch in &self.learners {
            self.switches[switch as usize].switch.learn_flow(key);
        }
    }

    fn take_port(&mut self, host: u32) -> u16 {
        let next = &mut self.next_port[host as usize];
        let port = *next;
        *next = if port == u16::MAX { FIRST_EPHEMERAL_PORT } else { port + 1 };
        port
    }

    /// Pins the packets that `socket` sends to a path of nodes.
    pub(crate) fn pin(&mut self, plan: &Plan, socket: u32, through: &[usize]) {
        let peer = self.sockets[socket as usize].peer;
        let flow_hash = self.sockets[peer as usize].expects;
        let to = self.sockets[peer as usize].host as usize;
        for (at, &node) in through.iter().enumerate() {
            let next = through.get(at + 1).copied().unwrap_or(to);
            let port = plan.graph.port_towards(node, next).expect("the plan checked the path");
            self.switches[node - plan.graph.hosts].switch.forwarding_mut().pin(flow_hash, port);
        }
    }
}
