//! Numbers of sockets: a host gives its own again, these it does not.

/// A socket, by the order in which sockets of explained connections were opened.
pub(crate) type SocketNumber = u32;
