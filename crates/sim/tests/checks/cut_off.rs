//! Operations that the end of a trial cut off are reported.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// Users whose server works for a time that is uniform up to this, for a trial of one second.
fn slow(server_max_ps: u64, users: u32, transactions: u64) -> Outcome {
    let mut plan = star(2, 9000, 10 * GBPS, US, switch("sw", 20_000_000, fifo(10_000_000)));
    let mut class = oltp("slow", "h0", "h1", users, transactions, 1_000);
    class.round_trips[0].server_time = RawDistribution::Uniform { low: 0, high: server_max_ps };
    class.gap = RawDistribution::Constant(0);
    class.start = RawDistribution::Constant(0);
    plan.workloads.push(RawWorkload::from(class));
    plan.stop_at_ps = S;
    simulate(plan)
}

#[test]
fn every_user_of_an_endless_workload_has_a_transaction_that_is_cut_off() {
    let outcome = slow(1_900 * MS, 50, 0);
    let class = workload(&outcome, "slow");
    assert_eq!(count(class, "cut_off.count"), 50);
    let waited = column(&outcome, "cut_off", "waited_ps");
    let starts = column(&outcome, "cut_off", "start_ps");
    assert_eq!(count(class, "cut_off.longest_ps"), *waited.iter().max().expect("fifty"));
    // The end of the trial is an instant: each wait is exact, and reaches up to it.
    assert!(
        starts.iter().zip(&waited).all(|(start, waited)| start + waited == S),
        "{starts:?} {waited:?}"
    );
    // In 48 % of draws the first transaction of a user alone takes longer than the trial.
    let never = starts.iter().filter(|&&start| start < MS).count();
    assert!((12..38).contains(&never), "{never} of 50 users completed nothing");
}

#[test]
fn where_everything_completes_nothing_is_cut_off() {
    let outcome = slow(10 * MS, 5, 20);
    let class = workload(&outcome, "slow");
    assert_eq!(count(class, "transactions"), 100);
    assert_eq!(count(class, "cut_off.count"), 0);
    assert_eq!(count(class, "cut_off.longest_ps"), 0);
    assert!(column(&outcome, "cut_off", "user").is_empty());
}

#[test]
fn a_transfer_is_cut_off_and_an_endless_one_is_not() {
    let mut plan = star(3, 9000, GBPS, US, switch("sw", 20_000_000, fifo(10_000_000)));
    plan.workloads.push(RawWorkload::from(stream("finite", "h0", "h2", 2, 1 << 40)));
    plan.workloads.push(RawWorkload::from(stream("endless", "h1", "h2", 2, 0)));
    plan.stop_at_ps = 100 * MS;
    let outcome = simulate(plan);
    assert_eq!(count(workload(&outcome, "finite"), "cut_off.count"), 2);
    assert_eq!(count(workload(&outcome, "endless"), "cut_off.count"), 0);
}

/// Small and large flows among eight hosts, which end in another order than they began, so that
/// places and numbers of sockets that were given back are used again in other pairs: each flow is
/// complete or cut off, once.
#[test]
fn each_flow_is_complete_or_cut_off_once() {
    const FLOWS: u64 = 1_000;
    let gap = 20 * US;
    let (mut cut_off, mut unlike) = (0, 0);
    for seed in 1..=8 {
        let mut plan = star(8, 1500, 10 * GBPS, US, switch("sw", 20_000_000, fifo(10_000_000)));
        let hosts: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
        let sizes = RawDistribution::LogNormal { median: 10_000, sigma_milli: 2_000 };
        let between = flows_between(
            "flows",
            [hosts.clone(), hosts],
            sizes,
            RawDistribution::Constant(gap),
            FLOWS,
        );
        plan.workloads.push(RawWorkload::from(between));
        (plan.seed, plan.stop_at_ps) = (seed, (FLOWS + 1) * gap);
        let outcome = simulate(plan);
        let class = workload(&outcome, "flows");
        let (complete, running) = (count(class, "transactions"), count(class, "cut_off.count"));
        cut_off += running;
        unlike += u64::from(complete + running != FLOWS);
    }
    assert!(cut_off > 20, "some are: {cut_off}");
    assert_eq!(unlike, 0, "trials in which they are more or fewer");
}
