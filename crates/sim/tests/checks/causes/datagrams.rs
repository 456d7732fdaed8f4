//! Datagrams, frames of threads, blocks and requests as datagrams: reassembly, retries, and what is
//! lost.

use super::*;
use crate::processor::processor;

const PROPAGATION: u64 = 5 * US;

/// Time of a datagram with this payload on a link of 10 Gbit/s.
fn alone(payload: u64) -> u64 {
    800 * wire_bytes(payload)
}

fn every_ms(bytes: u64, count: u64) -> RawWorkload {
    let mut drawn = datagrams("w", "h1", "h0", bytes, RawDistribution::Constant(MS));
    drawn.body.count = count;
    RawWorkload::from(drawn)
}

#[test]
fn a_datagram_alone_is_what_its_links_take() {
    let found = check(quiet(2, every_ms(1_000, 10))).transactions;
    assert_eq!(found.len(), 10);
    for one in &found {
        assert_eq!(
            parts(one),
            [(Part::Serialisation, 2 * alone(1_000)), (Part::Propagation, 2 * PROPAGATION)]
        );
    }
}

/// 8192 bytes and the header of UDP are five fragments of 1480 bytes and one of 800. They follow
/// each other on both links: the last one waits in the switch for those before it. The first has
/// passed both links after `2 W + 2 P`, and the last one comes `4 W + w` later.
#[test]
fn a_datagram_in_fragments_is_its_first_fragment_and_the_wait_for_the_last() {
    let found = check(quiet(2, every_ms(8_192, 10))).transactions;
    assert_eq!(found.len(), 10);
    // The header of UDP is among the bytes of the fragments.
    let (full, last) = (alone(1_480 - 8), alone(800 - 8));
    for one in &found {
        assert_eq!(
            parts(one),
            [
                (Part::Serialisation, 2 * full),
                (Part::Propagation, 2 * PROPAGATION),
                (Part::Reassembly, 4 * full + last)
            ]
        );
    }
}

/// On the second link, of 1 Gbit/s, fragments leave ten times as slowly as they come.
#[test]
fn a_slow_link_makes_the_wait_for_the_last_fragment_longer_and_not_the_queue_of_the_first() {
    let mut plan = quiet(2, every_ms(8_192, 10));
    plan.links[0].rate_bps = GBPS;
    let (full, last) = (alone(1_480 - 8), alone(800 - 8));
    for one in &check(plan).transactions {
        let expected = [
            (Part::Serialisation, 11 * full),
            (Part::Propagation, 2 * PROPAGATION),
            (Part::Reassembly, 10 * (4 * full + last)),
        ];
        assert_eq!(parts(one), expected);
    }
}

/// A datagram that is sent a picosecond after another: its first fragment waits behind all of that.
#[test]
fn the_first_fragment_waits_in_the_interface_behind_the_datagram_before_it() {
    let mut drawn = datagrams("w", "h1", "h0", 8_192, RawDistribution::Constant(1));
    drawn.body.count = 2;
    let found = check(quiet(2, drawn)).transactions;
    let (full, last) = (alone(1_480 - 8), alone(800 - 8));
    assert_eq!(found.len(), 2);
    assert_eq!(ps(&found[0], Part::InterfaceQueue), 0);
    assert_eq!(ps(&found[1], Part::InterfaceQueue), 5 * full + last - 1, "{found:?}");
    assert_eq!(ps(&found[1], Part::Reassembly), 4 * full + last);
}

#[test]
fn frames_of_threads_are_explained_as_datagrams_are() {
    let mut drawn = frames("w", "h1", "h0", 958, 3, US);
    (drawn.body.count, drawn.body.delay_ps) = (30, 50 * US);
    let found = check(quiet(2, drawn)).transactions;
    assert_eq!(found.len(), 30);
    for one in &found {
        assert_eq!(
            parts(one),
            [(Part::Serialisation, 2 * alone(958)), (Part::Propagation, 2 * PROPAGATION)]
        );
    }
}

#[test]
fn a_request_as_datagrams_is_its_links_and_the_server() {
    let mut drawn = requests("w", "h1", "h0", 1);
    (drawn.body.is_udp, drawn.body.timeout_ps, drawn.body.requests) = (true, S, 20);
    drawn.body.service = serving(RawDistribution::Constant(3 * MS), 0);
    let found = check(quiet(2, drawn)).transactions;
    assert_eq!(found.len(), 20);
    for one in &found {
        let wires = 2 * (alone(200) + alone(800));
        let expected = [
            (Part::ServerWork, 3 * MS),
            (Part::Serialisation, wires),
            (Part::Propagation, 4 * PROPAGATION),
        ];
        assert_eq!(parts(one), expected);
    }
}

/// One worker of 3 ms, three users: who comes third has waited for both before it.
#[test]
fn a_wait_for_a_worker_is_distinguished_from_its_work() {
    let mut drawn = requests("w", "h1", "h0", 3);
    (drawn.body.is_udp, drawn.body.timeout_ps, drawn.body.requests) = (true, S, 1);
    drawn.body.service = serving(RawDistribution::Constant(3 * MS), 1);
    let found = check(quiet(2, drawn)).transactions;
    assert!(found.iter().all(|one| ps(one, Part::ServerWork) == 3 * MS), "{found:?}");
    let mut waits: Vec<u64> = found.iter().map(|one| ps(one, Part::WorkerWait)).collect();
    waits.sort_unstable();
    // Requests come one after the other: the second waits less by the time of one on the link.
    assert_eq!(waits, [0, 3 * MS - alone(200), 6 * MS - 2 * alone(200)]);
}

/// The path of a block leads through the fragments of its answer; that of a transaction of several,
/// one after the other, through all.
#[test]
fn a_transaction_of_blocks_is_their_round_trips() {
    let mut drawn = blocks("w", &["h0", "h1"], 1);
    (drawn.body.blocks_milli, drawn.body.messages_milli, drawn.body.transactions) =
        (3_000, 1_000, 10);
    let found = check(quiet(2, drawn)).transactions;
    assert_eq!(found.len(), 10);
    let (full, last) = (alone(1_480 - 8), alone(800 - 8));
    for one in &found {
        let wires = 3 * (2 * alone(200) + 2 * full) + 4 * alone(200);
        let expected = [
            (Part::Serialisation, wires),
            (Part::Propagation, 4 * 4 * PROPAGATION),
            (Part::Reassembly, 3 * (4 * full + last)),
        ];
        assert_eq!(parts(one), expected);
    }
}

/// A server asks another over TCP for what came to it as a datagram, and answers when that has
/// answered.
#[test]
fn the_path_of_a_datagram_leads_through_a_tier_over_tcp() {
    let mut drawn = requests("w", "h1", "h0", 1);
    (drawn.body.is_udp, drawn.body.timeout_ps, drawn.body.requests) = (true, S, 10);
    drawn.body.stages = vec![stage(&["h2"], RawDistribution::Constant(20 * MS))];
    let found = check(quiet(3, drawn)).transactions;
    assert_eq!(found.len(), 10);
    for one in &found[1..] {
        assert_eq!(
            (ps(one, Part::ServerWork), ps(one, Part::Propagation)),
            (20 * MS, 8 * PROPAGATION),
            "{one:?}"
        );
        assert_eq!(ps(one, Part::Start) + ps(one, Part::ClientWork), 0, "{one:?}");
    }
}

/// A request of 1400 bytes with an answer as long, beside a burst that fills the queue in front of
/// one of the two hosts, whose link is slow; it is asked again after 5 ms, when the burst is over.
fn retried(crowded: &str) -> Explained {
    let mut drawn = requests("w", "h1", "h0", 1);
    (drawn.body.is_udp, drawn.body.timeout_ps, drawn.body.requests, drawn.body.retries) =
        (true, 5 * MS, 1, 3);
    (drawn.body.request, drawn.body.response) =
        (RawDistribution::Constant(1_400), RawDistribution::Constant(1_400));
    drawn.header.start_ps = 100 * US;
    let mut plan = quiet(3, drawn);
    let link = plan
        .links
        .iter()
        .position(|link| [&link.a, &link.b].iter().any(|&end| end == crowded))
        .expect("it has a link");
    plan.links[link].rate_bps = GBPS;
    plan.switches[0].policy = fifo(15_000);
    let mut burst = datagrams("burst", "h2", crowded, 1_400, RawDistribution::Constant(1));
    burst.body.count = 200;
    plan.workloads.push(RawWorkload::from(burst));
    check(plan)
}

#[test]
fn a_retry_has_waited_since_its_copy_whose_query_or_answer_was_lost() {
    for (crowded, wire) in [("h0", 1), ("h1", 3)] {
        let explained = retried(crowded);
        let one =
            explained.transactions.iter().find(|one| one.workload == 0).expect("it is complete");
        let wires = 2 * 11 * alone(1_400);
        let expected = [
            (Part::Serialisation, wires),
            (Part::Propagation, 4 * PROPAGATION),
            (Part::Timeout, 5 * MS),
        ];
        assert_eq!(parts(one), expected, "{crowded}");
        let &[loss] = &one.losses[..] else { panic!("one frame was lost: {one:?}") };
        assert_eq!(
            (loss.wire, loss.by),
            (wire, DroppedBy::Switch(DropCause::TailDrop)),
            "{crowded}"
        );
        let lost = |workload| explained.lost.get(&(workload, wire, loss.by)).copied();
        assert_eq!(lost(0), Some(1));
        assert_eq!(
            lost(1),
            Some(
                200 - explained.transactions.iter().filter(|one| one.workload == 1).count() as u64
            )
        );
    }
}

/// Incomplete datagrams take all the memory. Of each block the line loses a fragment: then every
/// datagram is refused.
#[test]
fn datagrams_that_find_no_memory_for_their_fragments_are_counted_as_lost_there() {
    let mut plan = quiet(2, every_ms(8_192, 200));
    (plan.links[0].loss_ppb, plan.stop_at_ps) = (300_000_000, S);
    plan.hosts[0].ip = Some(RawIp {
        reassembly_timeout_ps: 30 * S,
        reassembly_memory_bytes: 65_536,
        reassembly_distance: 0,
    });
    let explained = check(plan);
    let lost: Vec<_> =
        explained.lost.iter().map(|(place, &datagrams)| (*place, datagrams)).collect();
    let whole = explained.transactions.len() as u64;
    let [
        ((0, 1, DroppedBy::Reassembly), refused),
        ((0, 1, DroppedBy::Switch(DropCause::Line)), dropped),
    ] = lost[..]
    else {
        panic!("in two places: {lost:?}")
    };
    assert_eq!(whole + refused + dropped, 200);
    assert!(
        refused > 10 && dropped > 150,
        "a datagram of which the line loses something is lost there: {lost:?}"
    );
}

/// A program that needs 100 us for each datagram, of which one comes every 10 us: its receive
/// buffer is full soon.
#[test]
fn datagrams_that_find_no_room_in_the_receive_buffer_are_counted_as_lost_there() {
    let mut drawn = datagrams("w", "h1", "h0", 1_000, RawDistribution::Constant(10 * US));
    drawn.body.count = 1_000;
    let mut plan = quiet(2, drawn);
    plan.stop_at_ps = 100 * MS;
    let mut slow = processor(1);
    slow.read_byte_fs = 100_000_000;
    plan.hosts[0].cpu.processor = Some(Box::new(slow));
    let explained = check(plan);
    let waited = explained
        .transactions
        .iter()
        .map(|one| ps(one, Part::ServerWork))
        .max()
        .expect("some were read");
    assert!(waited > 5 * MS, "a full buffer is a hundred datagrams: {waited}");
    let lost =
        explained.lost.get(&(0, 1, DroppedBy::SocketBuffer)).copied().expect("some were lost");
    let read = explained.transactions.len() as u64;
    assert_eq!(lost + read, 1_000, "nothing is left of them");
    assert_eq!(count(host_summary(&explained.outcome, "h0"), "processor.datagram_drops"), lost);
}

/// A datagram counts once, whichever of its fragments are lost.
#[test]
fn a_datagram_is_lost_once() {
    let mut plan = quiet(2, every_ms(8_192, 1_000));
    (plan.links[0].loss_ppb, plan.stop_at_ps) = (300_000_000, 2 * S);
    plan.hosts[0].ip = Some(RawIp {
        reassembly_timeout_ps: S,
        reassembly_memory_bytes: 64 << 20,
        reassembly_distance: 0,
    });
    let explained = check(plan);
    let whole = explained.transactions.len() as u64;
    assert!((50..250).contains(&whole), "0.7 to the power of 6: {whole}");
    assert_eq!(
        explained.lost.into_iter().collect::<Vec<_>>(),
        [((0, 1, DroppedBy::Switch(DropCause::Line)), 1_000 - whole)]
    );
}

/// One datagram each 1 ms, of which the line loses three of ten, for 100 ms: what the first 90 ms
/// lose is of the warm-up.
#[test]
fn datagrams_that_were_lost_in_the_warm_up_do_not_count() {
    let mut plan = quiet(2, every_ms(1_000, 0));
    (plan.links[0].loss_ppb, plan.stop_at_ps, plan.observe.warm_up_ps) =
        (300_000_000, 100 * MS, 90 * MS);
    let lost: u64 = check(plan.clone()).lost.values().sum();
    assert!((1..=10).contains(&lost), "{lost}");
    plan.observe.warm_up_ps = 0;
    let all: u64 = check(plan).lost.values().sum();
    assert!(all > 2 * lost, "{all} and {lost}");
}

/// A workload of datagrams between the hosts of a random plan.
#[derive(Clone, Copy, Debug)]
struct Drawing {
    kind: u8,
    users: u32,
    bytes: u64,
    timeout_us: u64,
    is_parallel: bool,
    has_tier: bool,
}

impl Drawing {
    fn draw(self, hosts: &[String]) -> RawWorkload {
        let Drawing { kind, users, bytes, timeout_us, is_parallel, has_tier } = self;
        let names: Vec<&str> = hosts.iter().map(String::as_str).collect();
        match kind {
            0 => {
                let mut drawn = requests("udp", names[0], names[1], users);
                (drawn.body.is_udp, drawn.body.timeout_ps, drawn.body.retries) =
                    (true, timeout_us * US, 3);
                (drawn.body.request, drawn.body.response) =
                    (RawDistribution::Constant(bytes / 3 + 8), RawDistribution::Constant(bytes));
                drawn.body.service =
                    serving(RawDistribution::Exponential { mean: 50 * US }, 1 + users / 2);
                drawn.body.service.work = RawDistribution::Constant(20 * US);
                drawn.body.connections = 2;
                if has_tier && names.len() > 2 {
                    drawn.body.stages =
                        vec![stage(&names[names.len() - 1..], RawDistribution::Constant(30 * US))];
                }
                RawWorkload::from(drawn)
            }
            1 => {
                let mut drawn = blocks("udp", &names, users);
                (drawn.body.blocks_milli, drawn.body.messages_milli) = (2_500, 1_500);
                (drawn.body.is_parallel, drawn.body.timeout_ps) = (is_parallel, timeout_us * US);
                (drawn.body.block, drawn.body.gap) =
                    (RawDistribution::Constant(bytes), RawDistribution::Constant(20 * US));
                RawWorkload::from(drawn)
            }
            _ => {
                let mut drawn =
                    frames("udp", names[1], names[0], bytes.min(1_400) as u32, users + 1, US);
                drawn.body.delay_ps = timeout_us * US / 10;
                RawWorkload::from(drawn)
            }
        }
    }
}

prop_compose! {
    fn drawings()(
        (kind, users, bytes) in (0_u8..3, 0_u32..4, 8_u64..9_000),
        (timeout_us, is_parallel, has_tier) in (100_u64..2_000, any::<bool>(), any::<bool>()),
    ) -> Drawing {
        Drawing { kind, users, bytes, timeout_us, is_parallel, has_tier }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]
    #[test]
    fn any_plan_with_datagrams_can_be_explained(mut plan in plans(), drawing in drawings()) {
        let hosts: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
        plan.workloads.truncate(2);
        plan.workloads.push(drawing.draw(&hosts));
        check(plan);
    }
}
