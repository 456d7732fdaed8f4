//! Programs that own several sockets: a connection for each request, from several hosts to one
//! server, through a switch.

#[path = "../../../host/tests/support/per_request.rs"]
mod per_request;

use crate::common::*;
use per_request::{BACKLOG, Client, Log, PORT, RESPONSE_BYTES, Server, Shared, WORK};
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::{Control, HostedProgram, Outcome, run_with};
use tailrace_transport::tcp::Failure;
use tailrace_units::Span;

const CLIENTS: u32 = 3;
const AT_ONCE: usize = 8;

/// Settings of a trial.
#[derive(Clone, Copy)]
struct Asked {
    requests: u64,
    /// The buffer of the switch.
    buffer_bytes: u64,
    /// Whether the clients close first, and so keep the ports for a while.
    clients_close: bool,
    /// Priority and code point of the workload.
    marks: (u8, u8),
    /// The port that the clients connect to; the server listens at [`PORT`].
    port: u16,
    /// Connections that may wait at the server, and those that it has accepted at the same time.
    backlog: (u32, usize),
}

const USUAL: Asked = Asked {
    requests: 500,
    buffer_bytes: 16_000_000,
    clients_close: false,
    marks: (0, 0),
    port: PORT,
    backlog: (BACKLOG, usize::MAX),
};

/// Its results.
struct Seen {
    outcome: Outcome,
    clients: Vec<Log>,
    server: Log,
}

/// The programs count for the plan's only workload: a datagram from the first host to the server.
fn requests(asked: Asked, change: impl FnOnce(&mut RawPlan)) -> Seen {
    let server_host = CLIENTS;
    let mut plan = star(
        CLIENTS as usize + 1,
        1500,
        GBPS,
        5 * US,
        switch("sw", asked.buffer_bytes, fifo(asked.buffer_bytes)),
    );
    plan.hosts
        .iter_mut()
        .for_each(|host| (host.cpu.program_cores, host.cpu.time_slice_ps) = (2, 3 * MS));
    let datagrams = datagrams("requests", "h0", "h3", 100, RawDistribution::Constant(1_000 * S));
    let mut workload = RawWorkload::from(datagrams);
    (workload.header.priority, workload.header.dscp) = asked.marks;
    plan.workloads.push(workload);
    plan.stop_at_ps = 400 * S;
    change(&mut plan);
    let plan = Plan::from_raw(plan).expect("a sound plan");
    let logs: Vec<Shared> = (0..=CLIENTS).map(|_| Shared::default()).collect();
    let mut programs: Vec<HostedProgram> = (0..CLIENTS)
        .map(|host| {
            let mut client = Client::new(
                &logs[host as usize],
                asked.requests,
                AT_ONCE,
                Span::ZERO,
                asked.clients_close,
            );
            (client.server, client.port, client.user) = (server_host as u16, asked.port, host);
            HostedProgram { host, workload: 0, program: Box::new(client), counts_goodput: true }
        })
        .collect();
    let mut server = Server::new(&logs[server_host as usize], !asked.clients_close);
    (server.backlog, server.accepts) = asked.backlog;
    programs.push(HostedProgram {
        host: server_host,
        workload: 0,
        program: Box::new(server),
        counts_goodput: false,
    });
    let outcome = run_with(&plan, programs, &Control::default());
    let taken = |log: Shared| std::mem::take(&mut *log.write().expect("nothing panics with it"));
    let mut logs: Vec<Log> = logs.into_iter().map(taken).collect();
    let server = logs.pop().expect("the server's log");
    Seen { outcome, clients: logs, server }
}

fn only(outcome: &Outcome) -> &Value {
    workload(outcome, "requests")
}

/// Every request is answered once, and every byte of the answers is goodput.
fn assert_all_answered(seen: &Seen, requests: u64) {
    let whole = requests * u64::from(CLIENTS);
    for log in &seen.clients {
        assert_eq!((log.done, log.failures.len(), log.without_port), (requests, 0, 0));
    }
    assert_eq!(seen.server.done, whole);
    let of_requests = only(&seen.outcome);
    assert_eq!(count(of_requests, "goodput_bytes"), whole * RESPONSE_BYTES);
    assert_eq!(count(of_requests, "transactions"), whole);
    let frames = &seen.outcome.summary()["conservation"];
    assert_eq!(
        count(frames, "sent"),
        count(frames, "delivered") + count(frames, "dropped"),
        "nothing is left in the network"
    );
}

#[test]
fn every_request_has_a_connection_of_its_own_and_an_answer() {
    for clients_close in [true, false] {
        let asked = Asked { clients_close, ..USUAL };
        let seen = requests(asked, |_| ());
        assert_all_answered(&seen, asked.requests);
        assert_eq!(
            count(only(&seen.outcome), "tcp.retransmits"),
            0,
            "nothing is lost in a large buffer"
        );
        assert_eq!(count(only(&seen.outcome), "cut_off.count"), 0);
        // SYN-ACK, data and FIN of each connection; a response takes 14 segments.
        let segments = count(only(&seen.outcome), "tcp.segments_sent");
        assert!(
            segments >= 1_500 * 15,
            "{segments} segments of connections that are gone are counted"
        );
        for host in &seen.outcome.summary()["hosts"].as_array().expect("hosts")[..CLIENTS as usize]
        {
            assert_eq!(
                count(host, "program_busy_ps"),
                WORK.times(asked.requests).ps(),
                "each response takes a core"
            );
        }
        assert_eq!(
            count(host_summary(&seen.outcome, "h3"), "program_busy_ps"),
            WORK.times(1_500).ps(),
            "and each request"
        );
        assert!(seen.server.waited > 0, "24 connections share two cores");
        let latency = number(only(&seen.outcome), "latency.p50_ps");
        // Two cores of the server make 20 requests a millisecond, for 24 connections: 1.2 ms at
        // least.
        within("median latency, ms", latency / MS as f64, (1.2, 20.0));
    }
}

#[test]
fn with_a_switch_that_drops_every_request_is_answered_all_the_same() {
    let asked = Asked { buffer_bytes: 30_000, ..USUAL };
    let seen = requests(asked, |plan| plan.hosts[3].nic.queue_bytes = 40_000);
    assert_all_answered(&seen, asked.requests);
    assert!(
        count(&seen.outcome.summary()["conservation"], "dropped") > 100,
        "responses do not fit the interface's queue"
    );
    assert!(count(only(&seen.outcome), "tcp.retransmits") > 100);
}

#[test]
fn the_same_trial_has_the_same_digest_and_another_seed_another() {
    let digest = |seed: u64| {
        let seen = requests(USUAL, |plan| plan.seed = seed);
        seen.outcome.summary()["digest"].as_str().expect("a digest").to_owned()
    };
    let (first, again, other) = (digest(1), digest(1), digest(2));
    assert_eq!(first, again);
    assert_ne!(first, other, "hosts poll at other times");
}

/// More requests than there are ephemeral ports, of which each is kept for a minute by the side
/// that closes first.
#[test]
fn ports_come_back_in_a_trial() {
    let asked = Asked { requests: 40_000, ..USUAL };
    let seen = requests(asked, |_| ());
    assert_all_answered(&seen, asked.requests);
}

#[test]
fn connections_of_programs_carry_the_marks_of_their_workload_and_ports_count_them_there() {
    let asked = Asked { marks: (5, 46), ..USUAL };
    let seen = requests(asked, |plan| {
        let queues = ["low", "high"].map(|name| queue(name, RawService::Dwrr(500), 1_000_000));
        plan.switches[0].policy = policy(queues.into(), [0, 0, 0, 0, 0, 1, 0, 0]);
    });
    assert_all_answered(&seen, asked.requests);
    let towards = port(&seen.outcome, "sw", "h3");
    let frames = |queue: usize| count(&towards["queues"][queue], "tx_frames");
    assert!(frames(1) > 1_500 * 3, "{towards}");
    assert_eq!(frames(0), 0, "opening segments have the marks too");
}

#[test]
fn the_end_of_a_trial_cuts_off_what_runs() {
    let seen = requests(USUAL, |plan| plan.stop_at_ps = 20 * MS);
    let running = count(only(&seen.outcome), "cut_off.count");
    assert_eq!(
        running,
        u64::from(CLIENTS) * AT_ONCE as u64,
        "every client has as many requests on their way as it may"
    );
    let frames = &seen.outcome.summary()["conservation"];
    let gone = count(frames, "delivered") + count(frames, "dropped");
    assert_eq!(count(frames, "sent"), gone + count(frames, "in_network"));
}

#[test]
fn connections_to_a_port_at_which_nothing_listens_are_refused_at_once() {
    let seen = requests(Asked { port: 9, ..USUAL }, |plan| plan.stop_at_ps = S);
    for log in &seen.clients {
        assert_eq!(
            (log.done, &log.failures),
            (0, &vec![Failure::Refused; USUAL.requests as usize])
        );
    }
    assert_eq!(seen.server.open_most, 0);
    let frames = &seen.outcome.summary()["conservation"];
    assert_eq!(
        (count(frames, "sent"), count(frames, "delivered")),
        (3_000, 3_000),
        "a SYN and a reset for each"
    );
}

#[test]
fn connections_beyond_the_backlog_are_dropped_counted_and_made_all_the_same() {
    let seen = requests(Asked { backlog: (3, 2), ..USUAL }, |_| ());
    assert_all_answered(&seen, USUAL.requests);
    assert_eq!(seen.server.open_most, 2);
    let dropped = |host: &str| count(host_summary(&seen.outcome, host), "listen_drops");
    assert!(dropped("h3") > 24, "{} segments", dropped("h3"));
    assert_eq!(dropped("h0"), 0);
    assert!(
        number(only(&seen.outcome), "latency.max_ps") > 1e12,
        "a dropped SYN is sent again after a second"
    );
}

/// Segments without data pass the policer, requests do not.
#[test]
fn what_cannot_be_sent_is_given_up_and_both_ends_hear_of_it() {
    let seen = requests(Asked { requests: 8, ..USUAL }, |plan| {
        let police =
            RawPolice { classes: u8::MAX, rate_bps: GBPS, burst_bytes: 120, per_flow: true };
        plan.switches[0].policy.police = Some(police);
        plan.stop_at_ps = 30_000 * S;
    });
    for log in &seen.clients {
        assert_eq!((log.done, log.failures.len()), (0, 8), "{:?}", log.failures);
        assert!(log.failures.contains(&Failure::TimedOut), "{:?}", log.failures);
    }
    // It asks after two hours, and learns that there is no such connection any more.
    let failures = &seen.server.failures;
    assert!(
        !failures.is_empty() && failures.iter().all(|failure| *failure == Failure::Reset),
        "{failures:?}"
    );
    assert_eq!(count(only(&seen.outcome), "cut_off.count"), 0, "nothing runs at the end");
}

/// Rules about flows know those of programs as they know those of ordinary workloads: from their
/// first frame on, both ways, refused ones too.
#[test]
fn switches_with_flow_rules_learn_the_connections_of_programs() {
    for port_asked in [PORT, 9] {
        let seen = requests(Asked { port: port_asked, ..USUAL }, |plan| {
            let queues = ["others", "first", "ordinary"]
                .map(|name| queue(name, RawService::Dwrr(300), 1_000_000));
            plan.switches[0].policy = policy(queues.into(), [0, 0, 0, 0, 0, 1, 2, 0]);
            let ports = Some((port_asked, port_asked));
            let of_first = RawRule { class: 5, protocol: Some(6), ..RawRule::default() };
            let to_server =
                RawRule { source: Some("h0".into()), destination_port: ports, ..of_first.clone() };
            let to_client =
                RawRule { destination: Some("h0".into()), source_port: ports, ..of_first.clone() };
            let ordinary = RawRule {
                class: 6,
                source: Some("h1".into()),
                destination: Some("h0".into()),
                ..of_first
            };
            plan.switches[0].classify = vec![to_server, to_client, ordinary];
            plan.observe.ports = ["h0", "h1", "h3"].map(|host| ("sw".into(), host.into())).into();
            let mut stream = stream("ordinary", "h1", "h0", 1, 0);
            (stream.body.rate_bps, stream.body.write_bytes) = (10_000_000, 12_500);
            plan.workloads.push(RawWorkload::from(stream));
            plan.stop_at_ps = 5 * S;
        });
        let frames = |host: &str| {
            let queues = &port(&seen.outcome, "sw", host)["queues"];
            [0, 1, 2].map(|queue| count(&queues[queue], "tx_frames"))
        };
        let [others, first, _] = frames("h3");
        assert!(first >= USUAL.requests, "{first} frames");
        let share = first as f64 / (first + others) as f64;
        within(
            "share of the first of three clients in the frames to the server",
            share,
            (0.32, 0.35),
        );
        let [others, answers, ordinary] = frames("h0");
        assert!(
            others == 0 && answers >= USUAL.requests && ordinary > 1_000,
            "{others}, {answers}, {ordinary}"
        );
        assert_eq!(frames("h1")[1], 0);
    }
}
