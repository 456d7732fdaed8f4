//! Which random stream each draw comes from, and in which order: another engine must find the same.

#[path = "../../sim/tests/checks/plans.rs"]
#[expect(dead_code, reason = "plans are made as for the simulator's tests, which need more")]
mod plans;

use plans::*;
use tailrace_plan::*;
use tailrace_units::{Distribution, RandomStream, Time};
use tailrace_workloads::{
    Arrival, Arrivals, DatagramPair, Ends, Engine, LastingConnection, WorkloadProgram, arriving,
    open_workloads, record_for,
};

/// Notes the calls to an engine.
#[derive(Default)]
struct Recorded {
    arrivals: Vec<Arrivals>,
    /// When each client is due first.
    due: Vec<Time>,
}

impl Engine for Recorded {
    fn connect(&mut self, connection: LastingConnection<'_>) {
        self.due.push(connection.apps[0].poll_timeout());
    }
    fn start(&mut self, _: WorkloadProgram) -> u32 {
        unreachable!("these workloads have no programs");
    }
    fn pair(&mut self, _: DatagramPair) {
        unreachable!("these workloads have no programs");
    }
    fn arrive(&mut self, arrivals: Arrivals) {
        self.arrivals.push(arrivals);
    }
}

fn recorded(workload: RawWorkload) -> Recorded {
    let mut raw = star(3, 1500, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    (raw.seed, raw.workloads) = (5, vec![workload]);
    let plan = Plan::from_raw(raw).expect("the plan is sound");
    let mut recorded = Recorded::default();
    open_workloads(&plan, &mut recorded);
    assert_eq!(recorded.arrivals.len(), arriving(&plan));
    recorded
}

#[test]
fn a_flow_has_its_size_the_gap_to_the_next_and_its_hosts_drawn_in_this_order() {
    let hosts = || (0..3).map(|i| format!("h{i}")).collect();
    let (size, gap) = (
        RawDistribution::Exponential { mean: 10_000 },
        RawDistribution::Uniform { low: US, high: MS },
    );
    let mut web = flows_between("web", [hosts(), hosts()], size, gap, 20);
    web.header.start_ps = 7 * MS;
    let mut arrivals = recorded(web.into()).arrivals.remove(0);
    let mut random = RandomStream::new(5, "web/arrivals");
    let (sizes, gaps) =
        (Distribution::Exponential { mean: 10_000 }, Distribution::Uniform { low: US, high: MS });
    let mut at = 7 * MS + gaps.draw(&mut random);
    for left in (0..20).rev() {
        assert_eq!(arrivals.next_at(), Time::from_ps(at));
        let bytes = sizes.draw(&mut random).max(1);
        let gap = if left > 0 { gaps.draw(&mut random) } else { 0 };
        let client = random.below(3) as u32;
        let server = std::iter::repeat_with(|| random.below(3) as u32)
            .find(|&host| host != client)
            .expect("without end");
        assert_eq!(
            arrivals.take(),
            Arrival { at: Time::from_ps(at), ends: Ends { client, server }, bytes }
        );
        at += gap;
    }
    assert!(arrivals.next_at().is_never());
}

#[test]
fn a_datagram_has_its_size_and_the_gap_to_the_next_drawn_and_fits_a_frame() {
    let mut pings = datagrams("pings", "h0", "h2", 0, RawDistribution::Exponential { mean: MS });
    pings.sizes = RawDistribution::Exponential { mean: 1_000 };
    let mut arrivals = recorded(pings.into()).arrivals.remove(0);
    let mut random = RandomStream::new(5, "pings/arrivals");
    let mut at = Distribution::Exponential { mean: MS }.draw(&mut random);
    for _ in 0..50 {
        let bytes = Distribution::Exponential { mean: 1_000 }.draw(&mut random).clamp(1, 65_507);
        let ends = Ends { client: 0, server: 2 };
        assert_eq!(arrivals.take(), Arrival { at: Time::from_ps(at), ends, bytes });
        at += Distribution::Exponential { mean: MS }.draw(&mut random);
    }
}

#[test]
fn each_user_has_a_stream_for_its_start() {
    let mut users = oltp("shop", "h0", "h1", 4, 1, 1_000);
    users.start = RawDistribution::Uniform { low: 0, high: S };
    let start = |user: u32| {
        Distribution::Uniform { low: 0, high: S }
            .draw(&mut RandomStream::new(5, &format!("shop/{user}/start")))
    };
    assert_eq!(
        recorded(users.clone().into()).due,
        (0..4).map(|user| Time::from_ps(start(user))).collect::<Vec<_>>()
    );
    users.connects_early = true;
    assert_eq!(recorded(users.into()).due, [Time::ZERO; 4]);
}

/// Transactions before the recorded ones belong to no result, and so not to its number.
#[test]
fn a_database_is_complete_after_the_recorded_transactions_of_all_its_users() {
    let mut mix = oltp("mix", "h0", "h1", 3, 10, 1_000);
    mix.body.warmup_transactions = 4;
    let mut raw = star(3, 1500, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    raw.workloads = vec![mix.into()];
    let plan = Plan::from_raw(raw).expect("the plan is sound");
    let record = record_for(&plan, &plan.workloads[0]);
    assert_eq!((record.users_left, record.transactions_total, record.is_finite()), (3, 18, true));
}
