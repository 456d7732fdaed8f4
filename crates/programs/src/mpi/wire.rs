//! Contents of the connection of two ranks: sizes and order as seen of Open MPI 4.1.4 (`strace`,
//! checked against its source).
//!
//! Packets of the simulator carry no content. The content of a stream stands in a [`Ledger`] that
//! both ends share; a receiver takes an entry from it only when all bytes of the entry have
//! arrived.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::Mutex;

/// A longer message is announced first: `btl_tcp_eager_limit` of 64 KiB less the largest header of
/// ob1 (56 bytes).
pub const EAGER_LIMIT: u64 = 65_536 - 56;
/// Header of the TCP transport (`mca_btl_tcp_hdr_t`).
const TRANSPORT: u64 = 8;
/// `mca_pml_ob1_match_hdr_t` without support for heterogeneous machines.
const MATCH: u64 = 14;
/// `mca_pml_ob1_rendezvous_hdr_t`.
const RENDEZVOUS: u64 = 32;
/// `mca_pml_ob1_rdma_hdr_t`, which names the destination of the data to the sender.
const PUT: u64 = 56;
/// `mca_pml_ob1_fin_hdr_t`.
const FIN: u64 = 24;
/// Name of the process and a string of 16 bytes (`mca_btl_tcp_endpoint_hs_msg_t`).
const HELLO: u64 = 24;

/// One thing on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// The two ranks of a connection.
    Hello {
        /// The rank that opens it.
        from: u32,
        /// The rank that it is for.
        to: u32,
    },
    /// The connection is accepted.
    Welcome,
    /// A whole message.
    Eager(u64),
    /// A message of this length is ready.
    Announce(u64),
    /// The receiver is ready for it.
    Put,
    /// Its data.
    Data(u64),
    /// All of its data have been sent.
    Fin,
}

impl Item {
    /// Bytes of the stream.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Item::Hello { .. } | Item::Welcome => HELLO,
            Item::Eager(bytes) => TRANSPORT + MATCH + bytes,
            Item::Announce(_) => TRANSPORT + RENDEZVOUS,
            Item::Put => TRANSPORT + PUT,
            Item::Data(bytes) => TRANSPORT + bytes,
            Item::Fin => TRANSPORT + FIN,
        }
    }
}

/// Both ends of a connection: host and port of the one that opened it, then of the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct StreamKey {
    pub(super) opener: (u16, u16),
    pub(super) acceptor: (u16, u16),
}

/// The direction of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum From {
    Opener = 0,
    Acceptor = 1,
}

impl From {
    pub(super) fn other(self) -> From {
        match self {
            From::Opener => From::Acceptor,
            From::Acceptor => From::Opener,
        }
    }
}

/// The contents of all connections of a job.
#[derive(Clone, Default, Debug)]
pub struct Ledger(Arc<Mutex<BTreeMap<StreamKey, [VecDeque<Item>; 2]>>>);

impl Ledger {
    /// A connection is opened: the contents of an earlier one between the same ports are forgotten.
    pub(super) fn open(&self, key: StreamKey) {
        self.0.lock().expect("nothing panics while it has this").insert(key, Default::default());
    }

    pub(super) fn push(&self, key: StreamKey, from: From, item: Item) {
        self.0
            .lock()
            .expect("nothing panics while it has this")
            .get_mut(&key)
            .expect("what is written was opened")[from as usize]
            .push_back(item);
    }

    /// The next thing of a stream, if so many bytes of it hold it.
    pub(super) fn pop(&self, key: StreamKey, from: From, arrived: u64) -> Option<Item> {
        let mut streams = self.0.lock().expect("nothing panics while it has this");
        let stream = &mut streams.get_mut(&key)?[from as usize];
        let is_whole = stream.front().is_some_and(|item| item.bytes() <= arrived);
        if is_whole { stream.pop_front() } else { None }
    }
}
