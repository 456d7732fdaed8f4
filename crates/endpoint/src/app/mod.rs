//! The programs on the hosts: state machines over one socket each, handed the time and told what arrived.

mod oltp;
mod stream;

pub use oltp::{GapFrom, OltpClient, OltpProfile, OltpServer, Statement};
pub use stream::{StreamSink, StreamSource};

use tailrace_units::{Span, Time};

/// What a program may ask of its host and tell of its work.
pub trait Desk {
    /// Opens the connection (client side).
    fn connect(&mut self);
    /// Hands bytes to the socket as one write.
    fn write(&mut self, bytes: u64);
    /// Puts work on the host's cores, behind what is already there. Returns when it will be done.
    fn compute(&mut self, work: Span) -> Time;
    /// A transaction or flow that was meant to start at `intended` is complete. `user` counts within the workload.
    fn completed(&mut self, user: u32, intended: Time);
    /// This user, stream or flow has nothing more to do.
    fn finished(&mut self, user: u32);
}

/// A program at one end of one connection.
#[derive(Debug)]
pub enum App {
    /// A user of a database.
    OltpClient(Box<OltpClient>),
    /// The database's side of the same connection.
    OltpServer(Box<OltpServer>),
    /// Sends bytes.
    StreamSource(StreamSource),
    /// Receives them.
    StreamSink(StreamSink),
}

impl App {
    /// When this program wants to be called, or [`Time::NEVER`].
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        match self {
            App::OltpClient(client) => client.poll_timeout(),
            App::OltpServer(server) => server.poll_timeout(),
            App::StreamSource(source) => source.poll_timeout(),
            App::StreamSink(_) => Time::NEVER,
        }
    }

    /// Its deadline has come.
    pub fn handle_timeout(&mut self, now: Time, desk: &mut impl Desk) {
        match self {
            App::OltpClient(client) => client.handle_timeout(now, desk),
            App::OltpServer(server) => server.handle_timeout(now, desk),
            App::StreamSource(source) => source.handle_timeout(now, desk),
            App::StreamSink(_) => {}
        }
    }

    /// The connection is open.
    pub fn handle_connected(&mut self, now: Time, desk: &mut impl Desk) {
        match self {
            App::OltpClient(client) => client.handle_connected(now, desk),
            App::StreamSource(source) => source.handle_connected(desk),
            App::OltpServer(_) | App::StreamSink(_) => {}
        }
    }

    /// Bytes can be read, and are.
    #[inline]
    pub fn handle_readable(&mut self, now: Time, bytes: u64, desk: &mut impl Desk) {
        match self {
            App::OltpClient(client) => client.handle_readable(now, bytes, desk),
            App::OltpServer(server) => server.handle_readable(now, bytes, desk),
            App::StreamSink(sink) => sink.handle_readable(bytes, desk),
            App::StreamSource(_) => {}
        }
    }
}
