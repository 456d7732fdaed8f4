//! The sockets that the programs of a host need: a kernel's, or those of a test.

use crate::counters::Counters;
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;

/// Marks of the packets of a socket.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Marks {
    /// Class, 0 to 7.
    pub priority: u8,
    /// Code point of the IP header.
    pub dscp: u8,
}

/// The two addresses of a connection, or of a flow of datagrams, as one end sees them, and how it
/// is treated there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// This end.
    pub own: SocketAddrV4,
    /// The other.
    pub peer: SocketAddrV4,
    /// Of its packets.
    pub marks: Marks,
    /// Name of its congestion control; the system's without one.
    pub congestion: Option<Rc<str>>,
}

/// The result of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// So much was there.
    pub bytes: u64,
    /// Nothing more will come.
    pub has_ended: bool,
}

/// Sockets, each under a number that its user chooses. No call waits.
pub trait Sockets {
    /// A connection that a listener has accepted and that is not used yet. Dropping it closes it.
    type Accepted;

    /// Accepts connections at this address from now on.
    ///
    /// # Errors
    /// When the address cannot be used.
    fn listen(
        &mut self,
        own: SocketAddrV4,
        marks: Marks,
        congestion: Option<&str>,
    ) -> io::Result<()>;
    /// Begins to open a connection; [`Event::Connected`] reports that it is open.
    ///
    /// # Errors
    /// When the address is in use or nothing leads to the peer.
    fn connect(&mut self, number: u32, route: &Route) -> io::Result<()>;
    /// Gives an accepted connection its number and marks.
    ///
    /// # Errors
    /// When the peer has gone already.
    fn adopt(&mut self, number: u32, accepted: Self::Accepted, route: &Route) -> io::Result<()>;
    /// Writes up to this many bytes as one write. Returns how many there was room for.
    ///
    /// # Errors
    /// When the connection is broken.
    fn write(&mut self, number: u32, most: u64) -> io::Result<u64>;
    /// How many bytes have arrived and were not read.
    ///
    /// # Errors
    /// When the connection is broken.
    fn unread(&mut self, number: u32) -> io::Result<u64>;
    /// Reads up to this many of them.
    ///
    /// # Errors
    /// When the connection is broken.
    fn read(&mut self, number: u32, most: u64) -> io::Result<Read>;
    /// The counters of the connection.
    fn counters(&mut self, number: u32) -> Option<Counters>;
    /// Closes a socket. Its number may be used again.
    fn close(&mut self, number: u32);

    /// Opens one end of a flow of datagrams.
    ///
    /// # Errors
    /// When the address is in use.
    fn open_datagrams(&mut self, number: u32, route: &Route) -> io::Result<()>;
    /// Sends a datagram. Returns whether there was room for it.
    ///
    /// # Errors
    /// When it cannot be sent at all.
    fn send(&mut self, number: u32, payload: &[u8]) -> io::Result<bool>;
    /// Receives a datagram, as much of it as fits. Returns its payload's length, if one was there.
    ///
    /// # Errors
    /// When the socket is broken.
    fn receive(&mut self, number: u32, start: &mut [u8]) -> io::Result<Option<usize>>;
}

/// Events of sockets. Bytes are reported when some arrive, and room when there was none and some
/// comes.
#[derive(Debug)]
pub enum Event<A> {
    /// A listener has accepted a connection from this address.
    Accepted {
        /// The connection.
        accepted: A,
        /// Where it comes from.
        peer: SocketAddrV4,
        /// The listener's address.
        own: SocketAddrV4,
    },
    /// A connection is open.
    Connected(u32),
    /// Bytes, a datagram, or the end of the stream have come.
    Readable(u32),
    /// There is room to write.
    Writable(u32),
    /// A connection could not be opened, or is broken: the system's number of the error.
    Failed(u32, i32),
}
