//! Requests and responses: the programs of clients and of servers, with their random streams.

use crate::pairs::{self, Pair};
use crate::{Engine, Kind, WorkloadContext, WorkloadProgram, WorkloadRecord, driving};
use std::ops::Range;
use std::sync::Arc;
use tailrace_plan::{MessageSizes, RawObserve, Requests, Serving, Stage};
use tailrace_programs::{
    ClientConfig, Exchange, Peer, Program, RequestClient, RequestServer, ServerConfig,
    ServicePolicy, StageConfig, Transport,
};
use tailrace_units::Span;

/// Least payload of a datagram: the number of its query stands there.
const NUMBER_BYTES: u64 = 8;

impl Kind for Requests {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        driving::record(observe, self.raw.users, self.raw.requests, self.clients.len())
    }

    fn programs(&self) -> usize {
        self.clients.len()
            + self.servers.len()
            + self.stages.iter().map(|stage| stage.servers.len()).sum::<usize>()
    }

    /// Both ends of a connection draw sizes alike, and a server learns of it from its first
    /// segment.
    fn is_local(&self) -> bool {
        true
    }

    /// Calls go over TCP, whatever the requests.
    fn opening_hosts(&self) -> Vec<usize> {
        let mut hosts: Vec<usize> =
            self.stages.iter().flat_map(|stage| &stage.servers).copied().collect();
        if !self.raw.is_udp {
            hosts.extend(&self.clients);
        }
        if !self.raw.is_udp || !self.stages.is_empty() {
            hosts.extend(&self.servers);
        }
        hosts
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let parts = Parts { requests: self, context, port: context.header.port };
        for (number, stage) in (0..).zip(&self.stages) {
            for &host in &stage.servers {
                parts.start(
                    engine,
                    host,
                    Some(parts.stage_port(number)),
                    Box::new(parts.asked_server(number, stage, host)),
                );
            }
        }
        let exchange = parts.exchange(&self.sizes, "sizes");
        let port = (!self.raw.is_udp).then_some(parts.port);
        let servers: Vec<u32> = (0..)
            .zip(&self.servers)
            .map(|(number, &host)| {
                parts.start(engine, host, port, Box::new(parts.server(number, host, &exchange)))
            })
            .collect();
        for (number, &host) in (0..).zip(&self.clients) {
            let client = parts.client(number, host, &exchange);
            let counts_goodput = true;
            let (workload, program) = (context.number, Box::new(client));
            let client = engine.start(WorkloadProgram {
                workload,
                host: host as u32,
                program,
                counts_goodput,
                port: None,
                finishes: parts.driven().finishes(number),
            });
            parts.pair(engine, number, client, &servers);
        }
    }
}

/// A workload, as its programs are put together.
struct Parts<'a> {
    requests: &'a Requests,
    context: &'a WorkloadContext<'a>,
    /// The port of the servers that clients ask; those that servers ask follow.
    port: u16,
}

impl Parts<'_> {
    fn start(
        &self,
        engine: &mut dyn Engine,
        host: usize,
        port: Option<u16>,
        program: Box<dyn Program>,
    ) -> u32 {
        let workload = self.context.number;
        engine.start(WorkloadProgram {
            workload,
            host: host as u32,
            program,
            counts_goodput: false,
            port,
            finishes: 0,
        })
    }

    fn stage_port(&self, stage: u16) -> u16 {
        self.port + 1 + stage
    }

    fn exchange(&self, sizes: &MessageSizes, name: &str) -> Arc<Exchange> {
        let bytes = if self.requests.raw.is_udp {
            NUMBER_BYTES..=self.requests.payload_max.into()
        } else {
            1..=u64::MAX
        };
        Arc::new(Exchange::new(
            sizes.request.clone(),
            sizes.response.clone(),
            bytes,
            self.context.random(name),
        ))
    }

    /// The sizes of requests between servers, which always go over TCP.
    fn stage_exchange(&self, number: u16, sizes: &MessageSizes) -> Arc<Exchange> {
        let random = self.context.random(&format!("stage{number}/sizes"));
        Arc::new(Exchange::new(sizes.request.clone(), sizes.response.clone(), 1..=u64::MAX, random))
    }

    fn asked_server(&self, number: u16, stage: &Stage, host: usize) -> RequestServer {
        RequestServer::new(ServerConfig {
            host: host as u16,
            port: Some(self.stage_port(number)),
            keys: Vec::new(),
            exchange: self.stage_exchange(number, &stage.sizes),
            policy: policy(&stage.service),
            closes: false,
            random: self.context.random(&format!("stage{number}/{host}/server")),
            stages: self.stages(stage.calls.clone()),
        })
    }

    /// The requests of one server to others: this part of all stages.
    fn stages(&self, range: Range<usize>) -> Vec<StageConfig> {
        let numbered = (0_u16..).zip(&self.requests.stages).skip(range.start).take(range.len());
        let config = |(number, stage): (u16, &Stage)| StageConfig {
            peers: stage
                .servers
                .iter()
                .map(|&host| Peer { host: host as u16, port: self.stage_port(number) })
                .collect(),
            exchange: self.stage_exchange(number, &stage.sizes),
            count: stage.count,
            is_parallel: stage.is_parallel,
            awaited: stage.awaited,
        };
        numbered.map(config).collect()
    }

    fn server(&self, number: u32, host: usize, exchange: &Arc<Exchange>) -> RequestServer {
        let Requests { raw, first_stages, service, .. } = self.requests;
        RequestServer::new(ServerConfig {
            host: host as u16,
            port: (!raw.is_udp).then_some(self.port),
            keys: self.pairs().filter(|pair| pair.server == number).map(Pair::key).collect(),
            exchange: Arc::clone(exchange),
            policy: policy(service),
            closes: !raw.is_kept,
            random: self.context.random(&format!("{number}/server")),
            stages: self.stages(0..*first_stages),
        })
    }

    fn client(&self, number: u32, host: usize, exchange: &Arc<Exchange>) -> RequestClient {
        let Requests { raw, servers, .. } = self.requests;
        let transport = if raw.is_udp {
            let keys = self.pairs().filter(|pair| pair.client == number).map(Pair::key).collect();
            Transport::Udp { timeout: Span::from_ps(raw.timeout_ps), retries: raw.retries, keys }
        } else {
            let (timeout, retries) = (Span::from_ps(raw.timeout_ps), raw.retries);
            Transport::Tcp {
                is_kept: raw.is_kept,
                depth: raw.pipeline,
                limit: raw.connections,
                timeout,
                retries,
            }
        };
        RequestClient::new(ClientConfig {
            host: host as u16,
            servers: servers
                .iter()
                .map(|&host| Peer { host: host as u16, port: self.port })
                .collect(),
            exchange: Arc::clone(exchange),
            transport,
            drive: self.driven().drive(self.context, number, |user| self.home_of(user)),
            choice: (raw.is_random && servers.len() > 1)
                .then(|| self.context.random(&format!("{number}/balance"))),
        })
    }

    fn driven(&self) -> driving::Driven<'_> {
        let Requests { raw, clients, gap, arrivals, .. } = self.requests;
        let arrivals = arrivals.as_ref();
        driving::Driven {
            users: raw.users,
            clients: clients.len(),
            count: raw.requests,
            gap,
            arrivals,
            spikes: &raw.spikes,
        }
    }

    /// The server of a user that stays with one. Users of one client take servers in turn, as users
    /// of different clients do.
    fn home_of(&self, user: u32) -> u32 {
        user % self.requests.servers.len() as u32
    }

    /// All pairs of sockets for datagrams: of each client in the order in which it numbers them.
    fn pairs(&self) -> impl Iterator<Item = Pair> {
        let Requests { raw, clients, servers, .. } = self.requests;
        let servers = servers.len() as u32;
        let is_drawn = raw.is_random && servers > 1;
        let of_client = move |client: u32| {
            let mut pairs = Vec::new();
            if !raw.is_udp {
                return pairs;
            }
            if raw.users == 0 {
                (0..servers).for_each(|server| {
                    pairs.extend((0..raw.connections).map(|turn| Pair { client, server, turn }))
                });
            }
            for user in self.driven().users_of(client) {
                let asked =
                    if is_drawn { 0..servers } else { self.home_of(user)..self.home_of(user) + 1 };
                pairs.extend(asked.map(|server| Pair { client, server, turn: user }));
            }
            pairs
        };
        (0..clients.len() as u32).flat_map(of_client)
    }

    fn pair(&self, engine: &mut dyn Engine, client: u32, program: u32, servers: &[u32]) {
        let Requests { clients, servers: hosts, .. } = self.requests;
        let pairs = self.pairs().filter(|pair| pair.client == client);
        pairs::connect(engine, self.context.number, pairs, (clients, hosts), (program, servers));
    }
}

pub(crate) fn policy(service: &Serving) -> ServicePolicy {
    ServicePolicy {
        work: service.work.clone(),
        time: service.time.clone(),
        concurrency: service.concurrency,
    }
}
