//! Programs that own several sockets: a connection for each request, from several hosts to one server, through a switch.

#[path = "../../../endpoint/tests/support/per_request.rs"]
mod per_request;

use crate::common::*;
use per_request::{Client, Log, RESPONSE_BYTES, Server, Shared, WORK};
use serde_json::Value;
use std::rc::Rc;
use tailrace_plan::*;
use tailrace_sim::{Control, HostedProgram, Outcome, run_with};
use tailrace_units::Span;

const CLIENTS: u32 = 3;
const AT_ONCE: usize = 8;

/// What is asked of a trial.
#[derive(Clone, Copy)]
struct Asked {
    requests: u64,
    /// The buffer of the switch.
    buffer_bytes: u64,
    /// Whether the clients close first, and so keep the ports for a while.
    clients_close: bool,
    /// Priority and code point of the workload.
    marks: (u8, u8),
}

const USUAL: Asked = Asked { requests: 500, buffer_bytes: 16_000_000, clients_close: false, marks: (0, 0) };

/// What came of it.
struct Seen {
    outcome: Outcome,
    clients: Vec<Log>,
    server: Log,
}

/// The programs count for the plan's only workload: a datagram from the first host to the server.
fn requests(asked: Asked, change: impl FnOnce(&mut RawPlan)) -> Seen {
    let server_host = CLIENTS;
    let mut plan = star(CLIENTS as usize + 1, 1500, GBPS, 5 * US, switch("sw", asked.buffer_bytes, fifo(asked.buffer_bytes)));
    plan.hosts.iter_mut().for_each(|host| (host.cpu.program_cores, host.cpu.time_slice_ps) = (2, 3 * MS));
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
            let mut client = Client::new(&logs[host as usize], asked.requests, AT_ONCE, Span::ZERO, asked.clients_close);
            (client.server, client.user) = (server_host as u16, host);
            HostedProgram { host, workload: 0, program: Box::new(client), counts_goodput: true }
        })
        .collect();
    let server = Box::new(Server::new(&logs[server_host as usize], !asked.clients_close));
    programs.push(HostedProgram { host: server_host, workload: 0, program: server, counts_goodput: false });
    let outcome = run_with(&plan, programs, &Control::default());
    let mut logs: Vec<Log> =
        logs.into_iter().map(|log| Rc::try_unwrap(log).map_or_else(|log| log.take(), |log| log.into_inner())).collect();
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
        assert_eq!((log.done, log.failed, log.without_port), (requests, 0, 0));
    }
    assert_eq!(seen.server.done, whole);
    let of_requests = only(&seen.outcome);
    assert_eq!(count(of_requests, "goodput_bytes"), whole * RESPONSE_BYTES);
    assert_eq!(count(of_requests, "transactions"), whole);
    let frames = &seen.outcome.summary()["conservation"];
    assert_eq!(count(frames, "sent"), count(frames, "delivered") + count(frames, "dropped"), "nothing is left in the network");
}

#[test]
fn every_request_has_a_connection_of_its_own_and_an_answer() {
    for clients_close in [true, false] {
        let asked = Asked { clients_close, ..USUAL };
        let seen = requests(asked, |_| ());
        assert_all_answered(&seen, asked.requests);
        assert_eq!(count(only(&seen.outcome), "tcp.retransmits"), 0, "nothing is lost in a large buffer");
        assert_eq!(count(only(&seen.outcome), "cut_off.count"), 0);
        // SYN-ACK, data and FIN of each connection; a response takes 14 segments.
        let segments = count(only(&seen.outcome), "tcp.segments_sent");
        assert!(segments >= 1_500 * 15, "{segments} segments of connections that are gone are counted");
        for host in &seen.outcome.summary()["hosts"].as_array().expect("hosts")[..CLIENTS as usize] {
            assert_eq!(count(host, "program_busy_ps"), WORK.times(asked.requests).ps(), "each response takes a core");
        }
        assert_eq!(count(host_summary(&seen.outcome, "h3"), "program_busy_ps"), WORK.times(1_500).ps(), "and each request");
        assert!(seen.server.waited > 0, "24 connections share two cores");
        let latency = number(only(&seen.outcome), "latency.p50_ps");
        // Two cores of the server make 20 requests a millisecond, for 24 connections: 1.2 ms at least.
        within("median latency, ms", latency / MS as f64, (1.2, 20.0));
    }
}

#[test]
fn with_a_switch_that_drops_every_request_is_answered_all_the_same() {
    let asked = Asked { buffer_bytes: 30_000, ..USUAL };
    let seen = requests(asked, |plan| plan.hosts[3].nic.queue_bytes = 40_000);
    assert_all_answered(&seen, asked.requests);
    assert!(count(&seen.outcome.summary()["conservation"], "dropped") > 100, "responses do not fit the interface's queue");
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

/// More requests than there are ephemeral ports, of which each is kept for a minute by the side that closes first.
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
    assert_eq!(running, u64::from(CLIENTS) * AT_ONCE as u64, "every client has as many requests on their way as it may");
    let frames = &seen.outcome.summary()["conservation"];
    let gone = count(frames, "delivered") + count(frames, "dropped");
    assert_eq!(count(frames, "sent"), gone + count(frames, "in_network"));
}
