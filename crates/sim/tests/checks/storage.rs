//! Requests of storage against queueing theory, and against themselves.

use crate::common::*;
use crate::processor::processor;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// Hosts with a device each, whose servers take 100 us.
fn plan(hosts: usize, servers: u32, storage: Drawn<RawStorage>) -> RawPlan {
    let mut plan = star(hosts, 1_500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, S);
    plan.devices = vec![ssd(servers)];
    plan.workloads = vec![storage.into()];
    plan
}

fn own(outcome: &Outcome) -> &Value {
    &outcome.summary()["workloads"][0]
}

fn of(outcome: &Outcome, key: &str) -> f64 {
    number(own(outcome), &format!("storage_requests.{key}"))
}

/// The parts of the time of all requests that read are their latencies.
fn parts_are_the_whole(outcome: &Outcome) {
    for op in ["read", "write"] {
        let parts = own(outcome)["storage_requests"][op]["waits_s"]
            .as_object()
            .expect("all parts are reported");
        let sum: f64 = parts.values().filter_map(Value::as_f64).sum();
        let count = of(outcome, &format!("{op}.count"));
        if count > 0.0 {
            let whole = of(outcome, &format!("{op}.latency.mean_ps")) * 1e-12 * count;
            within(
                &format!("parts of the time of requests that {op}"),
                sum / whole,
                (0.999_999, 1.000_001),
            );
        }
    }
}

#[test]
fn servers_bound_the_rate_and_the_link_the_data() {
    for (depth, servers) in [(1, 8), (8, 8), (32, 8)] {
        let outcome = simulate(plan(1, servers, storage("w", &["h0"], depth)));
        // A block of 4 KiB crosses 8 Gbit/s in 4.1 us, while a server takes the next.
        let cycle = if depth == 1 {
            104.096e-6
        } else {
            104.096e-6_f64.max(f64::from(depth) * 100e-6 / f64::from(depth.min(servers)))
        };
        let expected = f64::from(depth) / cycle.max(f64::from(depth) / f64::from(servers) * 100e-6);
        within(
            &format!("{depth} on {servers}: reads"),
            of(&outcome, "read.count") / expected,
            (0.99, 1.01),
        );
        assert_eq!(
            count(own(&outcome), "goodput_bytes"),
            4_096 * count(own(&outcome), "transactions")
        );
        parts_are_the_whole(&outcome);
    }
    let mut large = storage("w", &["h0"], 4);
    (large.block, large.access, large.read_ppb) =
        (RawDistribution::Constant(1 << 20), RawAccess::Sequential, 500_000_000);
    let outcome = simulate(plan(1, 8, large));
    within("data at 1 GB/s", number(own(&outcome), "goodput_bytes") / 1e9, (0.98, 1.0));
    let pieces = of(&outcome, "devices.pieces") / number(own(&outcome), "transactions");
    within("pieces of a mebibyte", pieces, (2.0, 2.0));
    parts_are_the_whole(&outcome);
}

/// A thread takes 20 us for each request: 50 000 a second with one, 100 000 with two, whatever the
/// device could do.
#[test]
fn the_thread_of_a_job_bounds_its_rate() {
    for jobs in [1, 2] {
        let mut drawn = storage("w", &["h0"], 32);
        (drawn.jobs, drawn.read_cost_ps) = (jobs, 20 * US);
        let outcome = simulate(plan(1, 32, drawn));
        within(
            "requests per second",
            of(&outcome, "read.count") / (50_000.0 * f64::from(jobs)),
            (0.999, 1.001),
        );
        let processor = of(&outcome, "read.waits_s.processor") / of(&outcome, "read.count");
        // Each waits for the others that its thread has: 32 x 20 us, less the time in the device.
        within("time for the processor, us", processor * 1e6, (530.0, 540.0));
        parts_are_the_whole(&outcome);
    }
}

/// The same on cores of the host: two threads on one core are as fast as one, and its time is
/// accounted for.
#[test]
fn jobs_share_the_cores_of_their_host() {
    for (cores, expected) in [(1, 50_000.0), (2, 100_000.0)] {
        let mut drawn = storage("w", &["h0"], 32);
        (drawn.jobs, drawn.read_cost_ps) = (2, 20 * US);
        let mut plan = plan(1, 32, drawn);
        plan.hosts[0].cpu.processor = Some(Box::new(RawProcessor {
            system_call_ps: 0,
            wake_up_ps: 0,
            context_switch_ps: 0,
            ..processor(cores)
        }));
        let outcome = simulate(plan);
        within(
            &format!("requests per second on {cores}"),
            of(&outcome, "read.count") / expected,
            (0.98, 1.001),
        );
        parts_are_the_whole(&outcome);
    }
}

/// M/M/8 at 80 % of the servers' rate: requests that arrive by themselves wait in the device, as
/// Erlang's C says.
#[test]
fn requests_that_arrive_by_themselves_wait_as_erlang_says() {
    let mut drawn = storage("w", &["h0"], 1_000);
    drawn.arrivals = Some(RawDistribution::Exponential { mean: 100 * US / 8 * 10 / 8 });
    drawn.block = RawDistribution::Constant(512); // half a microsecond on the link
    let mut plan = plan(1, 8, drawn);
    plan.devices[0].read_latency = RawDistribution::Exponential { mean: 100 * US };
    (plan.devices[0].queue_depth, plan.stop_at_ps) = (1_000, 20 * S);
    let outcome = simulate(plan);
    let a: f64 = 6.4;
    let terms = (0..8).scan(1.0, |term, k| {
        let now = *term;
        *term *= a / f64::from(k + 1);
        Some(now)
    });
    let (below, last) =
        (terms.sum::<f64>(), (1..=8).fold(1.0, |term, k| term * a / f64::from(k)) / 0.2);
    let expected = last / (below + last) * 100e-6 / 8.0 / 0.2;
    let waited = of(&outcome, "read.waits_s.queue") / of(&outcome, "read.count");
    within("mean wait for a server", waited / expected, (0.96, 1.04));
}

/// Requests that arrive faster than they are served count from their arrival, so that the wait
/// grows until the end.
#[test]
fn latency_counts_from_the_intended_start() {
    let mut drawn = storage("w", &["h0"], 8);
    drawn.arrivals = Some(RawDistribution::Constant(10 * US));
    let outcome = simulate(plan(1, 8, drawn));
    within("requests per second", of(&outcome, "read.count") / 80_000.0, (0.95, 1.01));
    within(
        "last latency, of the excess in a second",
        of(&outcome, "read.latency.max_ps") / 1e12,
        (0.19, 0.24),
    );
    within(
        "part of it for their turn",
        of(&outcome, "read.waits_s.turn") * 1e12
            / of(&outcome, "read.count")
            / of(&outcome, "read.latency.mean_ps"),
        (0.99, 1.0),
    );
    parts_are_the_whole(&outcome);
}

/// Results of two workloads on one device, compared with one alone: requests of all enter one
/// queue.
#[test]
fn workloads_share_a_device_in_proportion_to_their_depths() {
    let mut shared = plan(1, 4, storage("a", &["h0"], 8));
    shared.workloads.push(storage("b", &["h0"], 24).into());
    let outcome = simulate(shared.clone());
    let counts = |outcome: &Outcome| -> Vec<f64> {
        let workloads = outcome.summary()["workloads"].as_array().expect("there are some").clone();
        workloads.iter().map(|one| number(one, "storage_requests.read.count")).collect()
    };
    let alone = of(&simulate(plan(1, 4, storage("w", &["h0"], 32))), "read.count");
    let [a, b] = counts(&outcome)[..] else { panic!("there are two") };
    within("reads of both, of those of one alone", (a + b) / alone, (0.999, 1.001));
    within("reads of a depth of 24, of those of 8", b / a, (2.98, 3.02));
    let busy = |number: usize| number_of(&outcome, number, "devices.busy_s");
    within("busy time of the device, in two parts", busy(0) + busy(1), (0.999, 1.000_001));
    // A device of its own for each is another thing, and a host of its own too.
    let mut apart = shared.clone();
    apart.devices.push(RawDevice { name: "other".into(), ..ssd(4) });
    let RawBody::Storage(other) = &mut apart.workloads[1].body else {
        unreachable!("it is of storage")
    };
    other.device = "other".into();
    within(
        "reads of both on two devices",
        counts(&simulate(apart)).iter().sum::<f64>() / alone,
        (1.99, 2.01),
    );
    assert_eq!(simulate(shared.clone()).summary()["digest"], simulate(shared).summary()["digest"]);
}

/// The same behind two protocols at the same target, with writes, flushes and a cache: both are
/// served, and no faster than the link.
#[test]
fn workloads_share_the_device_of_a_target_whatever_their_protocols() {
    let nbd = || {
        RawStorageProtocol::Nbd(RawNbd { connections: 1, requests: 64, structured_replies: true })
    };
    let mut first = storage("a", &["h0", "h1"], 4);
    (first.body.target, first.body.protocol, first.body.read_ppb) =
        (Some("h2".into()), nbd(), 400_000_000);
    (first.body.block, first.body.flush_every, first.body.requests) =
        (RawDistribution::Constant(65_536), 16, 500);
    let mut second = storage("b", &["h1"], 16);
    (second.body.target, second.body.protocol, second.body.requests) =
        (Some("h2".into()), nbd(), 2_000);
    (second.body.block, second.body.offset_bytes) = (RawDistribution::Constant(65_536), 1 << 30);
    let mut plan = plan(3, 4, first);
    plan.devices[0].cache = Some(RawDeviceCache { bytes: 1 << 20, latency_ps: 10 * US });
    (plan.devices[0].read_bps, plan.devices[0].write_bps) = (2 * GBPS, 2 * GBPS);
    plan.workloads.push(second.into());
    let outcome = simulate(plan);
    let (whole, last) = (0..2).fold((0.0, 0.0_f64), |(bytes, last), number| {
        let own = &outcome.summary()["workloads"][number];
        assert_eq!(count(own, "transactions"), [1_000, 2_000][number], "every request is answered");
        assert_eq!(count(own, "goodput_bytes"), 65_536 * count(own, "transactions"));
        (
            bytes
                + number_of(&outcome, number, "read.bytes")
                + number_of(&outcome, number, "write.bytes"),
            last.max(own["completion_ps"].as_f64().expect("it has ended")),
        )
    });
    within("data over the link of the device", whole / (last * 1e-12) / 250e6, (0.8, 1.0));
}

fn number_of(outcome: &Outcome, workload: usize, key: &str) -> f64 {
    number(&outcome.summary()["workloads"][workload], &format!("storage_requests.{key}"))
}

#[test]
fn jobs_that_have_an_end_finish_and_the_same_seed_gives_the_same() {
    let run = || {
        let mut drawn = storage("w", &["h0", "h1"], 4);
        (drawn.jobs, drawn.requests, drawn.read_ppb, drawn.flush_every) = (3, 100, 600_000_000, 10);
        drawn.access = RawAccess::Zipf(1_100);
        let mut plan = plan(2, 4, drawn);
        plan.devices[0].cache = Some(RawDeviceCache { bytes: 65_536, latency_ps: 10 * US });
        plan.devices[0].read_latency = RawDistribution::Exponential { mean: 90 * US };
        simulate(plan)
    };
    let (first, again) = (run(), run());
    assert_eq!(first.summary()["digest"], again.summary()["digest"]);
    assert_eq!(own(&first)["user_completion_ps"].as_array().map(Vec::len), Some(6));
    assert_eq!(count(own(&first), "transactions"), 600);
    within("requests", of(&first, "read.count") + of(&first, "write.count"), (600.0, 600.0));
    within(
        "writes for each flush",
        of(&first, "write.count") / of(&first, "flush.count"),
        (10.0, 12.5),
    );
    assert!(own(&first)["completion_ps"].is_u64(), "the jobs are done");
    parts_are_the_whole(&first);
}

#[test]
fn the_warm_up_is_left_out() {
    let mut plan = plan(1, 8, storage("w", &["h0"], 8));
    plan.observe.warm_up_ps = S / 2;
    let outcome = simulate(plan);
    within("reads of the second half", of(&outcome, "read.count") / 40_000.0, (0.95, 1.01));
    within("busy time", of(&outcome, "devices.busy_s"), (0.499, 0.501));
}

#[test]
fn what_makes_no_sense_in_a_plan_is_refused() {
    let refused = |change: &dyn Fn(&mut RawPlan, &mut RawStorage)| {
        let mut drawn = storage("w", &["h0"], 8);
        let mut whole = plan(2, 8, storage("w", &["h0"], 8));
        change(&mut whole, &mut drawn.body);
        whole.workloads[0] = drawn.into();
        Plan::from_raw(whole).err().map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    type Change = Box<dyn Fn(&mut RawPlan, &mut RawStorage)>;
    let cases: Vec<(Change, &str)> = vec![
        (Box::new(|_, own| own.device = "disk".into()), "the plan has no device disk"),
        (Box::new(|_, own| own.target = Some("h1".into())), "a target is named where"),
        (Box::new(|_, own| own.block = RawDistribution::Constant(1_000)), "multiple of the sector"),
        (Box::new(|_, own| own.depth = 0), "depth must be 1 to 1024"),
        (Box::new(|_, own| own.jobs = 0), "jobs must be 1 to 1024"),
        (Box::new(|_, own| own.read_ppb = 1_000_000_001), "read_ppb must be"),
        (Box::new(|_, own| own.access = RawAccess::Zipf(0)), "zipf must be"),
        (Box::new(|_, own| own.size_bytes = 4_095), "a request must fit"),
        (Box::new(|_, own| own.size_bytes = 0), "at least a sector"),
        (Box::new(|_, own| own.initiators = vec![]), "must have"),
        (
            Box::new(|_, own| own.arrivals = Some(RawDistribution::Constant(0))),
            "arrivals must be above 0",
        ),
        (Box::new(|plan, _| plan.devices[0].servers = 0), "servers must be"),
        (Box::new(|plan, _| plan.devices[0].queue_depth = 0), "queue_depth must be"),
        (Box::new(|plan, _| plan.devices[0].read_bps = 0), "rates must be above 0"),
        (Box::new(|plan, _| plan.devices[0].sector_bytes = 520), "sector_bytes must be"),
        (Box::new(|plan, _| plan.devices[0].limits.segment_bytes = 511), "at least a sector"),
        (Box::new(|plan, _| plan.devices.push(ssd(1))), "two devices have this name"),
        (Box::new(|_, own| own.offset_bytes = 100), "offset_bytes must be"),
        (Box::new(|_, own| own.offset_bytes = (1 << 60) - 512), "must end within the device"),
        (
            Box::new(|plan, _| {
                plan.devices[0].head = Some(RawDeviceHead {
                    turn_ps: 1,
                    seek_track_ps: 2,
                    seek_full_ps: 1,
                    capacity_bytes: 1 << 40,
                });
            }),
            "a disk must have one server",
        ),
    ];
    for (change, expected) in cases {
        let said = refused(&*change);
        assert!(said.contains(expected), "{said}, not {expected}");
    }
    assert_eq!(refused(&|_, _| {}), "accepted");
}
