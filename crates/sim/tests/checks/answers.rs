//! Large answers: the time before their first byte and after their last, and two of them that leave
//! one host together.

use crate::common::*;
use tailrace_plan::*;

/// Payload of a segment at an MTU of 9000 (IPv4 20, TCP 20, timestamps 12), and its time on a wire
/// of 1 Gbit/s with 14 bytes of header and 24 around the frame.
const SEGMENT: u64 = 8_948;
const SEGMENT_ON_WIRE: u64 = (9_000 + 14 + 24) * 8_000;
/// The request of 100 bytes.
const REQUEST_ON_WIRE: u64 = (100 + 52 + 14 + 24) * 8_000;
const DELAY: u64 = 5 * US;

/// Hosts on links of 1 Gbit/s that do everything at once.
fn plan(hosts: usize) -> RawPlan {
    let mut plan = star(hosts, 9000, GBPS, DELAY, switch("sw", 12_000_000, fifo(500_000)));
    plan.clock_offset_ppb = 0;
    plan.stop_at_ps = 4 * S;
    plan.hosts.iter_mut().for_each(bare);
    plan
}

/// The last of three transactions, with an answer of this many segments.
fn latency(segments: u64, build_fs_per_byte: u64, unpack_fs_per_byte: u64) -> u64 {
    let mut plan = plan(2);
    let mut user = oltp("user", "h0", "h1", 1, 3, segments * SEGMENT);
    let trip = &mut user.round_trips[0];
    (trip.build_fs_per_byte, trip.unpack_fs_per_byte) = (build_fs_per_byte, unpack_fs_per_byte);
    plan.workloads.push(RawWorkload::from(user));
    column(&simulate(plan), "transactions", "latency_ps")[2]
}

/// Request and answer cross two wires each; the frames of an answer follow each other. It is made
/// at 3 ns for a byte before the first of them leaves, and unpacked at 1 ns for a byte when the
/// last has come.
#[test]
fn an_answer_takes_its_time_to_be_built_sent_and_unpacked() {
    for segments in [1, 3] {
        let request = 2 * (REQUEST_ON_WIRE + DELAY);
        let response = (segments + 1) * SEGMENT_ON_WIRE + 2 * DELAY;
        let work = 100 * US;
        assert_eq!(latency(segments, 0, 0), request + work + response);
        let bytes = segments * SEGMENT;
        assert_eq!(latency(segments, 3_000_000, 0), request + work + bytes * 3_000 + response);
        assert_eq!(
            latency(segments, 3_000_000, 1_000_000),
            request + work + bytes * 3_000 + response + bytes * 1_000
        );
    }
}

/// Time on the wire of the answers below, of 64 MB, and the users' pause between them, in seconds.
const ANSWER_S: f64 = 64e6 / SEGMENT as f64 * SEGMENT_ON_WIRE as f64 / 1e12;
const PAUSE_S: f64 = 0.375;
/// The second user begins so much later than the first.
const LATER_S: f64 = 0.1;

/// Two users, each with a connection, ask one database for large answers over its link: the median
/// latency in seconds.
fn two_users(small_queue_ps: u64, small_queue_by_pace: bool, connects_early: bool) -> f64 {
    let mut plan = star(2, 9000, GBPS, DELAY, switch("sw", 12_000_000, fifo(500_000)));
    plan.stop_at_ps = 20 * S;
    let tcp = &mut plan.hosts[1].tcp;
    (tcp.small_queue_ps, tcp.small_queue_by_pace) = (small_queue_ps, small_queue_by_pace);
    for (name, start_s) in [("first", 0.0), ("second", LATER_S)] {
        let mut user = oltp(name, "h0", "h1", 1, 11, 64_000_000);
        user.start = RawDistribution::Constant((start_s * 1e12) as u64);
        user.connects_early = connects_early;
        user.gap = RawDistribution::Constant((PAUSE_S * 1e12) as u64);
        plan.workloads.push(RawWorkload::from(user));
    }
    let outcome = simulate(plan);
    let median_s = |name: &str| number(workload(&outcome, name), "latency.p50_ps") / 1e12;
    (median_s("first") + median_s("second")) / 2.0
}

/// With small queues two answers share the line from when the second begins, and both take as long:
/// one alone and then the rest of both, less how far they are apart, which stays so. Without, as on
/// an interface that takes all it is given, what an answer may have on its way waits in its host,
/// and the next begins behind it with a window that doubles once in 34 ms. It gets little until the
/// other has ended: as if first come were first served, the users get out of each other's way as
/// far as the pause lets them. That comes sooner where the second connected while the host was
/// idle: it knows a short round trip, and HyStart ends its slow start at the first look at the
/// queue.
#[test]
fn without_small_queues_two_users_of_a_host_end_up_taking_turns() {
    let shared = 2.0 * ANSWER_S - LATER_S;
    let in_turn = 2.0 * ANSWER_S - PAUSE_S;
    within(
        "with small queues: latency, of processor sharing",
        two_users(MS, false, false) / shared,
        (0.95, 1.05),
    );
    within("without: latency, of taking turns", two_users(0, false, false) / in_turn, (1.0, 1.35));
    within(
        "without, connected before: latency, of taking turns",
        two_users(0, false, true) / in_turn,
        (1.0, 1.35),
    );
    // A window that has grown beside a short round trip paces above the line, and takes that part
    // of the queue: in between.
    within(
        "by pace alone, connected before: latency, of processor sharing",
        two_users(MS, true, true) / shared,
        (0.75, 0.95),
    );
}
