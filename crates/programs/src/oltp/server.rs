//! The database's side of one connection.

use super::{OltpProfile, time_for};
use crate::SocketCalls;
use std::sync::Arc;
use tailrace_units::{RandomStream, Span, Time};

/// The database's side of one connection.
#[derive(Debug)]
pub struct OltpServer {
    profile: Arc<OltpProfile>,
    random: RandomStream,
    statement: usize,
    /// Bytes of the request that are still to come.
    missing: u64,
    /// Bytes of the response that are still to be written.
    unwritten: u64,
    /// It has a core, and works on the request until the deadline.
    is_working: bool,
    deadline: Time,
}

impl OltpServer {
    /// Waits for the first request.
    pub fn new(profile: Arc<OltpProfile>, random: RandomStream) -> OltpServer {
        let missing = profile.statements[0].request_bytes;
        OltpServer {
            profile,
            random,
            statement: 0,
            missing,
            unwritten: 0,
            is_working: false,
            deadline: Time::NEVER,
        }
    }

    pub(crate) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    pub(crate) fn handle_readable(&mut self, now: Time, bytes: u64, calls: &mut impl SocketCalls) {
        self.missing -= bytes;
        if self.missing > 0 {
            return;
        }
        if self.profile.statements[self.statement].server_work == Span::ZERO {
            self.prepare(now);
            self.write_due(now, calls);
        } else if calls.ask_core() {
            self.handle_core(calls);
        }
    }

    /// The server has a core for the request.
    pub(crate) fn handle_core(&mut self, calls: &mut impl SocketCalls) {
        self.is_working = true;
        self.deadline = calls.compute(self.profile.statements[self.statement].server_work);
    }

    /// The work is done.
    pub(crate) fn handle_worked(&mut self, now: Time, calls: &mut impl SocketCalls) {
        self.deadline = now;
        self.handle_timeout(now, calls);
    }

    pub(crate) fn handle_timeout(&mut self, now: Time, calls: &mut impl SocketCalls) {
        if self.is_working && self.deadline <= now {
            self.is_working = false;
            calls.leave_core();
            self.prepare(self.deadline);
        }
        self.write_due(now, calls);
    }

    /// The first piece of the response will be there after the server's time for the request.
    fn prepare(&mut self, now: Time) {
        let statement = &self.profile.statements[self.statement];
        self.unwritten = statement.response_bytes;
        let work = Span::from_ps(statement.server_time.draw(&mut self.random));
        let produce = time_for(self.next_piece(), statement.produce_fs_per_byte);
        self.deadline = now + work + statement.build_time() + produce;
    }

    /// Writes every piece that is produced by now.
    fn write_due(&mut self, now: Time, calls: &mut impl SocketCalls) {
        while self.deadline <= now {
            let piece = self.next_piece();
            calls.write(piece);
            self.unwritten -= piece;
            if self.unwritten == 0 {
                return self.await_next();
            }
            let pace = self.profile.statements[self.statement].produce_fs_per_byte;
            self.deadline += time_for(self.next_piece(), pace);
        }
    }

    fn await_next(&mut self) {
        self.deadline = Time::NEVER;
        self.statement = (self.statement + 1) % self.profile.statements.len();
        self.missing = self.profile.statements[self.statement].request_bytes;
    }

    fn next_piece(&self) -> u64 {
        match self.profile.statements[self.statement].write_bytes {
            0 => self.unwritten,
            most => self.unwritten.min(most),
        }
    }
}
