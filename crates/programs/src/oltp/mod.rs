//! Online transaction processing: closed-loop users of a database, each with one connection.
//!
//! A user does one transaction after the other; a transaction is a series of statements, each a
//! request, the server's work and a response. Latency counts from the moment at which the
//! transaction was meant to start, so that a slow transaction does not hide the wait of the next
//! (no coordinated omission).

mod client;
mod server;
#[cfg(test)]
mod tests;

pub use client::OltpClient;
pub use server::OltpServer;

use tailrace_units::{Distribution, Span};

/// The moment from which the pause between transactions is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GapFrom {
    /// The end of the last transaction: think time.
    End,
    /// The intended start of the last transaction: pacing.
    Start,
}

/// One statement of a transaction.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Bytes from client to server.
    pub request_bytes: u64,
    /// Bytes from server to client.
    pub response_bytes: u64,
    /// Work of a core of the server on the request. It waits for a core where none is free.
    pub server_work: Span,
    /// Picoseconds from then on until the server has the response, whatever its size: no core is
    /// needed for them.
    pub server_time: Distribution,
    /// Femtoseconds that the server then takes to make each byte; it writes nothing before all of
    /// them are made.
    ///
    /// PostgreSQL forms a row whole (it fetches and joins the pieces of a large value, and makes
    /// them text) and fills its 8 kB send buffer only then: printtup, backend/access/common;
    /// pq_putmessage, backend/libpq/pqcomm.c.
    pub build_fs_per_byte: u64,
    /// The response is written in pieces of this size; 0 for one piece.
    pub write_bytes: u64,
    /// Femtoseconds that the server takes to hand over each byte, while earlier ones are on their
    /// way.
    pub produce_fs_per_byte: u64,
    /// Femtoseconds that the client's core works on each byte that has arrived.
    pub consume_fs_per_byte: u64,
    /// The client reads, and works on, at most this many bytes at a time; at least 1.
    pub consume_chunk_bytes: u64,
    /// Femtoseconds that the client's core works on each byte of the whole response after the last
    /// one has come.
    ///
    /// libpq gathers a row whole before it makes a result of it (pqParseInput3, getAnotherTuple:
    /// fe-protocol3.c).
    pub unpack_fs_per_byte: u64,
}

impl Statement {
    /// Between the server's work on the request and the first piece of the response.
    fn build_time(&self) -> Span {
        time_for(self.response_bytes, self.build_fs_per_byte)
    }

    /// From the last byte of the response to the end of the statement.
    fn unpack_time(&self) -> Span {
        time_for(self.response_bytes, self.unpack_fs_per_byte)
    }
}

/// Configuration of all users of one workload.
#[derive(Debug)]
pub struct OltpProfile {
    /// Statements in order, at least one.
    pub statements: Vec<Statement>,
    /// Picoseconds between transactions.
    pub gap: Distribution,
    /// The moment from which they are measured.
    pub gap_from: GapFrom,
    /// Transactions of each user; 0 without end.
    pub transactions: u64,
    /// Transactions that are not recorded.
    pub warmup_transactions: u64,
}

impl OltpProfile {
    /// Whether a user works on any of the responses. If so, it reads when it has a core, and unread
    /// bytes fill its buffer.
    fn has_client_work(&self) -> bool {
        self.statements.iter().any(|statement| statement.consume_fs_per_byte > 0)
    }
}

fn time_for(bytes: u64, fs_per_byte: u64) -> Span {
    Span::from_ps((u128::from(bytes) * u128::from(fs_per_byte) / 1000) as u64)
}
