//! One end of a connection: its program, and the link between that and its socket.

use crate::counters::Counters;
use crate::flows::Flow;
use crate::limits::LimitClock;
use crate::record::{Recorder, Sample, Transaction};
use crate::sockets::{Route, Sockets};
use crate::waiter::Waiter;
use std::io;
use tailrace_host::Cores;
use tailrace_programs::{App, SocketCalls, WorkCalls};
use tailrace_units::{Span, Time};

/// One end of a connection.
pub struct End {
    pub app: App,
    pub link: Link,
}

/// The link between a program and its socket.
pub struct Link {
    pub workload: u32,
    pub user: u32,
    /// 0 at the client, 1 at the server.
    pub side: u8,
    pub route: Route,
    pub counts_goodput: bool,
    /// The flow that it is an end of, if it does not last as long as the trial.
    pub flow: Option<Flow>,
    pub is_open: bool,
    /// When its program is due, as noted by the host.
    pub due: Time,
    /// Written by the program, without room in the socket.
    unsent: u64,
    /// The program reads itself.
    pub reads_late: bool,
    /// Bytes that have arrived and were not read, as far as the program knows.
    pub noticed: u64,
    pub received: u64,
    /// First byte of the answer or flow that is on its way.
    pub first_byte: Option<Time>,
    failure: Option<io::Error>,
    /// The samples of its limits.
    pub clock: LimitClock,
}

impl Link {
    pub fn new(workload: u32, user: u32, side: u8, route: Route, counts_goodput: bool) -> Link {
        Link {
            workload,
            user,
            side,
            route,
            counts_goodput,
            flow: None,
            is_open: false,
            due: Time::NEVER,
            unsent: 0,
            reads_late: false,
            noticed: 0,
            received: 0,
            first_byte: None,
            failure: None,
            clock: LimitClock::default(),
        }
    }

    /// The counters of its connection by `at`.
    pub fn sample(&mut self, at: Time, mut counters: Counters) -> Sample {
        self.clock.sample(at, &counters);
        self.clock.add_to(&mut counters);
        let port = if self.side == 0 { self.route.own.port() } else { self.route.peer.port() };
        let Link { workload, user, side, received, .. } = *self;
        Sample { at, workload, user, side, port, received, counters }
    }

    /// The same as an end of a flow.
    pub fn of_flow(flow: Flow, side: u8, route: Route) -> Link {
        Link { flow: Some(flow), ..Link::new(flow.workload, u32::MAX, side, route, side == 1) }
    }
}

/// The calls of a program, at one moment.
pub struct Calls<'a, S: Sockets> {
    pub number: u32,
    pub now: Time,
    pub link: &'a mut Link,
    pub sockets: &'a mut S,
    pub cores: &'a mut Cores<Waiter>,
    pub record: &'a mut Recorder,
    /// The program has nothing more to do.
    pub has_finished: bool,
}

impl<S: Sockets> Calls<'_, S> {
    /// Writes what there is room for.
    pub fn flush(&mut self) {
        if self.link.unsent == 0 || !self.link.is_open {
            return;
        }
        let written = self.sockets.write(self.number, self.link.unsent);
        self.link.unsent -= self.checked(written).unwrap_or(0);
    }

    /// The error that stopped the socket, if any.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.link.failure.take()
    }

    fn checked<T>(&mut self, result: io::Result<T>) -> Option<T> {
        result.map_err(|error| self.link.failure.get_or_insert(error).kind()).ok()
    }
}

impl<S: Sockets> SocketCalls for Calls<'_, S> {
    fn connect(&mut self) {
        let result = self.sockets.connect(self.number, &self.link.route);
        self.checked(result);
    }
    fn write(&mut self, bytes: u64) {
        self.link.unsent += bytes;
        self.flush();
    }
    fn leave_unread(&mut self) {
        self.link.reads_late = true;
    }
    fn read(&mut self, bytes: u64) {
        let mut left = bytes;
        while left > 0 {
            let read = self.sockets.read(self.number, left);
            // They have arrived: less can be read of a broken connection only.
            let Some(read) = self.checked(read).filter(|read| read.bytes > 0) else { return };
            left -= read.bytes;
        }
        self.link.noticed -= bytes;
    }
    fn ask_core(&mut self) -> bool {
        self.cores.ask(Waiter::End(self.number))
    }
}

impl<S: Sockets> WorkCalls for Calls<'_, S> {
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
        self.record.transaction(&Transaction {
            workload: self.link.workload,
            user,
            intended,
            first_byte: self.link.first_byte.take().unwrap_or(self.now),
            end: self.now,
            flow: self.link.flow.map(|flow| (flow.ends, flow.bytes)),
        });
    }
    fn finished(&mut self, user: u32) {
        self.record.finished(self.link.workload, user, self.now);
        self.has_finished = true;
    }
}
