//! From the workloads of the plan to sockets, programs and generators.

use super::connection::{Connection, Ends, FIRST_EPHEMERAL_PORT, flow_key};
use crate::generate::{Generator, Kind};
use crate::observe::WorkloadRecord;
use crate::world::World;
use std::rc::Rc;
use tailrace_endpoint::app::{App, GapFrom, Offer, OltpClient, OltpProfile, OltpServer, Statement, StreamSink, StreamSource};
use tailrace_plan::{Plan, RawGapFrom, RawStream, Workload};
use tailrace_units::{Stream, Time};
use tailrace_wire::{Protocol, Tag};

pub(super) fn record_for(plan: &Plan, workload: &Workload) -> WorkloadRecord {
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

pub(super) fn open_connections(plan: &Plan, world: &mut World) {
    for (number, workload) in plan.workloads.iter().enumerate() {
        match workload {
            Workload::Oltp(oltp) => open_oltp(plan, world, number as u32, oltp),
            Workload::Stream { source, destination, pins, raw } => {
                let ends = Ends { client: *source as u32, server: *destination as u32 };
                for i in 0..raw.connections {
                    let start = Time::from_ps(raw.start_ps + u64::from(i) * raw.stagger_ps);
                    let source = App::StreamSource(stream_source(raw, start));
                    let sink = App::StreamSink(StreamSink::new(i, start, raw.bytes));
                    let apps = [source, sink];
                    let (tag, dscp) = (Tag::new(raw.priority, raw.vlan), raw.dscp);
                    let workload = number as u32;
                    let connection = Connection { ends, workload, tag, dscp, apps, goodput_at: 1, is_transient: false };
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

fn stream_source(raw: &RawStream, start: Time) -> StreamSource {
    let RawStream { rate_bps, connections, write_bytes, .. } = *raw;
    match rate_bps {
        0 => StreamSource::new(start, raw.bytes),
        _ => StreamSource::paced(start, raw.bytes, Offer { rate_bps, connections: u64::from(connections), write_bytes }),
    }
}

fn arm_socket(world: &mut World, socket: u32) {
    let due = world.sockets[socket as usize].app.poll_timeout();
    let source = world.socket_source(socket);
    world.roads.agenda.arm(source, due);
}

fn open_oltp(plan: &Plan, world: &mut World, number: u32, oltp: &tailrace_plan::Oltp) {
    let statements = oltp.round_trips.iter().map(|trip| Statement {
        request_bytes: trip.raw.request_bytes,
        response_bytes: trip.raw.response_bytes,
        server_time: trip.server_time.clone(),
        build_fs_per_byte: trip.raw.build_fs_per_byte,
        write_bytes: u64::from(trip.raw.write_bytes),
        produce_fs_per_byte: trip.raw.produce_fs_per_byte,
        consume_fs_per_byte: trip.raw.consume_fs_per_byte,
        consume_chunk_bytes: trip.raw.consume_chunk_bytes,
        unpack_fs_per_byte: trip.raw.unpack_fs_per_byte,
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
        let connect = if oltp.raw.connects_early { Time::ZERO } else { start };
        let client = OltpClient::new(Rc::clone(&profile), user, connect, start, luck("client"));
        let server = OltpServer::new(Rc::clone(&profile), luck("server"));
        let apps = [App::OltpClient(Box::new(client)), App::OltpServer(Box::new(server))];
        let (tag, dscp) = (Tag::new(oltp.raw.priority, oltp.raw.vlan), oltp.raw.dscp);
        let connection = Connection { ends, workload: number, tag, dscp, apps, goodput_at: 0, is_transient: false };
        let (client, _) = world.connect(connection);
        arm_socket(world, client);
    }
}

pub(super) fn build_generators(plan: &Plan) -> Vec<Generator> {
    let mut generators = Vec::new();
    for (number, workload) in plan.workloads.iter().enumerate() {
        let (kind, sizes, interarrival, count, (priority, vlan, dscp), name) = match workload {
            Workload::Flows { sources, destinations, sizes, interarrival, raw } => {
                let narrow = |hosts: &[usize]| hosts.iter().map(|&host| host as u32).collect();
                let kind = Kind::Flows { sources: narrow(sources), destinations: narrow(destinations) };
                (kind, sizes, interarrival, raw.flows, (raw.priority, raw.vlan, raw.dscp), &raw.name)
            }
            Workload::Datagrams { source, destination, sizes, interarrival, raw } => {
                let ends = Ends { client: *source as u32, server: *destination as u32 };
                let source_port = FIRST_EPHEMERAL_PORT + (number % 1000) as u16;
                let key = flow_key(ends, source_port, Protocol::Udp);
                let payload_max = plan.raw.hosts[*source].mtu_bytes - 28;
                (
                    Kind::Datagrams { ends, key, flow_hash: key.hash(), payload_max },
                    sizes,
                    interarrival,
                    raw.count,
                    (raw.priority, raw.vlan, raw.dscp),
                    &raw.name,
                )
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
            tag: Tag::new(priority, vlan),
            dscp,
            luck: Stream::new(plan.raw.seed, &format!("{name}/arrivals")),
        });
    }
    generators
}
