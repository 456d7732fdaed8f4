//! Configuration of a server.

use crate::Peer;
use crate::requests::Exchange;
use std::sync::Arc;
use tailrace_units::{Distribution, RandomStream};

/// Configuration of a server.
#[derive(Debug)]
pub struct ServerConfig {
    /// Its host.
    pub host: u16,
    /// The port at which it listens; none where it is sent datagrams.
    pub port: Option<u16>,
    /// Keys by which both ends know each of its sockets for datagrams.
    pub keys: Vec<u64>,
    /// Sizes.
    pub exchange: Arc<Exchange>,
    /// Treatment of a request.
    pub policy: ServicePolicy,
    /// It closes a connection when it has written the response.
    pub closes: bool,
    /// The random stream of its times.
    pub random: RandomStream,
    /// Requests to other servers during a service, in order.
    pub stages: Vec<StageConfig>,
}

/// Treatment of a request.
#[derive(Clone, Debug)]
pub struct ServicePolicy {
    /// Picoseconds of a core.
    pub work: Distribution,
    /// Picoseconds after that, without a core.
    pub time: Distribution,
    /// Requests at the same time; 0 for no limit.
    pub concurrency: u32,
}

/// Requests to another server.
#[derive(Debug)]
pub struct StageConfig {
    /// Each of these is asked.
    pub peers: Vec<Peer>,
    /// Sizes.
    pub exchange: Arc<Exchange>,
    /// Requests to each of them.
    pub count: u32,
    /// All at once; otherwise one after the other.
    pub is_parallel: bool,
    /// Responses that are waited for.
    pub awaited: u32,
}
