//! The user's side of one connection.

use super::{GapFrom, OltpProfile, time_for};
use crate::app::Desk;
use std::rc::Rc;
use tailrace_units::{Span, Stream, Time};

/// A user.
#[derive(Debug)]
pub struct OltpClient {
    profile: Rc<OltpProfile>,
    user: u32,
    luck: Stream,
    phase: Phase,
    /// When the phase ends by itself.
    deadline: Time,
    /// Bytes that have arrived and wait for the client's core.
    unread: u64,
    /// Bytes that the core works on until the deadline.
    in_work: u64,
    /// When this transaction was meant to start.
    intended: Time,
    statement: usize,
    done: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Until the deadline, then connects.
    Unconnected,
    /// Until the connection is open.
    Connecting,
    /// Until the deadline, then begins a transaction.
    Pausing,
    /// Until this many bytes have arrived and were worked on.
    Waiting(u64),
    Done,
}

impl OltpClient {
    /// A user who connects at `start` and then begins at once.
    pub fn new(profile: Rc<OltpProfile>, user: u32, start: Time, luck: Stream) -> OltpClient {
        let phase = Phase::Unconnected;
        OltpClient {
            profile,
            user,
            luck,
            phase,
            deadline: start,
            unread: 0,
            in_work: 0,
            intended: Time::ZERO,
            statement: 0,
            done: 0,
        }
    }

    pub(in crate::app) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    pub(in crate::app) fn handle_timeout(&mut self, now: Time, desk: &mut impl Desk) {
        if now < self.deadline {
            return;
        }
        let due = std::mem::replace(&mut self.deadline, Time::NEVER);
        match self.phase {
            Phase::Unconnected => {
                self.phase = Phase::Connecting;
                desk.connect();
            }
            Phase::Pausing => self.begin(due, desk),
            Phase::Waiting(_) => {
                let bytes = std::mem::take(&mut self.in_work);
                self.consumed(now, bytes, desk);
            }
            Phase::Connecting | Phase::Done => {}
        }
    }

    pub(in crate::app) fn handle_connected(&mut self, now: Time, desk: &mut impl Desk) {
        self.begin(now, desk);
    }

    /// Bytes have arrived. The client works on them in chunks while more arrive.
    pub(in crate::app) fn handle_readable(&mut self, now: Time, bytes: u64, desk: &mut impl Desk) {
        if self.profile.statements[self.statement].consume_fs_per_byte == 0 {
            return self.consumed(now, bytes, desk);
        }
        self.unread += bytes;
        if self.in_work == 0 {
            self.work(desk);
        }
    }

    fn work(&mut self, desk: &mut impl Desk) {
        let statement = &self.profile.statements[self.statement];
        self.in_work = self.unread.min(statement.consume_chunk_bytes);
        self.unread -= self.in_work;
        self.deadline = desk.compute(time_for(self.in_work, statement.consume_fs_per_byte));
    }

    fn consumed(&mut self, now: Time, bytes: u64, desk: &mut impl Desk) {
        let Phase::Waiting(missing) = &mut self.phase else { panic!("nothing arrives that was not asked for") };
        *missing -= bytes;
        if *missing == 0 {
            self.end_statement(now, desk);
        } else if self.unread > 0 {
            self.work(desk);
        }
    }

    fn begin(&mut self, intended: Time, desk: &mut impl Desk) {
        self.intended = intended;
        self.statement = 0;
        self.request(desk);
    }

    fn request(&mut self, desk: &mut impl Desk) {
        let statement = &self.profile.statements[self.statement];
        self.phase = Phase::Waiting(statement.response_bytes);
        desk.write(statement.request_bytes);
    }

    fn end_statement(&mut self, now: Time, desk: &mut impl Desk) {
        self.statement += 1;
        if self.statement < self.profile.statements.len() {
            return self.request(desk);
        }
        if self.done >= self.profile.warmup_transactions {
            desk.completed(self.user, self.intended);
        }
        self.done += 1;
        if self.done == self.profile.transactions {
            self.phase = Phase::Done;
            return desk.finished(self.user);
        }
        let gap = Span::from_ps(self.profile.gap.draw(&mut self.luck));
        let next = match self.profile.gap_from {
            GapFrom::End => now + gap,
            GapFrom::Start => self.intended + gap,
        };
        if next <= now {
            self.begin(next, desk);
        } else {
            self.phase = Phase::Pausing;
            self.deadline = next;
        }
    }
}
