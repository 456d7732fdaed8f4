//! Programs that own several sockets, over sockets of a system: their state and their calls.

use crate::duty::Routes;
use crate::end::End;
use crate::limits::LimitClock;
use crate::record::{Recorder, Sample, Transaction};
use crate::sockets::{Route, Sockets};
use crate::waiter::Waiter;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddrV4;
use tailrace_host::Cores;
use tailrace_programs::{Ends, HostCalls, Message, Peer, Program, WorkCalls};
use tailrace_units::{Span, Time};

/// Bytes of a datagram's payload that hold its number, the lowest first.
pub const NUMBER_BYTES: usize = 8;

/// A program with what belongs to it.
pub struct Hosted {
    pub program: Box<dyn Program>,
    pub own: Owned,
}

/// State of a program.
pub struct Owned {
    pub workload: u32,
    pub counts_goodput: bool,
    /// The port of the plan at which it listens, and its address.
    pub port: Option<(u16, SocketAddrV4)>,
    /// When the program is due, as noted by the host.
    pub due: Time,
    /// Connections that it has not accepted.
    pub waiting: VecDeque<u32>,
    /// Connections that it has accepted during a call.
    pub accepted: VecDeque<u32>,
    /// By number of the socket.
    pub connections: BTreeMap<u32, Connection>,
    /// Sockets for datagrams, in the order in which it numbers them.
    pub datagrams: Vec<u32>,
}

/// A connection of a program.
pub struct Connection {
    pub ends: Ends,
    /// 0 where the program has opened it.
    pub side: u8,
    pub is_open: bool,
    /// The program has closed it: it ends when all is written.
    pub is_closed: bool,
    unsent: u64,
    pub received: u64,
    /// A write has failed.
    pub is_broken: bool,
    /// The samples of its limits.
    clock: LimitClock,
}

impl Connection {
    pub fn new(ends: Ends, side: u8) -> Connection {
        let (is_open, is_closed, is_broken) = (side == 1, false, false);
        Connection {
            ends,
            side,
            is_open,
            is_closed,
            unsent: 0,
            received: 0,
            is_broken,
            clock: LimitClock::default(),
        }
    }

    /// Its counters by now.
    fn sample<S: Sockets>(
        &mut self,
        now: Time,
        workload: u32,
        number: u32,
        sockets: &mut S,
    ) -> Option<Sample> {
        let port = if self.side == 0 { self.ends.own_port } else { self.ends.peer.port };
        let (user, mut counters) = (self.ends.peer.host.into(), sockets.counters(number)?);
        self.clock.sample(now, &counters);
        self.clock.add_to(&mut counters);
        Some(Sample {
            at: now,
            workload,
            user,
            side: self.side,
            port,
            received: self.received,
            counters,
        })
    }
}

impl Owned {
    /// Notes what each open connection has counted.
    pub fn read_counters<S: Sockets>(&mut self, now: Time, sockets: &mut S, record: &mut Recorder) {
        let workload = self.workload;
        for (&number, connection) in
            self.connections.iter_mut().filter(|(_, connection)| connection.is_open)
        {
            if let Some(sample) = connection.sample(now, workload, number, sockets) {
                record.sample(&sample);
            }
        }
    }
}

impl Owned {
    /// Samples the limits of each open connection.
    pub fn sample_limits<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        for (&number, connection) in
            self.connections.iter_mut().filter(|(_, connection)| connection.is_open)
        {
            if let Some(counters) = sockets.counters(number) {
                connection.clock.sample(now, &counters);
            }
        }
    }
}

/// Numbers of sockets, and whose they are.
#[derive(Default)]
pub struct Numbers {
    /// By number of the socket: the program, and its own number of a socket for datagrams.
    pub owners: BTreeMap<u32, (u32, Option<u32>)>,
}

/// The calls of a program, at one moment.
pub struct ProgramCalls<'a, S: Sockets> {
    pub program: u32,
    pub host: u32,
    pub now: Time,
    pub own: &'a mut Owned,
    pub numbers: &'a mut Numbers,
    pub ends: &'a mut Vec<Option<Box<End>>>,
    pub free: &'a mut Vec<u32>,
    pub routes: &'a mut Routes,
    pub sockets: &'a mut S,
    pub cores: &'a mut Cores<Waiter>,
    pub record: &'a mut Recorder,
    pub payload: &'a mut Vec<u8>,
    /// How often it has reported a completion.
    pub finished: u64,
}

impl<S: Sockets> ProgramCalls<'_, S> {
    /// A connection that a peer has opened.
    pub fn adopt(&mut self, accepted: S::Accepted, ends: Ends, route: Route) -> io::Result<()> {
        let number = self.reserve();
        self.sockets.adopt(number, accepted, &route).inspect_err(|_| self.free.push(number))?;
        self.keep(number, Connection::new(ends, 1));
        self.own.waiting.push_back(number);
        Ok(())
    }

    /// Writes what there is room for, and closes a connection behind its last byte.
    pub fn flush(&mut self, number: u32) {
        let Some(connection) =
            self.own.connections.get_mut(&number).filter(|connection| connection.is_open)
        else {
            return;
        };
        if connection.unsent > 0 {
            match self.sockets.write(number, connection.unsent) {
                Ok(written) => connection.unsent -= written,
                Err(_) => connection.is_broken = true,
            }
        }
        if connection.is_closed && (connection.unsent == 0 || connection.is_broken) {
            self.release(number);
        }
    }

    /// Gives a socket back.
    pub fn release(&mut self, number: u32) {
        let Some(mut connection) = self.own.connections.remove(&number) else { return };
        if connection.is_open
            && let Some(sample) =
                connection.sample(self.now, self.own.workload, number, self.sockets)
        {
            self.record.sample(&sample);
        }
        self.sockets.close(number);
        self.numbers.owners.remove(&number);
        self.free.push(number);
        if connection.side == 0 {
            self.routes.give_back(self.host, connection.ends.own_port);
        }
    }

    fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.ends.push(None);
            self.ends.len() as u32 - 1
        })
    }

    fn keep(&mut self, number: u32, connection: Connection) {
        self.numbers.owners.insert(number, (self.program, None));
        self.own.connections.insert(number, connection);
    }
}

impl<S: Sockets> WorkCalls for ProgramCalls<'_, S> {
    fn compute(&mut self, work: Span) -> Time {
        self.cores.busy += work;
        self.now + work
    }
    fn keeps_core(&mut self, used: Span) -> bool {
        self.cores.goes_on(used)
    }
    fn leave_core(&mut self) {
        self.cores.leave();
    }
    fn completed(&mut self, user: u32, intended: Time) {
        let (workload, first_byte, end) = (self.own.workload, self.now, self.now);
        self.record.transaction(&Transaction {
            workload,
            user,
            intended,
            first_byte,
            end,
            flow: None,
        });
    }
    fn finished(&mut self, user: u32) {
        self.record.finished(self.own.workload, user, self.now);
        self.finished += 1;
    }
}

impl<S: Sockets> HostCalls for ProgramCalls<'_, S> {
    /// The host has opened the listener before time zero.
    fn listen(&mut self, port: u16, _: u32) -> bool {
        self.own.port.is_some_and(|own| own.0 == port)
    }
    fn accept(&mut self, _: u16) -> Option<u32> {
        let number = self.own.waiting.pop_front()?;
        self.own.accepted.push_back(number);
        Some(number)
    }
    fn connect(&mut self, peer: Peer) -> Option<u32> {
        let (route, own_port) = self.routes.open_to(self.own.workload, self.host, peer);
        let number = self.reserve();
        if self.sockets.connect(number, &route).is_err() {
            self.free.push(number);
            self.routes.give_back(self.host, own_port);
            return None;
        }
        self.keep(number, Connection::new(Ends { peer, own_port }, 0));
        Some(number)
    }
    fn write(&mut self, socket: u32, bytes: u64) {
        if let Some(connection) = self.own.connections.get_mut(&socket) {
            connection.unsent += bytes;
        }
        self.flush(socket);
    }
    fn leave_unread(&mut self, _: u32) {
        unreachable!("programs of workloads read what comes");
    }
    fn keep_alive(&mut self, _: u32) {
        unreachable!("programs of workloads do not ask");
    }
    fn read(&mut self, _: u32, _: u64) {
        unreachable!("programs of workloads read what comes");
    }
    fn shut_down(&mut self, _: u32) {
        unreachable!("programs of workloads close");
    }
    fn close(&mut self, socket: u32) {
        let Some(connection) = self.own.connections.get_mut(&socket) else { return };
        connection.is_closed = true;
        if connection.is_open { self.flush(socket) } else { self.release(socket) }
    }
    fn ends(&self, socket: u32) -> Ends {
        self.own.connections[&socket].ends
    }
    fn part_completed(&mut self, since: Time) {
        self.record.part(self.own.workload, since, self.now);
    }
    fn send_datagram(&mut self, message: Message) {
        let bytes = message.bytes as usize;
        self.payload.clear();
        self.payload.resize(bytes.max(NUMBER_BYTES), 0);
        self.payload[..NUMBER_BYTES].copy_from_slice(&message.number.to_le_bytes());
        let sent =
            self.sockets.send(self.own.datagrams[message.socket as usize], &self.payload[..bytes]);
        self.record.unsent_datagrams += u64::from(!matches!(sent, Ok(true)));
    }
    fn ask_core(&mut self, thread: u32) -> bool {
        self.cores.ask(Waiter::Thread { program: self.program, thread })
    }
}
