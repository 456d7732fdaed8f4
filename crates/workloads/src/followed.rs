//! Whether explanations of latencies can follow what a workload does.

/// The operations between the ends of a workload that explanations see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Followed {
    /// The end that opens a connection, or that is the client of a pair of sockets for datagrams,
    /// asks, and the other end serves.
    Asking,
    /// Both ends of a connection do the same.
    Peers,
    /// Datagrams of one end, each of which is complete when the other end has it.
    OneWay,
    /// Nothing that ends.
    Not(Unfollowed),
}

/// Why nothing of a workload is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfollowed {
    /// Its streams have no end.
    Endless,
}

impl Unfollowed {
    /// In words.
    pub fn why(self) -> &'static str {
        match self {
            Unfollowed::Endless => "a stream without an end is never complete",
        }
    }
}
