//! From the plan to the world.

use crate::agenda::Agenda;
use crate::build_switch::{build_switch, fill_routes};
use crate::cores::Cores;
use crate::generate::{Generator, Kind};
use crate::observe::{Observe, WorkloadRecord};
use crate::receive::ReceiveStage;
use crate::socket::Socket;
use crate::wire::{End, Origin, Wire};
use crate::world::World;
use std::rc::Rc;
use tailrace_endpoint::app::{App, GapFrom, OltpClient, OltpProfile, OltpServer, Statement, StreamSink, StreamSource};
use tailrace_endpoint::nic::Nic;
use tailrace_endpoint::transport::{Buffer, CongestionControl, Identity, SlowStartExit, Tcp, TcpConfig};
use tailrace_plan::{Plan, RawCongestionControl, RawGapFrom, RawSlowStartExit, RawSocketBuffer, RawSwitching, Workload};
use tailrace_units::{BitRate, Pace, Span, Stream, Time};
use tailrace_wire::{FlowKey, IPV4_HEADER_BYTES, Protocol, TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, tcp_mss};

/// First ephemeral port (Linux: ip_local_port_range).
const FIRST_EPHEMERAL_PORT: u16 = 32_768;
/// Server port of every connection (PostgreSQL's; the number only enters the flow's hash).
const SERVER_PORT: u16 = 5_432;
/// Hosts are numbered from 10.0.0.1 on.
const FIRST_ADDRESS: u32 = 0x0A00_0001;
/// A cut-through switch forwards when it has seen this much of a frame.
const CUT_THROUGH_BYTES: u64 = 64;

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
    pub(crate) priority: u8,
    /// Programs of the client and of the server.
    pub(crate) apps: [App; 2],
    /// Which end's received bytes are goodput: 0 client, 1 server.
    pub(crate) goodput_at: usize,
    pub(crate) is_transient: bool,
}

/// The world at time zero.
pub(crate) fn build(plan: &Plan) -> World {
    let raw = &plan.raw;
    let hosts = plan.graph.hosts;
    let (wires, wire_of) = build_wires(plan);
    let mut switches: Vec<_> = (0..raw.switches.len()).map(|index| build_switch(plan, index, &wire_of)).collect();
    fill_routes(plan, &mut switches);
    let uplinks: Vec<u32> = (0..hosts).map(|host| wire_of[host][0]).collect();
    let nics = (0..hosts)
        .map(|host| Nic::new(pace_of(plan, host, 0), raw.framing.overhead_bytes, raw.hosts[host].nic.queue_bytes))
        .collect();
    let stages = (0..hosts).map(|host| {
        let jitter = plan.rx_jitter[host].clone();
        let luck = Stream::new(raw.seed, &format!("{}/rx-jitter", plan.graph.names[host]));
        ReceiveStage::new(&raw.hosts[host].nic, &raw.hosts[host].cpu, jitter, luck)
    });
    let stages = stages.collect();
    let generators = build_generators(plan);
    let first_generator_source = wires.len() as u32;
    let first_socket_source = first_generator_source + generators.len() as u32;
    let records: Vec<WorkloadRecord> = plan.workloads.iter().map(|workload| record_for(plan, workload)).collect();
    let observe = Observe::new(&raw.observe, plan.observed.len(), records);
    let mut world = World {
        now: Time::ZERO,
        stop_at: Time::from_ps(raw.stop_at_ps),
        events: 0,
        is_cancelled: false,
        agenda: Agenda::new(first_socket_source as usize),
        wires,
        switches,
        nics,
        stages,
        uplinks,
        generators,
        sockets: Vec::new(),
        merge_slots: Vec::new(),
        free_sockets: Vec::new(),
        tcp: (0..hosts).map(|host| tcp_config(plan, host)).collect(),
        cores: raw.hosts.iter().map(|host| Cores::new(host.cpu.program_cores)).collect(),
        next_port: vec![FIRST_EPHEMERAL_PORT; hosts],
        first_generator_source,
        first_socket_source,
        header_bytes: raw.framing.header_bytes,
        ends_when_done: observe.unfinished > 0,
        observe,
    };
    open_connections(plan, &mut world);
    for index in 0..world.generators.len() {
        let start = match &plan.workloads[world.generators[index].workload as usize] {
            Workload::Flows { raw, .. } => raw.start_ps,
            Workload::Datagrams { raw, .. } => raw.start_ps,
            Workload::Oltp(_) | Workload::Stream { .. } => unreachable!("these have no generator"),
        };
        let first = Time::from_ps(start) + world.generators[index].gap();
        world.agenda.arm(first_generator_source + index as u32, first);
    }
    world
}

/// The pace of a node's port with the node's own oscillator.
pub(crate) fn pace_of(plan: &Plan, node: usize, port: usize) -> Pace {
    let link = plan.graph.ports[node][port].link;
    pace_at(plan, node, plan.graph.links[link].rate)
}

fn pace_at(plan: &Plan, node: usize, rate: BitRate) -> Pace {
    let most = u64::from(plan.raw.clock_offset_ppb);
    let mut luck = Stream::new(plan.raw.seed, &format!("{}/clock", plan.graph.names[node]));
    let offset = luck.below(2 * most + 1) as i64 - most as i64;
    rate.pace(i32::try_from(offset).expect("offsets are below 1e6 ppb"))
}

/// Two wires for each link, and for each node the wire out of each of its ports.
fn build_wires(plan: &Plan) -> (Vec<Wire>, Vec<Vec<u32>>) {
    let graph = &plan.graph;
    let mut wire_of: Vec<Vec<u32>> = graph.ports.iter().map(|ports| vec![0; ports.len()]).collect();
    let mut wires = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            let port = graph.ports[from].iter().position(|end| end.link == index).expect("both ends know the link");
            wire_of[from][port] = wires.len() as u32;
            wires.push(build_wire(plan, index, from, port, to));
        }
    }
    (wires, wire_of)
}

fn build_wire(plan: &Plan, link: usize, from: usize, port: usize, to: usize) -> Wire {
    let graph = &plan.graph;
    let Some(from_switch) = from.checked_sub(graph.hosts) else {
        return wire_to(plan, link, from, Origin::Host, to);
    };
    let raw = &plan.raw.switches[from_switch];
    let policy = crate::build_switch::policy_towards(raw, &graph.names[to]);
    let chooses_late = crate::build_switch::chooses_late(policy);
    let origin = Origin::Switch { switch: from_switch as u32, port: port as u16, chooses_late };
    wire_to(plan, link, from, origin, to)
}

fn wire_to(plan: &Plan, link: usize, from: usize, origin: Origin, to: usize) -> Wire {
    let graph = &plan.graph;
    let delay = graph.links[link].delay;
    let Some(switch) = to.checked_sub(graph.hosts) else {
        return Wire::new(origin, End::Host(to as u32), delay, None);
    };
    let raw = &plan.raw.switches[switch];
    let rate = graph.links[link].rate;
    let fastest_out = graph.ports[to].iter().map(|end| graph.links[end.link].rate).max();
    let cuts_through = raw.switching == RawSwitching::CutThrough && fastest_out <= Some(rate);
    let header_time = cuts_through.then(|| pace_at(plan, from, rate).time_to_send(CUT_THROUGH_BYTES));
    Wire::new(origin, End::Switch(switch as u32), delay + Span::from_ps(raw.latency_ps), header_time)
}

fn tcp_config(plan: &Plan, host: usize) -> TcpConfig {
    let raw = &plan.raw.hosts[host];
    let tcp = &raw.tcp;
    let buffer = |b: &RawSocketBuffer| Buffer { initial: b.initial_bytes, maximum: b.maximum_bytes };
    TcpConfig {
        mss: tcp_mss(raw.mtu_bytes),
        initial_window_segments: tcp.initial_window_segments,
        window_cap_bytes: tcp.window_cap_bytes,
        congestion_control: match tcp.congestion_control {
            RawCongestionControl::Cubic => CongestionControl::Cubic,
            RawCongestionControl::NewReno => CongestionControl::NewReno,
            RawCongestionControl::Dctcp => CongestionControl::Dctcp,
        },
        slow_start_exit: match tcp.slow_start_exit {
            RawSlowStartExit::None => SlowStartExit::None,
            RawSlowStartExit::Hystart => SlowStartExit::Hystart,
            RawSlowStartExit::HystartPlusPlus => SlowStartExit::HystartPlusPlus,
        },
        ecn: tcp.ecn,
        sack: tcp.sack,
        tail_loss_probe: tcp.tail_loss_probe,
        rto_min: Span::from_ps(tcp.rto_min_ps),
        rto_max: Span::from_ps(tcp.rto_max_ps),
        delayed_ack: Span::from_ps(tcp.delayed_ack_ps),
        slow_start_after_idle: tcp.slow_start_after_idle,
        small_queue: Span::from_ps(tcp.small_queue_ps),
        tso_bytes: raw.nic.tso_bytes,
        send_buffer: buffer(&tcp.send_buffer),
        receive_buffer: buffer(&tcp.receive_buffer),
        header_bytes: plan.raw.framing.header_bytes + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + TCP_TIMESTAMP_BYTES,
    }
}

fn record_for(plan: &Plan, workload: &Workload) -> WorkloadRecord {
    let observe = &plan.raw.observe;
    match workload {
        Workload::Oltp(oltp) => {
            let users = u64::from(oltp.raw.users);
            let recorded = oltp.raw.transactions.saturating_sub(oltp.raw.warmup_transactions);
            let left = if oltp.raw.transactions > 0 { users } else { 0 };
            WorkloadRecord::new(observe, users as usize, left, users * recorded)
        }
        Workload::Stream { raw, .. } => {
            let connections = u64::from(raw.connections);
            let finite = if raw.bytes > 0 { connections } else { 0 };
            WorkloadRecord::new(observe, connections as usize, finite, finite)
        }
        Workload::Flows { raw, .. } => WorkloadRecord::new(observe, 0, raw.flows, raw.flows),
        Workload::Datagrams { .. } => WorkloadRecord::new(observe, 0, 0, 0),
    }
}

fn open_connections(plan: &Plan, world: &mut World) {
    for (number, workload) in plan.workloads.iter().enumerate() {
        match workload {
            Workload::Oltp(oltp) => open_oltp(plan, world, number as u32, oltp),
            Workload::Stream { source, destination, pins, raw } => {
                let ends = Ends { client: *source as u32, server: *destination as u32 };
                for i in 0..raw.connections {
                    let start = Time::from_ps(raw.start_ps + u64::from(i) * raw.stagger_ps);
                    let source = App::StreamSource(StreamSource::new(start, raw.bytes));
                    let sink = App::StreamSink(StreamSink::new(i, start, raw.bytes));
                    let apps = [source, sink];
                    let priority = raw.priority;
                    let workload = number as u32;
                    let connection = Connection { ends, workload, priority, apps, goodput_at: 1, is_transient: false };
                    let (client, server) = world.connect(connection);
                    world.pin(plan, client, &pins[0]);
                    world.pin(plan, server, &pins[1]);
                    arm_socket(world, client);
                }
            }
            Workload::Flows { .. } | Workload::Datagrams { .. } => {}
        }
    }
}

fn arm_socket(world: &mut World, socket: u32) {
    let due = world.sockets[socket as usize].app.poll_timeout();
    let source = world.socket_source(socket);
    world.agenda.arm(source, due);
}

fn open_oltp(plan: &Plan, world: &mut World, number: u32, oltp: &tailrace_plan::Oltp) {
    let statements = oltp.round_trips.iter().map(|trip| Statement {
        request_bytes: trip.raw.request_bytes,
        response_bytes: trip.raw.response_bytes,
        server_time: trip.server_time.clone(),
        write_bytes: u64::from(trip.raw.write_bytes),
        produce_fs_per_byte: trip.raw.produce_fs_per_byte,
        consume_fs_per_byte: trip.raw.consume_fs_per_byte,
        consume_chunk_bytes: trip.raw.consume_chunk_bytes,
    });
    let profile = Rc::new(OltpProfile {
        statements: statements.collect(),
        gap: oltp.gap.clone(),
        gap_from: match oltp.raw.gap_from {
            RawGapFrom::End => GapFrom::End,
            RawGapFrom::Start => GapFrom::Start,
        },
        transactions: oltp.raw.transactions,
        warmup_transactions: oltp.raw.warmup_transactions,
    });
    let ends = Ends { client: oltp.client as u32, server: oltp.server as u32 };
    for user in 0..oltp.raw.users {
        let luck = |what: &str| Stream::new(plan.raw.seed, &format!("{}/{user}/{what}", oltp.raw.name));
        let start = Time::from_ps(oltp.start.draw(&mut luck("start")));
        let client = OltpClient::new(Rc::clone(&profile), user, start, luck("client"));
        let server = OltpServer::new(Rc::clone(&profile), luck("server"));
        let apps = [App::OltpClient(Box::new(client)), App::OltpServer(Box::new(server))];
        let priority = oltp.raw.priority;
        let connection = Connection { ends, workload: number, priority, apps, goodput_at: 0, is_transient: false };
        let (client, _) = world.connect(connection);
        arm_socket(world, client);
    }
}

fn build_generators(plan: &Plan) -> Vec<Generator> {
    let mut generators = Vec::new();
    for (number, workload) in plan.workloads.iter().enumerate() {
        let (kind, sizes, interarrival, count, priority, name) = match workload {
            Workload::Flows { sources, destinations, sizes, interarrival, raw } => {
                let narrow = |hosts: &[usize]| hosts.iter().map(|&host| host as u32).collect();
                let kind = Kind::Flows { sources: narrow(sources), destinations: narrow(destinations) };
                (kind, sizes, interarrival, raw.flows, raw.priority, &raw.name)
            }
            Workload::Datagrams { source, destination, sizes, interarrival, raw } => {
                let ends = Ends { client: *source as u32, server: *destination as u32 };
                let source_port = FIRST_EPHEMERAL_PORT + (number % 1000) as u16;
                let flow_hash = flow_key(ends, source_port, Protocol::Udp).hash();
                let payload_max = plan.raw.hosts[*source].mtu_bytes - 28;
                (Kind::Datagrams { ends, flow_hash, payload_max }, sizes, interarrival, raw.count, raw.priority, &raw.name)
            }
            Workload::Oltp(_) | Workload::Stream { .. } => continue,
        };
        generators.push(Generator {
            workload: number as u32,
            kind,
            sizes: sizes.clone(),
            interarrival: interarrival.clone(),
            left: if count == 0 { u64::MAX } else { count },
            made: 0,
            priority,
            luck: Stream::new(plan.raw.seed, &format!("{name}/arrivals")),
        });
    }
    generators
}

fn flow_key(ends: Ends, source_port: u16, protocol: Protocol) -> FlowKey {
    FlowKey {
        source: FIRST_ADDRESS + ends.client,
        destination: FIRST_ADDRESS + ends.server,
        source_port,
        destination_port: SERVER_PORT,
        protocol,
    }
}

impl World {
    /// Makes both ends of a connection, in a slot that is free or new. Returns the client's and the server's socket.
    pub(crate) fn connect(&mut self, connection: Connection) -> (u32, u32) {
        let Connection { ends, workload, priority, apps, goodput_at, is_transient } = connection;
        let port = self.take_port(ends.client);
        let key = flow_key(ends, port, Protocol::Tcp);
        let (out, back) = (key.hash(), key.reversed().hash());
        let reused = self.free_sockets.pop();
        let client = reused.unwrap_or(self.sockets.len() as u32);
        let server = client + 1;
        let hosts = [ends.client, ends.server];
        let identities = [
            Identity { flow_hash: out, to_endpoint: server, to_host: ends.server, priority },
            Identity { flow_hash: back, to_endpoint: client, to_host: ends.client, priority },
        ];
        for (side, (app, identity)) in apps.into_iter().zip(identities).enumerate() {
            let socket = Socket {
                tcp: Tcp::new(&self.tcp[hosts[side] as usize], identity),
                app,
                host: hosts[side],
                workload,
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
        self.merge_slots.resize(self.sockets.len(), 0);
        self.agenda.grow(self.first_socket_source as usize + self.sockets.len());
        (client, server)
    }

    fn take_port(&mut self, host: u32) -> u16 {
        let next = &mut self.next_port[host as usize];
        let port = *next;
        *next = if port == u16::MAX { FIRST_EPHEMERAL_PORT } else { port + 1 };
        port
    }

    /// Pins the packets that `socket` sends to a path of nodes.
    fn pin(&mut self, plan: &Plan, socket: u32, through: &[usize]) {
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
