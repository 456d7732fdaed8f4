//! Connections: addresses, ports and the two sockets.

use super::{HostSocket, World};
use crate::causes::{Connection, DatagramEnds};
use crate::observe::Endpoint;
use tailrace_host::{NewSocket, NewUdpSocket};
use tailrace_network::address_of;
use tailrace_plan::Plan;
use tailrace_programs::App;
use tailrace_transport::tcp::Identity;
use tailrace_wire::{FlowKey, Protocol, Tag};
use tailrace_workloads::Ends;

/// A connection to be made.
pub(crate) struct NewConnection {
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

/// Numbers that a host gives one end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndNumbers {
    port: u16,
    socket: u32,
}

/// A flow of datagrams to be opened.
pub(crate) struct DatagramFlow {
    pub(crate) ends: Ends,
    pub(crate) workload: u32,
    pub(crate) tag: Tag,
    pub(crate) dscp: u8,
    /// Link, IP and UDP headers.
    pub(crate) header_bytes: u32,
    /// The programs of both ends, by index, if they are programs with several sockets.
    pub(crate) programs: Option<[u32; 2]>,
}

/// The key of the packets from client to server, with the ports of both.
fn flow_key(ends: Ends, ports: [u16; 2], protocol: Protocol) -> FlowKey {
    let [source, destination] = [ends.client, ends.server].map(address_of);
    let [source_port, destination_port] = ports;
    FlowKey { source, destination, source_port, destination_port, protocol }
}

impl World {
    /// The numbers of the end of a workload's next connection that is at this host: the client's
    /// (0) or the server's (1).
    pub(crate) fn give_numbers(&mut self, host: u32, workload: u32, side: usize) -> EndNumbers {
        let host = &mut self.hosts[host as usize];
        let port =
            if side == 0 { host.take_port(workload) } else { self.server_ports[workload as usize] };
        EndNumbers { port, socket: host.next_socket(workload) }
    }

    /// The numbers of both ends, of one thread.
    pub(crate) fn give_both(&mut self, ends: Ends, workload: u32) -> [EndNumbers; 2] {
        [self.give_numbers(ends.client, workload, 0), self.give_numbers(ends.server, workload, 1)]
    }

    /// Makes both ends of a connection, in a slot that is free or new. Returns the client's and the
    /// server's socket.
    pub(crate) fn connect(&mut self, connection: NewConnection) -> (u32, u32) {
        let numbers = self.give_both(connection.ends, connection.workload);
        self.connect_as(connection, numbers)
    }

    /// The same with numbers that the hosts have given. In a part of a trial, hosts of other parts
    /// have no sockets.
    pub(crate) fn connect_as(
        &mut self,
        connection: NewConnection,
        given: [EndNumbers; 2],
    ) -> (u32, u32) {
        let NewConnection { ends, workload, tag, dscp, apps, goodput_at, is_transient } =
            connection;
        let ports = given.map(|end| end.port);
        let key = flow_key(ends, ports, Protocol::Tcp);
        let hashes = [key.hash(), key.reversed().hash()];
        self.tell_flow(key);
        self.tell_flow(key.reversed());
        let client = self.free_sockets.pop().unwrap_or(self.sockets.len() as u32);
        self.links.agenda.grow(self.sources.sockets as usize + client as usize + 2);
        let hosts = [ends.client, ends.server];
        let numbers = given.map(|end| end.socket);
        for (side, app) in apps.into_iter().enumerate() {
            let (own, peer, number) = (hosts[side], hosts[1 - side], numbers[side]);
            if self.is_own(own) {
                let host = &mut self.hosts[own as usize];
                let tag = tag.written(host.attachment().is_tagged);
                let to_endpoint = numbers[1 - side];
                let opened = host.open(NewSocket {
                    identity: Identity {
                        flow_hash: hashes[side],
                        to_endpoint,
                        to_host: peer as u16,
                        tag,
                        dscp,
                    },
                    expects: hashes[1 - side],
                    app,
                    owner: workload,
                    timer: self.sources.sockets + client + side as u32,
                    port: if side == 0 { ports[0] } else { 0 },
                    counts_goodput: side == goodput_at,
                    is_transient,
                });
                assert_eq!(opened, number, "nothing was opened since the host gave the number");
            }
            self.links.observe.note_endpoint(
                own,
                number,
                Endpoint { workload, source: peer as u16 },
            );
            let (place, at) = (HostSocket { host: own, number }, client as usize + side);
            match self.sockets.get_mut(at) {
                Some(reused) => *reused = place,
                None => self.sockets.push(place),
            }
        }
        let ends = [0, 1].map(|side| (hosts[side] as u16, numbers[side]));
        self.links.observe.connected(&Connection { workload, ends, hashes, ports });
        (client, client + 1)
    }

    /// Opens both ends of a flow of datagrams. Returns the sender's socket for datagrams.
    pub(crate) fn open_datagrams(&mut self, flow: DatagramFlow) -> u32 {
        let DatagramFlow { ends, workload, tag, dscp, header_bytes, programs } = flow;
        let ports = [
            self.hosts[ends.client as usize].take_port(workload),
            self.server_ports[workload as usize],
        ];
        let key = flow_key(ends, ports, Protocol::Udp);
        let hashes = [key.hash(), key.reversed().hash()];
        self.tell_flow(key);
        if programs.is_some() {
            self.tell_flow(key.reversed());
        }
        let hosts = [ends.client, ends.server];
        let numbers = hosts.map(|host| self.hosts[host as usize].next_udp_socket());
        for (side, &own) in hosts.iter().enumerate() {
            let peer = hosts[1 - side];
            let host = &mut self.hosts[own as usize];
            let tag = tag.written(host.attachment().is_tagged);
            let to_endpoint = numbers[1 - side];
            let identity =
                Identity { flow_hash: hashes[side], to_endpoint, to_host: peer as u16, tag, dscp };
            let program = programs.map(|programs| self.programs[programs[side] as usize].number);
            let expects = hashes[1 - side];
            host.open_udp(NewUdpSocket {
                identity,
                expects,
                owner: workload,
                header_bytes,
                program,
            });
            self.links.observe.note_udp_endpoint(own, Endpoint { workload, source: peer as u16 });
        }
        let ends = [0, 1].map(|side| (hosts[side] as u16, numbers[side]));
        self.links.observe.datagram_flows.push(DatagramEnds { workload, ends });
        numbers[0]
    }

    /// Registers a flow with the switches that have rules about flows.
    pub(crate) fn tell_flow(&mut self, key: FlowKey) {
        for &switch in &self.learners {
            self.switches[switch as usize].switch.learn_flow(key);
        }
    }

    /// Pins the packets that `socket` sends to a path of nodes.
    pub(crate) fn pin(&mut self, plan: &Plan, socket: u32, through: &[usize]) {
        let to = self.sockets[(socket ^ 1) as usize].host as usize;
        let flow_hash = self.socket(socket).tcp().flow_hash();
        for (at, &node) in through.iter().enumerate() {
            let next = through.get(at + 1).copied().unwrap_or(to);
            let port = plan.graph.port_towards(node, next).expect("the plan checked the path");
            self.switches[node - plan.graph.hosts].switch.forwarding_mut().pin(flow_hash, port);
        }
    }
}
