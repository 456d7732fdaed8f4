//! The users of a node alone, with other nodes that answer or lose as configured.

use super::super::fake_host::Fake;
use super::super::{Arrivals, ArrivalsConfig, User};
use super::*;
use tailrace_units::{Distribution, Probability};

const TIMEOUT: Span = Span::from_ms(500);
const OTHERS: u32 = 3;

fn random(name: &str) -> RandomStream {
    RandomStream::new(1, name)
}

fn constant(value: u64) -> Distribution {
    Distribution::Constant(value)
}

fn users(count: u32, transactions: u64) -> Drive {
    let user = |number| User { number, first: Time::ZERO, server: 0, random: random("user") };
    Drive::Users { users: (0..count).map(user).collect(), gap: constant(0), requests: transactions }
}

/// A node whose block sockets are 0 to `users` times 3, and whose message sockets follow.
fn client(sets: u32, drive: Drive, demand: Demand, retries: u32) -> BlockClient {
    let keys = |name: &str, answer: u64| QueryKeys {
        exchange: Arc::new(Exchange::new(
            constant(200),
            constant(answer),
            8..=65_507,
            random(name),
        )),
        keys: (0..u64::from(sets * OTHERS)).collect(),
    };
    let (blocks, messages) = (keys("blocks", 8_192), keys("messages", 200));
    let (timeout, random) = (TIMEOUT, random("transactions"));
    BlockClient::new(BlockClientConfig {
        others: OTHERS,
        drive,
        demand,
        timeout,
        retries,
        blocks,
        messages,
        random,
    })
}

fn demand(blocks_milli: u64, messages_milli: u64, is_parallel: bool) -> Demand {
    Demand { blocks_milli, messages_milli, is_parallel }
}

fn answer(message: Message) -> Message {
    Message { bytes: 1, ..message }
}

#[test]
fn blocks_come_one_after_the_other_and_then_messages() {
    let mut host = Fake::default();
    let mut client = client(1, users(1, 1), demand(2_000, 1_000, false), 0);
    client.handle_timeout(Time::ZERO, &mut host);
    for (step, is_block) in [true, true, false].into_iter().enumerate() {
        let [message] = host.sent[step..] else { panic!("one at a time: {:?}", host.sent) };
        assert_eq!((message.socket < OTHERS, message.bytes), (is_block, 200));
        client.handle_datagram(
            Time::ZERO + Span::from_ms(step as u64 + 1),
            answer(message),
            &mut host,
        );
    }
    let Tallies { begun, answered, blocks, messages, .. } = client.tallies();
    assert_eq!((begun, answered, blocks, messages), (1, 1, 2, 1));
    assert_eq!((host.completed, host.finished), (vec![(0, Time::ZERO)], vec![0]));
    assert_eq!(
        host.parts,
        [Time::ZERO, Time::ZERO + Span::from_ms(1)],
        "the latency of a block counts from when it is asked for"
    );
}

#[test]
fn parallel_blocks_are_asked_for_at_once_and_the_last_ends_the_transaction() {
    let mut host = Fake::default();
    let mut client = client(1, users(1, 1), demand(3_000, 2_000, true), 0);
    client.handle_timeout(Time::ZERO, &mut host);
    assert_eq!(host.sent.len(), 3);
    for message in host.sent.clone() {
        assert_eq!(host.completed.len(), 0);
        client.handle_datagram(Time::ZERO, answer(message), &mut host);
    }
    assert_eq!(host.sent.len(), 5, "messages follow");
    host.sent.clone()[3..]
        .iter()
        .for_each(|&message| client.handle_datagram(Time::ZERO, answer(message), &mut host));
    assert_eq!((host.completed.len(), client.running.len()), (1, 0));
}

/// 1.56 blocks: 44 % of transactions ask for one, 56 % for two. Each of the three other nodes is
/// asked for a third of them.
#[test]
fn transactions_ask_for_so_many_blocks_on_average_and_every_node_as_often() {
    let mut host = Fake::default();
    let mut client = client(1, users(1, 20_000), demand(1_560, 0, false), 0);
    client.handle_timeout(Time::ZERO, &mut host);
    let mut asked = [0_u32; 3];
    while let Some(message) = host.sent.pop() {
        asked[message.socket as usize] += 1;
        client.handle_datagram(Time::ZERO, answer(message), &mut host);
    }
    let sum: u32 = asked.iter().sum();
    assert_eq!((host.completed.len(), client.tallies().blocks), (20_000, u64::from(sum)));
    let mean = f64::from(sum) / 20_000.0;
    assert!((mean / 1.56 - 1.0).abs() < 0.01, "{mean} blocks of a transaction");
    assert!(
        asked.iter().all(|&count| (f64::from(count) * 3.0 / f64::from(sum) - 1.0).abs() < 0.03),
        "{asked:?}"
    );
}

/// Of a block that takes k transmissions, one of which is lost with probability p, r retries leave
/// p^(r+1); a transaction of n blocks fails with 1 - (1 - p^(r+1))^n.
#[test]
fn with_losses_transactions_fail_as_often_as_one_of_their_blocks_is_lost_with_all_retries() {
    for (percent, retries, blocks) in [(20, 0, 1), (20, 1, 3), (40, 2, 2)] {
        let (mut host, mut losses, mut now) = (Fake::default(), random("losses"), Time::ZERO);
        let mut client = client(1, users(1, 20_000), demand(blocks * 1_000, 0, false), retries);
        while host.finished.is_empty() {
            now = client.poll_timeout().max(now);
            client.handle_timeout(now, &mut host);
            while let Some(message) = host.sent.pop() {
                if !losses.happens(Probability::ratio(percent, 100)) {
                    client.handle_datagram(now, answer(message), &mut host);
                }
            }
        }
        let Tallies { begun, answered, failed, lost_blocks, lost_queries, failed_blocks, .. } =
            client.tallies();
        assert_eq!((begun, answered + failed, lost_queries), (20_000, 20_000, lost_blocks));
        assert_eq!(
            failed, failed_blocks,
            "one after the other: the first that is lost ends its transaction"
        );
        let p = percent as f64 / 100.0;
        let expected = 1.0 - (1.0 - p.powi(retries as i32 + 1)).powi(blocks as i32);
        let seen = failed as f64 / 20_000.0;
        assert!((seen / expected - 1.0).abs() < 0.06, "{seen} failed, not {expected}");
    }
}

#[test]
fn what_comes_for_a_transaction_that_has_failed_is_counted_and_changes_nothing() {
    let mut host = Fake::default();
    let mut client = client(1, users(1, 2), demand(2_000, 0, true), 0);
    client.handle_timeout(Time::ZERO, &mut host);
    let [first, _] = host.sent[..] else { panic!("two blocks") };
    client.handle_datagram(Time::ZERO, answer(first), &mut host);
    client.handle_timeout(Time::ZERO + TIMEOUT, &mut host);
    let Tallies { failed, failed_blocks, blocks, .. } = client.tallies();
    assert_eq!((failed, failed_blocks, blocks), (1, 1, 1));
    let again = Time::ZERO + TIMEOUT + PAUSE_AFTER_FAILURE;
    assert_eq!(client.poll_timeout(), again, "the user pauses");
    client.handle_timeout(again, &mut host);
    host.sent
        .clone()
        .into_iter()
        .for_each(|message| client.handle_datagram(again, answer(message), &mut host));
    assert_eq!(
        (host.completed, client.tallies().blocks, host.finished),
        (vec![(0, again)], 3, vec![0])
    );
}

#[test]
fn what_a_transaction_draws_does_not_depend_on_when_it_begins() {
    let sent_by = |order: [u32; 2]| {
        let mut host = Fake::default();
        let mut client = client(2, users(2, 2), demand(1_500, 500, true), 0);
        client.handle_timeout(Time::ZERO, &mut host);
        let mut sent: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for user in order {
            while let Some(place) =
                host.sent.iter().position(|message| message.socket % (2 * OTHERS) / OTHERS == user)
            {
                let message = host.sent.remove(place);
                sent.entry(user).or_default().push(message.socket);
                client.handle_datagram(Time::ZERO, answer(message), &mut host);
            }
        }
        assert_eq!(host.finished.len(), 2);
        sent
    };
    assert_eq!(sent_by([0, 1]), sent_by([1, 0]));
}

#[test]
fn arrivals_do_not_wait_for_each_other_and_their_end_is_reported_once() {
    let (gap, spikes, start) = (constant(Span::from_ms(1).ps()), Vec::new(), Time::ZERO);
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
    let mut client = client(1, Drive::Arrivals(Arrivals::new(config)), demand(1_000, 0, false), 0);
    let end = Time::ZERO + Span::from_ms(5);
    client.handle_timeout(end, &mut host);
    assert_eq!((host.sent.len(), client.running.len(), host.finished.len()), (5, 5, 0));
    host.sent
        .clone()
        .into_iter()
        .for_each(|message| client.handle_datagram(end, answer(message), &mut host));
    assert_eq!((host.completed.len(), host.finished), (5, vec![0]));
}

#[test]
fn lost_messages_are_no_lost_blocks_and_a_failed_message_is_no_failed_block() {
    let mut host = Fake::default();
    let mut client = client(1, users(1, 1), demand(1_000, 1_000, false), 1);
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_datagram(Time::ZERO, answer(host.sent[0]), &mut host);
    for tries in 1..=2 {
        client.handle_timeout(Time::ZERO + TIMEOUT.times(tries), &mut host);
    }
    let Tallies { failed, lost_queries, lost_blocks, failed_blocks, blocks, messages, .. } =
        client.tallies();
    assert_eq!((failed, lost_queries, lost_blocks), (1, 2, 0));
    assert_eq!((blocks, failed_blocks, messages), (1, 0, 0));
}

#[test]
fn every_user_asks_through_sockets_of_its_own() {
    let mut host = Fake::default();
    let mut client = client(3, users(3, 1), demand(4_000, 0, true), 0);
    client.handle_timeout(Time::ZERO, &mut host);
    let by_user: Vec<u32> = host.sent.iter().map(|message| message.socket / OTHERS).collect();
    assert_eq!(by_user, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn what_is_running_counts_from_the_begin_of_its_transaction() {
    let mut host = Fake::default();
    let mut client = client(1, users(1, 1), demand(2_000, 0, false), 0);
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_datagram(Time::ZERO + Span::from_ms(7), answer(host.sent[0]), &mut host);
    let mut running = Vec::new();
    client.running(&mut |user, since| running.push((user, since)));
    assert_eq!(running, [(0, Time::ZERO)]);
}
