//! The user's side of one connection.

use super::{GapFrom, OltpProfile, time_for};
use crate::SocketCalls;
use std::sync::Arc;
use tailrace_units::{RandomStream, Span, Time};

/// Transactions of one user that are reported as running or overdue, at most; with a gap of zero
/// there would be any number.
const BEHIND_MAX: u64 = 10_000;

/// A user.
#[derive(Debug)]
pub struct OltpClient {
    profile: Arc<OltpProfile>,
    /// It works on some of the responses, and reads when it has a core.
    reads_late: bool,
    user: u32,
    random: RandomStream,
    phase: Phase,
    /// When the phase ends by itself.
    deadline: Time,
    /// Bytes that have arrived and were not read.
    unread: u64,
    /// Bytes that the user's core works on until the deadline.
    in_work: u64,
    turn: Turn,
    /// When the first transaction may begin; it begins later if the connection is open later.
    start: Time,
    /// When this transaction was meant to start.
    intended: Time,
    statement: usize,
    done: u64,
}

/// Whether the user's thread runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// Nothing to work on.
    Asleep,
    /// In the host's run queue.
    Awaited,
    /// On a core, for this long when its present work is done.
    Running(Span),
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
    /// All have: until the deadline, or without one until a core is free for the work on the whole
    /// response.
    Unpacking,
    Done,
}

impl OltpClient {
    /// A user that connects at `connect` and begins when the connection is open, at `start` at the
    /// earliest.
    pub fn new(
        profile: Arc<OltpProfile>,
        user: u32,
        connect: Time,
        start: Time,
        random: RandomStream,
    ) -> OltpClient {
        let phase = Phase::Unconnected;
        OltpClient {
            reads_late: profile.has_client_work(),
            profile,
            user,
            random,
            phase,
            deadline: connect,
            start,
            unread: 0,
            in_work: 0,
            turn: Turn::Asleep,
            intended: Time::ZERO,
            statement: 0,
            done: 0,
        }
    }

    pub(crate) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    /// The work is done.
    pub(crate) fn handle_worked(&mut self, now: Time, calls: &mut impl SocketCalls) {
        self.deadline = now;
        self.handle_timeout(now, calls);
    }

    pub(crate) fn handle_timeout(&mut self, now: Time, calls: &mut impl SocketCalls) {
        if now < self.deadline {
            return;
        }
        let due = std::mem::replace(&mut self.deadline, Time::NEVER);
        match self.phase {
            Phase::Unconnected => {
                self.phase = Phase::Connecting;
                calls.connect();
            }
            Phase::Pausing => self.begin(due, calls),
            Phase::Waiting(_) => self.end_work(now, calls),
            Phase::Unpacking => self.end_unpacking(now, calls),
            Phase::Connecting | Phase::Done => {}
        }
    }

    pub(crate) fn handle_connected(&mut self, now: Time, calls: &mut impl SocketCalls) {
        if self.reads_late {
            calls.leave_unread();
        }
        self.begin_at(self.start.max(now), now, calls);
    }

    /// Bytes have arrived. The user reads them when it has a core, a piece at a time, while more
    /// arrive.
    pub(crate) fn handle_readable(&mut self, now: Time, bytes: u64, calls: &mut impl SocketCalls) {
        if !self.reads_late {
            return self.consumed(now, bytes, calls);
        }
        if self.profile.statements[self.statement].consume_fs_per_byte == 0 {
            calls.read(bytes);
            return self.consumed(now, bytes, calls);
        }
        self.unread += bytes;
        if self.turn == Turn::Asleep {
            self.seek_core(calls);
        }
    }

    /// The user's turn has come.
    pub(crate) fn handle_core(&mut self, calls: &mut impl SocketCalls) {
        debug_assert_eq!(self.turn, Turn::Awaited, "a core comes to who waits for one");
        self.begin_work(calls);
    }

    /// The transaction in work, and with pacing those that were meant to start behind it by `now`:
    /// their gaps are drawn from a copy of the user's random stream, as they would have been.
    /// Warm-up and the time before the connection is open do not count.
    pub(crate) fn running(&self, now: Time, mut tell: impl FnMut(u32, Time)) {
        if !matches!(self.phase, Phase::Waiting(_) | Phase::Unpacking) {
            return;
        }
        let (mut random, mut intended) = (self.random.clone(), self.intended);
        for number in self.done..self.done + BEHIND_MAX {
            if intended > now
                || (self.profile.transactions > 0 && number >= self.profile.transactions)
            {
                return;
            }
            if number >= self.profile.warmup_transactions {
                tell(self.user, intended);
            }
            match self.profile.gap_from {
                GapFrom::End => return,
                GapFrom::Start => intended += Span::from_ps(self.profile.gap.draw(&mut random)),
            }
        }
    }

    fn seek_core(&mut self, calls: &mut impl SocketCalls) {
        self.turn = Turn::Awaited;
        if calls.ask_core() {
            self.begin_work(calls);
        }
    }

    /// The first work of a user with a core: it unpacks a complete response, or reads.
    fn begin_work(&mut self, calls: &mut impl SocketCalls) {
        if self.phase != Phase::Unpacking {
            return self.work(Span::ZERO, calls);
        }
        let work = self.profile.statements[self.statement].unpack_time();
        self.turn = Turn::Running(work);
        self.deadline = calls.compute(work);
    }

    /// Reads a piece and works on it, after having had the core for `used`.
    fn work(&mut self, used: Span, calls: &mut impl SocketCalls) {
        let statement = &self.profile.statements[self.statement];
        self.in_work = self.unread.min(statement.consume_chunk_bytes);
        self.unread -= self.in_work;
        let work = time_for(self.in_work, statement.consume_fs_per_byte);
        self.turn = Turn::Running(used + work);
        calls.read(self.in_work);
        self.deadline = calls.compute(work);
    }

    /// A piece is done: on to the next if one has arrived and the turn is not over.
    fn end_work(&mut self, now: Time, calls: &mut impl SocketCalls) {
        let Turn::Running(used) = self.turn else { panic!("only who runs can be done") };
        let bytes = std::mem::take(&mut self.in_work);
        if self.unread > 0 && calls.keeps_core(used) {
            self.consumed(now, bytes, calls);
            return self.work(used, calls);
        }
        self.turn = Turn::Asleep;
        calls.leave_core();
        self.consumed(now, bytes, calls);
        if self.unread > 0 {
            self.seek_core(calls);
        }
    }

    fn consumed(&mut self, now: Time, bytes: u64, calls: &mut impl SocketCalls) {
        let Phase::Waiting(missing) = &mut self.phase else {
            panic!("nothing arrives that was not asked for")
        };
        *missing -= bytes;
        if *missing > 0 {
            return;
        }
        if self.profile.statements[self.statement].unpack_fs_per_byte == 0 {
            return self.end_statement(now, calls);
        }
        self.phase = Phase::Unpacking;
        self.seek_core(calls);
    }

    fn end_unpacking(&mut self, now: Time, calls: &mut impl SocketCalls) {
        self.turn = Turn::Asleep;
        calls.leave_core();
        self.end_statement(now, calls);
    }

    fn begin(&mut self, intended: Time, calls: &mut impl SocketCalls) {
        self.intended = intended;
        self.statement = 0;
        self.request(calls);
    }

    fn request(&mut self, calls: &mut impl SocketCalls) {
        let statement = &self.profile.statements[self.statement];
        self.phase = Phase::Waiting(statement.response_bytes);
        calls.write(statement.request_bytes);
    }

    fn end_statement(&mut self, now: Time, calls: &mut impl SocketCalls) {
        self.statement += 1;
        if self.statement < self.profile.statements.len() {
            return self.request(calls);
        }
        if self.done >= self.profile.warmup_transactions {
            calls.completed(self.user, self.intended);
        }
        self.done += 1;
        if self.done == self.profile.transactions {
            self.phase = Phase::Done;
            return calls.finished(self.user);
        }
        let gap = Span::from_ps(self.profile.gap.draw(&mut self.random));
        let next = match self.profile.gap_from {
            GapFrom::End => now + gap,
            GapFrom::Start => self.intended + gap,
        };
        self.begin_at(next, now, calls);
    }

    /// Begins a transaction that is meant to start at `intended`, or pauses until then.
    fn begin_at(&mut self, intended: Time, now: Time, calls: &mut impl SocketCalls) {
        if intended <= now {
            return self.begin(intended, calls);
        }
        self.phase = Phase::Pausing;
        self.deadline = intended;
    }
}
