//! The programs on the hosts: state machines that are handed the time and their inputs. Most work
//! over one socket each; one that opens and accepts connections itself is a [`Program`].

mod blocks;
pub mod cause;
#[cfg(test)]
mod fake_host;
mod frames;
mod mpi;
mod oltp;
mod program;
mod replay;
mod requests;
mod storage;
mod storage_done;
mod stream;
mod tallies;

pub use blocks::{BlockClient, BlockClientConfig, Demand, QueryKeys};
pub use frames::{FrameSink, FrameSource, FrameSourceConfig};
pub use mpi::{Costs as MpiCosts, EAGER_LIMIT, Job, Ledger, MpiConfig, MpiHost, Size, schedule};
pub use oltp::{GapFrom, OltpClient, OltpProfile, OltpServer, Statement};
pub use program::{Ends, HostCalls, Message, Peer, Program};
pub use replay::{ReplayClient, ReplayPace, ReplayServer, Replayed, ReplayedRequest};
pub use requests::{
    Arrivals, ArrivalsConfig, ClientConfig, Drive, Exchange, RequestClient, RequestServer,
    ServerConfig, ServicePolicy, Spike, StageConfig, Transport, User,
};
pub use storage::{
    Access, Command, Done, JobConfig, LocalPath, NetworkPath, NetworkPathConfig, Outcome, Pace,
    Path, PathWaits, Pattern, StorageClient, StorageClientConfig, StorageTarget,
    StorageTargetConfig, Wires, protocol as storage_protocol,
};
pub use storage_done::{StorageDone, Waits};
pub use stream::{Offer, StreamSink, StreamSource};
pub use tallies::Tallies;

use tailrace_units::{Span, Time};

/// Calls to the host, and reports of work, that every program may make.
pub trait WorkCalls {
    /// Works on the core that it has. Returns when the work will be done: [`Time::NEVER`] on a host
    /// whose processor decides that, which calls [`App::handle_worked`] or
    /// [`Program::handle_worked`] then. There the calls of this trait are about the thread that was
    /// notified last, a thread sleeps when it has no work, and is preempted where it must be, so
    /// that the next two calls do nothing.
    fn compute(&mut self, work: Span) -> Time;
    /// Whether the program may go on after it has had its core for this long: until its time slice
    /// is over, or nothing waits.
    fn keeps_core(&mut self, used: Span) -> bool;
    /// Gives the core to the program that has waited the longest.
    fn leave_core(&mut self);
    /// A transaction or flow that was meant to start at `intended` is complete. `user` counts
    /// within the workload.
    fn completed(&mut self, user: u32, intended: Time);
    /// This user, stream or flow has nothing more to do.
    fn finished(&mut self, user: u32);
}

/// Further calls of a program with one socket, all about that socket.
pub trait SocketCalls: WorkCalls {
    /// Opens the connection (client side).
    fn connect(&mut self);
    /// Hands bytes to the socket as one write.
    fn write(&mut self, bytes: u64);
    /// Arriving bytes stay in the receive buffer from now on until they are read.
    fn leave_unread(&mut self);
    /// Takes bytes that have arrived out of the receive buffer.
    fn read(&mut self, bytes: u64);
    /// Requests a core of the host. If none is free the program waits its turn, and
    /// [`App::handle_core`] is called when it has one.
    fn ask_core(&mut self) -> bool;
}

/// A program at one end of one connection.
#[derive(Debug)]
pub enum App {
    /// A user of a database.
    OltpClient(Box<OltpClient>),
    /// The database's side of the same connection.
    OltpServer(Box<OltpServer>),
    /// Repeats the requests of a recording.
    ReplayClient(Box<ReplayClient>),
    /// Answers as the recording did.
    ReplayServer(Box<ReplayServer>),
    /// Sends bytes.
    StreamSource(StreamSource),
    /// Receives them.
    StreamSink(StreamSink),
    /// One of several sockets of a [`Program`], by its number on the host, which calls it.
    Program(u32),
}

impl App {
    /// When this program wants to be called, or [`Time::NEVER`].
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        match self {
            App::OltpClient(client) => client.poll_timeout(),
            App::OltpServer(server) => server.poll_timeout(),
            App::ReplayClient(client) => client.poll_timeout(),
            App::ReplayServer(server) => server.poll_timeout(),
            App::StreamSource(source) => source.poll_timeout(),
            App::StreamSink(_) | App::Program(_) => Time::NEVER,
        }
    }

    /// Its deadline has come.
    pub fn handle_timeout(&mut self, now: Time, calls: &mut impl SocketCalls) {
        match self {
            App::OltpClient(client) => client.handle_timeout(now, calls),
            App::OltpServer(server) => server.handle_timeout(now, calls),
            App::ReplayClient(client) => client.handle_timeout(now, calls),
            App::ReplayServer(server) => server.handle_timeout(now, calls),
            App::StreamSource(source) => source.handle_timeout(now, calls),
            App::StreamSink(_) | App::Program(_) => {}
        }
    }

    /// The work that it began with [`WorkCalls::compute`] is done, on a host that decides when that
    /// is.
    pub fn handle_worked(&mut self, now: Time, calls: &mut impl SocketCalls) {
        match self {
            App::OltpClient(client) => client.handle_worked(now, calls),
            App::OltpServer(server) => server.handle_worked(now, calls),
            App::ReplayClient(_)
            | App::ReplayServer(_)
            | App::StreamSource(_)
            | App::StreamSink(_) => {
                unreachable!("this program computes nothing")
            }
            App::Program(_) => unreachable!("its threads work, not its sockets"),
        }
    }

    /// The program has the core that it waited for.
    pub fn handle_core(&mut self, calls: &mut impl SocketCalls) {
        match self {
            App::OltpClient(client) => client.handle_core(calls),
            App::OltpServer(server) => server.handle_core(calls),
            App::ReplayClient(_)
            | App::ReplayServer(_)
            | App::StreamSource(_)
            | App::StreamSink(_) => {
                unreachable!("this program asks for no core")
            }
            App::Program(_) => unreachable!("its threads ask for cores, not its sockets"),
        }
    }

    /// The connection is open.
    pub fn handle_connected(&mut self, now: Time, calls: &mut impl SocketCalls) {
        match self {
            App::OltpClient(client) => client.handle_connected(now, calls),
            App::ReplayClient(client) => client.handle_connected(now, calls),
            App::StreamSource(source) => source.handle_connected(now, calls),
            App::OltpServer(_) | App::ReplayServer(_) | App::StreamSink(_) | App::Program(_) => {}
        }
    }

    /// Calls `tell` for every transaction or flow that is not complete at `now` and was meant to
    /// start by then, with its user and intended start.
    pub fn running(&self, now: Time, tell: impl FnMut(u32, Time)) {
        match self {
            App::OltpClient(client) => client.running(now, tell),
            App::ReplayClient(client) => client.running(now, tell),
            App::StreamSink(sink) => sink.running(now, tell),
            App::OltpServer(_) | App::ReplayServer(_) | App::StreamSource(_) | App::Program(_) => {}
        }
    }

    /// Bytes can be read. A program that has not said [`SocketCalls::leave_unread`] has read them.
    #[inline]
    pub fn handle_readable(&mut self, now: Time, bytes: u64, calls: &mut impl SocketCalls) {
        match self {
            App::OltpClient(client) => client.handle_readable(now, bytes, calls),
            App::OltpServer(server) => server.handle_readable(now, bytes, calls),
            App::ReplayClient(client) => client.handle_readable(now, bytes, calls),
            App::ReplayServer(server) => server.handle_readable(now, bytes, calls),
            App::StreamSink(sink) => sink.handle_readable(bytes, calls),
            App::StreamSource(_) | App::Program(_) => {}
        }
    }
}
