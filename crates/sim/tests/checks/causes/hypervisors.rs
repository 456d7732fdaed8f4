//! Where the time of requests between virtual machines went.

use super::{check, parts, ps};
use crate::common::*;
use crate::hypervisors::{asking, plan};
use tailrace_plan::*;
use tailrace_sim::{Explanation, Part};

const INSIDE: [Part; 5] = [
    Part::VirtualSwitchWait,
    Part::VirtualSwitch,
    Part::VhostWait,
    Part::Vhost,
    Part::VirtualCoreWait,
];

fn one_user(switching: RawVirtualSwitching) -> Vec<Explanation> {
    check(plan(switching, |plan| {
        asking(1)(plan);
        plan.stop_at_ps = 10 * MS;
    }))
    .transactions
}

/// A request and its response cross two virtual switches each. A polling thread is free: a frame
/// waits for nothing, and each crossing is work.
#[test]
fn a_request_through_polling_cores_has_the_work_of_four_crossings() {
    let transactions = one_user(RawVirtualSwitching::Polling);
    let last = transactions.last().expect("some are complete");
    let [wait, work, vhost_wait, vhost, core] = INSIDE.map(|part| ps(last, part));
    // A crossing: the round that finds nothing, 150 ns, the switch's work, 145 ns, and 0.124 ns for
    // each byte; payloads are 1000 bytes together. The interrupt that a thread has sent to its
    // machine, with the wake-up, 1.26 us, is done with the next batch.
    let bytes = 2 * (1_000 + 2 * 66);
    assert_eq!(work, 4 * 295_000 + 2 * 1_260_000 + bytes * 124, "{:?}", parts(last));
    assert_eq!((wait, vhost_wait, vhost), (0, 0, 0), "{:?}", parts(last));
    assert!(core > 0, "the virtual core had halted: {:?}", parts(last));
}

/// Each of the four frames is switched once and copied by one vhost thread; frames from uplinks
/// wait for the interrupt of 8 us.
#[test]
fn a_request_through_vhost_threads_has_their_work_and_the_coalescing_of_uplinks() {
    let transactions = one_user(RawVirtualSwitching::Kernel);
    let last = transactions.last().expect("some are complete");
    let [wait, work, vhost_wait, vhost, core] = INSIDE.map(|part| ps(last, part));
    assert!(work >= 4 * 1_485_000, "{:?}", parts(last));
    assert!((4 * 1_500_000..4 * 1_500_000 + 4_000_000).contains(&vhost), "{:?}", parts(last));
    assert!((2 * 8 * US..2 * 12 * US).contains(&wait), "{:?}", parts(last));
    assert!(vhost_wait > 0 && core > 0, "threads and virtual cores sleep: {:?}", parts(last));
}

/// Many users beside neighbours, bulk transfers with super-frames, and short rings that overrun.
#[test]
fn crowded_hypervisors_are_explained_too() {
    for switching in [RawVirtualSwitching::Kernel, RawVirtualSwitching::Polling] {
        for rings in [4, 256] {
            let found = check(plan(switching, |plan| {
                asking(8)(plan);
                plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", 2, 0)));
                for own in &mut plan.hypervisors {
                    (own.guest_ring_frames, own.uplink_ring_frames, own.tap_frames) =
                        (rings, rings, 4 * rings);
                    let cores = vec![0, 1, 2, 3];
                    own.neighbours.push(RawNeighbour {
                        name: "busy".into(),
                        tasks: 2,
                        cores,
                        nice: 0,
                        work_ps: None,
                        wait_ps: 0,
                    });
                }
            }));
            let total = |part| found.transactions.iter().map(|one| ps(one, part)).sum::<u64>();
            assert!(!found.transactions.is_empty());
            assert!(total(Part::VirtualCoreWait) > 0 && total(Part::VirtualSwitchWait) > 0);
            let dropped = count(&found.outcome.summary()["conservation"], "dropped");
            assert!(dropped > 0 || rings > 4, "short rings overrun: {dropped}");
        }
    }
}
