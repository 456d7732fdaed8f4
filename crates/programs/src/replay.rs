//! Requests of a recording, each of its own size, and responses that take their own time: both
//! sides of one connection.

use super::SocketCalls;
use std::sync::Arc;
use tailrace_units::{Span, Time};

/// One request of a recording, with its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayedRequest {
    /// When it begins, as [`Replayed::pace`] says: after the start of the trial, or after the
    /// response before it.
    pub begin: Span,
    /// Payload of the request.
    pub request_bytes: u64,
    /// From the last byte of the request at the server to the first of the response.
    pub server_time: Span,
    /// Payload of the response.
    pub response_bytes: u64,
}

/// The reference of the start times of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayPace {
    /// The first begins at its time, every other one after the response before it: users with a
    /// think time.
    Thinking,
    /// Each begins at its time. One whose time comes while a response is awaited begins when that
    /// has come, and its latency counts from its time.
    Timed,
}

/// One connection of a recording.
#[derive(Debug)]
pub struct Replayed {
    /// When the client opens it.
    pub connect: Time,
    /// The reference of the start times.
    pub pace: ReplayPace,
    /// In order; at least one.
    pub requests: Vec<ReplayedRequest>,
}

/// The side that asks.
#[derive(Debug)]
pub struct ReplayClient {
    replayed: Arc<Replayed>,
    user: u32,
    phase: Phase,
    /// When the phase ends by itself.
    deadline: Time,
    /// When this request was meant to begin.
    intended: Time,
    /// Which request is under way, or is next.
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Until the deadline, then connects.
    Unconnected,
    /// Until the connection is open.
    Connecting,
    /// Until the deadline, then begins a request.
    Pausing,
    /// Until this many bytes have arrived.
    Waiting(u64),
    Done,
}

impl ReplayClient {
    /// The connection is number `user` of its workload.
    pub fn new(replayed: Arc<Replayed>, user: u32) -> ReplayClient {
        let deadline = replayed.connect;
        ReplayClient {
            replayed,
            user,
            phase: Phase::Unconnected,
            deadline,
            intended: Time::ZERO,
            at: 0,
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    pub(super) fn handle_timeout(&mut self, now: Time, calls: &mut impl SocketCalls) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::NEVER;
        match self.phase {
            Phase::Unconnected => {
                self.phase = Phase::Connecting;
                calls.connect();
            }
            Phase::Pausing => self.begin(calls),
            Phase::Connecting | Phase::Waiting(_) | Phase::Done => {}
        }
    }

    pub(super) fn handle_connected(&mut self, now: Time, calls: &mut impl SocketCalls) {
        let first = Time::ZERO + self.replayed.requests[0].begin;
        let intended = match self.replayed.pace {
            ReplayPace::Thinking => first.max(now),
            ReplayPace::Timed => first,
        };
        self.begin_at(intended, now, calls);
    }

    pub(super) fn handle_readable(&mut self, now: Time, bytes: u64, calls: &mut impl SocketCalls) {
        let Phase::Waiting(missing) = &mut self.phase else {
            panic!("nothing arrives that was not asked for")
        };
        *missing -= bytes;
        if *missing > 0 {
            return;
        }
        calls.completed(self.user, self.intended);
        self.at += 1;
        let Some(next) = self.replayed.requests.get(self.at) else {
            self.phase = Phase::Done;
            return calls.finished(self.user);
        };
        let intended = match self.replayed.pace {
            ReplayPace::Thinking => now + next.begin,
            ReplayPace::Timed => Time::ZERO + next.begin,
        };
        self.begin_at(intended, now, calls);
    }

    /// The request in work, and those whose times have come behind it.
    pub(super) fn running(&self, now: Time, mut tell: impl FnMut(u32, Time)) {
        if !matches!(self.phase, Phase::Waiting(_)) {
            return;
        }
        if self.intended <= now {
            tell(self.user, self.intended);
        }
        if self.replayed.pace == ReplayPace::Timed {
            let behind =
                self.replayed.requests[self.at + 1..].iter().map(|one| Time::ZERO + one.begin);
            behind.take_while(|&at| at <= now).for_each(|at| tell(self.user, at));
        }
    }

    fn begin_at(&mut self, intended: Time, now: Time, calls: &mut impl SocketCalls) {
        self.intended = intended;
        if intended <= now {
            return self.begin(calls);
        }
        self.phase = Phase::Pausing;
        self.deadline = intended;
    }

    fn begin(&mut self, calls: &mut impl SocketCalls) {
        let request = self.replayed.requests[self.at];
        self.phase = Phase::Waiting(request.response_bytes);
        calls.write(request.request_bytes);
    }
}

/// The side that answers.
#[derive(Debug)]
pub struct ReplayServer {
    replayed: Arc<Replayed>,
    /// Which request it awaits or works on.
    at: usize,
    /// Bytes of the request that are still to come.
    missing: u64,
    deadline: Time,
}

impl ReplayServer {
    /// Waits for the first request.
    pub fn new(replayed: Arc<Replayed>) -> ReplayServer {
        let missing = replayed.requests[0].request_bytes;
        ReplayServer { replayed, at: 0, missing, deadline: Time::NEVER }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        self.deadline
    }

    pub(super) fn handle_readable(&mut self, now: Time, bytes: u64, calls: &mut impl SocketCalls) {
        self.missing -= bytes;
        if self.missing == 0 {
            self.deadline = now + self.replayed.requests[self.at].server_time;
            self.handle_timeout(now, calls);
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time, calls: &mut impl SocketCalls) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::NEVER;
        calls.write(self.replayed.requests[self.at].response_bytes);
        self.at += 1;
        self.missing = self.replayed.requests.get(self.at).map_or(0, |next| next.request_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkCalls;

    /// Notes the calls of a program.
    #[derive(Default)]
    struct Notes(Vec<String>);

    impl SocketCalls for Notes {
        fn connect(&mut self) {
            self.0.push("connect".into());
        }
        fn write(&mut self, bytes: u64) {
            self.0.push(format!("write {bytes}"));
        }
        fn leave_unread(&mut self) {}
        fn read(&mut self, _: u64) {}
        fn ask_core(&mut self) -> bool {
            true
        }
    }

    impl WorkCalls for Notes {
        fn compute(&mut self, _: Span) -> Time {
            unreachable!("it computes nothing")
        }
        fn keeps_core(&mut self, _: Span) -> bool {
            true
        }
        fn leave_core(&mut self) {}
        fn completed(&mut self, user: u32, intended: Time) {
            self.0.push(format!("{user} completed what was due at {intended:?}"));
        }
        fn finished(&mut self, user: u32) {
            self.0.push(format!("{user} finished"));
        }
    }

    fn replayed(pace: ReplayPace) -> Arc<Replayed> {
        let request = |begin, request_bytes, server, response_bytes| ReplayedRequest {
            begin: Span::from_ps(begin),
            request_bytes,
            server_time: Span::from_ps(server),
            response_bytes,
        };
        let requests =
            vec![request(1_000, 100, 50, 2_000), request(300, 7, 0, 9), request(4_000, 8, 10, 11)];
        Arc::new(Replayed { connect: Time::from_ps(200), pace, requests })
    }

    /// The calls of the client, with responses 500 ps after each request.
    fn asked(pace: ReplayPace) -> Vec<String> {
        let (replayed, mut notes) = (replayed(pace), Notes::default());
        let mut client = ReplayClient::new(Arc::clone(&replayed), 3);
        client.handle_timeout(client.poll_timeout(), &mut notes);
        client.handle_connected(Time::from_ps(250), &mut notes);
        let mut now = Time::from_ps(250);
        for request in &replayed.requests {
            now = if client.poll_timeout().is_never() { now } else { client.poll_timeout() };
            client.handle_timeout(now, &mut notes);
            now += Span::from_ps(500);
            client.handle_readable(now, request.response_bytes - 1, &mut notes);
            client.handle_readable(now, 1, &mut notes);
        }
        notes.0
    }

    #[test]
    fn a_thinking_client_pauses_after_each_response() {
        let expected = [
            "connect",
            "write 100",
            "3 completed what was due at 1000 ps",
            "write 7",
            "3 completed what was due at 1800 ps",
            "write 8",
            "3 completed what was due at 6300 ps",
            "3 finished",
        ];
        assert_eq!(asked(ReplayPace::Thinking), expected);
    }

    #[test]
    fn a_timed_client_counts_from_the_recorded_time_even_when_it_is_late() {
        let expected = [
            "connect",
            "write 100",
            "3 completed what was due at 1000 ps",
            "write 7",
            "3 completed what was due at 300 ps",
            "write 8",
            "3 completed what was due at 4000 ps",
            "3 finished",
        ];
        assert_eq!(asked(ReplayPace::Timed), expected);
    }

    #[test]
    fn requests_that_are_due_behind_one_are_running_too() {
        let mut notes = Notes::default();
        let mut client = ReplayClient::new(replayed(ReplayPace::Timed), 0);
        client.handle_timeout(Time::from_ps(200), &mut notes);
        client.handle_connected(Time::from_ps(250), &mut notes);
        client.handle_timeout(Time::from_ps(1_000), &mut notes);
        let mut running = Vec::new();
        client.running(Time::from_ps(3_999), |_, at| running.push(at.ps()));
        assert_eq!(running, [1_000, 300]);
    }

    #[test]
    fn the_server_takes_the_time_of_each_request() {
        let mut notes = Notes::default();
        let mut server = ReplayServer::new(replayed(ReplayPace::Thinking));
        server.handle_readable(Time::from_ps(5), 60, &mut notes);
        assert!(server.poll_timeout().is_never());
        server.handle_readable(Time::from_ps(10), 40, &mut notes);
        assert_eq!(server.poll_timeout(), Time::from_ps(60));
        server.handle_timeout(Time::from_ps(60), &mut notes);
        server.handle_readable(Time::from_ps(70), 7, &mut notes);
        assert_eq!(notes.0, ["write 2000", "write 9"]);
    }
}
