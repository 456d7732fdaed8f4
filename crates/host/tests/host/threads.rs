//! Events of a thread while it works, and the kind of its work before a write.

use std::sync::Arc;

use crate::engine::{Cable, PROGRAMS, run};
use crate::identity;
use crate::per_request::{Client, Server, WORK};
use crate::processor::{host, policy};
use crate::programs::logs;
use tailrace_host::{Host, KernelCosts, NewProgram, NewSocket, Timer, Timers as _};
use tailrace_programs::{App, GapFrom, OltpClient, OltpProfile, OltpServer, Program, Statement};
use tailrace_transport::tcp::Limit;
use tailrace_units::{Distribution, RandomStream, Span, Time};
use tailrace_wire::Tag;

const TRANSACTIONS: u64 = 100;

/// One user of a database that works this long on each statement.
fn profile(server_work: Span) -> Arc<OltpProfile> {
    let statement = Statement {
        request_bytes: 100,
        response_bytes: 1_000,
        server_work,
        server_time: Distribution::Constant(0),
        build_fs_per_byte: 0,
        write_bytes: 0,
        produce_fs_per_byte: 0,
        consume_fs_per_byte: 0,
        consume_chunk_bytes: 8_192,
        unpack_fs_per_byte: 0,
    };
    Arc::new(OltpProfile {
        statements: vec![statement],
        gap: Distribution::Constant(0),
        gap_from: GapFrom::End,
        transactions: TRANSACTIONS,
        warmup_transactions: 0,
    })
}

/// The user on the first host, the database on the second; both have ended.
fn transactions(mut hosts: [Host<usize>; 2], server_work: Span) -> ([Host<usize>; 2], Cable, Time) {
    let (profile, mut cable) = (profile(server_work), Cable::default());
    let random = || RandomStream::new(1, "user");
    let client = OltpClient::new(Arc::clone(&profile), 0, Time::ZERO, Time::ZERO, random());
    let apps = [
        App::OltpClient(Box::new(client)),
        App::OltpServer(Box::new(OltpServer::new(profile, random()))),
    ];
    for (side, app) in apps.into_iter().enumerate() {
        hosts[side].open(NewSocket {
            identity: identity(20 + side as u32, 1 - side),
            expects: 21 - side as u32,
            app,
            owner: 5,
            timer: 1_000 * side as u32,
            port: 0,
            counts_goodput: side == 0,
            is_transient: false,
        });
    }
    hosts[0].handle_socket_timeout(Time::ZERO, 0, &mut cable);
    let end = Time::ZERO + Span::from_secs(60);
    run(&mut hosts, &mut cable, end);
    (hosts, cable, end)
}

/// The consequences of a write take longer than the response: the thread receives the response when
/// they are done, and not when something else happens to the host.
#[test]
fn what_comes_while_a_thread_does_what_follows_from_a_write_is_read_when_that_is_done() {
    let costs = KernelCosts { per_send: Span::from_us(100), ..KernelCosts::default() };
    let hosts = [host(0, policy(1, costs)), host(1, policy(1, KernelCosts::default()))];
    let (_, cable, _) = transactions(hosts, Span::ZERO);
    let ends: Vec<Time> = cable.completed.iter().map(|&(at, _)| at).collect();
    assert_eq!(ends.len() as u64, TRANSACTIONS);
    // The write's 100 us, and what the core spends on frames meanwhile: 600 ns for each.
    let gaps: Vec<Span> = ends.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(
        gaps.iter().all(|gap| (Span::from_us(100)..Span::from_us(103)).contains(gap)),
        "{gaps:?}"
    );
}

/// The work of so many requests, with switches of context before it: 400 ns each, two at most.
#[track_caller]
fn assert_is_work_of(span: Span, requests: u64) {
    let most = (WORK + Span::from_ns(800)).times(requests);
    assert!((WORK.times(requests)..=most).contains(&span), "{span:?} for {requests} requests");
}

#[test]
fn work_before_a_write_is_the_processors_and_the_wait_for_a_request_the_applications() {
    let hosts = [0, 1].map(|side| host(side, policy(1, KernelCosts::default())));
    let (hosts, cable, end) = transactions(hosts, WORK);
    assert_eq!(cable.completed.len() as u64, TRANSACTIONS);
    let limits = hosts[1].sockets()[0].tcp().limits(end);
    assert_is_work_of(limits.of(Limit::Processor), TRANSACTIONS);
    assert!(limits.of(Limit::Application) > Span::from_secs(59), "{limits:?}");
    let of_user = hosts[0].sockets()[0].tcp().limits(end);
    assert!(
        of_user.of(Limit::Processor) <= Span::from_ns(800).times(TRANSACTIONS),
        "the user does not work: {of_user:?}"
    );
}

#[test]
fn the_work_of_a_thread_that_serves_one_of_several_sockets_is_the_processors_too() {
    let (logs, requests) = (logs(), 1_000);
    let client: Box<dyn Program> =
        Box::new(Client::new(&logs[0], requests, 1, Span::from_ms(1), true));
    let server: Box<dyn Program> = Box::new(Server::new(&logs[1], false));
    let mut hosts = [0, 1].map(|side| host(side, policy(2, KernelCosts::default())));
    let mut cable = Cable::default();
    for (side, program) in [client, server].into_iter().enumerate() {
        let timer = 1_000 * side as u32 + PROGRAMS;
        let new = NewProgram {
            program,
            owner: side as u32,
            timer,
            tag: Tag::default(),
            dscp: 0,
            counts_goodput: side == 0,
        };
        let number = hosts[side].add_program(new);
        cable.arm(&side, Timer::Socket(timer), hosts[side].poll_program(number));
    }
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_secs(100));
    assert_eq!(logs[0].read().expect("nothing panics with it").done, requests);
    // The client works too, but writes nothing after that.
    assert_is_work_of(cable.limits.of(Limit::Processor), requests);
}
