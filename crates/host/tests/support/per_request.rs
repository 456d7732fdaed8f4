//! Two programs for tests: a client that opens a connection for each request, several at a time,
//! and a server that accepts them. Each request takes a core of the server and each response one of
//! the client.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::RwLock;

use tailrace_programs::{HostCalls, Peer, Program};
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};

pub const PORT: u16 = 8_080;
/// More than wait in any test that does not ask for another.
pub const BACKLOG: u32 = 128;
pub const REQUEST_BYTES: u64 = 200;
pub const RESPONSE_BYTES: u64 = 20_000;
/// Of a core, on either side.
pub const WORK: Span = Span::from_us(100);

/// Observations of a program.
#[derive(Default, Debug)]
pub struct Log {
    /// Requests answered, or responses worked on.
    pub done: u64,
    /// How connections were lost.
    pub failures: Vec<Failure>,
    /// Connections for which no port was free.
    pub without_port: u64,
    /// Times that all cores were busy.
    pub waited: u64,
    /// Sockets used at the same time, at most.
    pub open_most: usize,
}

pub type Shared = Arc<RwLock<Log>>;

/// A thread for each request, with a number of its own: a socket may be closed, and its number used
/// again, while a thread works.
#[derive(Default)]
struct Threads {
    next: u32,
    /// Socket and begin of the request, by thread.
    of: BTreeMap<u32, (u32, Time)>,
    running: BTreeSet<(Time, u32)>,
}

impl Threads {
    fn ask(&mut self, socket: u32, began: Time, log: &Shared, calls: &mut dyn HostCalls) {
        let thread = self.next;
        self.next += 1;
        self.of.insert(thread, (socket, began));
        if calls.ask_core(thread) {
            self.begin(thread, calls);
        } else {
            log.write().expect("nothing panics with it").waited += 1;
        }
    }
    fn begin(&mut self, thread: u32, calls: &mut dyn HostCalls) {
        self.running.insert((calls.compute(WORK), thread));
    }
    fn poll_timeout(&self) -> Time {
        self.running.first().map_or(Time::NEVER, |&(at, _)| at)
    }
    /// Socket and begin of a request on which the work is done by now, unless the connection was
    /// lost meanwhile.
    fn poll_done(&mut self, now: Time, calls: &mut dyn HostCalls) -> Option<Option<(u32, Time)>> {
        let &(at, thread) = self.running.first().filter(|(at, _)| *at <= now)?;
        self.running.remove(&(at, thread));
        calls.leave_core();
        Some(self.of.remove(&thread))
    }
    /// The work of a thread is done, on a host whose processor decides when.
    fn end(&mut self, now: Time, thread: u32) {
        self.running.remove(&(Time::NEVER, thread));
        self.running.insert((now, thread));
    }
    /// The socket is gone: the work goes on for nothing.
    fn forget(&mut self, socket: u32) {
        self.of.retain(|_, (of, _)| *of != socket);
    }
}

/// Opens connections.
pub struct Client {
    pub log: Shared,
    /// The host of the server.
    pub server: u16,
    pub port: u16,
    /// The number that its completions bear.
    pub user: u32,
    /// Requests that are still to be made.
    pub left: u64,
    /// Between the end of a request and the beginning of the next.
    pub pause: Span,
    /// Whether it closes its end when the response is whole; otherwise when the server has.
    pub closes_first: bool,
    /// When the next connections are opened.
    opens: Vec<Time>,
    /// When each request began, and the bytes of the response that are missing, by socket.
    open: BTreeMap<u32, (Time, u64)>,
    threads: Threads,
}

impl Client {
    pub fn new(
        log: &Shared,
        requests: u64,
        at_once: usize,
        pause: Span,
        closes_first: bool,
    ) -> Client {
        let (opens, open, threads) =
            (vec![Time::ZERO; at_once], BTreeMap::new(), Threads::default());
        Client {
            log: Arc::clone(log),
            server: 1,
            port: PORT,
            user: 0,
            left: requests,
            pause,
            closes_first,
            opens,
            open,
            threads,
        }
    }
    fn open_due(&mut self, now: Time, calls: &mut dyn HostCalls) {
        let due = self.opens.iter().filter(|at| **at <= now).count();
        self.opens.retain(|at| *at > now);
        for _ in 0..due {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match calls.connect(Peer { host: self.server, port: self.port }) {
                Some(socket) => {
                    calls.keep_alive(socket);
                    assert_eq!(
                        self.open.insert(socket, (now, RESPONSE_BYTES)),
                        None,
                        "a socket in use is not given again"
                    )
                }
                None => self.log.write().expect("nothing panics with it").without_port += 1,
            }
        }
        let mut log = self.log.write().expect("nothing panics with it");
        log.open_most = log.open_most.max(self.open.len());
    }
    fn end(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        calls.close(socket);
        self.open.remove(&socket);
        self.opens.push(now + self.pause);
    }
}

impl Program for Client {
    fn poll_timeout(&self) -> Time {
        let opens = if self.left == 0 { None } else { self.opens.iter().min().copied() };
        opens.unwrap_or(Time::NEVER).min(self.threads.poll_timeout())
    }
    fn running(&self, each: &mut dyn FnMut(u32, Time)) {
        self.open.values().for_each(|&(began, _)| each(self.user, began));
    }
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some(done) = self.threads.poll_done(now, calls) {
            let Some((socket, began)) = done else { continue };
            self.log.write().expect("nothing panics with it").done += 1;
            calls.completed(self.user, began);
            if self.closes_first {
                self.end(now, socket, calls);
            }
        }
        self.open_due(now, calls);
    }
    fn handle_core(&mut self, _: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.threads.begin(thread, calls);
    }
    fn handle_worked(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.threads.end(now, thread);
        self.handle_timeout(now, calls);
    }
    fn handle_connected(&mut self, _: Time, socket: u32, calls: &mut dyn HostCalls) {
        calls.leave_unread(socket);
        calls.write(socket, REQUEST_BYTES);
    }
    fn handle_readable(&mut self, _: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        calls.read(socket, bytes);
        let (began, missing) = self.open.get_mut(&socket).expect("a socket of this program");
        *missing -= bytes;
        if *missing == 0 {
            self.threads.ask(socket, *began, &self.log, calls);
        }
    }
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        assert_eq!(self.open[&socket].1, 0, "the end comes behind the response");
        if !self.closes_first {
            self.end(now, socket, calls);
        }
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {
        unreachable!("it does not listen");
    }
    fn handle_failed(&mut self, now: Time, socket: u32, why: Failure, _: &mut dyn HostCalls) {
        self.log.write().expect("nothing panics with it").failures.push(why);
        self.threads.forget(socket);
        self.open.remove(&socket);
        self.opens.push(now + self.pause);
    }
}

/// Accepts them.
pub struct Server {
    pub log: Shared,
    pub port: u16,
    pub backlog: u32,
    /// Connections that it has at the same time, at most: others wait to be accepted.
    pub accepts: usize,
    pub response_bytes: u64,
    pub closes_first: bool,
    is_listening: bool,
    /// Bytes of the request that are missing, by socket.
    open: BTreeMap<u32, u64>,
    threads: Threads,
}

impl Server {
    pub fn new(log: &Shared, closes_first: bool) -> Server {
        let (is_listening, open, threads) = (false, BTreeMap::new(), Threads::default());
        let (log, accepts, response_bytes) = (Arc::clone(log), usize::MAX, RESPONSE_BYTES);
        Server {
            log,
            port: PORT,
            backlog: BACKLOG,
            accepts,
            response_bytes,
            closes_first,
            is_listening,
            open,
            threads,
        }
    }
    fn end(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        calls.close(socket);
        self.threads.forget(socket);
        self.open.remove(&socket);
        self.accept(calls);
    }
    fn accept(&mut self, calls: &mut dyn HostCalls) {
        while self.open.len() < self.accepts
            && let Some(socket) = calls.accept(self.port)
        {
            calls.keep_alive(socket);
            assert_eq!(
                self.open.insert(socket, REQUEST_BYTES),
                None,
                "a socket in use is not given again"
            );
        }
        let mut log = self.log.write().expect("nothing panics with it");
        log.open_most = log.open_most.max(self.open.len());
    }
}

impl Program for Server {
    fn poll_timeout(&self) -> Time {
        if self.is_listening { self.threads.poll_timeout() } else { Time::ZERO }
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        if !self.is_listening {
            self.is_listening = calls.listen(self.port, self.backlog);
            assert!(
                self.is_listening && !calls.listen(self.port, self.backlog),
                "a port has one program"
            );
        }
        while let Some(done) = self.threads.poll_done(now, calls) {
            let Some((socket, _)) = done else { continue };
            self.log.write().expect("nothing panics with it").done += 1;
            calls.write(socket, self.response_bytes);
            if self.closes_first {
                self.end(socket, calls);
            }
        }
    }
    fn handle_core(&mut self, _: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.threads.begin(thread, calls);
    }
    fn handle_worked(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.threads.end(now, thread);
        self.handle_timeout(now, calls);
    }
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it opens no connections");
    }
    fn handle_waiting(&mut self, _: Time, port: u16, calls: &mut dyn HostCalls) {
        assert_eq!(port, self.port);
        self.accept(calls);
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        let missing = self.open.get_mut(&socket).expect("a socket of this program");
        *missing -= bytes;
        if *missing == 0 {
            self.threads.ask(socket, now, &self.log, calls);
        }
    }
    fn handle_ended(&mut self, _: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.end(socket, calls);
    }
    fn handle_failed(&mut self, _: Time, socket: u32, why: Failure, calls: &mut dyn HostCalls) {
        self.log.write().expect("nothing panics with it").failures.push(why);
        self.threads.forget(socket);
        self.open.remove(&socket);
        self.accept(calls);
    }
}
