//! Online transaction processing: closed-loop users of a database, each with one connection.
//!
//! A user does one transaction after the other; a transaction is a series of statements, each a request, the server's
//! work and a response. Latency counts from the moment at which the transaction was meant to start, so that a slow
//! transaction does not hide the wait of the next (no coordinated omission).

use super::Desk;
use std::rc::Rc;
use tailrace_units::{Distribution, Span, Stream, Time};

/// What the pause between transactions is measured from.
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
    /// Picoseconds from the last byte of the request to the first of the response.
    pub server_time: Distribution,
    /// The response is written in pieces of this size; 0 for one piece.
    pub write_bytes: u64,
    /// Femtoseconds that the server takes to produce each byte.
    pub produce_fs_per_byte: u64,
    /// Femtoseconds that the client's core works on each byte that has arrived.
    pub consume_fs_per_byte: u64,
    /// The client works on at most this many bytes at a time; at least 1.
    pub consume_chunk_bytes: u64,
}

/// What all users of one workload have in common.
#[derive(Debug)]
pub struct OltpProfile {
    /// Statements in order, at least one.
    pub statements: Vec<Statement>,
    /// Picoseconds between transactions.
    pub gap: Distribution,
    /// What they are measured from.
    pub gap_from: GapFrom,
    /// Transactions of each user; 0 without end.
    pub transactions: u64,
    /// Transactions that are not recorded.
    pub warmup_transactions: u64,
}

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

    pub(super) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    pub(super) fn handle_timeout(&mut self, now: Time, desk: &mut impl Desk) {
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

    pub(super) fn handle_connected(&mut self, now: Time, desk: &mut impl Desk) {
        self.begin(now, desk);
    }

    /// Bytes have arrived. The client works on them in chunks while more arrive.
    pub(super) fn handle_readable(&mut self, now: Time, bytes: u64, desk: &mut impl Desk) {
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

/// The database's side of one connection.
#[derive(Debug)]
pub struct OltpServer {
    profile: Rc<OltpProfile>,
    luck: Stream,
    statement: usize,
    /// Bytes of the request that are still to come.
    missing: u64,
    /// Bytes of the response that are still to be written.
    unwritten: u64,
    deadline: Time,
}

impl OltpServer {
    /// Waits for the first request.
    pub fn new(profile: Rc<OltpProfile>, luck: Stream) -> OltpServer {
        let missing = profile.statements[0].request_bytes;
        OltpServer { profile, luck, statement: 0, missing, unwritten: 0, deadline: Time::NEVER }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    pub(super) fn handle_readable(&mut self, now: Time, bytes: u64, desk: &mut impl Desk) {
        self.missing -= bytes;
        if self.missing > 0 {
            return;
        }
        let statement = &self.profile.statements[self.statement];
        self.unwritten = statement.response_bytes;
        let work = Span::from_ps(statement.server_time.draw(&mut self.luck));
        let produce = time_for(self.next_piece(), statement.produce_fs_per_byte);
        self.deadline = now + work + produce;
        self.handle_timeout(now, desk);
    }

    /// Writes every piece that is produced by now.
    pub(super) fn handle_timeout(&mut self, now: Time, desk: &mut impl Desk) {
        while self.deadline <= now {
            let piece = self.next_piece();
            desk.write(piece);
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

fn time_for(bytes: u64, fs_per_byte: u64) -> Span {
    Span::from_ps((u128::from(bytes) * u128::from(fs_per_byte) / 1000) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what a program does.
    #[derive(Default)]
    struct Notes(Vec<String>);

    impl Desk for Notes {
        fn connect(&mut self) {
            self.0.push("connect".into());
        }
        fn write(&mut self, bytes: u64) {
            self.0.push(format!("write {bytes}"));
        }
        fn compute(&mut self, work: Span) -> Time {
            self.0.push(format!("compute {}", work.ps()));
            Time::from_ps(1_000_000) + work
        }
        fn completed(&mut self, user: u32, intended: Time) {
            self.0.push(format!("user {user} completed what was due at {intended:?}"));
        }
        fn finished(&mut self, user: u32) {
            self.0.push(format!("user {user} finished"));
        }
    }

    fn profile(gap_from: GapFrom) -> Rc<OltpProfile> {
        let statement = Statement {
            request_bytes: 100,
            response_bytes: 20_000,
            server_time: Distribution::Constant(50),
            write_bytes: 8_192,
            produce_fs_per_byte: 1_000,
            consume_fs_per_byte: 0,
            consume_chunk_bytes: 8_192,
        };
        let gap = Distribution::Constant(1_000);
        Rc::new(OltpProfile { statements: vec![statement], gap, gap_from, transactions: 2, warmup_transactions: 0 })
    }

    #[test]
    fn the_server_writes_pieces_when_they_are_produced() {
        let mut server = OltpServer::new(profile(GapFrom::End), Stream::new(1, "server"));
        let mut notes = Notes::default();
        server.handle_readable(Time::from_ps(10), 100, &mut notes);
        let mut due = Vec::new();
        while !server.poll_timeout().is_never() {
            due.push(server.poll_timeout().ps());
            server.handle_timeout(server.poll_timeout(), &mut notes);
        }
        assert_eq!(due, [10 + 50 + 8_192, 10 + 50 + 16_384, 10 + 50 + 20_000]);
        assert_eq!(notes.0, ["write 8192", "write 8192", "write 3616"]);
    }

    #[test]
    fn a_late_transaction_of_a_paced_user_counts_from_when_it_was_due() {
        let mut notes = Notes::default();
        let mut client = OltpClient::new(profile(GapFrom::Start), 3, Time::ZERO, Stream::new(1, "client"));
        client.handle_timeout(Time::ZERO, &mut notes);
        client.handle_connected(Time::from_ps(500), &mut notes);
        client.handle_readable(Time::from_ps(9_000), 20_000, &mut notes); // 7 500 late for the next
        client.handle_readable(Time::from_ps(9_900), 20_000, &mut notes);
        let expected = [
            "connect",
            "write 100",
            "user 3 completed what was due at 500 ps",
            "write 100",
            "user 3 completed what was due at 1500 ps",
            "user 3 finished",
        ];
        assert_eq!(notes.0, expected);
    }

    #[test]
    fn the_client_works_in_chunks_while_more_arrives() {
        let mut notes = Notes::default();
        let mut shared = profile(GapFrom::End);
        Rc::get_mut(&mut shared).expect("not shared yet").statements[0].consume_fs_per_byte = 1_000;
        let mut client = OltpClient::new(shared, 0, Time::ZERO, Stream::new(1, "client"));
        client.handle_timeout(Time::ZERO, &mut notes);
        client.handle_connected(Time::ZERO, &mut notes);
        client.handle_readable(Time::from_ps(10), 3_000, &mut notes);
        client.handle_readable(Time::from_ps(20), 17_000, &mut notes);
        for _ in 0..4 {
            client.handle_timeout(client.poll_timeout(), &mut notes);
        }
        let worked = ["compute 3000", "compute 8192", "compute 8192", "compute 616"];
        assert_eq!(notes.0[2..6], worked);
        assert_eq!(notes.0[6], "user 0 completed what was due at 0 ps");
    }

    #[test]
    fn a_thinking_user_pauses_after_the_end() {
        let mut notes = Notes::default();
        let mut client = OltpClient::new(profile(GapFrom::End), 0, Time::ZERO, Stream::new(1, "client"));
        client.handle_timeout(Time::ZERO, &mut notes);
        client.handle_connected(Time::from_ps(500), &mut notes);
        client.handle_readable(Time::from_ps(9_000), 20_000, &mut notes);
        assert_eq!(client.poll_timeout(), Time::from_ps(10_000));
    }
}
