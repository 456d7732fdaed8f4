//! Programs that open and accept connections: requests are answered, and sockets and ports come
//! back.

use tailrace_host::{Host, HostConfig, NewProgram, Timer, Timers as _};
use tailrace_programs::{HostCalls, Peer, Program};
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};
use tailrace_wire::Tag;

use crate::config;
use crate::engine::{Cable, PROGRAMS, run};
use crate::per_request::{Client, PORT, REQUEST_BYTES, RESPONSE_BYTES, Server, Shared, WORK};

/// Longer than the wait for late segments.
const LONG: Span = Span::from_secs(1_000);

/// One core for programs on either side, and no work of receiving.
fn host(side: usize) -> Host<usize> {
    let mut config = HostConfig { program_cores: 1, ..config(side, 4_096) };
    (config.receive.per_packet, config.receive.per_byte_fs) = (Span::ZERO, 0);
    Host::new(config)
}

/// A host with each of these programs; all of them are due at once.
pub fn start(programs: [Vec<Box<dyn Program>>; 2]) -> ([Host<usize>; 2], Cable) {
    start_with_tag(programs, Tag::default())
}

/// The same, with this tag in their packets.
pub fn start_with_tag(programs: [Vec<Box<dyn Program>>; 2], tag: Tag) -> ([Host<usize>; 2], Cable) {
    start_for(programs, tag, |side, _| side as u32)
}

/// The same, with the owner of each program by side and number.
fn start_for(
    programs: [Vec<Box<dyn Program>>; 2],
    tag: Tag,
    owner: impl Fn(usize, u32) -> u32,
) -> ([Host<usize>; 2], Cable) {
    let (mut hosts, mut cable) = ([host(0), host(1)], Cable::default());
    for (side, programs) in programs.into_iter().enumerate() {
        for (number, program) in (0..).zip(programs) {
            let timer = 1_000 * side as u32 + PROGRAMS + number;
            let new = NewProgram {
                program,
                owner: owner(side, number),
                timer,
                tag,
                dscp: 0,
                counts_goodput: side == 0,
            };
            assert_eq!(hosts[side].add_program(new), number);
            cable.arm(&side, Timer::Socket(timer), hosts[side].poll_program(number));
        }
    }
    (hosts, cable)
}

fn run_for(hosts: &mut [Host<usize>; 2], cable: &mut Cable, span: Span) {
    run(hosts, cable, Time::ZERO + span);
}

/// Nothing is left of the programs' connections.
pub fn assert_all_came_back(hosts: &[Host<usize>; 2]) {
    let left = [0, 1].map(|side| (hosts[side].sockets_of(0), hosts[side].ports_in_use()));
    assert_eq!(left, [(0, 0), (0, 0)], "sockets and ports come back");
    for host in hosts {
        assert!(
            host.sockets().iter().all(|socket| socket.stats().is_none()),
            "no socket is in use"
        );
    }
}

pub fn logs() -> [Shared; 2] {
    Default::default()
}

#[test]
fn a_connection_for_each_request_takes_cores_on_both_sides_and_leaves_nothing_behind() {
    for closes_first in [0, 1] {
        let logs = logs();
        let client = Client::new(&logs[0], 1_000, 4, Span::from_ms(20), closes_first == 0);
        let server = Server::new(&logs[1], closes_first == 1);
        let (mut hosts, mut cable) = start([vec![Box::new(client)], vec![Box::new(server)]]);
        run_for(&mut hosts, &mut cable, LONG);
        for (log, host) in
            logs.iter().map(|log| log.read().expect("nothing panics with it")).zip(&hosts)
        {
            assert_eq!(
                (log.done, log.failures.len(), log.without_port, log.open_most),
                (1_000, 0, 0, 4)
            );
            assert!(log.waited > 0, "four connections share a core");
            assert_eq!(host.counters().program_busy, WORK.times(1_000));
        }
        assert_eq!((cable.completed.len(), cable.received[&0]), (1_000, 1_000 * RESPONSE_BYTES));
        assert_all_came_back(&hosts);
        // Four in 20 ms: at most 200 wait for late segments during one second, on the side that
        // closes first.
        let slots = hosts.map(|host| host.sockets().len());
        assert!(
            slots[closes_first] <= 204 && slots[1 - closes_first] <= 8,
            "{slots:?} slots, side {closes_first} closes first"
        );
    }
}

#[test]
fn servers_of_two_owners_share_a_port_and_each_answers_its_own() {
    let logs = [logs(), logs()];
    let clients = [(0, 10), (1, 20)]
        .map(|(at, requests)| Client::new(&logs[at][0], requests, 1, Span::ZERO, true));
    let servers = [0, 1].map(|at| Server::new(&logs[at][1], false));
    let programs = [clients.map(boxed).into(), servers.map(boxed).into()];
    let (mut hosts, mut cable) = start_for(programs, Tag::default(), |_, number| 7 + number);
    run_for(&mut hosts, &mut cable, LONG);
    let done = logs.map(|sides| sides.map(|log| log.read().expect("nothing panics with it").done));
    assert_eq!(done, [[10, 10], [20, 20]]);
}

fn boxed<P: Program + 'static>(program: P) -> Box<dyn Program> {
    Box::new(program)
}

#[test]
fn ports_are_used_again_after_the_last_one() {
    let logs = logs();
    let client = Client::new(&logs[0], 40_000, 2, Span::ZERO, false);
    let (mut hosts, mut cable) =
        start([vec![Box::new(client)], vec![Box::new(Server::new(&logs[1], true))]]);
    run_for(&mut hosts, &mut cable, LONG);
    assert_eq!(
        [0, 1].map(|side| logs[side].read().expect("nothing panics with it").done),
        [40_000, 40_000]
    );
    assert_eq!(logs[0].read().expect("nothing panics with it").without_port, 0);
    assert!(hosts[0].sockets().len() <= 8, "the server waits for late segments, not the client");
    assert_all_came_back(&hosts);
}

#[test]
fn with_losses_every_request_is_answered_and_everything_comes_back() {
    for loses_every in [3, 4, 5, 7, 11, 13] {
        let logs = logs();
        let client = Client::new(&logs[0], 60, 3, Span::ZERO, loses_every % 3 == 0);
        let server = Server::new(&logs[1], loses_every % 3 != 0);
        let (mut hosts, mut cable) = start([vec![Box::new(client)], vec![Box::new(server)]]);
        cable.loses_every = loses_every;
        run_for(&mut hosts, &mut cable, Span::from_secs(100_000));
        let done = [0, 1].map(|side| logs[side].read().expect("nothing panics with it").done);
        assert_eq!(
            (done, logs[0].read().expect("nothing panics with it").failures.len()),
            ([60, 60], 0),
            "every {loses_every}th frame is lost"
        );
        assert_all_came_back(&hosts);
    }
}

#[test]
fn a_port_that_is_closed_refuses_at_once() {
    let logs = logs();
    let mut client = Client::new(&logs[0], 5, 5, Span::ZERO, true);
    client.port = 9;
    let (mut hosts, mut cable) =
        start([vec![Box::new(client)], vec![Box::new(Server::new(&logs[1], true))]]);
    run_for(&mut hosts, &mut cable, Span::from_us(100));
    assert_eq!(
        (&logs[0].read().expect("nothing panics with it").failures, hosts[1].sockets().len()),
        (&vec![Failure::Refused; 5], 0)
    );
    assert_all_came_back(&hosts);
}

/// Listens at all ephemeral ports but the first so many.
struct Hoarder {
    leaves: u16,
    is_done: bool,
}

impl Program for Hoarder {
    fn poll_timeout(&self) -> Time {
        if self.is_done { Time::NEVER } else { Time::ZERO }
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, _: Time, calls: &mut dyn HostCalls) {
        self.is_done = true;
        assert!((32_768 + self.leaves..=u16::MAX).all(|port| calls.listen(port, 0)));
        assert!(!calls.listen(u16::MAX, 0));
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_readable(&mut self, _: Time, _: u32, _: u64, _: &mut dyn HostCalls) {}
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {}
    fn handle_failed(&mut self, _: Time, _: u32, _: Failure, _: &mut dyn HostCalls) {}
}

/// A client and a program that leaves it this many ports; the server closes first, so that its
/// sockets wait for late segments.
fn with_ports(ports: u16, requests: u64, at_once: usize) -> ([Shared; 2], [Host<usize>; 2], Cable) {
    let logs = logs();
    let client = Client::new(&logs[0], requests, at_once, Span::ZERO, false);
    let hoarder = Hoarder { leaves: ports, is_done: false };
    let (mut hosts, mut cable) = start([
        vec![Box::new(client), Box::new(hoarder)],
        vec![Box::new(Server::new(&logs[1], true))],
    ]);
    hosts[0].handle_program_timeout(Time::ZERO, 1, &mut cable);
    (logs, hosts, cable)
}

#[test]
fn without_a_free_port_connect_answers_so() {
    let (logs, mut hosts, mut cable) = with_ports(3, 5, 5);
    run_for(&mut hosts, &mut cable, LONG);
    let log = logs[0].read().expect("nothing panics with it");
    assert_eq!((log.done, log.without_port, log.open_most), (3, 2, 3));
}

#[test]
fn a_peer_that_waits_for_late_segments_accepts_a_connection_from_the_same_port() {
    let (logs, mut hosts, mut cable) = with_ports(2, 100, 1);
    run_for(&mut hosts, &mut cable, Span::from_ms(200));
    assert_eq!(
        [0, 1].map(|side| logs[side].read().expect("nothing panics with it").done),
        [100, 100],
        "each is answered at once"
    );
    assert!(hosts[1].sockets().len() <= 3, "{} slots", hosts[1].sockets().len());
}

/// Opens a connection and closes it at once, or when the first bytes have come. It reads nothing.
struct Hasty {
    closes_at_once: bool,
    is_started: bool,
}

impl Program for Hasty {
    fn poll_timeout(&self) -> Time {
        if self.is_started { Time::NEVER } else { Time::ZERO }
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, _: Time, calls: &mut dyn HostCalls) {
        self.is_started = true;
        let socket = calls.connect(Peer { host: 1, port: PORT }).expect("a port is free");
        if self.closes_at_once {
            calls.close(socket);
        }
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {}
    fn handle_connected(&mut self, _: Time, socket: u32, calls: &mut dyn HostCalls) {
        assert!(!self.closes_at_once, "it hears nothing of a connection that it has closed");
        calls.leave_unread(socket);
        calls.write(socket, REQUEST_BYTES);
    }
    fn handle_readable(&mut self, _: Time, socket: u32, _: u64, calls: &mut dyn HostCalls) {
        calls.close(socket);
    }
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it has closed");
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {}
    fn handle_failed(&mut self, _: Time, _: u32, _: Failure, _: &mut dyn HostCalls) {
        unreachable!("it has closed");
    }
}

#[test]
fn a_connection_that_is_closed_before_it_is_open_leaves_nothing_behind() {
    let logs = logs();
    let hasty = Hasty { closes_at_once: true, is_started: false };
    let (mut hosts, mut cable) =
        start([vec![Box::new(hasty)], vec![Box::new(Server::new(&logs[1], true))]]);
    run_for(&mut hosts, &mut cable, LONG);
    assert_eq!(logs[1].read().expect("nothing panics with it").open_most, 0);
    assert_all_came_back(&hosts);
}

#[test]
fn what_comes_for_a_closed_socket_is_answered_by_a_reset() {
    let logs = logs();
    let mut server = Server::new(&logs[1], false);
    server.response_bytes = 10_000_000;
    let hasty = Hasty { closes_at_once: false, is_started: false };
    let (mut hosts, mut cable) = start([vec![Box::new(hasty)], vec![Box::new(server)]]);
    run_for(&mut hosts, &mut cable, Span::from_ms(10));
    assert_eq!(
        (
            logs[1].read().expect("nothing panics with it").done,
            &logs[1].read().expect("nothing panics with it").failures
        ),
        (1, &vec![Failure::Reset])
    );
    assert!(cable.received[&0] < 100_000, "the rest is not sent");
    assert_all_came_back(&hosts);
}
