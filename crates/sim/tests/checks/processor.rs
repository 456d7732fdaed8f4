//! Hosts with a processor in whole runs.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

pub fn processor(cores: u32) -> RawProcessor {
    RawProcessor {
        cores,
        slice_ps: 3 * MS,
        per_frame_ps: 630_000,
        per_poll_ps: 200_000,
        per_interrupt_ps: US,
        per_send_ps: 1_000_000,
        system_call_ps: 200_000,
        read_byte_fs: 95_000,
        write_byte_fs: 75_000,
        wake_up_ps: 300_000,
        idle_exit_ps: 0,
        context_switch_ps: 400_000,
        irq_cores: vec![0],
        program_cores: (0..cores).collect(),
        budget_frames: 300,
        budget_ps: 8 * MS,
        steal: None,
        groups: Vec::new(),
    }
}

/// One whose kernel costs nothing.
fn free(cores: u32) -> RawProcessor {
    let mut free = processor(cores);
    (free.per_frame_ps, free.per_poll_ps, free.per_interrupt_ps, free.per_send_ps) = (0, 0, 0, 0);
    (free.system_call_ps, free.read_byte_fs, free.write_byte_fs) = (0, 0, 0);
    (free.wake_up_ps, free.context_switch_ps) = (0, 0);
    free
}

fn of_host(outcome: &Outcome, host: usize) -> &Value {
    &outcome.summary()["hosts"][host]["processor"]
}

/// Times of all cores together, by kind.
fn time_ps(outcome: &Outcome, host: usize, kind: &str) -> f64 {
    let cores = of_host(outcome, host)["cores"].as_array().expect("the host has a processor");
    cores.iter().map(|core| number(core, kind)).sum()
}

fn streaming(cores: u32, rate: u64, duration: u64) -> Outcome {
    let mut plan = star(2, 9000, rate, US, switch("sw", 64_000_000, fifo(32_000_000)));
    plan.stop_at_ps = duration;
    for host in &mut plan.hosts {
        host.cpu.per_packet_ps = 600_000;
        host.cpu.processor = Some(Box::new(processor(cores)));
    }
    plan.workloads.push(RawWorkload::from(stream("bulk", "h0", "h1", 1, 0)));
    simulate(plan)
}

/// Cai et al. (SIGCOMM 2021): a core that receives is busy at about 42 Gbit/s, and half of that is
/// the copy.
#[test]
fn one_core_receives_what_was_measured_and_half_of_its_time_is_the_copy() {
    let outcome = streaming(1, 100 * GBPS, 100 * MS);
    let goodput = goodput_bps(&outcome, 0, 20 * MS, 100 * MS) / 1e9;
    within("goodput of a stream into one core, Gbit/s", goodput, (38.0, 46.0));
    let busy = 100e9 - time_ps(&outcome, 1, "idle_ps");
    within("share of the core that works", busy / 100e9, (0.95, 1.0));
    within("share of the copy and its calls", time_ps(&outcome, 1, "system_ps") / busy, (0.4, 0.6));
}

#[test]
fn all_time_of_every_core_is_accounted_for_and_the_same_seed_gives_the_same() {
    let [first, second] = [0, 1].map(|_| streaming(4, 25 * GBPS, 20 * MS));
    assert_eq!(first.summary()["digest"], second.summary()["digest"]);
    assert_eq!(of_host(&first, 1), of_host(&second, 1));
    for host in 0..2 {
        for core in of_host(&first, host)["cores"].as_array().expect("it has cores") {
            let total: f64 = ["user_ps", "system_ps", "softirq_ps", "steal_ps", "idle_ps"]
                .map(|kind| number(core, kind))
                .iter()
                .sum();
            assert_eq!(total as u64, 20 * MS);
        }
    }
}

/// Eight users who read and work on responses, with a batch of work beside them.
fn shared(change: impl FnOnce(&mut RawProcessor)) -> Outcome {
    let mut plan = star(3, 9000, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(5_000_000)));
    plan.stop_at_ps = 2 * S;
    let mut own = processor(2);
    change(&mut own);
    plan.hosts[0].cpu.processor = Some(Box::new(own));
    for (name, server, bytes) in [("bulk", "h1", 10_000_000), ("small", "h2", 2_000)] {
        let mut users = oltp(name, "h0", server, 2, 0, bytes);
        users.gap = RawDistribution::Constant(if name == "bulk" { 0 } else { 5 * MS });
        users.round_trips[0].consume_fs_per_byte = 20_000_000;
        users.round_trips[0].consume_chunk_bytes = 16_384;
        plan.workloads.push(RawWorkload::from(users));
    }
    simulate(plan)
}

fn group(name: &str, cores: Vec<u32>) -> RawControlGroup {
    RawControlGroup {
        name: name.into(),
        workloads: vec![name.into()],
        cores,
        nice: 0,
        quota_ps: None,
        period_ps: None,
    }
}

#[test]
fn a_neighbour_on_cores_of_its_own_does_not_delay_and_a_quota_holds_it_back() {
    let latency_ms = |outcome: &Outcome| number(workload(outcome, "small"), "latency.p99_ps") / 1e9;
    let together = shared(|own| own.program_cores = vec![0]);
    let apart = shared(|own| own.groups = vec![group("bulk", vec![1]), group("small", vec![0])]);
    assert!(
        latency_ms(&together) > 4.0 * latency_ms(&apart),
        "{} and {}",
        latency_ms(&together),
        latency_ms(&apart)
    );
    let held = shared(|own| {
        let quota = RawControlGroup {
            quota_ps: Some(30 * MS),
            period_ps: Some(100 * MS),
            ..group("bulk", vec![0, 1])
        };
        own.groups = vec![quota];
    });
    let bulk = of_host(&held, 0)["workloads"]
        .as_array()
        .expect("workloads are counted")
        .iter()
        .find(|own| own["name"] == "bulk");
    let used =
        number(bulk.expect("it ran"), "user_ps") + number(bulk.expect("it ran"), "system_ps");
    within("time of a group with 30 ms of each 100 in 2 s, ms", used / 1e9, (590.0, 606.0));
    let throttled = &of_host(&held, 0)["groups"][0];
    assert!(
        count(throttled, "throttled") >= 19 && count(throttled, "throttled_ps") > S,
        "{throttled}"
    );
}

#[test]
fn without_costs_and_with_a_core_for_everything_a_host_is_as_fast_as_one_without_a_processor() {
    let run = |has_processor: bool| {
        let mut plan = star(2, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(5_000_000)));
        plan.stop_at_ps = 100 * MS;
        for host in plan.hosts.iter_mut().filter(|_| has_processor) {
            host.cpu.processor = Some(Box::new(free(16)));
        }
        plan.workloads.push(RawWorkload::from(stream("bulk", "h0", "h1", 4, 0)));
        let mut users = oltp("shop", "h1", "h0", 4, 0, 10_000);
        users.gap = RawDistribution::Constant(MS);
        plan.workloads.push(RawWorkload::from(users));
        simulate(plan)
    };
    let (with, without) = (run(true), run(false));
    let goodput = |outcome: &Outcome| goodput_bps(outcome, 0, 50 * MS, 100 * MS);
    within(
        "goodput, of that without a processor",
        goodput(&with) / goodput(&without),
        (0.98, 1.02),
    );
    let done = |outcome: &Outcome| number(workload(outcome, "shop"), "transactions");
    within("transactions, of those without", done(&with) / done(&without), (0.95, 1.05));
}

/// Programs with sockets for datagrams receive them through their threads, and what they receive is
/// goodput as without a processor.
#[test]
fn queries_are_answered_and_counted_by_hosts_with_processors() {
    let mut plan = star(2, 1500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.stop_at_ps = 10 * S;
    plan.hosts.iter_mut().for_each(|host| host.cpu.processor = Some(Box::new(processor(2))));
    let mut queries = requests("dns", "h1", "h0", 5);
    (queries.is_udp, queries.timeout_ps, queries.requests) = (true, S, 40);
    plan.workloads.push(RawWorkload::from(queries));
    let outcome = simulate(plan);
    let own = &outcome.summary()["workloads"][0];
    assert_eq!(
        (count(own, "request_counts.answered"), count(own, "request_counts.lost_queries")),
        (200, 0)
    );
    assert_eq!(count(own, "goodput_bytes"), 200 * 800);
    // A query takes the server's receiving thread from its sleep once, and the client's.
    assert!(
        time_ps(&outcome, 0, "system_ps") > 200.0 * 400_000.0,
        "two system calls for each query"
    );
}

/// Users who ask again at once, on a server with one core that costs nothing but 50 us of work for
/// each request.
fn saturated(concurrency: u32) -> Outcome {
    let mut plan = star(2, 1500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.stop_at_ps = S;
    let free = RawProcessor { slice_ps: 750 * US, ..free(1) };
    plan.hosts[0].cpu.processor = Some(Box::new(free));
    let mut users = requests("web", "h1", "h0", 24);
    users.service.work = RawDistribution::Constant(50 * US);
    users.service.concurrency = concurrency;
    plan.workloads.push(RawWorkload::from(users));
    simulate(plan)
}

/// Each connection has a thread of its own, which waits for requests itself: all have equal shares
/// of the core. (A thread that receives all requests and takes no time is owed time, and whom it
/// wakes would inherit that: a request took 225 ms.)
#[test]
fn threads_of_a_saturated_server_have_equal_shares_and_one_for_all_connections_does_not_switch() {
    for concurrency in [0, 1] {
        let outcome = saturated(concurrency);
        let own = workload(&outcome, "web");
        within("requests in a second", number(own, "transactions"), (19_900.0, 20_001.0));
        within("mean latency, us", number(own, "latency.mean_ps") / 1e6, (1_150.0, 1_250.0));
        within(
            "longest latency, us",
            number(own, "latency.max_ps") / 1e6,
            (1_150.0, 2.5 * 1_250.0),
        );
        let switches = number(of_host(&outcome, 0), "voluntary_switches");
        let (least, most) = if concurrency == 0 { (19_900.0, 20_100.0) } else { (0.0, 200.0) };
        within("voluntary switches", switches, (least, most));
    }
}

#[test]
fn a_thread_that_wakes_on_an_idle_core_costs_more_and_one_behind_others_does_not() {
    let costs_us = |users: u32| {
        let [with, without] = [20 * US, 0].map(|idle_exit_ps| {
            let mut plan = star(2, 1500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
            plan.stop_at_ps = 100 * MS;
            plan.hosts[0].cpu.processor = Some(Box::new(RawProcessor { idle_exit_ps, ..free(1) }));
            let mut users = requests("web", "h1", "h0", users);
            users.service.work = RawDistribution::Constant(50 * US);
            plan.workloads.push(RawWorkload::from(users));
            let outcome = simulate(plan);
            time_ps(&outcome, 0, "softirq_ps")
                / 1e6
                / number(workload(&outcome, "web"), "transactions")
        });
        with - without
    };
    within("for each request of one user, us", costs_us(1), (19.0, 21.0));
    within("for each of eight, us", costs_us(8), (0.0, 1.0));
}
