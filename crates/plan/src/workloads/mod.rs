//! Workloads: a header that every reader understands, and a body that only the module of its kind
//! reads.
//!
//! A kind is one module here (what the plan says of it, made sound), one in the crate `workloads`,
//! and one line in [`Body`].

mod blocks;
pub(crate) mod datagrams;
pub(crate) mod distribution;
mod flows;
mod frames;
mod mpi;
pub(crate) mod oltp;
mod replay;
mod requests;
pub(crate) mod storage;
pub(crate) mod stream;

pub use blocks::{Blocks, RawBlocks};
pub use datagrams::{Datagrams, RawDatagrams};
pub use distribution::RawDistribution;
pub(crate) use distribution::distribution;
pub use flows::{Flows, RawFlows};
pub use frames::{Frames, RawFrames};
pub use mpi::{Algorithm, Mpi, MpiPattern, RawMpi};
pub use oltp::{Oltp, RawGapFrom, RawOltp, RawRoundTrip, RoundTrip};
pub use replay::{RawRecorded, RawReplay, RawReplayPace, Replay};
pub use requests::{
    MessageSizes, RawRequests, RawServing, RawSpike, RawStage, Requests, Serving, Stage,
};
pub use storage::{
    BlockDevice, RawAccess, RawDevice, RawDeviceCache, RawDeviceHead, RawDeviceLimits, RawIscsi,
    RawNbd, RawNvmeTcp, RawStorage, RawStorageProtocol, Storage,
};
pub use stream::{Pins, RawStream, Stream};

use crate::PlanError;
use crate::error::require;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tailrace_wire::VLAN_MAX;

/// A workload in the format of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawWorkload {
    /// What every kind has.
    pub header: RawHeader,
    /// What only its kind has, under the name of the kind.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, serde_json::Map<String, Value>>")
    )]
    pub body: RawBody,
}

/// What every workload of a plan has.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawHeader {
    /// Name in results.
    pub name: String,
    /// Class, 0 to 7.
    pub priority: u8,
    /// Code point of the IP header.
    #[serde(default)]
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    #[serde(default)]
    pub vlan: u16,
    /// Earliest time of any of its events (picoseconds).
    #[serde(default)]
    pub start_ps: u64,
    /// The first flow, datagram or request comes, and the first user begins, at `start_ps`; a gap
    /// later when missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first_at_start: bool,
    /// Port of its server; further servers have the ports after it.
    pub port: u16,
    /// First and last port of its clients; ephemeral ports when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ports: Option<(u16, u16)>,
    /// Keys for live runs only, such as the choice of a program; neither checked nor used here.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub live: Value,
}

/// The kinds, as they stand in the plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawBody {
    /// Closed-loop users of a database.
    Oltp(RawOltp),
    /// Bulk TCP.
    Stream(RawStream),
    /// Finite TCP flows with sizes from a distribution and Poisson (or other) arrivals.
    Flows(RawFlows),
    /// Datagrams at a rate that does not depend on the network.
    Datagrams(RawDatagrams),
    /// Frames of the threads of a program.
    Frames(RawFrames),
    /// Requests and responses.
    Requests(Box<RawRequests>),
    /// Blocks and messages between nodes.
    Blocks(Box<RawBlocks>),
    /// Requests of storage.
    Storage(Box<RawStorage>),
    /// Ranks of an MPI job.
    Mpi(Box<RawMpi>),
    /// Requests of a recording.
    Replay(Box<RawReplay>),
}

/// Number of priorities (IEEE 802.1Q).
const PRIORITIES: u8 = 8;

/// A workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What every kind has.
    pub header: Header,
    /// What only its kind has.
    pub body: Body,
}

/// The part of a workload that every kind has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Name in results.
    pub name: String,
    /// Name of the kind, as in the plan and in results.
    pub kind: &'static str,
    /// Class, 0 to 7.
    pub priority: u8,
    /// Code point of the IP header.
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    pub vlan: u16,
    /// Hosts that open connections, or send datagrams.
    pub openers: Vec<usize>,
    /// Hosts to which they open connections, or send; each opener may use any of them but itself.
    pub peers: Vec<usize>,
    /// The side that receives most of the bytes.
    pub receivers: Side,
    /// Earliest time of any of its events (picoseconds).
    pub start_ps: u64,
    /// The first flow, datagram, request or user comes then; a gap later otherwise.
    pub is_first_at_start: bool,
    /// Sources of events that last as long as the trial.
    pub event_sources: u64,
    /// Port of its server; further servers have the ports after it.
    pub port: u16,
    /// First and last port of its clients; ephemeral ports without it.
    pub client_ports: Option<(u16, u16)>,
    /// Ports of its servers, at least one.
    pub listeners: u16,
}

/// One side of the pairs of hosts of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The hosts that open connections.
    Openers,
    /// The hosts that accept them.
    Peers,
}

/// The kinds.
#[derive(Clone, Debug)]
pub enum Body {
    /// Closed-loop users.
    Oltp(Oltp),
    /// Bulk TCP.
    Stream(Stream),
    /// Finite flows.
    Flows(Flows),
    /// Datagrams.
    Datagrams(Datagrams),
    /// Frames of the threads of a program.
    Frames(Frames),
    /// Requests and responses.
    Requests(Box<Requests>),
    /// Blocks and messages between nodes.
    Blocks(Box<Blocks>),
    /// Requests of storage.
    Storage(Box<Storage>),
    /// Ranks of an MPI job.
    Mpi(Box<Mpi>),
    /// Requests of a recording.
    Replay(Box<Replay>),
}

impl Workload {
    /// Whether real programs of it are told an interface, and not an address.
    pub fn chooses_interface(&self) -> bool {
        match self.body {
            Body::Mpi(_) => true,
            Body::Oltp(_)
            | Body::Stream(_)
            | Body::Flows(_)
            | Body::Datagrams(_)
            | Body::Frames(_)
            | Body::Requests(_)
            | Body::Blocks(_)
            | Body::Storage(_)
            | Body::Replay(_) => false,
        }
    }
}

impl Header {
    /// The ports of its servers.
    pub fn ports(&self) -> std::ops::Range<u32> {
        u32::from(self.port)..u32::from(self.port) + u32::from(self.listeners)
    }

    /// Every host that takes part.
    pub fn hosts(&self) -> impl Iterator<Item = usize> + '_ {
        self.openers.iter().chain(&self.peers).copied()
    }

    /// Every opener with every host that it may meet.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of_opener = |&opener: &usize| self.peers.iter().map(move |&peer| (opener, peer));
        self.openers.iter().flat_map(of_opener)
    }

    /// The hosts that receive the bulk of the bytes.
    pub fn receivers(&self) -> &[usize] {
        match self.receivers {
            Side::Openers => &self.openers,
            Side::Peers => &self.peers,
        }
    }
}

impl RawHeader {
    /// The header with what its kind adds.
    fn resolved(
        &self,
        kind: &'static str,
        hosts: [Vec<usize>; 2],
        receivers: Side,
        event_sources: u64,
    ) -> Result<Header, PlanError> {
        require(self.priority < PRIORITIES, &self.name, "priority must be 0 to 7")?;
        require(self.vlan <= VLAN_MAX, &self.name, "vlan must be 1 to 4094, or 0 for none")?;
        require(self.port > 0, &self.name, "port must be 1 to 65535")?;
        let is_range = self.client_ports.is_none_or(|(first, last)| 0 < first && first <= last);
        require(is_range, &self.name, "client_ports must be 1 to 65535, the lower one first")?;
        let [openers, peers] = hosts;
        Ok(Header {
            name: self.name.clone(),
            kind,
            priority: self.priority,
            dscp: self.dscp,
            vlan: self.vlan,
            openers,
            peers,
            receivers,
            start_ps: self.start_ps,
            is_first_at_start: self.is_first_at_start,
            event_sources,
            port: self.port,
            client_ports: self.client_ports,
            listeners: 1,
        })
    }
}

/// What a workload of the plan runs on, and is checked against.
pub(crate) struct NetworkFacts<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) has_spanning_trees: bool,
    pub(crate) devices: &'a [RawDevice],
}

pub(crate) fn resolve_workload(
    raw: &RawWorkload,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let header = &raw.header;
    let graph = network.graph;
    match &raw.body {
        RawBody::Oltp(raw) => oltp::resolve(header, raw, graph),
        RawBody::Stream(raw) => stream::resolve(header, raw, network),
        RawBody::Flows(raw) => flows::resolve(header, raw, graph),
        RawBody::Datagrams(raw) => datagrams::resolve(header, raw, network),
        RawBody::Frames(raw) => frames::resolve(header, raw, network),
        RawBody::Requests(raw) => requests::resolve(header, raw, network),
        RawBody::Blocks(raw) => blocks::resolve(header, raw, network),
        RawBody::Storage(raw) => storage::resolve(header, raw, network),
        RawBody::Mpi(raw) => mpi::resolve(header, raw, network),
        RawBody::Replay(raw) => replay::resolve(header, raw, graph),
    }
}

/// Two hosts that are not the same.
fn ends(graph: &Graph, from: &str, to: &str, used_by: &str) -> Result<(usize, usize), PlanError> {
    let pair = (graph.host(from, used_by)?, graph.host(to, used_by)?);
    require(pair.0 != pair.1, used_by, "the two ends must be different hosts")?;
    Ok(pair)
}
