//! Programs when things go wrong: refused, reset and lost connections, and more connections than a
//! program accepts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::RwLock;

use tailrace_host::{Host, HostCounters};
use tailrace_programs::{HostCalls, Peer, Program};
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};
use tailrace_wire::Tag;

use crate::engine::{Cable, run};
use crate::per_request::{Client, PORT, RESPONSE_BYTES, Server};
use crate::programs::{assert_all_came_back, logs, start, start_with_tag};

/// Longer than anything lasts: a peer that has given up is found out after 7 875 s.
const LONG: Span = Span::from_secs(1_000_000);

/// A call of a program at a stated time, for the last of its sockets.
#[derive(Clone, Copy)]
enum Action {
    Listen(u32),
    /// All ephemeral ports but the first so many.
    TakePorts(u16),
    Accept,
    Connect,
    Write(u64),
    KeepAlive,
    ShutDown,
    /// The first of its sockets.
    Close,
}

/// A program that follows a script, and notes its events.
struct Steps {
    due: VecDeque<(Time, Action)>,
    sockets: Vec<u32>,
    log: Log,
}

type Log = Arc<RwLock<Vec<String>>>;

fn steps(due: &[(Span, Action)]) -> (Box<dyn Program>, Log) {
    let log = Log::default();
    let due = due.iter().map(|&(at, step)| (Time::ZERO + at, step)).collect();
    (Box::new(Steps { due, sockets: Vec::new(), log: Arc::clone(&log) }), log)
}

impl Steps {
    fn note(&self, what: impl Into<String>) {
        self.log.write().expect("nothing panics with it").push(what.into());
    }
}

impl Program for Steps {
    fn poll_timeout(&self) -> Time {
        self.due.front().map_or(Time::NEVER, |step| step.0)
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some(&(_, step)) = self.due.front().filter(|step| step.0 <= now) {
            self.due.pop_front();
            let last = self.sockets.last().copied();
            match step {
                Action::Listen(backlog) => assert!(calls.listen(PORT, backlog)),
                Action::TakePorts(left) => {
                    assert!((32_768 + left..=u16::MAX).all(|port| calls.listen(port, 0)))
                }
                Action::Accept => {
                    self.sockets.push(calls.accept(PORT).expect("a connection waits"))
                }
                Action::Connect => self
                    .sockets
                    .push(calls.connect(Peer { host: 1, port: PORT }).expect("a port is free")),
                Action::Write(bytes) => calls.write(last.expect("a socket"), bytes),
                Action::KeepAlive => calls.keep_alive(last.expect("a socket")),
                Action::ShutDown => calls.shut_down(last.expect("a socket")),
                Action::Close => calls.close(self.sockets.remove(0)),
            }
        }
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        self.note("connected");
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {
        self.note("waiting");
    }
    fn handle_readable(&mut self, _: Time, _: u32, bytes: u64, _: &mut dyn HostCalls) {
        self.note(format!("read {bytes}"));
    }
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        self.note("ended");
    }
    fn handle_failed(&mut self, _: Time, _: u32, why: Failure, _: &mut dyn HostCalls) {
        self.note(format!("{why:?}"));
    }
}

fn joined(log: &Log) -> String {
    log.read().expect("nothing panics with it").join(", ")
}

fn run_to(hosts: &mut [Host<usize>; 2], cable: &mut Cable, end: Span) {
    run(hosts, cable, Time::ZERO + end);
}

const fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

#[test]
fn events_before_a_connection_is_accepted_are_delivered_when_it_is() {
    let (client, of_client) = steps(&[
        (ms(1), Action::Connect),
        (ms(2), Action::Write(5_000)),
        (ms(3), Action::ShutDown),
    ]);
    let (server, of_server) = steps(&[
        (ms(0), Action::Listen(0)),
        (ms(9), Action::Accept),
        (ms(10), Action::Write(700)),
        (ms(11), Action::Close),
    ]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(8));
    assert_eq!(joined(&of_server), "waiting");
    run_to(&mut hosts, &mut cable, ms(20));
    assert_eq!(joined(&of_server), "waiting, read 5000, ended");
    assert_eq!(joined(&of_client), "connected, read 700, ended", "its other direction stays open");
}

#[test]
fn a_connection_that_is_reset_while_it_waits_keeps_its_backlog_slot_and_its_bytes() {
    let (client, _) =
        steps(&[(ms(1), Action::Connect), (ms(2), Action::Write(300)), (ms(3), Action::Close)]);
    let (server, of_server) = steps(&[
        (ms(0), Action::Listen(1)),
        (ms(5), Action::Accept),
        (ms(6), Action::Write(10)),
        (ms(9), Action::Close),
    ]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(8));
    assert_eq!(joined(&of_server), "waiting, read 300, ended, Reset");
}

#[test]
fn beyond_the_backlog_connections_are_dropped_and_every_request_is_answered_all_the_same() {
    let logs = logs();
    let client = Client::new(&logs[0], 40, 10, Span::ZERO, false);
    let mut server = Server::new(&logs[1], true);
    (server.backlog, server.accepts) = (2, 1);
    let (mut hosts, mut cable) = start([vec![Box::new(client)], vec![Box::new(server)]]);
    run_to(&mut hosts, &mut cable, ms(2));
    // One is served and three wait, one more than the backlog.
    assert!(hosts[1].counters().listen_drops >= 6, "{} drops", hosts[1].counters().listen_drops);
    run_to(&mut hosts, &mut cable, LONG);
    assert_eq!(
        (
            logs[0].read().expect("nothing panics with it").done,
            logs[1].read().expect("nothing panics with it").open_most
        ),
        (40, 1)
    );
    assert_eq!(logs[0].read().expect("nothing panics with it").failures, []);
    assert_all_came_back(&hosts);
}

#[test]
fn a_syn_beyond_the_backlog_is_dropped_and_sent_again_after_a_second() {
    let (client, of_client) =
        steps(&[(ms(1), Action::Connect), (ms(3), Action::Connect), (ms(5), Action::Connect)]);
    let (server, of_server) = steps(&[(ms(0), Action::Listen(1)), (ms(900), Action::Accept)]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(1_004));
    assert_eq!(
        (joined(&of_client).as_str(), hosts[1].counters().listen_drops),
        ("connected, connected", 1)
    );
    run_to(&mut hosts, &mut cable, ms(1_006));
    assert_eq!(joined(&of_client), "connected, connected, connected");
    assert_eq!(joined(&of_server), "waiting, waiting, waiting");
}

#[test]
fn what_a_host_counts_can_begin_anew() {
    let (client, _) = steps(&[(ms(1), Action::Connect), (ms(3), Action::Connect)]);
    let (server, _) = steps(&[(ms(0), Action::Listen(0))]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(900));
    let counted = hosts[1].counters();
    assert!(counted.rx_frames > 0 && counted.listen_drops > 0, "{counted:?}");
    hosts[1].begin_counting(Time::ZERO + ms(900));
    assert_eq!(hosts[1].counters(), HostCounters::default());
}

/// A reset has no options: 4 bytes more are the tag.
#[test]
fn a_connection_is_refused_in_its_vlan() {
    let tags = [Tag::new(3, 20), Tag::new(3, 20).written(true)];
    let resets = tags.map(|tag| {
        let (client, of_client) = steps(&[(ms(1), Action::Connect)]);
        let (mut hosts, mut cable) = start_with_tag([vec![client], vec![]], tag);
        run_to(&mut hosts, &mut cable, ms(10));
        assert_eq!(joined(&of_client), "Refused");
        let [reset] = cable.resets[..] else { panic!("one reset: {:?}", cable.resets) };
        assert_eq!(reset.tag, tag);
        reset.frame_bytes
    });
    assert_eq!(resets[1], resets[0] + 4);
}

/// SYNs that come together are all answered; the connection that is open first has the backlog
/// slot.
#[test]
fn the_last_segment_of_an_opening_is_dropped_too_where_too_many_wait() {
    let connects = [(ms(1), Action::Connect); 3];
    let (client, of_client) = steps(&connects);
    let (server, of_server) = steps(&[(ms(0), Action::Listen(0)), (ms(500), Action::Accept)]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(400));
    assert_eq!(
        joined(&of_client),
        "connected, connected, connected",
        "the answers to all SYNs have come"
    );
    assert_eq!((joined(&of_server).as_str(), hosts[1].counters().listen_drops), ("waiting", 2));
    // The answer to a SYN is repeated after a second, and then there is room for one.
    run_to(&mut hosts, &mut cable, ms(1_500));
    assert_eq!(
        (joined(&of_server).as_str(), hosts[1].counters().listen_drops),
        ("waiting, waiting", 3)
    );
    // The third is given up after 63 s, without a word.
    run_to(&mut hosts, &mut cable, Span::from_secs(100));
    assert_eq!(
        (joined(&of_client).as_str(), hosts[1].sockets_of(0)),
        ("connected, connected, connected", 2)
    );
}

#[test]
fn a_program_hears_that_its_peer_has_forgotten_the_connection() {
    // The client closes while nothing comes through, and gives its FIN up. Then the server writes.
    let (client, of_client) = steps(&[(ms(1), Action::Connect), (ms(100), Action::Close)]);
    let (server, of_server) = steps(&[
        (ms(0), Action::Listen(0)),
        (ms(5), Action::Accept),
        (Span::from_secs(300), Action::Write(10)),
    ]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(50));
    cable.is_cut = true;
    run_to(&mut hosts, &mut cable, Span::from_secs(290));
    assert_eq!(
        (hosts[0].sockets_of(0), hosts[0].ports_in_use(), hosts[1].sockets_of(0)),
        (0, 0, 1)
    );
    cable.is_cut = false;
    run_to(&mut hosts, &mut cable, Span::from_secs(301));
    assert_eq!(
        (joined(&of_client).as_str(), joined(&of_server).as_str()),
        ("connected", "waiting, Reset")
    );
    assert_all_came_back(&hosts);
}

/// With two ports, which are used again in the same order; the sockets are in the other, so that
/// the old numbers are wrong.
#[test]
fn a_port_that_the_peer_believes_in_use_is_freed_by_a_reset() {
    let again = Span::from_secs(300);
    let (client, of_client) = steps(&[
        (ms(0), Action::TakePorts(2)),
        (ms(1), Action::Connect),
        (ms(1), Action::Connect),
        (ms(100), Action::Close),
        (ms(150), Action::Close),
        (again, Action::Connect),
        (again, Action::Connect),
    ]);
    let (server, of_server) =
        steps(&[(ms(0), Action::Listen(1)), (ms(5), Action::Accept), (ms(5), Action::Accept)]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, ms(50));
    cable.is_cut = true;
    run_to(&mut hosts, &mut cable, Span::from_secs(290));
    assert_eq!((hosts[0].sockets_of(0), hosts[1].sockets_of(0)), (0, 2));
    cable.is_cut = false;
    run_to(&mut hosts, &mut cable, again + ms(10));
    assert_eq!(joined(&of_client), "connected, connected, connected, connected");
    assert_eq!(joined(&of_server), "waiting, waiting, Reset, Reset, waiting, waiting");
}

/// Linux: two hours, then nine questions 75 s apart.
#[test]
fn a_connection_that_is_kept_alive_ends_when_the_peer_is_silent_for_two_hours_and_more() {
    let keeps = |at| [(ms(at), Action::KeepAlive)];
    let (client, of_client) = steps(&[&[(ms(1), Action::Connect)][..], &keeps(2)].concat());
    let (server, of_server) = steps(&[(ms(0), Action::Listen(1)), (ms(5), Action::Accept)]);
    let (mut hosts, mut cable) = start([vec![client], vec![server]]);
    run_to(&mut hosts, &mut cable, Span::from_secs(20_000));
    assert_eq!(joined(&of_client), "connected", "the peer answers");
    cable.is_cut = true;
    // The last answer came after four hours: the first question without one is that after six, and
    // nine of them are waited for.
    run_to(&mut hosts, &mut cable, Span::from_secs(3 * 7_200 + 9 * 75 - 1));
    assert_eq!(joined(&of_client), "connected");
    run_to(&mut hosts, &mut cable, Span::from_secs(3 * 7_200 + 9 * 75 + 1));
    assert_eq!(
        (joined(&of_client).as_str(), joined(&of_server).as_str()),
        ("connected, TimedOut", "waiting")
    );
}

/// Whatever is lost, every connection ends, and every program hears of it.
#[test]
fn with_every_second_frame_lost_all_connections_end() {
    for closes_first in [0, 1] {
        for at_once in [1, 2, 3] {
            let logs = logs();
            let client = Client::new(&logs[0], 20, at_once, Span::ZERO, closes_first == 0);
            let server = Server::new(&logs[1], closes_first == 1);
            let (mut hosts, mut cable) = start([vec![Box::new(client)], vec![Box::new(server)]]);
            cable.loses_every = 2;
            run_to(&mut hosts, &mut cable, LONG);
            let (done, failed) = (
                logs[0].read().expect("nothing panics with it").done,
                logs[0].read().expect("nothing panics with it").failures.len() as u64,
            );
            assert_eq!(
                done + failed,
                20,
                "{closes_first} {at_once}: {done} answered, {failed} failed"
            );
            assert!(cable.received.get(&0).copied().unwrap_or(0) >= done * RESPONSE_BYTES);
            assert_all_came_back(&hosts);
        }
    }
}
