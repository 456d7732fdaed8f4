//! Programs that own several sockets: the calls of a socket interface, with a number for each socket.

use super::WorkCalls;
use tailrace_units::Time;

/// A port of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// The host.
    pub host: u16,
    /// The port that a program on it listens at.
    pub port: u16,
}

/// What a program with several sockets may ask of its host. A socket's number is that of its slot: it belongs to the program from
/// [`HostCalls::connect`] or [`Program::handle_connected`] until the program closes it, and may then be given to another connection.
pub trait HostCalls: WorkCalls {
    /// Accepts connections at this port from now on. Returns whether it did: a port has one program.
    fn listen(&mut self, port: u16) -> bool;
    /// Opens a connection from a free ephemeral port. Returns its socket, or `None` where no port is free.
    fn connect(&mut self, peer: Peer) -> Option<u32>;
    /// Hands bytes to this socket as one write. They wait there until the connection is open.
    fn write(&mut self, socket: u32, bytes: u64);
    /// What arrives stays in the receive buffer of this socket from now on until it is read.
    fn leave_unread(&mut self, socket: u32);
    /// Takes bytes that have arrived out of the receive buffer of this socket.
    fn read(&mut self, socket: u32, bytes: u64);
    /// The program writes no more to this socket and does not use its number again. What was written is still sent; the host gives socket
    /// and port back when the connection is over. Bytes that arrive until the peer closes are discarded.
    fn close(&mut self, socket: u32);
    /// Asks for a core for this thread, a number of the program's own. Where none is free the thread waits its turn:
    /// [`Program::handle_core`] tells when it has one.
    fn ask_core(&mut self, thread: u32) -> bool;
}

/// A program that owns several sockets, of connections that it opens or that its listeners accept.
pub trait Program {
    /// When this program wants to be called, or [`Time::NEVER`].
    fn poll_timeout(&self) -> Time;
    /// What it has begun and not completed: counts within the owner, and when each was meant to start.
    fn running(&self, each: &mut dyn FnMut(u32, Time));
    /// Its deadline has come.
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls);
    /// A thread has the core that it waited for.
    fn handle_core(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls);
    /// A connection is open: one that the program asked for, or, with a number that is new to it, one that a listener accepted.
    fn handle_connected(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls);
    /// Bytes can be read. A program that has not called [`HostCalls::leave_unread`] has read them.
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls);
    /// The peer has closed its end: nothing more can be read. The program may go on writing, and must close its own end.
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls);
    /// The peer has not answered. The socket is gone.
    fn handle_failed(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls);
}
