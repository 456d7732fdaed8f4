//! A trial whose transactions are explained: the world runs as ever, and the recorder receives
//! every event.

use crate::agenda::Source;
use crate::causes::{
    Connection, Explanation, Gates, LostDatagrams, Node, Pausable, Receives, Recorder, Repairs,
    SocketState, Stage, tables,
};
use crate::clock::Stopwatch;
use crate::links::Links;
use crate::outcome::{Outcome, Table, gather};
use crate::timeline::SocketSample;
use crate::world::World;
use crate::{Control, build, sampling};
use tailrace_host::nic::LosslessNic;
use tailrace_network::End;
use tailrace_plan::{Plan, Workload};
use tailrace_transport::tcp::{State, TcpStats};
use tailrace_units::{BitRate, Time};
use tailrace_workloads::{Followed, Unfollowed, followed};

/// A run with its explanations, in the order of completion.
#[derive(Debug)]
pub struct Explained {
    /// The same as without explanations.
    pub outcome: Outcome,
    /// The completed transactions of all workloads.
    pub transactions: Vec<Explanation>,
    /// Datagrams that were lost, of workloads without end after the warm-up.
    pub lost: LostDatagrams,
}

impl Explained {
    /// The explanations as columns (`causes`, `causes_queues`, `causes_behind`, `causes_losses`,
    /// `causes_lost`).
    pub fn tables(&self) -> Vec<Table> {
        tables(&self.transactions, &self.lost)
    }
}

/// Runs one trial and explains the transactions of its closed-loop users. `control` shows its
/// progress and can end it early.
pub fn explain(plan: &Plan, control: &Control) -> Explained {
    let started = Stopwatch::start();
    let mut world = recorded(plan, |_| false);
    sampling::run_sampled(plan, &mut world, control);
    let recorder = world.links.observe.recorder.as_mut().expect("this run is recorded");
    let (transactions, lost) =
        (std::mem::take(&mut recorder.explained), std::mem::take(&mut recorder.lost));
    Explained { outcome: gather(plan, &mut world, started.elapsed(), control), transactions, lost }
}

/// A world that has not begun, whose run is recorded completely. Streams without an end are
/// followed where they are chosen by their index.
pub(crate) fn recorded(plan: &Plan, is_chosen: impl Fn(u32) -> bool) -> World {
    let mut world = build::build(plan);
    let follows = |(workload, of): (u32, &Workload)| match followed(of) {
        Followed::Not(Unfollowed::Endless) if is_chosen(workload) => Followed::Asking,
        other => other,
    };
    let recorder = recorder_of(plan, &world, (0..).zip(&plan.workloads).map(follows).collect());
    world.links.observe.record_all(recorder);
    world
}

fn begin_of_timeline(links: &mut Links, at: Time, wire: Option<u32>) {
    let Some(timeline) = &mut links.observe.timeline else { return };
    let next = wire.and_then(|wire| Some((wire, links.wires[wire as usize].next_frame()?)));
    let arrived =
        next.filter(|&(_, (arrival, _))| arrival <= at).map(|(wire, (_, packet))| (wire, packet));
    timeline.begin_event(at, arrived.as_ref().map(|(wire, packet)| (*wire, packet)));
}

impl World {
    /// Notifies the recorder of the next event.
    pub(crate) fn begin_event(&mut self, now: Time, source: Source) {
        let wire = (source < self.sources.generators).then_some(source);
        if let Some(recorder) = &mut self.links.observe.recorder {
            recorder.begin_event(now, wire);
        }
        begin_of_timeline(&mut self.links, now, wire);
    }

    /// Lets the recorder forget frames before everything in progress.
    #[inline(never)]
    fn forget(&mut self) {
        let Some(mut recorder) = self.links.observe.recorder.take() else { return };
        let visited = self.sockets.len() + self.programs.len();
        recorder.forget(visited, |tell| self.running(tell));
        self.links.observe.recorder = Some(recorder);
    }

    /// Notifies the recorder that the event was handled, and of the state of its sockets
    /// afterwards.
    pub(crate) fn end_event(&mut self) {
        self.explain_event();
        // Operations that were complete with the event are explained now.
        if self.links.observe.recorder.as_ref().is_some_and(|recorder| recorder.may_forget()) {
            self.forget();
        }
    }

    fn explain_event(&mut self) {
        let World { links, hosts, .. } = self;
        let Some(recorder) = &mut links.observe.recorder else { return };
        recorder.end_event(|(host, number)| {
            let tcp = hosts[usize::from(host)].sockets()[number as usize].tcp();
            let TcpStats { timeouts, tail_loss_probes: probes, .. } = *tcp.stats();
            SocketState {
                repairs: Repairs { timeouts, probes },
                limit: tcp.limit(),
                is_after_timeout: tcp.state() == State::Loss,
            }
        });
        if let Some(timeline) = &mut links.observe.timeline {
            timeline.end_event(|socket| {
                let (host, number) = recorder.current_socket(socket)?;
                let tcp = hosts[usize::from(host)].sockets()[number as usize].tcp();
                Some(SocketSample {
                    stats: *tcp.stats(),
                    cwnd: tcp.cwnd(),
                    in_flight: tcp.in_flight(),
                    mss: tcp.mss(),
                    unsent: tcp.unsent(),
                })
            });
        }
    }
}

/// Wires that end at a hypervisor begin, in the other direction, at its switch or at a machine; and
/// these have virtual cores.
fn know_hypervisors(plan: &Plan, world: &World, recorder: &mut Recorder) {
    for (wire, end) in world.links.wires.iter().map(|wire| wire.end).enumerate() {
        let End::Stage { hypervisor, port, is_switched } = end else { continue };
        let node = &world.hypervisors[hypervisor as usize];
        let begins = if is_switched {
            Node::Host(node.machines[usize::from(port)].expect("a machine is at this port").host)
        } else {
            Node::Switch(node.switch)
        };
        recorder.begins_at(wire as u32 ^ 1, begins);
    }
    for machine in world.hypervisors.iter().flat_map(|node| node.machines.iter().flatten()) {
        if let Some(processor) = &plan.raw.hosts[machine.host as usize].cpu.processor {
            recorder
                .has_gates(machine.host as u16, Gates::new(&processor.irq_cores, processor.cores));
        }
    }
}

fn recorder_of(plan: &Plan, world: &World, followed: Vec<Followed>) -> Recorder {
    let node = |end: End| match end {
        End::Host(host) | End::Bonded(host) => Node::Host(host),
        End::Switch { switch, .. } => Node::Switch(switch),
        End::Stage { hypervisor, is_switched: true, .. } => {
            Node::Stage(hypervisor, Stage::Switched)
        }
        End::Stage { hypervisor, is_switched: false, .. } => Node::Stage(hypervisor, Stage::Came),
    };
    let ends: Vec<Node> = world.links.wires.iter().map(|wire| node(wire.end)).collect();
    let receives = plan.raw.hosts.iter().map(|host| match &host.cpu {
        cpu if cpu.processor.is_some() => Receives::ByProcessor,
        cpu if cpu.per_packet_ps > 0 || cpu.per_byte_fs > 0 => Receives::WithWork,
        _ => Receives::AtOnce,
    });
    let rate_of = |wire: usize| {
        BitRate::from_bps(plan.raw.links[wire / 2].rate_bps).expect("the plan is sound")
    };
    let mut recorder = Recorder::new(&ends, receives, followed);
    know_hypervisors(plan, world, &mut recorder);
    for (wire, end) in world.links.wires.iter().map(|wire| wire.end).enumerate() {
        let state = match end {
            End::Switch { switch, port } => {
                world.switches[switch as usize].switch.pause_state(usize::from(port))
            }
            End::Host(host) | End::Bonded(host) => {
                world.hosts[host as usize].nic().lossless().map(LosslessNic::pause_state)
            }
            End::Stage { .. } => None,
        };
        // The transmitter that obeys is at the other end of the wire on which pauses come.
        if let Some(state) = state {
            recorder
                .obeys_pauses(wire as u32 ^ 1, Pausable::new(state.clone(), rate_of(wire).pace(0)));
        }
    }
    for client in (0..world.sockets.len()).step_by(2) {
        let ids = [world.sockets[client], world.sockets[client + 1]];
        let sockets = [client, client + 1].map(|socket| world.socket(socket as u32));
        let ends = ids.map(|socket| (socket.host as u16, socket.number));
        let hashes = sockets.map(|socket| socket.tcp().flow_hash());
        let workload = sockets[0].owner();
        let ports = [sockets[0].port(), world.server_ports[workload as usize]];
        recorder.connected(&Connection { workload, ends, hashes, ports });
    }
    world.links.observe.datagram_flows.iter().for_each(|flow| recorder.pairs(flow));
    recorder
}

/// The workloads of a plan whose latencies are not explained: their names, and why.
pub fn unexplained(plan: &Plan) -> Vec<(String, &'static str)> {
    let of = |workload: &Workload| match followed(workload) {
        Followed::Not(why) => Some((workload.header.name.clone(), why.why())),
        Followed::Asking | Followed::Peers | Followed::OneWay => None,
    };
    plan.workloads.iter().filter_map(of).collect()
}
