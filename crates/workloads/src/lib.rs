//! The work of the workloads of a plan, whatever engine runs them: the programs at both ends of
//! each connection, arrivals, and records. Random streams have their names here, so that two
//! engines draw the same numbers.
//!
//! There is one module for each kind, and one line in [`kind_of`].

mod arrivals;
mod blocks;
mod datagrams;
mod driving;
mod flows;
mod followed;
mod frames;
mod mpi;
mod oltp;
pub mod outcome;
mod pairs;
mod record;
mod replay;
mod requests;
mod storage;
mod storage_devices;
mod storage_network;
mod storage_record;
mod stream;

pub use arrivals::{Arrival, Arrivals, Arriving, flow_programs};
pub use followed::{Followed, Unfollowed};
pub use record::{Before, Row, Sum, WorkloadRecord};
pub use storage_record::{OfOp, StorageRecord};

use storage_devices::Devices;
use tailrace_plan::{Body, Header, Plan, RawObserve, Workload};
use tailrace_programs::{App, Program};
use tailrace_units::{Distribution, RandomStream, Time};

/// The hosts of a connection, by index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The host that opens it.
    pub client: u32,
    /// The host that accepts it.
    pub server: u32,
}

/// A connection that lasts as long as the trial.
#[derive(Debug)]
pub struct LastingConnection<'a> {
    /// Index of the workload.
    pub workload: u32,
    /// Counts within the workload.
    pub user: u32,
    /// Its hosts.
    pub ends: Ends,
    /// Programs of the client and of the server.
    pub apps: [App; 2],
    /// Which end's received bytes are goodput: 0 client, 1 server.
    pub goodput_at: usize,
    /// Nodes that packets of the client and of the server must pass; empty for any path.
    pub pins: [&'a [usize]; 2],
}

/// A program with several sockets, which runs as long as the trial.
pub struct WorkloadProgram {
    /// Index of the workload.
    pub workload: u32,
    /// Its host.
    pub host: u32,
    /// The program.
    pub program: Box<dyn Program>,
    /// Whether arriving bytes are goodput for it, and decide about completions.
    pub counts_goodput: bool,
    /// The port at which it listens.
    pub port: Option<u16>,
    /// How often it reports a completion, if the workload has an end.
    pub finishes: u64,
}

/// Two sockets for datagrams that belong to programs, and know each other only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatagramPair {
    /// Index of the workload.
    pub workload: u32,
    /// Its hosts.
    pub ends: Ends,
    /// The programs of the client and of the server, in the order in which programs were started.
    pub programs: [u32; 2],
}

/// The operations of an engine for the workloads of a plan. They are called in the order of the
/// plan.
pub trait Engine {
    /// Makes both ends of a connection.
    fn connect(&mut self, connection: LastingConnection<'_>);
    /// Starts a program. Returns its number: how many were started before.
    fn start(&mut self, program: WorkloadProgram) -> u32;
    /// Makes both ends of a pair. Each program numbers its sockets in this order.
    fn pair(&mut self, pair: DatagramPair);
    /// Something of this workload arrives by itself.
    fn arrive(&mut self, arrivals: Arrivals);
}

/// A kind of workload.
trait Kind {
    /// Its record.
    fn record(&self, observe: &RawObserve) -> WorkloadRecord;

    /// Opens the connections that last as long as the trial, and passes its arrivals to the engine.
    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine);

    /// Whether something arrives by itself.
    fn has_arrivals(&self) -> bool {
        false
    }

    /// Whether what arrives are flows, which open and end while the trial runs.
    fn has_flows(&self) -> bool {
        false
    }

    /// How many programs with several sockets it starts.
    fn programs(&self) -> usize {
        0
    }

    /// Whether its acts at one host depend on that host's acts and inputs only. Most programs share
    /// a ledger of the contents of their connections.
    fn is_local(&self) -> bool {
        self.programs() == 0
    }

    /// The hosts at which its programs open connections while the trial runs, if it is local.
    fn opening_hosts(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Whether its programs count requests.
    fn tells_tallies(&self) -> bool {
        self.programs() > 0
    }

    /// Whether its programs count blocks.
    fn tells_blocks(&self) -> bool {
        false
    }

    /// Whether the bytes of its connections are reported one by one.
    fn tells_connections(&self) -> bool {
        false
    }

    /// The operations that explanations of its latencies see.
    fn followed(&self) -> Followed {
        Followed::Asking
    }

    /// Adds the figures that only this kind reports.
    fn add_details(&self, _record: &WorkloadRecord, _outcome: &mut tailrace_outcome::Workload) {}
}

/// A workload of the plan, with its index and its devices.
struct WorkloadContext<'a> {
    plan: &'a Plan,
    header: &'a Header,
    number: u32,
    /// Block devices of all hosts that a workload has opened.
    devices: &'a Devices,
}

impl WorkloadContext<'_> {
    /// The random stream of this name within the workload.
    fn random(&self, what: &str) -> RandomStream {
        RandomStream::new(self.plan.raw.seed, &format!("{}/{what}", self.header.name))
    }

    /// This many arrivals; 0 for no end.
    fn arrivals(
        &self,
        what: Arriving,
        sizes: &Distribution,
        interarrival: &Distribution,
        count: u64,
    ) -> Arrivals {
        let (start, random) = (Time::from_ps(self.header.start_ps), self.random("arrivals"));
        let arrivals = Arrivals::new(
            self.number,
            what,
            sizes.clone(),
            interarrival.clone(),
            count,
            start,
            random,
        );
        if self.header.is_first_at_start { arrivals.with_first_at(start) } else { arrivals }
    }
}

fn kind_of(workload: &Workload) -> &dyn Kind {
    match &workload.body {
        Body::Oltp(oltp) => oltp,
        Body::Stream(stream) => stream,
        Body::Flows(flows) => flows,
        Body::Datagrams(datagrams) => datagrams,
        Body::Frames(frames) => frames,
        Body::Requests(requests) => requests.as_ref(),
        Body::Blocks(blocks) => blocks.as_ref(),
        Body::Storage(storage) => storage.as_ref(),
        Body::Mpi(mpi) => mpi.as_ref(),
        Body::Replay(replay) => replay.as_ref(),
    }
}

/// The record of a workload.
pub fn record_for(plan: &Plan, workload: &Workload) -> WorkloadRecord {
    kind_of(workload).record(&plan.raw.observe)
}

/// Whether everything that a workload does at one host follows from what that host does and
/// receives.
pub fn is_local(workload: &Workload) -> bool {
    kind_of(workload).is_local()
}

/// The hosts at which programs of a local workload open connections while the trial runs.
pub fn opening_hosts(workload: &Workload) -> Vec<usize> {
    kind_of(workload).opening_hosts()
}

/// The hosts at which flows of a workload end.
pub fn flow_receivers(workload: &Workload) -> &[usize] {
    if kind_of(workload).has_flows() { &workload.header.peers } else { &[] }
}

/// Whether the bytes of a workload's connections are reported one by one.
pub fn tells_connections(workload: &Workload) -> bool {
    kind_of(workload).tells_connections()
}

/// Whether the programs of a workload count requests.
pub fn tells_tallies(workload: &Workload) -> bool {
    kind_of(workload).tells_tallies()
}

/// Whether the programs of a workload count blocks.
pub fn tells_blocks(workload: &Workload) -> bool {
    kind_of(workload).tells_blocks()
}

/// The operations that explanations of a workload's latencies see.
pub fn followed(workload: &Workload) -> Followed {
    kind_of(workload).followed()
}

/// Adds the figures that only the kind of a workload reports.
fn add_details(
    workload: &Workload,
    record: &WorkloadRecord,
    outcome: &mut tailrace_outcome::Workload,
) {
    kind_of(workload).add_details(record, outcome);
}

/// Opens all workloads at an engine.
pub fn open_workloads(plan: &Plan, engine: &mut dyn Engine) {
    let devices = Devices::default();
    for (number, workload) in (0..).zip(&plan.workloads) {
        kind_of(workload).open(
            &WorkloadContext { plan, header: &workload.header, number, devices: &devices },
            engine,
        );
    }
}

/// How many of the workloads arrive by themselves.
pub fn arriving(plan: &Plan) -> usize {
    plan.workloads.iter().filter(|workload| kind_of(workload).has_arrivals()).count()
}

/// How many programs with several sockets the workloads of a plan start.
pub fn hosted_programs(plan: &Plan) -> usize {
    plan.workloads.iter().map(|workload| kind_of(workload).programs()).sum()
}

/// Whether a workload has connections that last as long as the trial; others arrive by themselves,
/// or are opened by programs.
pub fn has_lasting_connections(workload: &Workload) -> bool {
    !kind_of(workload).has_arrivals() && kind_of(workload).programs() == 0
}
