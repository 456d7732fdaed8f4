//! A worker, which serves one request at a time.

use crate::cause::Cause;
use tailrace_units::{Span, Time};

/// Where a response goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Stream(u32),
    Datagram(u32, u64),
    /// The connection is gone.
    Nowhere,
}

impl Worker {
    /// One that has nothing to serve.
    pub(super) fn unused() -> Worker {
        Worker {
            reply: Reply::Nowhere,
            response: 0,
            since: Time::ZERO,
            begun: Time::ZERO,
            work: Span::ZERO,
            time: Span::ZERO,
            is_working: false,
            is_over: false,
            stage: 0,
            serial: 0,
            asked: 0,
            answered: 0,
        }
    }
}

/// A worker, which serves one request at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worker {
    pub(super) reply: Reply,
    pub(super) response: u64,
    /// When its request was whole.
    pub(super) since: Time,
    /// When it began to serve it.
    pub(super) begun: Time,
    pub(super) work: Span,
    pub(super) time: Span,
    /// It has a core.
    pub(super) is_working: bool,
    /// Its time without a core is over.
    pub(super) is_over: bool,
    pub(super) stage: u32,
    /// Distinguishes responses to this stage from late ones to others.
    pub(super) serial: u32,
    pub(super) asked: u32,
    pub(super) answered: u32,
}

impl Worker {
    /// The request.
    pub(super) fn cause(&self) -> Option<Cause> {
        let cause = match self.reply {
            Reply::Stream(socket) => Cause::now(socket, self.since),
            Reply::Datagram(socket, number) => Cause::datagram(socket, number, self.since),
            Reply::Nowhere => return None,
        };
        Some(Cause { waited: self.begun.since(self.since), ..cause })
    }
}
