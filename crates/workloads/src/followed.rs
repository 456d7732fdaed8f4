//! Whether explanations of latencies can follow what a workload does.

/// What explanations see in the connections of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Followed {
    /// The end that opens a connection asks, and the other end serves.
    Asking,
    /// Both ends of a connection do the same.
    Peers,
    /// Nothing that ends.
    Not(Unfollowed),
}

/// Why nothing of a workload is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfollowed {
    /// Its packets are datagrams.
    Datagrams,
    /// Its streams have no end.
    Endless,
}

impl Unfollowed {
    /// In words.
    pub fn why(self) -> &'static str {
        match self {
            Unfollowed::Datagrams => "its packets are datagrams, whose frames are not followed",
            Unfollowed::Endless => "a stream without an end is never complete",
        }
    }
}
