//! Blocks and messages that the nodes of a cluster database exchange as datagrams.

use super::requests::{
    MessageSizes, RawServing, RawSpike, Serving, check_spikes, distinct, hosts, resolve_service,
    resolve_sizes,
};
use super::{
    Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, datagrams, distribution,
};
use crate::error::require;
use crate::{COUNT_MAX, PlanError};
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;

/// Blocks and messages between nodes, asked for by transactions of users at the nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawBlocks {
    /// Hosts of the nodes.
    pub nodes: Vec<String>,
    /// Those of them that have users. Users are spread over them in turn, and so are arrivals.
    pub clients: Vec<String>,
    /// Closed-loop users of all nodes; 0 where transactions arrive by themselves.
    pub users: u32,
    /// Pause of a user between a transaction and its next (picoseconds).
    pub gap: RawDistribution,
    /// Gap between arrivals (picoseconds), where there are no users.
    pub arrivals: Option<RawDistribution>,
    /// Times with more arrivals, in order.
    pub spikes: Vec<RawSpike>,
    /// Transactions of each user, or all arrivals; 0 means until `stop_at_ps`.
    pub transactions: u64,
    /// Thousandths of a block that a transaction asks for, on average.
    pub blocks_milli: u64,
    /// Thousandths of a message that it sends besides, on average.
    pub messages_milli: u64,
    /// All blocks of a transaction are asked for at once, and all of its messages are sent at once.
    pub is_parallel: bool,
    /// Bytes of a block.
    pub block: RawDistribution,
    /// Bytes of a message: of one that asks for a block, of any other, and of its answer.
    pub message: RawDistribution,
    /// What a node does before it sends a block.
    pub block_service: RawServing,
    /// What it does before it answers a message.
    pub message_service: RawServing,
    /// A block or an answer that has not come after so long is lost (picoseconds).
    pub timeout_ps: u64,
    /// How often it is asked for again.
    pub retries: u32,
}

/// Blocks and messages; nodes stand in the plan.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Hosts of the nodes.
    pub nodes: Vec<usize>,
    /// Those of them that have users.
    pub clients: Vec<usize>,
    /// Picoseconds.
    pub gap: Distribution,
    /// Picoseconds.
    pub arrivals: Option<Distribution>,
    /// Of a message that asks for a block, and of the block.
    pub block_sizes: MessageSizes,
    /// Of a message and of its answer.
    pub message_sizes: MessageSizes,
    /// What a node does before it sends a block.
    pub block_service: Serving,
    /// What it does before it answers a message.
    pub message_service: Serving,
    /// The largest payload of a datagram.
    pub payload_max: u32,
    /// What was read.
    pub raw: RawBlocks,
}

/// Programs of a node: its users, what sends blocks, what answers messages.
const PROGRAMS_OF_NODE: u64 = 3;
/// Most nodes: each has sockets with each other.
const NODES_MAX: usize = 64;
/// Most times that a block is asked for again.
const RETRIES_MAX: u32 = 100;
/// Most blocks, and most messages, of a transaction, in thousandths.
const DEMAND_MILLI_MAX: u64 = 1_000_000;

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawBlocks,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    require((2..=NODES_MAX).contains(&raw.nodes.len()), name, "blocks must have 2 to 64 nodes")?;
    require(!raw.clients.is_empty(), name, "a node must have users")?;
    let (nodes, clients) = (hosts(network, &raw.nodes, name)?, hosts(network, &raw.clients, name)?);
    distinct(&nodes, name)?;
    distinct(&clients, name)?;
    require(clients.iter().all(|client| nodes.contains(client)), name, "only nodes have users")?;
    check(raw, name)?;
    check_spikes(&raw.spikes, name)?;
    let arrivals =
        raw.arrivals.as_ref().map(|arrivals| distribution(arrivals, name)).transpose()?;
    require(
        arrivals.as_ref().is_none_or(|gap| gap.mean() >= 1.0),
        name,
        "arrivals must be above 0",
    )?;
    let payload_max = datagrams::PAYLOAD_MAX;
    let (block_sizes, message_sizes) = (
        resolve_sizes(&raw.message, &raw.block, name)?,
        resolve_sizes(&raw.message, &raw.message, name)?,
    );
    let fits = |size: &Distribution| datagrams::largest(size) <= u64::from(payload_max);
    let has_room = fits(&block_sizes.request) && fits(&block_sizes.response);
    require(has_room, name, datagrams::TOO_LARGE)?;
    let header = header.resolved(
        "blocks",
        [clients.clone(), nodes.clone()],
        Side::Openers,
        PROGRAMS_OF_NODE * nodes.len() as u64,
    )?;
    let gap = distribution(&raw.gap, name)?;
    let [block_service, message_service] =
        [resolve_service(&raw.block_service, name)?, resolve_service(&raw.message_service, name)?];
    let raw = raw.clone();
    let body = Blocks {
        nodes,
        clients,
        gap,
        arrivals,
        block_sizes,
        message_sizes,
        block_service,
        message_service,
        payload_max,
        raw,
    };
    Ok(Workload { header, body: Body::Blocks(Box::new(body)) })
}

fn check(raw: &RawBlocks, name: &str) -> Result<(), PlanError> {
    require(
        (raw.users == 0) == raw.arrivals.is_some(),
        name,
        "blocks need either users or arrivals",
    )?;
    let are_shared = raw.users == 0 || raw.users as usize >= raw.clients.len();
    require(are_shared, name, "each client must have a user")?;
    require(raw.users as usize <= COUNT_MAX, name, "users must be at most a million")?;
    let demands = [raw.blocks_milli, raw.messages_milli];
    require(
        demands.iter().all(|&demand| demand <= DEMAND_MILLI_MAX),
        name,
        "a transaction asks for at most 1000 of each",
    )?;
    require(demands != [0, 0], name, "a transaction must ask for blocks or send messages")?;
    require(raw.timeout_ps > 0, name, "blocks must have a timeout")?;
    require(raw.retries <= RETRIES_MAX, name, "retries must be at most 100")
}
