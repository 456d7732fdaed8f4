//! Requests and responses.

use super::{
    Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, datagrams, distribution,
};
use crate::error::require;
use crate::{COUNT_MAX, PlanError};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;
use tailrace_units::Distribution;

/// Requests and responses: of closed-loop users, or that arrive by themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRequests {
    /// Hosts of the clients. Users are spread over them in turn, and so are arrivals.
    pub clients: Vec<String>,
    /// Hosts of the servers.
    pub servers: Vec<String>,
    /// The server of each request is drawn; otherwise users stay with theirs, and arrivals take
    /// them in turn.
    pub is_random: bool,
    /// Queries are datagrams.
    pub is_udp: bool,
    /// Connections are kept; otherwise each request has one of its own.
    pub is_kept: bool,
    /// Closed-loop users of all clients; 0 where requests arrive by themselves.
    pub users: u32,
    /// Pause of a user between a response and its next request (picoseconds).
    pub gap: RawDistribution,
    /// Gap between arrivals (picoseconds), where there are no users.
    pub arrivals: Option<RawDistribution>,
    /// Times with more arrivals, in order.
    pub spikes: Vec<RawSpike>,
    /// Most connections of each client to each server that arrivals share; 0 for as many as are
    /// needed.
    pub connections: u32,
    /// Requests that may be on their way over one connection.
    pub pipeline: u32,
    /// Requests of each user, or all arrivals; 0 means until `stop_at_ps`.
    pub requests: u64,
    /// Bytes of a request.
    pub request: RawDistribution,
    /// Bytes of a response.
    pub response: RawDistribution,
    /// What a server does with a request.
    pub service: RawServing,
    /// A query is lost, and a request over TCP is given up, after so long without a response
    /// (picoseconds); 0 for never, over TCP.
    pub timeout_ps: u64,
    /// How often it is sent again.
    pub retries: u32,
    /// What a server asks of others while it serves a request, in order.
    pub stages: Vec<RawStage>,
}

/// What a server does with a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawServing {
    /// Picoseconds without a processor.
    pub time: RawDistribution,
    /// Picoseconds of a core, before them.
    pub work: RawDistribution,
    /// Requests at the same time; 0 for no limit.
    pub concurrency: u32,
}

/// A time with more arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSpike {
    /// Thousandths of the usual rate.
    pub factor_milli: u64,
    /// Its begin.
    pub at_ps: u64,
    /// Its length.
    pub for_ps: u64,
}

/// What a server asks of others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawStage {
    /// Each of these is asked.
    pub servers: Vec<String>,
    /// Bytes of a request to it.
    pub request: RawDistribution,
    /// Bytes of its response.
    pub response: RawDistribution,
    /// What it does with a request.
    pub service: RawServing,
    /// Requests to each of them.
    pub count: u32,
    /// All at once; otherwise one after the other.
    pub is_parallel: bool,
    /// Responses that are waited for; 0 for all.
    pub awaited: u32,
    /// What each of these servers asks of others in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<RawStage>,
}

/// Requests and responses; clients and servers stand in the plan.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Hosts of the clients.
    pub clients: Vec<usize>,
    /// Hosts of the servers.
    pub servers: Vec<usize>,
    /// Picoseconds.
    pub gap: Distribution,
    /// Picoseconds.
    pub arrivals: Option<Distribution>,
    /// Bytes.
    pub sizes: MessageSizes,
    /// Picoseconds.
    pub service: Serving,
    /// Of all tiers: first those of the servers that clients ask, in order, and those of one server
    /// stand together.
    pub stages: Vec<Stage>,
    /// How many of them are those of the servers that clients ask.
    pub first_stages: usize,
    /// The largest payload of a datagram.
    pub payload_max: u32,
    /// What was read.
    pub raw: RawRequests,
}

/// Bytes of a request and of its response.
#[derive(Clone, Debug)]
pub struct MessageSizes {
    /// Of a request.
    pub request: Distribution,
    /// Of a response.
    pub response: Distribution,
}

/// What a server does with a request.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Picoseconds without a processor.
    pub time: Distribution,
    /// Picoseconds of a core, before them.
    pub work: Distribution,
    /// Requests at the same time; 0 for no limit.
    pub concurrency: u32,
}

/// What a server asks of others.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Each of these is asked.
    pub servers: Vec<usize>,
    /// Bytes.
    pub sizes: MessageSizes,
    /// What it does with a request.
    pub service: Serving,
    /// Requests to each of them.
    pub count: u32,
    /// All at once; otherwise one after the other.
    pub is_parallel: bool,
    /// Responses that are waited for: at least one.
    pub awaited: u32,
    /// What each of its servers asks of others in turn: a part of all stages.
    pub calls: Range<usize>,
}

/// Most requests on their way over one connection.
const PIPELINE_MAX: u32 = 1_000;
/// Most times that a query is sent again.
const RETRIES_MAX: u32 = 100;
/// Most stages of one server, and of all tiers together; each has a port.
const STAGES_MAX: usize = 17;
const ALL_STAGES_MAX: usize = 256;
/// Most tiers behind the servers that clients ask.
const TIERS_MAX: usize = 8;
const SPIKES_MAX: usize = 100;
/// Most requests of a stage to one server.
const STAGE_COUNT_MAX: u32 = 1_000;
/// Most requests of one server at the same time, where that is limited.
const CONCURRENCY_MAX: u32 = 100_000;
/// Highest rate of a spike, in thousandths.
const FACTOR_MILLI_MAX: u64 = 1_000_000;

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawRequests,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    let clients = hosts(network, &raw.clients, name)?;
    let servers = hosts(network, &raw.servers, name)?;
    apart(&clients, &servers, name)?;
    check_loop(raw, name)?;
    let (stages, first_stages) =
        (resolve_stages(&raw.stages, &servers, network, name)?, raw.stages.len());
    let arrivals =
        raw.arrivals.as_ref().map(|arrivals| distribution(arrivals, name)).transpose()?;
    require(
        arrivals.as_ref().is_none_or(|gap| gap.mean() >= 1.0),
        name,
        "arrivals must be above 0",
    )?;
    let sizes = resolve_sizes(&raw.request, &raw.response, name)?;
    let fits = |size: &Distribution| datagrams::largest(size) <= u64::from(datagrams::PAYLOAD_MAX);
    let has_room = !raw.is_udp || fits(&sizes.request) && fits(&sizes.response);
    require(has_room, name, datagrams::TOO_LARGE)?;
    let callers = if stages.is_empty() { &[] } else { servers.as_slice() };
    let further =
        stages.iter().filter(|stage| !stage.calls.is_empty()).flat_map(|stage| &stage.servers);
    let openers = clients.iter().chain(callers).chain(further).copied().collect();
    let peers =
        servers.iter().chain(stages.iter().flat_map(|stage| &stage.servers)).copied().collect();
    let programs = clients.len()
        + servers.len()
        + stages.iter().map(|stage| stage.servers.len()).sum::<usize>();
    let mut header =
        header.resolved("requests", [openers, peers], Side::Openers, programs as u64)?;
    header.listeners = 1 + stages.len() as u16;
    let (gap, service) = (distribution(&raw.gap, name)?, resolve_service(&raw.service, name)?);
    let body = Requests {
        clients,
        servers,
        gap,
        arrivals,
        sizes,
        service,
        stages,
        first_stages,
        payload_max: datagrams::PAYLOAD_MAX,
        raw: raw.clone(),
    };
    Ok(Workload { header, body: Body::Requests(Box::new(body)) })
}

pub(super) fn hosts(
    network: &NetworkFacts<'_>,
    names: &[String],
    used_by: &str,
) -> Result<Vec<usize>, PlanError> {
    require(!names.is_empty(), used_by, "requests must have clients and servers")?;
    names.iter().map(|name| network.graph.host(name, used_by)).collect()
}

fn apart(askers: &[usize], asked: &[usize], name: &str) -> Result<(), PlanError> {
    let are_apart = askers.iter().all(|asker| !asked.contains(asker));
    require(are_apart, name, "a host must not ask itself")?;
    distinct(askers, name)?;
    distinct(asked, name)
}

pub(super) fn distinct(hosts: &[usize], name: &str) -> Result<(), PlanError> {
    let are_distinct = hosts.iter().enumerate().all(|(at, host)| !hosts[..at].contains(host));
    require(are_distinct, name, "a host must be named once")
}

fn check_loop(raw: &RawRequests, name: &str) -> Result<(), PlanError> {
    require(
        (raw.users == 0) == raw.arrivals.is_some(),
        name,
        "requests need either users or arrivals",
    )?;
    let are_shared = raw.users == 0 || raw.users as usize >= raw.clients.len();
    require(are_shared, name, "each client must have a user")?;
    require((1..=PIPELINE_MAX).contains(&raw.pipeline), name, "pipeline must be 1 to 1000")?;
    require(
        raw.pipeline == 1 || raw.is_kept && !raw.is_udp,
        name,
        "only a connection that is kept carries several requests",
    )?;
    require(raw.retries <= RETRIES_MAX, name, "retries must be at most 100")?;
    require(!raw.is_udp || raw.timeout_ps > 0, name, "queries of UDP must have a timeout")?;
    require(
        raw.retries == 0 || raw.timeout_ps > 0,
        name,
        "only requests with a timeout are sent again",
    )?;
    require(
        !raw.is_udp || raw.users > 0 || raw.connections > 0,
        name,
        "queries must have a socket",
    )?;
    let most = COUNT_MAX as u32;
    require(
        raw.users <= most && raw.connections <= most,
        name,
        "users and connections must be at most a million",
    )?;
    check_spikes(&raw.spikes, name)
}

pub(super) fn check_spikes(spikes: &[RawSpike], name: &str) -> Result<(), PlanError> {
    require(spikes.len() <= SPIKES_MAX, name, "there must be at most 100 spikes")?;
    let mut before = 0;
    for spike in spikes {
        let is_sound = (1..=FACTOR_MILLI_MAX).contains(&spike.factor_milli)
            && spike.for_ps > 0
            && spike.at_ps >= before;
        require(is_sound, name, "spikes must follow each other, with a factor from 0.001 to 1000")?;
        before = spike.at_ps.saturating_add(spike.for_ps);
    }
    Ok(())
}

pub(super) fn resolve_sizes(
    request: &RawDistribution,
    response: &RawDistribution,
    name: &str,
) -> Result<MessageSizes, PlanError> {
    let (request, response) = (distribution(request, name)?, distribution(response, name)?);
    let are_sound = request.mean() >= 1.0 && response.mean() >= 1.0;
    require(are_sound, name, "requests and responses must have at least one byte")?;
    Ok(MessageSizes { request, response })
}

pub(super) fn resolve_service(raw: &RawServing, name: &str) -> Result<Serving, PlanError> {
    require(raw.concurrency <= CONCURRENCY_MAX, name, "concurrency must be at most 100000")?;
    Ok(Serving {
        time: distribution(&raw.time, name)?,
        work: distribution(&raw.work, name)?,
        concurrency: raw.concurrency,
    })
}

/// The stages of a server, and the hosts on the way to it.
struct Tier<'a> {
    raw: &'a [RawStage],
    /// The stage that leads to the server; none for those that clients ask.
    caller: Option<usize>,
    above: Vec<usize>,
    depth: usize,
}

/// All stages, tier by tier, so that those of one server stand together.
fn resolve_stages(
    raw: &[RawStage],
    servers: &[usize],
    network: &NetworkFacts<'_>,
    name: &str,
) -> Result<Vec<Stage>, PlanError> {
    let mut stages: Vec<Stage> = Vec::new();
    let mut open = VecDeque::from([Tier { raw, caller: None, above: servers.to_vec(), depth: 1 }]);
    while let Some(Tier { raw, caller, above, depth }) = open.pop_front() {
        require(raw.len() <= STAGES_MAX, name, "a server asks others at most 17 times")?;
        require(
            raw.is_empty() || depth <= TIERS_MAX,
            name,
            "there must be at most 8 tiers behind the servers",
        )?;
        let first = stages.len();
        require(
            first + raw.len() <= ALL_STAGES_MAX,
            name,
            "servers of all tiers ask others at most 256 times",
        )?;
        for raw in raw {
            let stage = resolve_stage(raw, &above, network, name)?;
            let below = above.iter().chain(&stage.servers).copied().collect();
            open.push_back(Tier {
                raw: &raw.stages,
                caller: Some(stages.len()),
                above: below,
                depth: depth + 1,
            });
            stages.push(stage);
        }
        if let Some(caller) = caller {
            stages[caller].calls = first..stages.len();
        }
    }
    Ok(stages)
}

fn resolve_stage(
    raw: &RawStage,
    above: &[usize],
    network: &NetworkFacts<'_>,
    name: &str,
) -> Result<Stage, PlanError> {
    let servers = hosts(network, &raw.servers, name)?;
    // A server that is asked on the way to itself would be asked without end.
    require(
        servers.iter().all(|server| !above.contains(server)),
        name,
        "a host must not ask itself, whatever is between",
    )?;
    distinct(&servers, name)?;
    require((1..=STAGE_COUNT_MAX).contains(&raw.count), name, "count must be 1 to 1000")?;
    let all = servers.len() as u32 * raw.count;
    require(raw.awaited <= all, name, "a server waits for more responses than there are")?;
    let sizes = resolve_sizes(&raw.request, &raw.response, name)?;
    let service = resolve_service(&raw.service, name)?;
    let awaited = if raw.awaited == 0 { all } else { raw.awaited };
    Ok(Stage {
        servers,
        sizes,
        service,
        count: raw.count,
        is_parallel: raw.is_parallel,
        awaited,
        calls: 0..0,
    })
}
