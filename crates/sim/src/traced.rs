//! A trial that is simulated once more up to the end of chosen windows, with a timeline of them.

use crate::Control;
use crate::causes::{Recorder, SocketNumber, tables as tables_of_causes};
use crate::core_logs::{keep_logs, table as table_of_cores};
use crate::explain::recorded;
use crate::outcome::Table;
use crate::sampling::run_sampled;
use crate::timeline::{Nodes, Timeline, Wanted, tables};
use crate::world::World;
use std::collections::BTreeSet;
use tailrace_network::End;
use tailrace_plan::Plan;

/// Connections that are watched at most, of all transactions together.
const CONNECTIONS_MAX: usize = 256;

/// Runs a trial until the last window is over. Returns the tables of causes of the operations that
/// were complete by then, and those of the timeline.
///
/// Of a workload whose operations are not known, such as a stream without an end, each wanted user
/// is a connection.
///
/// Programs with several sockets open connections at times of their own: if there are such
/// programs, an earlier run finds the connections of the wanted transactions.
pub fn traced(plan: &Plan, control: &Control, wanted: &Wanted) -> Vec<Table> {
    let watched = connections(plan, control, wanted);
    let mut world = wanting(plan, wanted);
    keep_logs(&mut world, wanted.windows(), &watched.hosts);
    keep_timeline(&mut world, wanted, watched);
    run_sampled(plan, &mut world, control);
    let (cores, cores_left_out) = table_of_cores(&mut world);
    let observe = &mut world.links.observe;
    let recorder = observe.recorder.take().expect("this run is recorded");
    let timeline = observe.timeline.take().expect("this run has a timeline");
    let mut found = tables_of_causes(&recorder.explained, &recorder.lost);
    found.extend(tables(&timeline, &recorder, cores_left_out));
    found.push(cores);
    found
}

/// A world that collects the frames of the wanted transactions, until that is over.
fn wanting(plan: &Plan, wanted: &Wanted) -> World {
    let mut world =
        recorded(plan, |workload| wanted.transactions.iter().any(|one| one.workload == workload));
    let recorder = world.links.observe.recorder.as_mut().expect("this run is recorded");
    recorder.keep_steps();
    recorder.want_members(wanted.transactions.iter().map(|one| (one.workload, one.number)));
    world.stop_at = world.stop_at.min(wanted.end());
    world
}

/// The connections of the wanted transactions.
struct Watched {
    /// Both ends of each, the client's first.
    sockets: Vec<SocketNumber>,
    /// Where they end.
    hosts: BTreeSet<u16>,
    /// Further connections.
    left_out: usize,
}

fn connections(plan: &Plan, control: &Control, wanted: &Wanted) -> Watched {
    let mut world = wanting(plan, wanted);
    let recorder = world.links.observe.recorder.as_ref().expect("this run is recorded");
    let lasting =
        wanted.transactions.iter().map(|one| recorder.connection_of(one.workload, one.user));
    let mut all: Vec<[SocketNumber; 2]> = lasting.clone().flatten().collect();
    if all.len() == lasting.len() {
        return watched(recorder, all, 0);
    }
    run_sampled(plan, &mut world, control);
    let recorder = world.links.observe.recorder.as_ref().expect("this run is recorded");
    let members = recorder.members();
    all.extend(members.iter().flat_map(|one| one.connections.iter().copied()));
    watched(recorder, all, members.iter().map(|one| one.left_out).sum())
}

/// Each once, as many as are watched.
fn watched(recorder: &Recorder, all: Vec<[SocketNumber; 2]>, mut left_out: usize) -> Watched {
    let mut found: Vec<[SocketNumber; 2]> = Vec::new();
    for ends in all {
        if found.contains(&ends) {
            continue;
        }
        if found.len() < CONNECTIONS_MAX {
            found.push(ends);
        } else {
            left_out += 1;
        }
    }
    let sockets: Vec<SocketNumber> = found.into_iter().flatten().collect();
    let hosts = sockets
        .iter()
        .filter_map(|&socket| recorder.socket(socket))
        .map(|socket| socket.id.0)
        .collect();
    Watched { sockets, hosts, left_out }
}

/// From now on a timeline is kept.
fn keep_timeline(world: &mut World, wanted: &Wanted, watched: Watched) {
    let wires = &world.links.wires;
    let ends = wires.iter().map(|wire| match wire.end {
        End::Switch { switch, .. } => Some(switch),
        End::Host(_) | End::Bonded(_) | End::Stage { .. } => None,
    });
    let begins = (0..wires.len()).map(|wire| match wires.get(wire ^ 1)?.end {
        End::Switch { switch, .. } => Some(switch),
        // At a wire whose arrivals a hypervisor takes, its switch is the sender.
        End::Stage { hypervisor, is_switched: false, .. } => {
            Some(world.hypervisors[hypervisor as usize].switch)
        }
        End::Stage { is_switched: true, .. } | End::Host(_) | End::Bonded(_) => None,
    });
    let nodes = Nodes { ends: ends.collect(), begins: begins.collect() };
    world.links.observe.timeline =
        Some(Box::new(Timeline::new(wanted, nodes, watched.sockets, watched.left_out)));
}
