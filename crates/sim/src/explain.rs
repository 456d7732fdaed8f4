//! A trial whose transactions are explained: the world runs as ever, and the recorder is told of every event.

use crate::causes::{Explanation, Look, Node, Part, Recorder, SocketId, tables};
use crate::links::Links;
use crate::outcome::{Outcome, Table, gather};
use crate::timeline::{Look as SocketLook, Timeline, Wanted};
use crate::world::{EVENTS_PER_REPORT, World};
use crate::{Control, build};
use std::collections::BTreeMap;
use std::fmt;
use tailrace_endpoint::app::App;
use tailrace_endpoint::transport::{State, TcpStats};
use tailrace_network::End;
use tailrace_plan::Plan;
use tailrace_units::Time;

/// A run with its explanations, in the order of completion.
#[derive(Debug)]
pub struct Explained {
    /// The same as without explanations.
    pub outcome: Outcome,
    /// Of closed-loop users.
    pub transactions: Vec<Explanation>,
}

/// Why a plan's run cannot be explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unexplained {
    /// A host has a processor.
    Processor,
    /// There are hypervisors.
    Hypervisor,
    /// A host has several interfaces.
    Bond,
    /// The interface of a host takes part in data-centre bridging.
    LosslessInterface,
    /// Windows or counters of interfaces over time are wanted.
    Looks,
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unexplained::Processor => "a host has a processor, whose waits are not recorded",
            Unexplained::Hypervisor => "there are hypervisors, whose stages are not recorded",
            Unexplained::Bond => "a host has several interfaces, whose frames are not followed",
            Unexplained::LosslessInterface => "a host's interface has queues of data-centre bridging, which are not recorded",
            Unexplained::Looks => "windows or interfaces are observed over time",
        })
    }
}

impl Explained {
    /// The explanations as columns (`causes`, `causes_queues`, `causes_behind`, `causes_losses`).
    pub fn tables(&self) -> Vec<Table> {
        tables(&self.transactions)
    }
}

fn refusal(plan: &Plan) -> Option<Unexplained> {
    let raw = &plan.raw;
    let any = |has: fn(&tailrace_plan::RawHost) -> bool| raw.hosts.iter().any(has);
    [
        (any(|host| host.cpu.processor.is_some()), Unexplained::Processor),
        (!raw.hypervisors.is_empty(), Unexplained::Hypervisor),
        (any(|host| host.nic.bond.is_some()), Unexplained::Bond),
        (any(|host| host.nic.lossless.is_some()), Unexplained::LosslessInterface),
        (raw.observe.windows_ps > 0 || raw.observe.interfaces_ps > 0, Unexplained::Looks),
    ]
    .into_iter()
    .find_map(|(is_there, why)| is_there.then_some(why))
}

/// Runs one trial and explains the transactions of its closed-loop users. `control` shows how far it is and can end it early.
///
/// # Errors
/// When the plan has something of which the record would not be whole.
pub fn explain(plan: &Plan, control: &Control) -> Result<Explained, Unexplained> {
    let started = std::time::Instant::now();
    let mut world = recorded(plan, control, None)?;
    if world.is_done() || world.is_cancelled {
        world.settle_switches();
    } else {
        world.run_until(world.stop_at, control);
    }
    let transactions = std::mem::take(&mut recorder(&mut world).explained);
    Ok(Explained { outcome: gather(plan, &mut world, started.elapsed()), transactions })
}

/// A world that has run to its last event, or to the end of the timeline that is wanted, with its record.
///
/// # Errors
/// As [`explain`].
pub(crate) fn recorded(plan: &Plan, control: &Control, wanted: Option<&Wanted>) -> Result<World, Unexplained> {
    if let Some(why) = refusal(plan) {
        return Err(why);
    }
    let mut world = build::build(plan);
    let empty = recorder_of(plan, &world);
    world.links.observe.record_all(empty);
    if let Some(wanted) = wanted {
        keep_timeline(&mut world, wanted);
    }
    let until = wanted.map_or(world.stop_at, |wanted| wanted.end().min(world.stop_at));
    while !world.is_done() {
        let (at, source) = world.links.agenda.next();
        if at > until {
            break;
        }
        if let Some(end) = world.warm_up.filter(|&end| end < at) {
            world.run_until(end, control);
            continue;
        }
        if world.events.is_multiple_of(u64::from(EVENTS_PER_REPORT)) && world.is_cancelled_by(control) {
            break;
        }
        world.now = at;
        world.events += 1;
        let timer = world.socket_of(source);
        let before = timer.map(|socket| *world.socket(socket).tcp().stats());
        let wire = (source < world.first_generator_source).then_some(source);
        recorder(&mut world).begin_event(at, wire);
        begin_of_timeline(&mut world.links, at, wire);
        world.handle(at, source);
        let repeated = before.zip(timer).map(|(before, socket)| repetition(&before, world.socket(socket).tcp().stats()));
        end_event(&mut world, timer, repeated.unwrap_or(Part::FastRetransmission));
        end_of_timeline(&mut world);
    }
    Ok(world)
}

/// From now on a timeline is kept.
fn keep_timeline(world: &mut World, wanted: &Wanted) {
    let switch = |end: End| match end {
        End::Switch { switch, .. } => Some(switch),
        End::Host(_) | End::Bonded(_) | End::Stage { .. } => None,
    };
    let ends = world.links.wires.iter().map(|wire| switch(wire.end)).collect();
    let recorder = recorder(world);
    recorder.keeps_steps = true;
    let mut wanted = wanted.clone();
    wanted.users.retain(|&(workload, user)| recorder.connection_of(workload, user).is_some());
    let watched = wanted.users.iter().filter_map(|&(workload, user)| recorder.connection_of(workload, user)).flatten().collect();
    world.links.observe.timeline = Some(Box::new(Timeline::new(&wanted, ends, watched)));
}

fn begin_of_timeline(links: &mut Links, at: Time, wire: Option<u32>) {
    let Some(timeline) = &mut links.observe.timeline else { return };
    let next = wire.and_then(|wire| Some((wire, links.wires[wire as usize].next_frame()?)));
    let arrived = next.filter(|&(_, (arrival, _))| arrival <= at).map(|(wire, (_, packet))| (wire, packet));
    timeline.begin_event(at, arrived);
}

fn end_of_timeline(world: &mut World) {
    let Some(timeline) = &mut world.links.observe.timeline else { return };
    let hosts = &world.hosts;
    timeline.end_event(|(host, number)| {
        let tcp = hosts[usize::from(host)].sockets()[number as usize].tcp();
        SocketLook { stats: *tcp.stats(), cwnd: tcp.cwnd(), in_flight: tcp.in_flight(), mss: tcp.mss(), unsent: tcp.unsent() }
    });
}

/// Tells the recorder what the event has left behind in sockets.
fn end_event(world: &mut World, timer: Option<u32>, repeated: Part) {
    let mut recorder = world.links.observe.recorder.take().expect("this run is recorded");
    let timer = timer.map(|socket| socket_id(world, socket));
    let look = |(host, number): SocketId| {
        let tcp = world.hosts[usize::from(host)].sockets()[number as usize].tcp();
        Look { unsent: tcp.unsent(), is_after_timeout: tcp.state() == State::Loss }
    };
    recorder.end_event(timer, repeated, look);
    world.links.observe.recorder = Some(recorder);
}

fn socket_id(world: &World, socket: u32) -> SocketId {
    let place = world.sockets[socket as usize];
    (place.host as u16, place.number)
}

fn recorder(world: &mut World) -> &mut Recorder {
    world.links.observe.recorder.as_mut().expect("this run is recorded")
}

fn recorder_of(plan: &Plan, world: &World) -> Recorder {
    let node = |end: End| match end {
        End::Host(host) | End::Bonded(host) => Node::Host(host),
        End::Switch { switch, .. } => Node::Switch(switch),
        End::Stage { .. } => unreachable!("plans with hypervisors are refused"),
    };
    let ends: Vec<Node> = world.links.wires.iter().map(|wire| node(wire.end)).collect();
    let has_costs = plan.raw.hosts.iter().map(|host| host.cpu.per_packet_ps > 0 || host.cpu.per_byte_fs > 0);
    let mut recorder = Recorder::new(&ends, has_costs);
    let mut users: BTreeMap<u32, u32> = BTreeMap::new();
    for client in (0..world.sockets.len() as u32).step_by(2) {
        let socket = world.socket(client);
        if let App::OltpClient(_) = socket.app() {
            // Users open their connections in their order.
            let user = users.entry(socket.owner()).or_default();
            recorder.add_connection((socket.owner(), *user), socket_id(world, client), socket_id(world, client + 1));
            *user += 1;
        }
    }
    recorder
}

/// Which timer caused a repetition.
fn repetition(before: &TcpStats, after: &TcpStats) -> Part {
    let since = after.since(before);
    if since.timeouts > 0 {
        Part::Timeout
    } else if since.tail_loss_probes > 0 {
        Part::Probe
    } else {
        Part::FastRetransmission
    }
}
