//! Numbers of sockets that are unique in a run: a host reuses its own.

/// A socket, by the order in which sockets of explained connections were opened.
pub(crate) type SocketNumber = u32;
