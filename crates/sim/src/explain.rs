//! A trial whose transactions are explained: the world runs as ever, and the recorder is told of every event.

use crate::agenda::Source;
use crate::causes::{Connection, Explanation, Look, Node, Pausable, Receives, Recorder, Repairs, tables};
use crate::links::Links;
use crate::outcome::{Outcome, Table, gather};
use crate::timeline::{Look as SocketLook, Timeline, Wanted};
use crate::world::World;
use crate::{Control, build, looks};
use std::fmt;
use tailrace_endpoint::nic::LosslessNic;
use tailrace_endpoint::transport::{State, TcpStats};
use tailrace_network::End;
use tailrace_plan::{Plan, Workload};
use tailrace_units::{BitRate, Time};
use tailrace_workloads::{Followed, followed};

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
    /// There are hypervisors.
    Hypervisor,
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unexplained::Hypervisor => "there are hypervisors, whose stages are not recorded",
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
    [(!raw.hypervisors.is_empty(), Unexplained::Hypervisor)].into_iter().find_map(|(is_there, why)| is_there.then_some(why))
}

/// Runs one trial and explains the transactions of its closed-loop users. `control` shows how far it is and can end it early.
///
/// # Errors
/// When the plan has something of which the record would not be whole.
pub fn explain(plan: &Plan, control: &Control) -> Result<Explained, Unexplained> {
    let started = std::time::Instant::now();
    let mut world = recorded(plan, control, None)?;
    let recorder = world.links.observe.recorder.as_mut().expect("this run is recorded");
    let transactions = std::mem::take(&mut recorder.explained);
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
    let recorder = recorder_of(plan, &world);
    world.links.observe.record_all(recorder);
    if let Some(wanted) = wanted {
        keep_timeline(&mut world, wanted);
        world.stop_at = world.stop_at.min(wanted.end());
    }
    looks::run_and_look(plan, &mut world, control);
    Ok(world)
}

/// From now on a timeline is kept.
fn keep_timeline(world: &mut World, wanted: &Wanted) {
    let switch = |end: End| match end {
        End::Switch { switch, .. } => Some(switch),
        End::Host(_) | End::Bonded(_) | End::Stage { .. } => None,
    };
    let ends = world.links.wires.iter().map(|wire| switch(wire.end)).collect();
    let recorder = world.links.observe.recorder.as_mut().expect("this run is recorded");
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

impl World {
    /// Tells the recorder what is handled next.
    pub(crate) fn begin_event(&mut self, now: Time, source: Source) {
        let wire = (source < self.first_generator_source).then_some(source);
        if let Some(recorder) = &mut self.links.observe.recorder {
            recorder.begin_event(now, wire);
        }
        begin_of_timeline(&mut self.links, now, wire);
    }

    /// Tells the recorder that it was handled, and what that has left behind in sockets.
    pub(crate) fn end_event(&mut self) {
        let World { links, hosts, .. } = self;
        let Some(recorder) = &mut links.observe.recorder else { return };
        recorder.end_event(|(host, number)| {
            let tcp = hosts[usize::from(host)].sockets()[number as usize].tcp();
            let TcpStats { timeouts, tail_loss_probes: probes, .. } = *tcp.stats();
            Look { repairs: Repairs { timeouts, probes }, limit: tcp.limit(), is_after_timeout: tcp.state() == State::Loss }
        });
        if let Some(timeline) = &mut links.observe.timeline {
            timeline.end_event(|(host, number)| {
                let tcp = hosts[usize::from(host)].sockets()[number as usize].tcp();
                SocketLook {
                    stats: *tcp.stats(),
                    cwnd: tcp.cwnd(),
                    in_flight: tcp.in_flight(),
                    mss: tcp.mss(),
                    unsent: tcp.unsent(),
                }
            });
        }
    }
}

fn recorder_of(plan: &Plan, world: &World) -> Recorder {
    let node = |end: End| match end {
        End::Host(host) | End::Bonded(host) => Node::Host(host),
        End::Switch { switch, .. } => Node::Switch(switch),
        End::Stage { .. } => unreachable!("plans with hypervisors are refused"),
    };
    let ends: Vec<Node> = world.links.wires.iter().map(|wire| node(wire.end)).collect();
    let receives = plan.raw.hosts.iter().map(|host| match &host.cpu {
        cpu if cpu.processor.is_some() => Receives::ByProcessor,
        cpu if cpu.per_packet_ps > 0 || cpu.per_byte_fs > 0 => Receives::WithWork,
        _ => Receives::AtOnce,
    });
    let rate_of = |wire: usize| BitRate::from_bps(plan.raw.links[wire / 2].rate_bps).expect("the plan is sound");
    let mut recorder = Recorder::new(&ends, receives, plan.workloads.iter().map(followed).collect());
    for (wire, end) in world.links.wires.iter().map(|wire| wire.end).enumerate() {
        let state = match end {
            End::Switch { switch, port } => world.switches[switch as usize].switch.pause_state(usize::from(port)),
            End::Host(host) | End::Bonded(host) => world.hosts[host as usize].nic().lossless().map(LosslessNic::pause_state),
            End::Stage { .. } => None,
        };
        // The transmitter that obeys is at the other end of the wire on which pauses come.
        if let Some(state) = state {
            recorder.obeys_pauses(wire as u32 ^ 1, Pausable::new(state.clone(), rate_of(wire).pace(0)));
        }
    }
    for client in (0..world.sockets.len()).step_by(2) {
        let places = [world.sockets[client], world.sockets[client + 1]];
        let sockets = [client, client + 1].map(|socket| world.socket(socket as u32));
        let ends = places.map(|place| (place.host as u16, place.number));
        let hashes = sockets.map(|socket| socket.tcp().flow_hash());
        recorder.connected(&Connection { workload: sockets[0].owner(), ends, hashes });
    }
    recorder
}

/// The workloads of a plan whose latencies are not explained: their names, and why.
pub fn unexplained(plan: &Plan) -> Vec<(String, &'static str)> {
    let of = |workload: &Workload| match followed(workload) {
        Followed::Not(why) => Some((workload.header.name.clone(), why.why())),
        Followed::Asking | Followed::Peers => None,
    };
    plan.workloads.iter().filter_map(of).collect()
}
