//! Jobs, patterns and paths with a host that only notes its calls.

use super::pattern::Draws;
use super::protocol::{InitiatorSession, Rules, nbd::Nbd};
use super::*;
use crate::fake_host::{Fake, PEER};
use crate::{Arrivals, ArrivalsConfig, HostCalls, Program};
use std::sync::Arc;
use std::sync::Mutex;
use tailrace_blockdev::{Device, DeviceConfig, DeviceUser, Limits, LinkConfig, Op, Request};
use tailrace_transport::tcp::Failure;
use tailrace_units::{BitRate, Distribution, Probability, RandomStream, Span, Time, Zipf};

const KIB: u64 = 1 << 10;

fn pattern(access: Access, read: Probability) -> Pattern {
    Pattern {
        read,
        access,
        block: Distribution::Constant(4 * KIB),
        sector: 512,
        first: 64 * KIB,
        area: 64 * KIB,
    }
}

fn random(name: &str) -> RandomStream {
    RandomStream::new(3, name)
}

fn job(depth: u32) -> JobConfig {
    JobConfig {
        user: 5,
        depth,
        pace: Pace::Closed {
            start: Time::ZERO,
            think: Distribution::Constant(0),
            random: random("think"),
        },
        requests: 0,
        bytes: 0,
        flush_every: 0,
        pattern: pattern(Access::Sequential, Probability::ZERO),
        random: random("pattern"),
    }
}

/// Servers of 100 us.
fn device(servers: u32) -> DeviceUser {
    let latency = Distribution::Constant(Span::from_us(100).ps());
    let rate = BitRate::from_gbps(1_000_000);
    DeviceUser::new(Device::new(
        DeviceConfig {
            servers,
            read_latency: latency.clone(),
            write_latency: latency,
            link: LinkConfig { read: rate, write: rate, is_duplex: true },
            queue_depth: 32,
            limits: Limits::NONE,
            cache: None,
            head: None,
        },
        random("device"),
    ))
}

fn client(jobs: Vec<JobConfig>, path: Box<dyn Path>) -> StorageClient {
    StorageClient::new(StorageClientConfig {
        jobs,
        path,
        read_cost: Span::ZERO,
        write_cost: Span::ZERO,
    })
}

/// Runs a program until a time, or until it has nothing to do.
fn run(client: &mut StorageClient, until: Time) -> Fake {
    let mut host = Fake::default();
    while client.poll_timeout() <= until {
        client.handle_timeout(client.poll_timeout(), &mut host);
    }
    host
}

fn us(time: Time) -> u64 {
    time.ns() / 1_000
}

#[test]
fn requests_in_order_follow_each_other_through_the_area_and_begin_again() {
    let mut draws = Draws::new(pattern(Access::Sequential, Probability::ONE), random("pattern"));
    let draws_made: Vec<(Op, u64, u64)> = (0..17).map(|_| draws.draw()).collect();
    let expected = |turn: u64| (Op::Read, 64 * KIB + turn % 16 * 4 * KIB, 4 * KIB);
    assert!(
        draws_made.iter().enumerate().all(|(turn, &position)| position == expected(turn as u64)),
        "{draws_made:?}"
    );
}

#[test]
fn requests_anywhere_are_blocks_of_the_area_and_the_shares_are_those_asked_for() {
    let share = Probability::ratio(3, 10);
    let mut draws =
        Draws::new(pattern(Access::Random(Probability::ratio(6, 10)), share), random("pattern"));
    let (mut reads, mut in_order, mut before) = (0, 0, 0);
    for _ in 0..20_000 {
        let (op, offset, bytes) = draws.draw();
        assert!((64 * KIB..=124 * KIB).contains(&offset) && offset % bytes == 0);
        reads += u32::from(op == Op::Read);
        in_order += u32::from(offset == before + bytes);
        before = offset;
    }
    assert!((5_800..6_200).contains(&reads), "{reads}");
    // 40 % go on in order, of which those behind one in order (40 %) follow it, and others by
    // chance (1 of 16).
    assert!((3_500..5_200).contains(&in_order), "{in_order}");
}

#[test]
fn zipf_prefers_some_blocks_and_sizes_are_rounded_to_sectors() {
    let zipf = Pattern {
        block: Distribution::Uniform { low: 1_000, high: 3_000 },
        ..pattern(Access::Zipf(Zipf::new(16, 1_500)), Probability::ONE)
    };
    let mut draws = Draws::new(zipf, random("pattern"));
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..4_000 {
        let (_, offset, bytes) = draws.draw();
        assert!(bytes % 512 == 0 && (1_024..=3_072).contains(&bytes), "{bytes}");
        assert!(offset >= 64 * KIB && offset + bytes <= 128 * KIB);
        *counts.entry(offset / (8 * KIB)).or_insert(0) += 1;
    }
    let most = counts.values().max().copied().unwrap_or(0);
    assert!(most > 800, "an eighth would be 500: {counts:?}");
}

#[test]
fn the_blocks_that_zipf_prefers_lie_apart() {
    let access = Access::Zipf(Zipf::new(1_024, 1_500));
    let mut draws = Draws::new(
        Pattern { area: 4_096 * KIB, ..pattern(access, Probability::ONE) },
        random("pattern"),
    );
    let mut counts = std::collections::BTreeMap::new();
    (0..4_000).for_each(|_| *counts.entry(draws.draw().1 / (4 * KIB)).or_insert(0) += 1);
    let mut draws_made: Vec<(u32, u64)> =
        counts.into_iter().map(|(position, count)| (count, position)).collect();
    draws_made.sort_unstable();
    let mut most: Vec<u64> =
        draws_made.iter().rev().take(8).map(|&(_, position)| position).collect();
    most.sort_unstable();
    assert!(most.windows(2).all(|pair| pair[1] - pair[0] > 1), "{most:?}");
}

#[test]
fn as_many_requests_are_under_way_as_the_job_may_have() {
    let mut client = client(vec![job(3)], Box::new(LocalPath::new(device(8))));
    let host = run(&mut client, Time::ZERO + Span::from_us(1_000));
    assert_eq!(host.completed.len(), 27, "three each 100 us and a little more, for the link");
    assert!(
        host.completed
            .iter()
            .all(|&(user, intended)| user == 5 && us(intended).is_multiple_of(100))
    );
    let parts = host.storage[4].waits;
    assert_eq!((parts.device.ns() / 1_000, parts.whole().ns() / 1_000), (100, 100));
    let mut running = Vec::new();
    client.running(&mut |user, since| running.push((user, us(since))));
    assert_eq!(running, [(5, 900); 3]);
}

#[test]
fn a_job_ends_after_its_requests_or_its_bytes_and_says_so_once() {
    for (requests, bytes, count) in [(10, 0, 10), (0, 33 * KIB, 9)] {
        let mut client = client(
            vec![JobConfig { requests, bytes, ..job(4) }],
            Box::new(LocalPath::new(device(8))),
        );
        let host = run(&mut client, Time::ZERO + Span::from_ms(10));
        assert_eq!((host.completed.len(), host.finished), (count, vec![5]));
        assert!(client.poll_timeout().is_never());
        assert_eq!(
            (client.tallies().begun, client.tallies().answered),
            (count as u64, count as u64)
        );
    }
}

#[test]
fn a_pause_comes_between_the_end_of_a_request_and_the_next() {
    let think = Pace::Closed {
        start: Time::ZERO + Span::from_us(7),
        think: Distribution::Constant(Span::from_us(50).ps()),
        random: random("think"),
    };
    let mut client =
        client(vec![JobConfig { pace: think, ..job(1) }], Box::new(LocalPath::new(device(1))));
    let host = run(&mut client, Time::ZERO + Span::from_us(600));
    let starts: Vec<u64> = host.completed.iter().map(|&(_, intended)| us(intended)).collect();
    assert_eq!(starts, [7, 157, 307, 457]);
}

#[test]
fn what_arrives_counts_from_its_arrival_and_waits_for_its_turn() {
    let arrivals = Arrivals::new(ArrivalsConfig {
        gap: Distribution::Constant(Span::from_us(40).ps()),
        spikes: Vec::new(),
        start: Time::ZERO,
        count: 0,
        client: 0,
        clients: 1,
        random: random("arrivals"),
    });
    let mut client = client(
        vec![JobConfig { pace: Pace::Open(arrivals), ..job(2) }],
        Box::new(LocalPath::new(device(8))),
    );
    let host = run(&mut client, Time::ZERO + Span::from_us(500));
    let done: Vec<(u64, u64)> =
        host.storage.iter().map(|each| (us(each.intended), each.waits.turn.ns() / 1_000)).collect();
    // Two at a time, 100 us each: those of 120 and 160 begin at 140 and 180, and so on.
    assert_eq!(
        done,
        [(40, 0), (80, 0), (120, 20), (160, 20), (200, 40), (240, 40), (280, 60), (320, 60)]
    );
    assert!(
        host.storage
            .iter()
            .all(|done| done.waits.whole().ns() / 1_000 == 100 + done.waits.turn.ns() / 1_000)
    );
}

#[test]
fn nothing_of_a_job_begins_while_it_flushes() {
    let mut client =
        client(vec![JobConfig { flush_every: 4, ..job(2) }], Box::new(LocalPath::new(device(8))));
    let host = run(&mut client, Time::ZERO + Span::from_us(900));
    let done: Vec<(Op, u64)> =
        host.storage.iter().map(|done| (done.op, us(done.intended))).collect();
    // The third write ends first, and the flush takes its slot; it waits for the fourth and ends
    // before that is reported.
    let ops: Vec<Op> = done.iter().map(|&(op, _)| op).collect();
    assert_eq!(ops[..6], [Op::Write, Op::Write, Op::Write, Op::Flush, Op::Write, Op::Write]);
    assert_eq!(
        host.storage.iter().filter(|done| done.op == Op::Flush).count(),
        host.completed.len() / 4
    );
    assert_eq!(
        host.completed.len(),
        host.storage.iter().filter(|done| done.op == Op::Write).count(),
        "flushes are not requests"
    );
}

/// A path that notes commands and ends them as configured.
#[derive(Debug, Default)]
struct Noted {
    commands: Vec<(Time, Command)>,
    ends: Vec<Done>,
}

#[derive(Debug)]
struct NotedPath(Arc<Mutex<Noted>>);

impl Path for NotedPath {
    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
    fn handle_timeout(&mut self, _: Time, _: &mut dyn HostCalls) {}
    fn submit(&mut self, now: Time, command: Command, _: &mut dyn HostCalls) {
        self.0.lock().expect("unbroken").commands.push((now, command));
    }
    fn poll_done(&mut self) -> Option<Done> {
        self.0.lock().expect("unbroken").ends.pop()
    }
}

#[test]
fn a_flush_under_way_holds_back_what_would_begin() {
    let noted = Arc::new(Mutex::new(Noted::default()));
    let mut client = client(
        vec![JobConfig { flush_every: 1, ..job(2) }],
        Box::new(NotedPath(Arc::clone(&noted))),
    );
    let mut host = Fake::default();
    let ops = || {
        noted
            .lock()
            .expect("unbroken")
            .commands
            .iter()
            .map(|(_, command)| command.request.op)
            .collect::<Vec<Op>>()
    };
    let end = |tag: u32, at_us: u64| {
        let at = Time::ZERO + Span::from_us(at_us);
        let waits = PathWaits { device: Span::from_us(at_us), ..PathWaits::default() };
        noted.lock().expect("unbroken").ends.push(Done {
            tag,
            at,
            outcome: Outcome::Complete(waits),
        });
        at
    };
    client.handle_timeout(Time::ZERO, &mut host);
    assert_eq!(ops(), [Op::Write, Op::Flush]);
    let mut running = 0;
    client.running(&mut |_, _| running += 1);
    assert_eq!((running, client.tallies().begun), (1, 1), "a flush is no request");
    client.handle_timeout(end(0, 10), &mut host);
    assert_eq!(ops(), [Op::Write, Op::Flush], "the slot of the write stays empty");
    client.handle_timeout(end(1, 30), &mut host);
    assert_eq!(ops()[2..], [Op::Write, Op::Flush], "both go on");
}

#[test]
fn a_request_held_back_by_a_flush_counts_that_wait_also_when_another_flush_overtakes_it() {
    let noted = Arc::new(Mutex::new(Noted::default()));
    let mut client = client(
        vec![JobConfig { flush_every: 1, ..job(3) }],
        Box::new(NotedPath(Arc::clone(&noted))),
    );
    let mut host = Fake::default();
    let end = |tag: u32, began_us: u64, at_us: u64| {
        let at = Time::ZERO + Span::from_us(at_us);
        let waits = PathWaits { device: Span::from_us(at_us - began_us), ..PathWaits::default() };
        noted.lock().expect("unbroken").ends.push(Done {
            tag,
            at,
            outcome: Outcome::Complete(waits),
        });
        at
    };
    client.handle_timeout(Time::ZERO, &mut host);
    client.handle_timeout(end(0, 0, 10), &mut host);
    // Held back: the third slot from the beginning, and that of the write from 10 us on, which
    // flushes at 30 us.
    client.handle_timeout(end(1, 0, 30), &mut host);
    let tags: Vec<(Op, u32)> = noted.lock().expect("unbroken").commands[2..]
        .iter()
        .map(|(_, each)| (each.request.op, each.tag))
        .collect();
    let [(Op::Write, write), (Op::Flush, flush)] = tags[..] else {
        panic!("a write and its flush begin: {tags:?}")
    };
    client.handle_timeout(end(write, 30, 35), &mut host);
    client.handle_timeout(end(flush, 30, 50), &mut host);
    let command = noted.lock().expect("unbroken").commands[4].1;
    assert_eq!(command.request.op, Op::Write);
    client.handle_timeout(end(command.tag, 50, 60), &mut host);
    let turns: Vec<u64> = host
        .storage
        .iter()
        .filter(|each| each.op == Op::Write)
        .map(|each| us(Time::ZERO + each.waits.turn))
        .collect();
    assert_eq!(turns, [0, 30, 40], "the last one waits from 10 to 50 us, for both flushes");
}

#[test]
fn a_flush_that_fails_is_no_failed_request() {
    let noted = Arc::new(Mutex::new(Noted::default()));
    let mut client = client(
        vec![JobConfig { flush_every: 1, ..job(2) }],
        Box::new(NotedPath(Arc::clone(&noted))),
    );
    let mut host = Fake::default();
    client.handle_timeout(Time::ZERO, &mut host);
    for (tag, failed) in [(1, 0), (0, 1)] {
        assert_eq!(
            noted.lock().expect("unbroken").commands[tag as usize].1.request.op == Op::Flush,
            tag == 1
        );
        noted.lock().expect("unbroken").ends.push(Done {
            tag,
            at: Time::ZERO,
            outcome: Outcome::Failed,
        });
        client.handle_timeout(Time::ZERO, &mut host);
        assert_eq!(client.tallies().failed, failed);
    }
}

#[test]
fn a_request_costs_the_processor_what_its_operation_does_and_a_flush_as_much_as_a_write() {
    for (read, flush_every, costs_us) in
        [(Probability::ONE, 0, vec![5, 5]), (Probability::ZERO, 1, vec![12, 12])]
    {
        let noted = Arc::new(Mutex::new(Noted::default()));
        let job = JobConfig { flush_every, pattern: pattern(Access::Sequential, read), ..job(2) };
        let mut client = StorageClient::new(StorageClientConfig {
            jobs: vec![job],
            path: Box::new(NotedPath(Arc::clone(&noted))),
            read_cost: Span::from_us(5),
            write_cost: Span::from_us(12),
        });
        let mut host = Fake::default();
        while client.poll_timeout() <= Time::ZERO + Span::from_us(30) {
            client.handle_timeout(client.poll_timeout(), &mut host);
        }
        assert_eq!(
            host.worked.iter().map(|&work| us(Time::ZERO + work)).collect::<Vec<u64>>(),
            costs_us
        );
        let flushes = noted
            .lock()
            .expect("unbroken")
            .commands
            .iter()
            .filter(|(_, command)| command.request.op == Op::Flush)
            .count();
        assert_eq!(flushes as u64, flush_every);
    }
}

/// A target whose connection is lost and whose socket another connection gets, while the device
/// works.
#[test]
fn what_a_lost_connection_asked_for_is_not_answered_to_the_next_one_of_its_socket() {
    let (wires, mut host) = (Wires::default(), Fake::default());
    let rules = Arc::new(Rules {
        set_up: Vec::new(),
        ..Nbd { structured_replies: false, requests: 16 }.rules()
    });
    let config = StorageTargetConfig {
        port: 10_809,
        rules: Arc::clone(&rules),
        device: device(8),
        wires: wires.clone(),
    };
    let mut target = StorageTarget::new(config);
    for now in [Time::ZERO, Time::ZERO + Span::from_us(40)] {
        target.handle_failed(now, 1, Failure::Reset, &mut host);
        let wire = wires.open(PEER);
        host.arriving.push_back(1);
        target.handle_waiting(now, 10_809, &mut host);
        let mut session = InitiatorSession::new(Arc::clone(&rules));
        session.begin(now, 0, Request { op: Op::Read, offset: 0, bytes: 512, tag: 0 });
        let command = session.poll_pdu().expect("there is nothing to set up");
        wire.lock().expect("unbroken")[0].write(command);
        target.handle_readable(now, 1, command.bytes.into(), &mut host);
    }
    target.handle_timeout(Time::ZERO + Span::from_us(120), &mut host);
    assert_eq!(host.written, [], "the device has done what the first one asked for");
    target.handle_timeout(Time::ZERO + Span::from_us(160), &mut host);
    assert_eq!(host.written, [(1, 16 + 512)], "and what the second one did");
}

#[test]
fn a_target_closes_what_its_initiator_has_closed() {
    let (wires, mut host) = (Wires::default(), Fake::default());
    let rules = Arc::new(Nbd { structured_replies: true, requests: 16 }.rules());
    let mut target = StorageTarget::new(StorageTargetConfig {
        port: 10_809,
        rules,
        device: device(8),
        wires: wires.clone(),
    });
    wires.open(PEER);
    host.arriving.push_back(4);
    target.handle_waiting(Time::ZERO, 10_809, &mut host);
    assert_eq!(host.written, [(4, 18)], "the server greets");
    target.handle_ended(Time::ZERO, 4, &mut host);
    assert_eq!(host.closed, [4]);
}

#[test]
fn a_request_that_fails_is_counted_and_its_job_goes_on_later() {
    let noted = Arc::new(Mutex::new(Noted::default()));
    let mut client = client(vec![job(1)], Box::new(NotedPath(Arc::clone(&noted))));
    let mut host = Fake::default();
    client.handle_timeout(Time::ZERO, &mut host);
    noted.lock().expect("unbroken").ends.push(Done {
        tag: 0,
        at: Time::ZERO + Span::from_us(9),
        outcome: Outcome::Failed,
    });
    client.handle_timeout(Time::ZERO + Span::from_us(9), &mut host);
    assert_eq!(
        (client.tallies().failed, client.tallies().answered, host.completed.len()),
        (1, 0, 0)
    );
    assert_eq!(us(client.poll_timeout()), 100_009, "a tenth of a second later");
}

#[test]
fn a_thread_works_on_one_request_after_the_other_and_learns_late_of_their_ends() {
    let noted = Arc::new(Mutex::new(Noted::default()));
    let path = Box::new(NotedPath(Arc::clone(&noted)));
    let cost = Span::from_us(12);
    let mut client = StorageClient::new(StorageClientConfig {
        jobs: vec![job(2)],
        path,
        read_cost: cost,
        write_cost: cost,
    });
    let mut host = Fake::default();
    client.handle_timeout(Time::ZERO, &mut host);
    assert!(noted.lock().expect("unbroken").commands.is_empty(), "the work comes first");
    client.handle_timeout(Time::ZERO + cost, &mut host);
    let (at, command) = noted.lock().expect("unbroken").commands[0];
    assert_eq!((us(at), command.tag, command.job), (12, 0, 0));
    assert_eq!(
        command.request,
        Request { op: Op::Write, offset: 64 * KIB, bytes: 4 * KIB, tag: 0 }
    );
    let device = Span::from_us(30);
    let outcome = Outcome::Complete(PathWaits { device, pieces: 1, ..PathWaits::default() });
    noted.lock().expect("unbroken").ends.push(Done {
        tag: 0,
        at: Time::ZERO + Span::from_us(42),
        outcome,
    });
    client.handle_timeout(Time::ZERO + Span::from_us(50), &mut host);
    let waits = host.storage[0].waits;
    assert_eq!(
        (waits.processor, waits.device, waits.whole()),
        (Span::from_us(20), device, Span::from_us(50))
    );
}
