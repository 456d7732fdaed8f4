//! Blocks and messages between nodes: the programs of the users of each node, what sends blocks and
//! what answers messages, with their random streams.

use crate::pairs::{self, Pair};
use crate::{Engine, Kind, WorkloadContext, WorkloadProgram, WorkloadRecord, driving};
use std::sync::Arc;
use tailrace_plan::{Blocks, MessageSizes, RawObserve, Serving};
use tailrace_programs::{
    BlockClient, BlockClientConfig, Demand, Exchange, Program, QueryKeys, RequestServer,
    ServerConfig,
};
use tailrace_units::Span;

/// Least payload of a datagram: the number of its query stands there.
const NUMBER_BYTES: u64 = 8;

impl Kind for Blocks {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        driving::record(observe, self.raw.users, self.raw.transactions, self.clients.len())
    }

    fn programs(&self) -> usize {
        self.clients.len() + Sort::ALL.len() * self.nodes.len()
    }

    fn tells_blocks(&self) -> bool {
        true
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let parts = Parts { blocks: self, context };
        let exchanges = Sort::ALL.map(|sort| parts.exchange(sort));
        let servers =
            Sort::ALL.map(|sort| parts.start_servers(engine, sort, &exchanges[sort as usize]));
        for (number, &host) in (0..).zip(&self.clients) {
            let finishes = parts.driven().finishes(number);
            let client = parts.start(
                engine,
                host,
                Box::new(parts.client(number, &exchanges)),
                finishes,
                true,
            );
            for sort in Sort::ALL {
                parts.pair(engine, number, client, &servers[sort as usize]);
            }
        }
    }
}

/// The purpose of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Block,
    Message,
}

impl Sort {
    const ALL: [Sort; 2] = [Sort::Block, Sort::Message];

    fn name(self) -> &'static str {
        match self {
            Sort::Block => "blocks",
            Sort::Message => "messages",
        }
    }
}

/// A workload, as its programs are put together.
struct Parts<'a> {
    blocks: &'a Blocks,
    context: &'a WorkloadContext<'a>,
}

impl Parts<'_> {
    fn start(
        &self,
        engine: &mut dyn Engine,
        host: usize,
        program: Box<dyn Program>,
        finishes: u64,
        counts_goodput: bool,
    ) -> u32 {
        let (workload, host) = (self.context.number, host as u32);
        engine.start(WorkloadProgram {
            workload,
            host,
            program,
            counts_goodput,
            port: None,
            finishes,
        })
    }

    fn sizes(&self, sort: Sort) -> (&MessageSizes, &Serving) {
        match sort {
            Sort::Block => (&self.blocks.block_sizes, &self.blocks.block_service),
            Sort::Message => (&self.blocks.message_sizes, &self.blocks.message_service),
        }
    }

    fn exchange(&self, sort: Sort) -> Arc<Exchange> {
        let (MessageSizes { request, response }, _) = self.sizes(sort);
        let bytes = NUMBER_BYTES..=self.blocks.payload_max.into();
        Arc::new(Exchange::new(
            request.clone(),
            response.clone(),
            bytes,
            self.context.random(sort.name()),
        ))
    }

    /// Starts the servers that answer queries of one sort, at each node.
    fn start_servers(
        &self,
        engine: &mut dyn Engine,
        sort: Sort,
        exchange: &Arc<Exchange>,
    ) -> Vec<u32> {
        let mut servers = Vec::new();
        for (number, &host) in (0..).zip(&self.blocks.nodes) {
            let server = RequestServer::new(ServerConfig {
                host: host as u16,
                port: None,
                keys: self.pairs().filter(|pair| pair.server == number).map(Pair::key).collect(),
                exchange: Arc::clone(exchange),
                policy: crate::requests::policy(self.sizes(sort).1),
                closes: false,
                random: self.context.random(&format!("{number}/{}", sort.name())),
                stages: Vec::new(),
            });
            servers.push(self.start(engine, host, Box::new(server), 0, false));
        }
        servers
    }

    fn client(&self, number: u32, exchanges: &[Arc<Exchange>; 2]) -> BlockClient {
        let raw = &self.blocks.raw;
        let [blocks, messages] = exchanges.each_ref().map(|exchange| QueryKeys {
            exchange: Arc::clone(exchange),
            keys: self.pairs().filter(|pair| pair.client == number).map(Pair::key).collect(),
        });
        BlockClient::new(BlockClientConfig {
            others: self.blocks.nodes.len() as u32 - 1,
            drive: self.driven().drive(self.context, number, |_| 0),
            demand: Demand {
                blocks_milli: raw.blocks_milli,
                messages_milli: raw.messages_milli,
                is_parallel: raw.is_parallel,
            },
            timeout: Span::from_ps(raw.timeout_ps),
            retries: raw.retries,
            blocks,
            messages,
            random: self.context.random("transactions"),
        })
    }

    fn driven(&self) -> driving::Driven<'_> {
        let Blocks { raw, clients, gap, arrivals, .. } = self.blocks;
        let arrivals = arrivals.as_ref();
        driving::Driven {
            users: raw.users,
            clients: clients.len(),
            count: raw.transactions,
            gap,
            arrivals,
            spikes: &raw.spikes,
        }
    }

    /// All pairs of sockets of one sort: of each client in the order in which it numbers them, by
    /// user and other node.
    fn pairs(&self) -> impl Iterator<Item = Pair> {
        let Blocks { raw, clients, nodes, .. } = self.blocks;
        let driven = self.driven();
        let of_client = move |client: u32| {
            let home = clients[client as usize];
            // Arrivals share the sockets of one user.
            let users: Vec<u32> =
                if raw.users == 0 { vec![0] } else { driven.users_of(client).collect() };
            let others = move |turn| {
                let others = (0_u32..).zip(nodes).filter(move |&(_, &host)| host != home);
                others.map(move |(server, _)| Pair { client, server, turn })
            };
            users.into_iter().flat_map(others)
        };
        (0..clients.len() as u32).flat_map(of_client)
    }

    fn pair(&self, engine: &mut dyn Engine, client: u32, program: u32, servers: &[u32]) {
        let Blocks { clients, nodes, .. } = self.blocks;
        let pairs = self.pairs().filter(|pair| pair.client == client);
        pairs::connect(engine, self.context.number, pairs, (clients, nodes), (program, servers));
    }
}
