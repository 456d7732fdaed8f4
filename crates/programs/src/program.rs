//! Programs that own several sockets: the calls of a socket interface, with a number for each
//! socket.

use super::{StorageDone, Tallies, WorkCalls};
use crate::cause::Cause;
use tailrace_transport::tcp::Failure;
use tailrace_units::Time;

/// A port of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// The host.
    pub host: u16,
    /// The port that a program on it listens at.
    pub port: u16,
}

/// A connection as one of its ends knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The other end.
    pub peer: Peer,
    /// The port at this end.
    pub own_port: u16,
}

/// A datagram of a program with its number, which stands in its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The socket that it goes through, which counts within the program in the order in which they
    /// were made.
    pub socket: u32,
    /// Chosen by the sender.
    pub number: u64,
    /// Payload.
    pub bytes: u32,
}

/// Calls of a program with several sockets to its host. A socket's number is that of its slot: it
/// belongs to the program from [`HostCalls::connect`] or [`HostCalls::accept`] until the program
/// closes it, and may then be given to another connection.
pub trait HostCalls: WorkCalls {
    /// Lets peers open connections to this port from now on. Of those that are open and that the
    /// program has not accepted, one more than the backlog may wait (Linux; at most 4097): a SYN
    /// beyond it is dropped. Returns whether it did: a port has one program.
    fn listen(&mut self, port: u16, backlog: u32) -> bool;
    /// Takes the connection that has waited the longest at this port. Returns its socket, or `None`
    /// if none waits. The program is notified of the bytes that the peer has sent until now when
    /// its call is over.
    fn accept(&mut self, port: u16) -> Option<u32>;
    /// Opens a connection from a free ephemeral port. Returns its socket, or `None` where no port
    /// is free.
    fn connect(&mut self, peer: Peer) -> Option<u32>;
    /// Hands bytes to this socket as one write. They wait there until the connection is open.
    fn write(&mut self, socket: u32, bytes: u64);
    /// Sets the cause of the program's acts from here to the end of this call, or to the next call
    /// of this. Until then, the cause is the input of which the program was notified. Returns the
    /// previous cause. It serves explanations only.
    fn follows(&mut self, _cause: Option<Cause>) -> Option<Cause> {
        None
    }
    /// Arriving bytes stay in the receive buffer of this socket from now on until they are read.
    fn leave_unread(&mut self, socket: u32);
    /// The peer is asked after two hours of silence whether it is still there (`SO_KEEPALIVE`).
    /// Without that, an end that waits for a peer that is gone waits for ever, as on Linux.
    /// Databases and their clients ask (PostgreSQL, libpq: `keepalives`).
    fn keep_alive(&mut self, socket: u32);
    /// Takes bytes that have arrived out of the receive buffer of this socket.
    fn read(&mut self, socket: u32, bytes: u64);
    /// The program writes no more to this socket, and continues to read (`shutdown` with
    /// `SHUT_WR`). Bytes written before are still sent.
    fn shut_down(&mut self, socket: u32);
    /// The program neither writes to this socket nor reads from it, and does not use its number
    /// again (`close`). Bytes written before are still sent; the host releases socket and port when
    /// the connection is over. If bytes were not read, or when more arrive, the connection is
    /// reset.
    fn close(&mut self, socket: u32);
    /// The ends of the connection of this socket.
    fn ends(&self, socket: u32) -> Ends;
    /// A part of a transaction of the program that was asked for at `since` is complete, such as a
    /// block.
    fn part_completed(&mut self, since: Time);
    /// A request of storage is complete, with its waits. Engines that do not record this ignore it.
    fn storage_done(&mut self, _done: &StorageDone) {}
    /// Sends a datagram, of at most 65 507 bytes: above the MTU in fragments. It is lost where the
    /// interface has no room.
    fn send_datagram(&mut self, message: Message);
    /// Requests a core for this thread, a number of the program's own. If none is free the thread
    /// waits its turn, and [`Program::handle_core`] is called when it has one.
    fn ask_core(&mut self, thread: u32) -> bool;
    /// This thread waits for inputs of the socket, in place of the thread that receives events.
    /// Returns whether it does: hosts without a processor have no threads.
    fn wait_in_thread(&mut self, _socket: u32, _thread: u32) -> bool {
        false
    }
}

/// A program that owns several sockets, of connections that it opens or that its listeners accept.
pub trait Program: Send {
    /// When this program wants to be called, or [`Time::NEVER`].
    fn poll_timeout(&self) -> Time;
    /// A port at which connections find it from the start, and its backlog, as a server that was
    /// started before. It calls [`HostCalls::listen`] all the same.
    fn port(&self) -> Option<(u16, u32)> {
        None
    }
    /// Calls `each` for every operation that has begun and is not complete, with its count within
    /// the owner and its intended start.
    fn running(&self, each: &mut dyn FnMut(u32, Time));
    /// Its deadline has come.
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls);
    /// A thread has the core that it waited for.
    fn handle_core(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls);
    /// The work that a thread began with [`WorkCalls::compute`] is done, on a host whose processor
    /// decides when that is. Programs that never run on such hosts need not answer.
    fn handle_worked(&mut self, _now: Time, thread: u32, _calls: &mut dyn HostCalls) {
        panic!("thread {thread} of this program cannot run on a host with a processor");
    }
    /// A connection that the program asked for is open.
    fn handle_connected(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls);
    /// A connection has been opened to this port, and waits to be accepted.
    fn handle_waiting(&mut self, now: Time, port: u16, calls: &mut dyn HostCalls);
    /// Bytes can be read. A program that has not called [`HostCalls::leave_unread`] has read them.
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls);
    /// The peer has closed its end: nothing more can be read. The program may go on writing, which
    /// the peer refuses unless it has only shut down its end, and must close its own end.
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls);
    /// The connection was refused, was reset or has had no answer for too long. The socket is gone.
    fn handle_failed(&mut self, now: Time, socket: u32, why: Failure, calls: &mut dyn HostCalls);
    /// A datagram has come. Programs without sockets for datagrams receive none.
    fn handle_datagram(&mut self, _now: Time, _message: Message, _calls: &mut dyn HostCalls) {}
    /// Its counters; none for programs that serve no requests.
    fn tallies(&self) -> Tallies {
        Tallies::default()
    }
}
