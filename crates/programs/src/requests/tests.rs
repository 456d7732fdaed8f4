//! The programs alone, with a host that loses, refuses or answers as configured.

use super::*;
use crate::fake_host::{Fake, PEER};
use crate::{Message, Program, Tallies};
use std::sync::Arc;
use tailrace_transport::tcp::Failure;
use tailrace_units::{Probability, Span, Time};

const SECOND: Span = Span::from_secs(1);

fn random(name: &str) -> RandomStream {
    RandomStream::new(1, name)
}

fn constant(value: u64) -> Distribution {
    Distribution::Constant(value)
}

fn client(users: u32, requests: u64, transport: Transport) -> RequestClient {
    let user = |number| User { number, first: Time::ZERO, server: 0, random: random("user") };
    RequestClient::new(ClientConfig {
        host: 0,
        servers: vec![PEER],
        exchange: Arc::new(Exchange::new(
            constant(100),
            constant(300),
            1..=u64::MAX,
            random("sizes"),
        )),
        transport,
        drive: Drive::Users { users: (0..users).map(user).collect(), gap: constant(0), requests },
        choice: None,
    })
}

fn tcp(is_kept: bool, depth: u32) -> Transport {
    Transport::Tcp { is_kept, depth, limit: 0, timeout: Span::ZERO, retries: 0 }
}

/// A query is answered where neither it nor its answer is lost; a request fails where none of its
/// queries is answered.
#[test]
fn with_losses_requests_fail_as_often_as_all_of_their_queries_are_lost() {
    for (percent, retries) in [(10, 0), (10, 1), (30, 2)] {
        let (mut host, mut losses) = (Fake::default(), random("losses"));
        let transport = Transport::Udp { timeout: SECOND, retries, keys: vec![0] };
        let mut client = client(1, 40_000, transport);
        let mut now = Time::ZERO;
        while host.finished.is_empty() {
            now = client.poll_timeout().max(now);
            client.handle_timeout(now, &mut host);
            while let Some(message) = host.sent.pop() {
                let lost = |_| losses.happens(Probability::ratio(percent, 100));
                if ![0, 1].map(lost).contains(&true) {
                    client.handle_datagram(now, Message { bytes: 300, ..message }, &mut host);
                }
            }
        }
        let tallies = client.tallies();
        let p = percent as f64 / 100.0;
        let of_query = 1.0 - (1.0 - p).powi(2);
        let theory = of_query.powi(retries as i32 + 1);
        let seen = tallies.failed as f64 / tallies.begun as f64;
        assert!(
            (seen / theory - 1.0).abs() < 0.06,
            "{seen} of the requests fail, in theory {theory}"
        );
        assert_eq!((tallies.begun, tallies.answered + tallies.failed), (40_000, 40_000));
        // Without the queries that follow, each begun request has one query: the total loss is a
        // geometric series.
        let lost = (1..=retries as i32 + 1).map(|tries| of_query.powi(tries)).sum::<f64>();
        let seen = tallies.lost_queries as f64 / tallies.begun as f64;
        assert!(
            (seen / lost - 1.0).abs() < 0.04,
            "{seen} lost queries of a request, in theory {lost}"
        );
    }
}

#[test]
fn a_late_answer_counts_once() {
    let mut host = Fake::default();
    let mut client = client(1, 1, Transport::Udp { timeout: SECOND, retries: 1, keys: vec![0] });
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_timeout(Time::ZERO + SECOND, &mut host);
    assert_eq!(host.sent.len(), 2);
    assert_eq!(host.sent[0], host.sent[1], "the same query again");
    for _ in 0..2 {
        client.handle_datagram(Time::ZERO + SECOND, host.sent[0], &mut host);
    }
    assert_eq!((host.completed, host.finished), (vec![(0, Time::ZERO)], vec![0]));
    assert_eq!((client.tallies().answered, client.tallies().lost_queries), (1, 1));
}

#[test]
fn a_user_whose_server_refuses_waits_before_it_asks_again() {
    let mut host = Fake::default();
    let mut client = client(1, 2, tcp(true, 1));
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_failed(Time::ZERO, 1, Failure::Refused, &mut host);
    let later = Time::ZERO + Span::from_ms(100);
    assert_eq!(client.poll_timeout(), later);
    client.handle_timeout(later, &mut host);
    client.handle_failed(later, 2, Failure::Refused, &mut host);
    let Tallies { begun, failed, connections, failed_connections, .. } = client.tallies();
    assert_eq!((begun, failed, connections, failed_connections), (2, 2, 2, 2));
    assert_eq!((host.finished, host.completed), (vec![0], vec![]));
}

#[test]
fn where_no_port_is_free_requests_fail_and_are_counted() {
    let mut host = Fake { is_full: true, ..Fake::default() };
    let mut client = client(3, 1, tcp(false, 1));
    client.handle_timeout(Time::ZERO, &mut host);
    assert_eq!((client.tallies().failed, host.finished.len()), (3, 3));
}

#[test]
fn a_lost_connection_fails_all_that_it_carried_and_the_next_request_opens_another() {
    let mut host = Fake::default();
    let mut client = client(1, 0, tcp(true, 3));
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_connected(Time::ZERO, 1, &mut host);
    assert_eq!(host.written, [(1, 100); 3], "a pipeline of three");
    client.handle_readable(Time::ZERO, 1, 450, &mut host);
    assert_eq!(
        (host.completed.len(), host.written.len()),
        (1, 4),
        "a response and a half: one more is asked"
    );
    client.handle_ended(Time::ZERO, 1, &mut host);
    assert_eq!((client.tallies().failed, host.closed, host.connected), (3, vec![1], 1));
    let mut host = Fake { connected: 1, ..Fake::default() };
    client.handle_timeout(client.poll_timeout(), &mut host);
    assert_eq!(host.connected, 2);
}

#[test]
fn a_shared_connection_carries_as_many_requests_as_its_pipeline_and_others_wait() {
    let (gap, spikes, start) = (constant(SECOND.ps()), Vec::new(), Time::ZERO);
    let config = ArrivalsConfig {
        gap,
        spikes,
        start,
        count: 5,
        client: 0,
        clients: 1,
        random: random("arrivals"),
    };
    let mut host = Fake::default();
    let mut client = RequestClient::new(ClientConfig {
        host: 0,
        servers: vec![PEER],
        exchange: Arc::new(Exchange::new(
            constant(100),
            constant(300),
            1..=u64::MAX,
            random("sizes"),
        )),
        transport: Transport::Tcp {
            is_kept: true,
            depth: 2,
            limit: 1,
            timeout: Span::ZERO,
            retries: 0,
        },
        drive: Drive::Arrivals(Arrivals::new(config)),
        choice: None,
    });
    let end = Time::ZERO + SECOND.times(5);
    client.handle_timeout(end, &mut host);
    client.handle_connected(end, 1, &mut host);
    assert_eq!((host.connected, host.written.len()), (1, 2));
    client.handle_readable(end, 1, 300, &mut host);
    assert_eq!((host.completed[0], host.written.len()), ((0, Time::ZERO + SECOND), 3));
    (0..4).for_each(|_| client.handle_readable(end, 1, 300, &mut host));
    assert_eq!((host.completed.len(), host.finished.len()), (5, 1), "reported once");
}

fn impatient(is_kept: bool, depth: u32, retries: u32) -> Transport {
    Transport::Tcp { is_kept, depth, limit: 0, timeout: SECOND, retries }
}

#[test]
fn a_request_over_tcp_without_a_response_in_time_closes_its_connection_and_fails() {
    for is_kept in [true, false] {
        let mut host = Fake::default();
        let mut client = client(1, 2, impatient(is_kept, 1, 0));
        client.handle_timeout(Time::ZERO, &mut host);
        client.handle_connected(Time::ZERO, 1, &mut host);
        client.handle_readable(Time::ZERO, 1, 299, &mut host);
        assert_eq!(client.poll_timeout(), Time::ZERO + SECOND);
        client.handle_timeout(Time::ZERO + SECOND, &mut host);
        assert_eq!(
            (client.tallies().failed, client.tallies().timed_out, host.closed.clone()),
            (1, 1, vec![1])
        );
        let later = Time::ZERO + SECOND + Span::from_ms(100);
        client.handle_timeout(later, &mut host);
        assert_eq!(host.connected, 2, "the next request has a connection of its own");
        client.handle_connected(later, 2, &mut host);
        client.handle_readable(later, 2, 300, &mut host);
        assert_eq!(
            (host.completed, host.finished, host.closed),
            (vec![(0, later)], vec![0], vec![1])
        );
        assert_eq!(client.poll_timeout(), Time::NEVER, "an answered request has no deadline");
    }
}

#[test]
fn a_connection_that_does_not_open_in_time_is_given_up_and_the_request_asked_again() {
    for is_kept in [true, false] {
        let mut host = Fake::default();
        let mut client = client(1, 1, impatient(is_kept, 1, 2));
        for second in 0..3 {
            client.handle_timeout(Time::ZERO + SECOND.times(second), &mut host);
        }
        assert_eq!((host.connected, host.closed.clone()), (3, vec![1, 2]));
        let end = Time::ZERO + SECOND.times(3);
        assert_eq!(client.poll_timeout(), end);
        client.handle_timeout(end, &mut host);
        let Tallies { begun, answered, failed, timed_out, .. } = client.tallies();
        assert_eq!((begun, answered, failed, timed_out, host.finished), (1, 0, 1, 3, vec![0]));
        assert_eq!(host.closed, [1, 2, 3]);
    }
}

/// Until another connection carries it, a request that is asked again has none: that of the first
/// attempt is gone.
#[test]
fn a_request_that_is_asked_again_has_nothing_to_do_with_its_first_connection() {
    let mut host = Fake::default();
    let mut client = client(1, 1, impatient(true, 1, 1));
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_connected(Time::ZERO, 1, &mut host);
    client.handle_timeout(Time::ZERO + SECOND, &mut host);
    assert_eq!(
        (host.closed.clone(), host.connected),
        (vec![1], 2),
        "it was on its way, and is asked again"
    );
    client.handle_timeout(Time::ZERO + SECOND.times(2), &mut host);
    assert_eq!(host.closed, [1, 2], "the second connection has not opened");
    assert_eq!(
        (client.tallies().failed, client.tallies().timed_out, host.finished),
        (1, 2, vec![0])
    );
}

#[test]
fn a_pipeline_is_given_up_whole_and_asked_again_in_order() {
    let mut host = Fake::default();
    let mut client = client(1, 3, impatient(true, 3, 1));
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_connected(Time::ZERO, 1, &mut host);
    client.handle_readable(Time::ZERO, 1, 300, &mut host);
    client.handle_timeout(Time::ZERO + SECOND, &mut host);
    assert_eq!(
        (host.closed.clone(), host.connected, client.tallies().timed_out),
        (vec![1], 2, 2),
        "two are asked again"
    );
    client.handle_connected(Time::ZERO + SECOND, 2, &mut host);
    client.handle_readable(Time::ZERO + SECOND, 2, 600, &mut host);
    let Tallies { answered, failed, failed_connections, .. } = client.tallies();
    assert_eq!((answered, failed, failed_connections, host.finished), (3, 0, 0, vec![0]));
}

/// Clients draw the same arrivals: each takes its part of them, and together they take all.
#[test]
fn clients_share_the_arrivals_of_one_stream() {
    let of = |client: u64, clients: u64| {
        let spikes = vec![Spike {
            factor_milli: 4_000,
            from: Time::ZERO + SECOND,
            until: Time::ZERO + SECOND + SECOND,
        }];
        let (gap, start, count, random) = (
            Distribution::Exponential { mean: 1_000_000_000 },
            Time::ZERO,
            1_000,
            random("arrivals"),
        );
        let mut arrivals =
            Arrivals::new(ArrivalsConfig { gap, spikes, start, count, client, clients, random });
        let mut found = Vec::new();
        while !arrivals.next_at().is_never() {
            found.push((arrivals.next_at(), arrivals.take()));
        }
        found
    };
    let mut together: Vec<(Time, u64)> = (0..3).flat_map(|client| of(client, 3)).collect();
    together.sort_unstable();
    assert_eq!(together, of(0, 1));
    assert_eq!(together.len(), 1_000);
}

#[test]
fn gaps_pass_faster_in_a_spike() {
    let spikes = vec![Spike {
        factor_milli: 2_000,
        from: Time::ZERO + SECOND,
        until: Time::ZERO + SECOND.times(3),
    }];
    let (gap, start, count, random) =
        (constant(800_000_000_000), Time::ZERO, 8, random("arrivals"));
    let mut arrivals =
        Arrivals::new(ArrivalsConfig { gap, spikes, start, count, client: 0, clients: 1, random });
    let mut tenths = Vec::new();
    while !arrivals.next_at().is_never() {
        tenths.push(arrivals.next_at().ps() / 100_000_000_000);
        arrivals.take();
    }
    // Usual time runs at twice the rate from 1 s to 3 s, which are 4 s of it.
    assert_eq!(tenths, [8, 13, 17, 21, 25, 29, 36, 44]);
}

/// Tenths of seconds of arrivals each 100 ms, after a start and with these spikes: factor in
/// thousandths, begin and end in seconds.
fn tenths_with(start: u64, count: u64, spikes: &[(u64, u64, u64)]) -> Vec<u64> {
    let second = |number| Time::ZERO + SECOND.times(number);
    let spikes = spikes.iter().map(|&(factor_milli, from, until)| Spike {
        factor_milli,
        from: second(from),
        until: second(until),
    });
    let (gap, spikes, start, random) =
        (constant(SECOND.ps() / 10), spikes.collect(), second(start), random("arrivals"));
    let mut arrivals =
        Arrivals::new(ArrivalsConfig { gap, spikes, start, count, client: 0, clients: 1, random });
    let mut tenths = Vec::new();
    while !arrivals.next_at().is_never() {
        tenths.push(arrivals.next_at().ps() / (SECOND.ps() / 10));
        arrivals.take();
    }
    tenths
}

#[test]
fn a_spike_below_one_thins_arrivals_out_and_spikes_may_touch() {
    let between = |tenths: &[u64], from: u64, until: u64| {
        tenths.iter().filter(|&&at| (from..until).contains(&at)).count()
    };
    let quiet = tenths_with(0, 60, &[(500, 1, 3)]);
    assert_eq!(
        [between(&quiet, 0, 10), between(&quiet, 10, 30), between(&quiet, 30, 40)],
        [9, 10, 10]
    );
    let touching = tenths_with(0, 100, &[(3_000, 1, 2), (500, 2, 3)]);
    assert_eq!(
        [between(&touching, 10, 20), between(&touching, 20, 30), between(&touching, 30, 40)],
        [30, 5, 10]
    );
}

#[test]
fn the_first_arrival_comes_at_the_start_if_configured_so() {
    let config = |client| ArrivalsConfig {
        gap: Distribution::Constant(1_000),
        spikes: Vec::new(),
        start: Time::from_ps(500),
        count: 3,
        client,
        clients: 2,
        random: random("arrivals"),
    };
    let times = |mut arrivals: Arrivals| {
        let mut found = Vec::new();
        while !arrivals.next_at().is_never() {
            found.push(arrivals.next_at().ps());
            arrivals.take();
        }
        found
    };
    assert_eq!(times(Arrivals::at_start(config(0))), [500, 2_500]);
    assert_eq!(times(Arrivals::at_start(config(1))), [1_500]);
    assert_eq!(times(Arrivals::new(config(0))), [1_500, 3_500]);
}

#[test]
fn a_spike_may_lie_before_the_start_or_reach_into_it_or_last_to_the_end() {
    assert_eq!(tenths_with(2, 3, &[(9_000, 0, 1)]), [21, 22, 23]);
    assert_eq!(tenths_with(2, 4, &[(2_000, 0, 3)]), [20, 21, 21, 22]);
    assert_eq!(tenths_with(0, 4, &[(2_000, 0, 1_000_000)]), [0, 1, 1, 2]);
}
