//! Requests and responses against queueing theory, and against themselves.

use crate::common::*;
use proptest::prelude::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const SERVICE: u64 = 10 * MS;

fn exponential(mean: u64) -> RawDistribution {
    RawDistribution::Exponential { mean }
}

/// A star of so many hosts with these requests, without anything that takes time but links and
/// servers.
fn plan(hosts: usize, stop_at_ps: u64, requests: Vec<Drawn<RawRequests>>) -> RawPlan {
    let mut plan = star(hosts, 1500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, stop_at_ps);
    plan.workloads = requests.into_iter().map(RawWorkload::from).collect();
    plan
}

fn run_one(hosts: usize, stop_at_ps: u64, requests: Drawn<RawRequests>) -> Outcome {
    simulate(plan(hosts, stop_at_ps, vec![requests]))
}

fn own(outcome: &Outcome) -> &Value {
    &outcome.summary()["workloads"][0]
}

fn mean_ps(outcome: &Outcome) -> f64 {
    number(own(outcome), "latency.mean_ps")
}

fn counted(outcome: &Outcome, key: &str) -> u64 {
    count(own(outcome), &format!("request_counts.{key}"))
}

/// A round trip on the empty path, with request and response.
fn empty_round_trip(is_kept: bool, hosts: usize) -> f64 {
    let mut requests = requests("w", "h1", "h0", 1);
    (requests.is_kept, requests.requests) = (is_kept, 100);
    number(own(&run_one(hosts, 10 * S, requests)), "latency.min_ps")
}

/// Probability that an arrival waits in M/M/c (Erlang C), for an offered load in servers.
fn erlang_c(servers: u32, load: f64) -> f64 {
    let blocked = (1..=servers)
        .fold(1.0, |blocked, server| load * blocked / (f64::from(server) + load * blocked));
    blocked / (1.0 - load / f64::from(servers) * (1.0 - blocked))
}

#[test]
fn the_mean_wait_for_a_worker_is_that_of_m_m_c() {
    for (workers, rho) in [(1, 0.7), (4, 0.8), (16, 0.9)] {
        let load = f64::from(workers) * rho;
        let mut requests = requests("w", "h1", "h0", 0);
        requests.service = serving(exponential(SERVICE), workers);
        requests.arrivals = Some(exponential((SERVICE as f64 / load) as u64));
        let outcome = run_one(2, 3_000 * S / u64::from(workers), requests);
        let wait = mean_ps(&outcome) - SERVICE as f64 - empty_round_trip(true, 2);
        let theory = erlang_c(workers, load) * SERVICE as f64 / (f64::from(workers) - load);
        within(
            &format!("mean wait for {workers} workers at load {rho}"),
            wait / theory,
            (0.93, 1.07),
        );
    }
}

#[test]
fn the_mean_wait_for_one_worker_with_a_constant_time_is_that_of_m_d_1() {
    for rho in [0.5, 0.8] {
        let mut requests = requests("w", "h1", "h0", 0);
        requests.service = serving(RawDistribution::Constant(SERVICE), 1);
        requests.arrivals = Some(exponential((SERVICE as f64 / rho) as u64));
        let outcome = run_one(2, 2_000 * S, requests);
        let wait = mean_ps(&outcome) - SERVICE as f64 - empty_round_trip(true, 2);
        let theory = rho / (2.0 * (1.0 - rho)) * SERVICE as f64;
        within(&format!("mean wait at load {rho}"), wait / theory, (0.95, 1.05));
    }
}

/// Work on a core queues as time of a worker does.
#[test]
fn the_mean_wait_for_a_core_is_that_of_m_m_1() {
    let mut requests = requests("w", "h1", "h0", 0);
    (requests.service.work, requests.arrivals) =
        (exponential(SERVICE), Some(exponential(2 * SERVICE)));
    let mut plan = plan(2, 2_000 * S, vec![requests]);
    plan.hosts[0].cpu.program_cores = 1;
    let outcome = simulate(plan);
    let wait = mean_ps(&outcome) - SERVICE as f64 - empty_round_trip(true, 2);
    within("mean wait for a core at load 0.5", wait / SERVICE as f64, (0.95, 1.05));
    let busy = count(host_summary(&outcome, "h0"), "program_busy_ps") as f64;
    within(
        "share of the time for which the core is busy",
        busy / (2_000.0 * S as f64),
        (0.49, 0.51),
    );
}

/// Machine repair, M/M/1//N: users think for a random time and share one worker. And Little's law
/// for their number.
#[test]
fn a_closed_loop_is_the_machine_repair_model() {
    let (users, think) = (8_u32, 5 * SERVICE);
    let mut requests = requests("w", "h1", "h0", users);
    (requests.gap, requests.service) = (exponential(think), serving(exponential(SERVICE), 1));
    let outcome = run_one(2, 2_000 * S, requests);
    let ratio = SERVICE as f64 / think as f64;
    let terms = (0..=users).scan(1.0, |term, waiting| {
        let now = *term;
        *term *= f64::from(users - waiting) * ratio;
        Some(now)
    });
    let rate = (1.0 - 1.0 / terms.sum::<f64>()) * S as f64 / SERVICE as f64;
    let seen = count(own(&outcome), "transactions") as f64 / 2_000.0;
    within("rate of eight users", seen / rate, (0.98, 1.02));
    let inside = seen * (mean_ps(&outcome) + think as f64) / S as f64;
    within("rate times cycle, of the number of users", inside / f64::from(users), (0.98, 1.02));
}

#[test]
fn a_new_connection_costs_one_more_round_trip() {
    let (kept, new) = (empty_round_trip(true, 2), empty_round_trip(false, 2));
    // A SYN and its answer: 74 bytes and 24 around them, each over two links of 10 Gbit/s and 1 us.
    // The request follows an acknowledgement of 90 bytes.
    let handshake = 2.0 * 2.0 * (98.0 * 800.0 + US as f64) + 90.0 * 800.0;
    within(
        "additional latency of a new connection, of a handshake",
        (new - kept) / handshake,
        (0.97, 1.03),
    );
    let mut requests = requests("w", "h1", "h0", 3);
    (requests.is_kept, requests.requests) = (false, 50);
    let outcome = run_one(2, 10 * S, requests);
    assert_eq!((counted(&outcome, "connections"), counted(&outcome, "answered")), (150, 150));
}

#[test]
fn a_fan_out_waits_for_the_slowest_and_a_quorum_for_its_last() {
    let fan = |awaited: u32| {
        let mut requests = requests("w", "h1", "h0", 1);
        let mut asked = stage(&["h2", "h3", "h4", "h5"], exponential(SERVICE));
        asked.awaited = awaited;
        requests.stages = vec![asked];
        mean_ps(&run_one(6, 200 * S, requests)) / SERVICE as f64
    };
    let harmonic = |from: u32| (from..=4).map(|n| 1.0 / f64::from(n)).sum::<f64>();
    within("slowest of four, of the mean time of one", fan(0) / harmonic(1), (0.96, 1.04));
    within("second of four", fan(2) / harmonic(3), (0.96, 1.04));
    within("first of four", fan(1) / harmonic(4), (0.95, 1.05));
}

#[test]
fn calls_one_after_the_other_add_up() {
    let mut requests = requests("w", "h1", "h0", 2);
    let mut first = stage(&["h2"], RawDistribution::Constant(SERVICE));
    (first.count, first.is_parallel) = (3, false);
    let second = stage(&["h2", "h3"], RawDistribution::Constant(2 * SERVICE));
    (requests.stages, requests.requests) = (vec![first, second], 100);
    let outcome = run_one(4, 100 * S, requests);
    within("three calls and one twice as long", mean_ps(&outcome) / SERVICE as f64, (5.0, 5.02));
    assert_eq!((counted(&outcome, "answered"), counted(&outcome, "failed_calls")), (200, 0));
}

/// Tiers below each other, each with one core: Burke's theorem makes each an M/M/1 of its own.
#[test]
fn cores_of_three_tiers_are_three_queues_in_a_row() {
    let work = |time| RawServing { time: RawDistribution::Constant(0), work: time, concurrency: 0 };
    let mut requests = requests("w", "h1", "h0", 0);
    let [mut middle, mut last] =
        ["h2", "h3"].map(|host| stage(&[host], RawDistribution::Constant(0)));
    (last.service, middle.service, requests.service) =
        (work(exponential(SERVICE)), work(exponential(SERVICE)), work(exponential(SERVICE)));
    middle.stages = vec![last];
    (requests.stages, requests.arrivals) = (vec![middle], Some(exponential(2 * SERVICE)));
    let mut plan = plan(4, 2_000 * S, vec![requests]);
    plan.hosts.iter_mut().for_each(|host| host.cpu.program_cores = 1);
    let outcome = simulate(plan);
    within(
        "time in three queues at load 0.5, of six services",
        mean_ps(&outcome) / (6 * SERVICE) as f64,
        (0.96, 1.04),
    );
    assert_eq!(counted(&outcome, "failed_calls"), 0);
    for host in ["h0", "h2", "h3"] {
        let busy = count(host_summary(&outcome, host), "program_busy_ps") as f64;
        within(
            &format!("share of the time for which {host} works"),
            busy / (2_000.0 * S as f64),
            (0.48, 0.52),
        );
    }
}

#[test]
fn a_fan_out_at_two_tiers_waits_for_the_slowest_of_all() {
    let mut requests = requests("w", "h1", "h0", 1);
    let mut first = stage(&["h2", "h3"], RawDistribution::Constant(0));
    first.stages = vec![stage(&["h4", "h5"], exponential(SERVICE))];
    requests.stages = vec![first];
    let outcome = run_one(6, 200 * S, requests);
    let slowest_of_four = 25.0 / 12.0;
    within(
        "slowest of two times two",
        mean_ps(&outcome) / SERVICE as f64 / slowest_of_four,
        (0.96, 1.04),
    );
    for host in ["h4", "h5"] {
        let asked = count(host_summary(&outcome, host), "rx_frames") as f64
            / counted(&outcome, "answered") as f64;
        within(&format!("frames to {host} of a request"), asked, (2.0, 4.1));
    }
}

/// A server that takes an exponential time anew for each attempt: a request fails where no attempt
/// is in time.
#[test]
fn requests_over_tcp_are_given_up_as_often_as_the_server_is_too_slow() {
    for (is_kept, retries) in [(true, 0), (false, 0), (true, 2)] {
        let mut requests = requests("w", "h1", "h0", 20);
        (requests.is_kept, requests.requests, requests.retries) = (is_kept, 1_000, retries);
        (requests.timeout_ps, requests.service) = (SERVICE, serving(exponential(SERVICE), 0));
        let outcome = run_one(2, 1_000 * S, requests);
        let late = (-1.0_f64).exp();
        let begun = counted(&outcome, "begun") as f64;
        let failed = counted(&outcome, "failed") as f64 / begun;
        within("failed requests, of theory", failed / late.powi(retries as i32 + 1), (0.94, 1.06));
        let given_up = (1..=retries as i32 + 1).map(|tries| late.powi(tries)).sum::<f64>();
        within(
            "attempts given up, of theory",
            counted(&outcome, "timed_out") as f64 / begun / given_up,
            (0.97, 1.03),
        );
        assert_eq!(
            counted(&outcome, "begun"),
            counted(&outcome, "answered") + counted(&outcome, "failed")
        );
        let longest =
            number(own(&outcome), "latency.max_ps") / (SERVICE * (u64::from(retries) + 1)) as f64;
        within("longest latency, of all timeouts", longest, (0.95, 1.01));
        assert!(
            own(&outcome)["completion_ps"].is_u64(),
            "requests that were given up are over too"
        );
    }
}

#[test]
fn a_spike_multiplies_arrivals_while_it_lasts() {
    let mut requests = requests("w", "h1", "h0", 0);
    requests.spikes = vec![RawSpike { factor_milli: 5_000, at_ps: 20 * S, for_ps: 10 * S }];
    let mut plan = plan(2, 50 * S, vec![requests]);
    plan.observe.transactions_max = 200_000;
    let outcome = simulate(plan);
    let starts = columns(&outcome, "transactions", "start_ps");
    let between = |from: u64, until: u64| {
        starts.iter().filter(|&&at| (from * S..until * S).contains(&at)).count() as f64
    };
    within("arrivals a second before", between(0, 20) / 20.0, (970.0, 1_030.0));
    within("arrivals a second in the spike", between(20, 30) / 10.0, (4_900.0, 5_100.0));
    within("arrivals a second after", between(30, 50) / 20.0, (970.0, 1_030.0));
}

/// The time of a spike counts from the start of the trial; what comes in the warm-up is not
/// counted.
#[test]
fn the_part_of_a_spike_in_the_warm_up_is_not_counted() {
    let mut requests = requests("w", "h2", "h0", 0);
    requests.clients.push("h1".into());
    requests.spikes = vec![RawSpike { factor_milli: 5_000, at_ps: 10 * S, for_ps: 20 * S }];
    let mut plan = plan(3, 50 * S, vec![requests]);
    plan.observe.warm_up_ps = 20 * S;
    let outcome = simulate(plan);
    let theory = 10.0 * 5_000.0 + 20.0 * 1_000.0;
    within(
        "requests of two clients after the warm-up",
        counted(&outcome, "begun") as f64 / theory,
        (0.98, 1.02),
    );
}

/// An overloaded server: latency counts from the arrival, and requests that wait at the end are
/// reported.
#[test]
fn latency_counts_from_the_arrival_whatever_the_server_does() {
    let mut requests = requests("w", "h1", "h0", 0);
    (requests.arrivals, requests.service) = (
        Some(RawDistribution::Constant(SERVICE)),
        serving(RawDistribution::Constant(2 * SERVICE), 1),
    );
    requests.connections = 4;
    let outcome = run_one(2, 10 * S, requests);
    // Of 1000 requests 500 are answered; the last of them arrived 5 s before.
    within("longest latency, s", number(own(&outcome), "latency.max_ps") / S as f64, (4.9, 5.1));
    assert_eq!(
        counted(&outcome, "begun"),
        counted(&outcome, "answered") + count(own(&outcome), "cut_off.count")
    );
    within("requests that wait at the end", number(own(&outcome), "cut_off.count"), (490.0, 510.0));
}

#[test]
fn a_pipeline_multiplies_the_rate_of_one_connection() {
    let rate = |depth: u32| {
        let mut requests = requests("w", "h1", "h0", 1);
        requests.pipeline = depth;
        let outcome = run_one(2, S, requests);
        assert_eq!(counted(&outcome, "connections"), 1);
        count(own(&outcome), "transactions") as f64
    };
    within("rate of four requests on their way, of one", rate(4) / rate(1), (3.2, 4.05));
}

#[test]
fn clients_share_arrivals_and_servers_share_requests() {
    for (is_random, is_udp) in [(false, false), (true, false), (false, true), (true, true)] {
        for users in [0, 7] {
            let mut requests = requests("w", "h0", "h2", users);
            (requests.clients, requests.servers) =
                (vec!["h0".into(), "h1".into()], vec!["h2".into(), "h3".into()]);
            (requests.is_random, requests.is_udp, requests.requests) = (is_random, is_udp, 101);
            (requests.timeout_ps, requests.connections) =
                (if is_udp { S } else { 0 }, u32::from(is_udp));
            let whole = 101 * u64::from(users.max(1));
            let outcome = run_one(4, 100 * S, requests);
            assert_eq!(
                (counted(&outcome, "begun"), counted(&outcome, "answered")),
                (whole, whole),
                "{is_random} {is_udp} {users}"
            );
            assert!(own(&outcome)["completion_ps"].is_u64(), "it has an end");
            for host in ["h0", "h1", "h2", "h3"] {
                let frames = count(host_summary(&outcome, host), "rx_frames");
                assert!(
                    frames > whole / 4,
                    "{host} has {frames} frames of {whole} requests: {is_random} {is_udp} {users}"
                );
            }
        }
    }
}

#[test]
fn queries_are_datagrams_and_the_server_answers_each() {
    let mut requests = requests("w", "h1", "h0", 5);
    (requests.is_udp, requests.timeout_ps, requests.requests) = (true, S, 40);
    let outcome = run_one(2, 100 * S, requests);
    assert_eq!((counted(&outcome, "answered"), counted(&outcome, "lost_queries")), (200, 0));
    assert_eq!(count(host_summary(&outcome, "h0"), "rx_frames"), 200, "one frame for each query");
    assert_eq!(count(own(&outcome), "goodput_bytes"), 200 * 800);
    // A kept connection waits for the same two frames, but for twelve bytes more of TCP's header
    // and twelve of its option.
    within(
        "round trip of a query, of one over TCP",
        mean_ps(&outcome) / empty_round_trip(true, 2),
        (0.95, 1.0),
    );
}

/// Where the server is slower than the timeout, every query is sent again, and fails after the
/// last.
#[test]
fn a_query_that_is_not_answered_in_time_is_sent_again_and_fails_in_the_end() {
    let mut requests = requests("w", "h1", "h0", 2);
    (requests.is_udp, requests.timeout_ps, requests.retries, requests.requests) =
        (true, SERVICE, 2, 10);
    requests.service = serving(RawDistribution::Constant(4 * SERVICE), 0);
    let outcome = run_one(2, 100 * S, requests);
    assert_eq!((counted(&outcome, "answered"), counted(&outcome, "failed")), (0, 20));
    assert_eq!(counted(&outcome, "lost_queries"), 60);
    assert!(own(&outcome)["completion_ps"].is_u64(), "failed requests are over too");
}

fn columns(outcome: &Outcome, table: &str, column: &str) -> Vec<u64> {
    let table = outcome
        .tables()
        .iter()
        .find(|found| found.name == table)
        .expect("the outcome has this table");
    match &table
        .columns
        .iter()
        .find(|found| found.0 == column)
        .expect("the table has this column")
        .1
    {
        tailrace_sim::Column::U64(values) => values.clone(),
        tailrace_sim::Column::U32(_) | tailrace_sim::Column::F64(_) => {
            panic!("times are whole numbers of picoseconds")
        }
    }
}

prop_compose! {
    fn any_requests()(
        (users, depth, requests_left, limit) in (0_u32..6, 1_u32..4, 0_u64..40, 0_u32..4),
        (is_random, is_udp, is_kept, is_impatient, is_deep) in any::<(bool, bool, bool, bool, bool)>(),
        (clients, servers, stages) in (1_usize..3, 1_usize..3, 0_usize..3),
        (request, response) in (1_u64..5_000, 1_u64..40_000),
        (time, concurrency, retries) in (0_u64..2 * MS, 0_u32..4, 0_u32..3),
        (awaited, is_parallel) in (0_u32..3, any::<bool>()),
    ) -> Drawn<RawRequests> {
        let mut drawn = requests("w", "h0", "h2", if users >= clients as u32 { users } else { 0 });
        drawn.clients = (0..clients).map(|host| format!("h{host}")).collect();
        drawn.servers = (2..2 + servers).map(|host| format!("h{host}")).collect();
        (drawn.is_random, drawn.is_udp, drawn.is_kept, drawn.requests) = (is_random, is_udp, is_kept, requests_left);
        drawn.pipeline = if is_udp || !is_kept { 1 } else { depth };
        drawn.connections = if is_udp { limit.max(1) } else { limit };
        (drawn.timeout_ps, drawn.retries) = if is_udp || is_impatient { (5 * MS, retries) } else { (0, 0) };
        let most = if is_udp { 1_400 } else { u64::MAX };
        drawn.request = RawDistribution::Uniform { low: 1, high: request.min(most) };
        drawn.response = RawDistribution::Uniform { low: 1, high: response.min(most) };
        drawn.service = serving(exponential(time), concurrency);
        drawn.service.work = exponential(time / 4);
        drawn.stages = (0..stages).map(|at| {
            let mut asked = stage(&["h4", "h5"][at..], exponential(time));
            (asked.awaited, asked.is_parallel) = (awaited.min(asked.servers.len() as u32), is_parallel);
            asked.stages.extend(is_deep.then(|| stage(&["h0", "h1"], exponential(time))));
            asked
        }).collect();
        drawn
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Requests begun are answered, failed or running, frames are conserved, and the same seed
    /// gives the same trial, where switches drop and cores are few.
    #[test]
    fn every_request_is_answered_or_failed_or_running(
        drawn in any_requests(),
        seed in 0_u64..1_000,
        small in any::<bool>(),
    ) {
        let mut raw =
            plan(6, 60 * MS, vec![drawn.clone(), Drawn { header: header("x"), body: drawn.body }]);
        raw.seed = seed;
        raw.hosts.iter_mut().for_each(|host| host.cpu.program_cores = 2);
        if small {
            raw.switches[0] = switch("sw", 12_000, fifo(12_000));
        }
        let outcome = simulate(raw.clone());
        for work in outcome.summary()["workloads"].as_array().expect("workloads") {
            let of = |key: &str| count(work, &format!("request_counts.{key}"));
            prop_assert_eq!(
                of("begun"),
                of("answered") + of("failed") + count(work, "cut_off.count")
            );
            prop_assert_eq!(of("answered"), count(work, "transactions"));
        }
        let frames = &outcome.summary()["conservation"];
        let gone =
            count(frames, "delivered") + count(frames, "dropped") + count(frames, "in_network");
        prop_assert_eq!(count(frames, "sent"), gone);
        let again = simulate(raw);
        prop_assert_eq!(&outcome.summary()["digest"], &again.summary()["digest"]);
    }
}
