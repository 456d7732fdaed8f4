//! From the workloads of the plan to sockets, programs and generators: one module for each kind, and one line in [`kind_of`].

mod datagrams;
mod flows;
mod oltp;
mod stream;

use crate::generator::{Generator, GeneratorKind};
use crate::observe::WorkloadRecord;
use crate::world::World;
use tailrace_plan::{Body, Header, Plan, RawObserve, Workload};
use tailrace_units::{Distribution, RandomStream, Time};
use tailrace_wire::Tag;

/// What the simulator asks of a kind.
trait SimulatedKind {
    /// What is recorded of it.
    fn record(&self, observe: &RawObserve) -> WorkloadRecord;

    /// Opens the sockets that last as long as the trial, and adds its generator if it has one.
    fn open(&self, place: &Place<'_>, world: &mut World);

    /// Whether it has a generator: something that arrives by itself.
    fn has_generator(&self) -> bool {
        false
    }

    /// Whether what its connections carried is told one by one.
    fn tells_connections(&self) -> bool {
        false
    }
}

/// A workload's place in the plan.
struct Place<'a> {
    plan: &'a Plan,
    header: &'a Header,
    number: u32,
}

impl Place<'_> {
    fn tag(&self) -> Tag {
        Tag::new(self.header.priority, self.header.vlan)
    }

    /// A generator of so many arrivals; 0 for no end.
    fn generator(&self, kind: GeneratorKind, sizes: &Distribution, interarrival: &Distribution, count: u64) -> Generator {
        Generator {
            workload: self.number,
            kind,
            sizes: sizes.clone(),
            interarrival: interarrival.clone(),
            left: if count == 0 { u64::MAX } else { count },
            tag: self.tag(),
            dscp: self.header.dscp,
            random: RandomStream::new(self.plan.raw.seed, &format!("{}/arrivals", self.header.name)),
        }
    }
}

fn kind_of(workload: &Workload) -> &dyn SimulatedKind {
    match &workload.body {
        Body::Oltp(oltp) => oltp,
        Body::Stream(stream) => stream,
        Body::Flows(flows) => flows,
        Body::Datagrams(datagrams) => datagrams,
    }
}

fn places(plan: &Plan) -> impl Iterator<Item = (Place<'_>, &dyn SimulatedKind)> {
    let of = |(number, workload)| {
        let workload: &Workload = workload;
        (Place { plan, header: &workload.header, number: number as u32 }, kind_of(workload))
    };
    plan.workloads.iter().enumerate().map(of)
}

pub(crate) fn record_for(plan: &Plan, workload: &Workload) -> WorkloadRecord {
    kind_of(workload).record(&plan.raw.observe)
}

pub(crate) fn tells_connections(workload: &Workload) -> bool {
    kind_of(workload).tells_connections()
}

pub(crate) fn open_workloads(plan: &Plan, world: &mut World) {
    places(plan).for_each(|(place, kind)| kind.open(&place, world));
}

/// How many of the workloads arrive by themselves.
pub(crate) fn generators(plan: &Plan) -> usize {
    places(plan).filter(|(_, kind)| kind.has_generator()).count()
}

fn arm_socket(world: &mut World, socket: u32) {
    let due = world.socket(socket).app().poll_timeout();
    let source = world.socket_source(socket);
    world.links.agenda.arm(source, due);
}

/// When the first arrival of a generator may come.
pub(crate) fn start_of(plan: &Plan, generator: &Generator) -> Time {
    Time::from_ps(plan.workloads[generator.workload as usize].header.start_ps)
}
