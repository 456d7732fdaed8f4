//! Ranks of one host, which only notes its calls.

use super::super::script::{Call, Script};
use super::super::wire::{From, Item, StreamKey};
use super::super::{Costs, EAGER_LIMIT, Job, Ledger, MpiConfig, MpiHost, Size};
use super::{Collective, Pattern};
use crate::Program;
use crate::fake_host::{Fake, PEER};
use std::sync::Arc;
use tailrace_units::{BitRate, Distribution, RandomStream, Span, Time};

/// Two ranks and one size. The library takes no time, except for copies at 8 Gbit/s.
fn job(bytes: u64, warm_up: u64, iterations: u64) -> Arc<Job> {
    Arc::new(Job {
        pattern: Pattern::PingPong,
        sizes: vec![Size { bytes, iterations, collective: Collective::PingPong }],
        warm_up,
        is_synchronised: false,
        compute: Distribution::Constant(0),
        barrier: Collective::BarrierDoubling,
        ranks: 2,
        eager_limit: EAGER_LIMIT,
        costs: Costs {
            send: Span::from_us(1),
            receive: Span::from_us(2),
            copy: Some(BitRate::from_gbps(8)),
            combine: None,
            local_latency: Span::ZERO,
            local: None,
        },
    })
}

/// Rank 0, the connection that it has opened, and the bytes of the other rank on it.
struct First {
    program: MpiHost,
    host: Fake,
    ledger: Ledger,
    key: StreamKey,
}

impl First {
    /// The connection is open, and the barrier before the first iteration is over.
    fn new(bytes: u64) -> First {
        let ledger = Ledger::default();
        let program = MpiHost::new(MpiConfig {
            host: 0,
            port: PEER.port,
            job: job(bytes, 0, 1),
            ledger: ledger.clone(),
            peers: vec![PEER; 2],
            ranks: vec![(0, RandomStream::new(1, "compute"))],
            start: Time::ZERO,
        });
        let key = StreamKey { opener: (0, 1), acceptor: (PEER.host, PEER.port) };
        let mut first = First { program, host: Fake::default(), ledger, key };
        first.work();
        first.program.handle_connected(Time::ZERO, 1, &mut first.host);
        first.receive(Time::ZERO, Item::Welcome);
        first.receive(Time::ZERO, Item::Eager(0));
        first.work();
        first
    }

    /// Finishes the work of the rank. Returns when that is over.
    fn work(&mut self) -> Time {
        let mut last = Time::ZERO;
        while !self.program.poll_timeout().is_never() {
            last = self.program.poll_timeout();
            self.program.handle_timeout(last, &mut self.host);
        }
        last
    }

    fn receive(&mut self, now: Time, item: Item) {
        self.ledger.push(self.key, From::Acceptor, item);
        self.program.handle_readable(now, 1, item.bytes(), &mut self.host);
    }
}

#[test]
fn a_message_above_the_eager_limit_is_announced_and_one_of_the_limit_is_not() {
    for (bytes, item) in [
        (EAGER_LIMIT, Item::Eager(EAGER_LIMIT)),
        (EAGER_LIMIT + 1, Item::Announce(EAGER_LIMIT + 1)),
    ] {
        let first = First::new(bytes);
        assert_eq!(first.host.written.last(), Some(&(1, item.bytes())), "{bytes} bytes");
    }
}

/// Sizes as seen of Open MPI 4.1.4 (`strace`).
#[test]
fn an_announced_message_is_handed_over_when_it_is_asked_for() {
    let mut first = First::new(100_000);
    let (announcement, now) = (8 + 32, Time::ZERO + Span::from_us(50));
    assert_eq!(
        first.host.written[..],
        [(1, 24), (1, 8 + 14), (1, announcement)],
        "the greeting and the barrier come before"
    );
    first.receive(now, Item::Put);
    assert_eq!(
        first.work(),
        now + Span::from_us(2 + 1),
        "it takes the request, and hands the data over"
    );
    assert_eq!(first.host.written[3..], [(1, 8 + 100_000), (1, 8 + 24)]);
    assert_eq!(Item::Put.bytes(), 8 + 56);
}

#[test]
fn a_message_that_came_eagerly_is_copied_before_its_receive_is_complete() {
    let mut first = First::new(10_000);
    let now = Time::ZERO + Span::from_us(100);
    first.receive(now, Item::Eager(10_000));
    let copied = now + Span::from_us(2 + 10);
    assert_eq!((first.program.poll_timeout(), first.host.completed.len()), (copied, 0));
    first.program.handle_timeout(copied, &mut first.host);
    assert_eq!((first.host.completed.len(), &first.host.finished[..]), (1, &[0][..]));
}

#[test]
fn a_barrier_stands_before_the_warm_up_and_before_what_counts() {
    let mut script = Script::new(job(8, 2, 2), RandomStream::new(1, "compute"));
    let calls: Vec<Call> = std::iter::from_fn(|| script.next()).collect();
    let iteration = |counts| Call::Iteration { size: 0, counts };
    let [warm, counted] = [iteration(false), iteration(true)];
    assert_eq!(calls, [Call::Barrier, warm, warm, Call::Barrier, counted, counted]);
}

/// Both ranks on one host, whose memory takes 3 us for a message and copies at 8 Gbit/s; a sum is
/// combined at 4 Gbit/s.
#[test]
fn ranks_of_one_host_take_the_time_of_its_memory_and_combine() {
    let (local_latency, rate) = (Span::from_us(3), |gbps: u64| Some(BitRate::from_gbps(gbps)));
    let job = |bytes: u64| {
        let alone = Job::clone(&job(bytes, 0, 1));
        let costs = Costs { local_latency, local: rate(8), combine: rate(4), ..alone.costs };
        let sizes = vec![Size { bytes, iterations: 1, collective: Collective::RecursiveDoubling }];
        Arc::new(Job { pattern: Pattern::Allreduce, sizes, costs, ..alone })
    };
    let mut program = MpiHost::new(MpiConfig {
        host: 0,
        port: PEER.port,
        job: job(10_000),
        ledger: Ledger::default(),
        peers: vec![PEER; 2],
        ranks: vec![(0, RandomStream::new(1, "compute")), (1, RandomStream::new(2, "compute"))],
        start: Time::ZERO,
    });
    let (mut host, mut last) = (Fake::default(), Time::ZERO);
    while !program.poll_timeout().is_never() {
        last = program.poll_timeout();
        program.handle_timeout(last, &mut host);
    }
    // A barrier without bytes, then 10 us to copy and 20 us to combine.
    assert_eq!(last, Time::ZERO + Span::from_us(3 + 3 + 10 + 20));
    assert_eq!((host.connected, host.finished.len(), program.tallies().messages), (0, 2, 4));
    let since: Vec<u64> = host.completed.iter().map(|&(_, since)| since.ns() / 1_000).collect();
    assert_eq!(since, [3, 3], "the barrier is no part of an iteration");
}

#[test]
fn a_job_of_which_all_is_due_at_one_moment_is_done_in_several_events() {
    const ITERATIONS: u64 = 100_000;
    let mut job = Arc::into_inner(job(0, 0, ITERATIONS)).expect("it has just been made");
    (job.costs.send, job.costs.receive, job.costs.copy) = (Span::ZERO, Span::ZERO, None);
    let mut program = MpiHost::new(MpiConfig {
        host: 0,
        port: PEER.port,
        job: Arc::new(job),
        ledger: Ledger::default(),
        peers: vec![PEER; 2],
        ranks: vec![(0, RandomStream::new(1, "compute")), (1, RandomStream::new(1, "compute"))],
        start: Time::ZERO,
    });
    let (mut host, mut events) = (Fake::default(), 0);
    while program.poll_timeout() == Time::ZERO {
        program.handle_timeout(Time::ZERO, &mut host);
        events += 1;
    }
    assert!(
        program.poll_timeout().is_never() && program.tallies().answered >= ITERATIONS,
        "{:?}",
        program.tallies()
    );
    assert!(events > 10, "all in {events} events: the run cannot be ended between them");
}
