//! Completed operations are forgotten while a run lasts, and no explanation changes by that.

use super::*;
use crate::processor::processor;

/// Eight users between two hosts, who send more than 100 000 frames in 100 ms: three times as many
/// as are kept in any case.
fn with_many_frames(mut plan: RawPlan) -> RawPlan {
    let mut many = oltp("many", "h1", "h0", 8, 250, 64_000);
    many.body.round_trips[0].server_time = RawDistribution::Constant(5 * US);
    (many.body.gap, many.body.start) =
        (RawDistribution::Constant(US), RawDistribution::Constant(0));
    plan.workloads.push(RawWorkload::from(many));
    plan
}

#[test]
fn a_long_transaction_keeps_its_frames_while_others_are_forgotten() {
    let mut long = oltp("long", "h3", "h2", 1, 1, 1_000);
    long.body.round_trips[0].server_time = RawDistribution::Constant(80 * MS);
    long.body.start = RawDistribution::Constant(0);
    let found = check(with_many_frames(quiet(4, long))).transactions;
    let one = found.iter().find(|one| one.workload == 0).expect("it is complete");
    let before = found.iter().filter(|other| other.workload == 1 && other.end < one.end).count();
    assert!(before > 1_000, "each of them sends 45 segments: {before}");
    assert_eq!(ps(one, Part::ServerWork), 80 * MS, "{one:?}");
}

/// A program takes 1 ms for a datagram, and one comes every 500 us: the last of them has waited for
/// 50 ms when it is read.
#[test]
fn datagrams_that_wait_for_their_program_keep_their_frames() {
    let mut drawn = datagrams("w", "h3", "h2", 1_000, RawDistribution::Constant(500 * US));
    drawn.body.count = 100;
    let mut plan = quiet(4, drawn);
    let mut slow = processor(1);
    slow.read_byte_fs = 1_000_000_000;
    plan.hosts[2].cpu.processor = Some(Box::new(slow));
    let found = check(with_many_frames(plan)).transactions;
    let work: Vec<u64> =
        found.iter().filter(|one| one.workload == 0).map(|one| ps(one, Part::ServerWork)).collect();
    assert_eq!(work.len(), 100, "none is lost");
    assert!(work.iter().max() > Some(&(45 * MS)), "{:?}", work.iter().max());
}
