//! Nodes that exchange blocks and messages as datagrams, as the instances of a cluster database do:
//! the programs of the users of one node. Blocks and messages are served by the servers of
//! requests, one of each at a node.
//!
//! A transaction asks other nodes for blocks, then sends them messages, and waits for all of them.
//! Lost ones are asked for again; if all retries are lost, the transaction fails.

use super::requests::{Exchange, Job, PAUSE_AFTER_FAILURE, Queries, Source};
use super::{Drive, HostCalls, Message, Program, Tallies};
use std::collections::BTreeMap;
use std::sync::Arc;
use tailrace_transport::tcp::Failure;
use tailrace_units::{RandomStream, Span, Time, mix64};

#[cfg(test)]
mod tests;

const MILLI: u64 = 1_000;

/// The users of a node.
#[derive(Debug)]
pub struct BlockClientConfig {
    /// Other nodes.
    pub others: u32,
    /// The source of transactions.
    pub drive: Drive,
    /// The demand of each transaction.
    pub demand: Demand,
    /// A query without an answer for this long counts as lost.
    pub timeout: Span,
    /// Retries of a query, at most.
    pub retries: u32,
    /// Queries for blocks.
    pub blocks: QueryKeys,
    /// Messages.
    pub messages: QueryKeys,
    /// The random stream of each transaction.
    pub random: RandomStream,
}

/// The demand of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Thousandths of a block, on average: each transaction asks for this or the next whole number.
    pub blocks_milli: u64,
    /// The same of messages.
    pub messages_milli: u64,
    /// All blocks are asked for at once, and all messages are sent at once; otherwise one after the
    /// other.
    pub is_parallel: bool,
}

/// Sizes of queries of one sort, and the keys of their sockets at both ends: of each user those to
/// all other nodes. Arrivals are one user.
#[derive(Debug)]
pub struct QueryKeys {
    /// Sizes.
    pub exchange: Arc<Exchange>,
    /// By user and other node.
    pub keys: Vec<u64>,
}

/// The purpose of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    Block,
    Message,
}

/// A transaction that has begun.
#[derive(Debug)]
struct Transaction {
    number: u64,
    job: Job,
    blocks_left: u32,
    messages_left: u32,
    /// Answers that it waits for, and since when.
    awaited: u32,
    asked: Time,
    random: RandomStream,
}

/// A program with the users of one node.
#[derive(Debug)]
pub struct BlockClient {
    others: u32,
    source: Source,
    demand: Demand,
    blocks: Queries,
    messages: Queries,
    /// Sockets of messages come behind those of blocks.
    first_message_socket: u32,
    /// By the order in which they began.
    running: BTreeMap<u64, Transaction>,
    begun: u64,
    key: u64,
    tallies: Tallies,
}

impl BlockClient {
    /// Before its first transaction.
    pub fn new(config: BlockClientConfig) -> BlockClient {
        let BlockClientConfig {
            others,
            drive,
            demand,
            timeout,
            retries,
            blocks,
            messages,
            mut random,
        } = config;
        let first_message_socket = blocks.keys.len() as u32;
        BlockClient {
            others,
            source: Source::new(drive, 1),
            demand,
            blocks: Queries::new(blocks.exchange, timeout, retries, 0, &blocks.keys),
            messages: Queries::new(
                messages.exchange,
                timeout,
                retries,
                first_message_socket,
                &messages.keys,
            ),
            first_message_socket,
            running: BTreeMap::new(),
            begun: 0,
            key: random.bits(),
            tallies: Tallies::default(),
        }
    }

    /// The random stream of a transaction depends only on its user and its number, so that every
    /// engine draws the same.
    fn random_of(&self, job: Job) -> RandomStream {
        let user = u64::from(self.source.user(job));
        RandomStream::new(mix64(mix64(self.key ^ user) ^ job.before), "")
    }

    fn begin(&mut self, now: Time, number: u64, job: Job, calls: &mut dyn HostCalls) {
        let mut random = self.random_of(job);
        let Demand { blocks_milli, messages_milli, .. } = self.demand;
        let [blocks_left, messages_left] =
            [blocks_milli, messages_milli].map(|milli| whole(milli, &mut random));
        let serial = self.begun;
        self.begun += 1;
        self.tallies.begun += 1;
        self.running.insert(
            serial,
            Transaction { number, job, blocks_left, messages_left, awaited: 0, asked: now, random },
        );
        // The last answer was for another transaction.
        let before = calls.follows(None);
        self.advance(now, serial, calls);
        calls.follows(before);
    }

    /// Sends the next queries of a transaction that waits for nothing.
    fn advance(&mut self, now: Time, serial: u64, calls: &mut dyn HostCalls) {
        let Some(transaction) = self.running.get_mut(&serial) else { return };
        let (queries, left) = match transaction {
            Transaction { blocks_left: 0, messages_left: 0, .. } => {
                return self.end(now, serial, true, calls);
            }
            Transaction { blocks_left: 0, messages_left, .. } => {
                (&mut self.messages, messages_left)
            }
            Transaction { blocks_left, .. } => (&mut self.blocks, blocks_left),
        };
        let asked = if self.demand.is_parallel { *left } else { 1 };
        *left -= asked;
        (transaction.awaited, transaction.asked) = (asked, now);
        for _ in 0..asked {
            let other = transaction.random.below(self.others.into()) as u32;
            queries.ask(now, transaction.job.user * self.others + other, serial, calls);
        }
    }

    /// A query of a transaction was answered, or never will be.
    fn count(
        &mut self,
        now: Time,
        (sort, serial, is_answered): (Sort, u64, bool),
        calls: &mut dyn HostCalls,
    ) {
        match sort {
            Sort::Block if is_answered => self.tallies.blocks += 1,
            Sort::Block => self.tallies.failed_blocks += 1,
            Sort::Message => self.tallies.messages += u64::from(is_answered),
        }
        // Of a transaction that has failed, further answers may come.
        let Some(transaction) = self.running.get_mut(&serial) else { return };
        if !is_answered {
            return self.end(now, serial, false, calls);
        }
        if sort == Sort::Block {
            calls.part_completed(transaction.asked);
        }
        transaction.awaited -= 1;
        if transaction.awaited == 0 {
            self.advance(now, serial, calls);
        }
    }

    fn end(&mut self, now: Time, serial: u64, is_complete: bool, calls: &mut dyn HostCalls) {
        let Some(Transaction { number, job, .. }) = self.running.remove(&serial) else { return };
        let user = self.source.user(job);
        let mut pause = PAUSE_AFTER_FAILURE;
        if is_complete {
            pause = Span::ZERO;
            self.tallies.answered += 1;
            calls.completed(user, job.intended);
        } else {
            self.tallies.failed += 1;
        }
        if self.source.ended(now, number, job, pause) {
            calls.finished(user);
        }
    }

    fn poll_done(&mut self) -> Option<(Sort, u64, bool)> {
        let of_blocks =
            self.blocks.poll_done().map(|(serial, is_answered)| (Sort::Block, serial, is_answered));
        of_blocks.or_else(|| {
            self.messages
                .poll_done()
                .map(|(serial, is_answered)| (Sort::Message, serial, is_answered))
        })
    }

    /// Goes on with all transactions that can, and begins those that are due.
    fn settle(&mut self, now: Time, calls: &mut dyn HostCalls) {
        loop {
            if let Some(done) = self.poll_done() {
                self.count(now, done, calls);
            } else if let Some((number, job)) = self.source.poll_due(now) {
                self.begin(now, number, job, calls);
            } else {
                break;
            }
        }
        if self.running.is_empty() && self.source.is_used_up() {
            calls.finished(0);
        }
    }
}

/// This many thousandths as a whole number, on average.
fn whole(milli: u64, random: &mut RandomStream) -> u32 {
    let (whole, rest) = (milli / MILLI, milli % MILLI);
    whole as u32 + u32::from(rest > 0 && random.below(MILLI) < rest)
}

impl Program for BlockClient {
    fn poll_timeout(&self) -> Time {
        self.source.poll_timeout().min(self.blocks.poll_timeout()).min(self.messages.poll_timeout())
    }
    fn running(&self, each: &mut dyn FnMut(u32, Time)) {
        self.running.values().for_each(|transaction| {
            each(self.source.user(transaction.job), transaction.job.intended)
        });
    }
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        self.blocks.handle_timeout(now, calls);
        self.messages.handle_timeout(now, calls);
        self.settle(now, calls);
    }
    fn handle_datagram(&mut self, now: Time, message: Message, calls: &mut dyn HostCalls) {
        let queries = if message.socket < self.first_message_socket {
            &mut self.blocks
        } else {
            &mut self.messages
        };
        queries.handle_datagram(message);
        self.settle(now, calls);
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("users of a node ask for no core");
    }
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("nodes open no connection");
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {
        unreachable!("nodes do not listen");
    }
    fn handle_readable(&mut self, _: Time, _: u32, _: u64, _: &mut dyn HostCalls) {
        unreachable!("nodes have no connection");
    }
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("nodes have no connection");
    }
    fn handle_failed(&mut self, _: Time, _: u32, _: Failure, _: &mut dyn HostCalls) {
        unreachable!("nodes have no connection");
    }
    fn tallies(&self) -> Tallies {
        let [blocks, messages] =
            [&self.blocks, &self.messages].map(|queries| queries.tallies.lost_queries);
        Tallies { lost_queries: blocks + messages, lost_blocks: blocks, ..self.tallies }
    }
}
