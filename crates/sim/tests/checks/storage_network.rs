//! Requests of storage that reach a device over the network.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const KIB: u32 = 1_024;
/// From one host over the switch to the other and back.
const ROUND_TRIP_PS: u64 = 20 * MS;

/// A session of iSCSI in which nothing is sent that was not asked for.
fn asked_for() -> RawIscsi {
    RawIscsi {
        initial_r2t: true,
        immediate_data: false,
        first_burst_bytes: 64 * KIB,
        max_burst_bytes: 256 * KIB,
        initiator_max_recv_bytes: 256 * KIB,
        target_max_recv_bytes: 8 * KIB,
        max_outstanding_r2t: 1,
        header_digest: false,
        data_digest: false,
        status_with_data: true,
        cuts_sequences: true,
        commands: 64,
        counts_unanswered: true,
        requests: 64,
        set_up_bytes: vec![[452, 348]],
    }
}

fn iscsi(change: impl FnOnce(&mut RawIscsi)) -> RawStorageProtocol {
    let mut raw = asked_for();
    change(&mut raw);
    RawStorageProtocol::Iscsi(Box::new(raw))
}

fn nvme_tcp(queues: u32, in_capsule_bytes: u32) -> RawStorageProtocol {
    RawStorageProtocol::NvmeTcp(RawNvmeTcp {
        queues,
        queue_size: 128,
        in_capsule_bytes,
        max_h2c_data_bytes: 4_096 * KIB,
        success_flag: false,
        header_digest: false,
        data_digest: false,
    })
}

fn nbd(connections: u32) -> RawStorageProtocol {
    RawStorageProtocol::Nbd(RawNbd { connections, requests: 16, structured_replies: true })
}

/// The last host has the device, which takes no time; the others ask it.
fn plan(
    hosts: usize,
    delay_ps: u64,
    protocol: RawStorageProtocol,
    depth: u32,
    block: u32,
) -> RawPlan {
    let mut plan =
        star(hosts, 1_500, 10 * GBPS, delay_ps, switch("sw", 16_000_000, fifo(16_000_000)));
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, 10 * S);
    let mut device = ssd(1);
    (device.read_latency, device.write_latency) =
        (RawDistribution::Constant(0), RawDistribution::Constant(0));
    (device.read_bps, device.write_bps) = (800 * GBPS, 800 * GBPS);
    plan.devices = vec![device];
    let names: Vec<String> = (0..hosts).map(|host| format!("h{host}")).collect();
    let initiators: Vec<&str> = names[..hosts - 1].iter().map(String::as_str).collect();
    let mut storage = storage("w", &initiators, depth);
    (storage.body.target, storage.body.protocol) = (Some(names[hosts - 1].clone()), protocol);
    (storage.body.block, storage.body.requests) = (RawDistribution::Constant(block.into()), 20);
    plan.workloads = vec![storage.into()];
    plan
}

fn own(outcome: &Outcome) -> &Value {
    &outcome.summary()["workloads"][0]
}

/// Round trips of one write of 64 KiB, alone, and those in which it waited for the target to ask
/// for data.
fn round_trips(protocol: RawStorageProtocol) -> [f64; 2] {
    let mut plan = plan(2, ROUND_TRIP_PS / 4, protocol, 1, 64 * KIB);
    let RawBody::Storage(storage) = &mut plan.workloads[0].body else {
        unreachable!("it is of storage")
    };
    storage.read_ppb = 0;
    // The set-up is over, and congestion windows are open, when latencies count.
    (plan.observe.warm_up_ps, storage.requests) = (5 * S, 0);
    let outcome = simulate(plan);
    let round_trip_s = ROUND_TRIP_PS as f64 * 1e-12;
    let mean_s = number(own(&outcome), "storage_requests.write.latency.mean_ps") * 1e-12;
    let count = number(own(&outcome), "storage_requests.write.count");
    let asked_s = number(own(&outcome), "storage_requests.write.waits_s.r2t") / count;
    [mean_s / round_trip_s, asked_s / round_trip_s]
}

/// A write of n bursts waits for n R2Ts, and one more round trip for its status; with
/// `MaxOutstandingR2T` of m the bursts come m at a time. What may be sent without being asked for
/// saves one.
#[test]
fn a_write_takes_a_round_trip_for_each_r2t_and_one_for_the_status() {
    let near = |what: &str, [all, asked]: [f64; 2], expected: [f64; 2]| {
        // Data of 64 KiB on two links, coalescing and clocks: a small part of a round trip.
        within(&format!("{what}: round trips"), all, (expected[0], expected[0] + 0.1));
        within(&format!("{what}: for R2T"), asked, (expected[1] - 0.05, expected[1] + 0.1));
    };
    near("one burst", round_trips(iscsi(|_| ())), [2.0, 1.0]);
    near(
        "four bursts",
        round_trips(iscsi(|raw| {
            (raw.first_burst_bytes, raw.max_burst_bytes) = (16 * KIB, 16 * KIB)
        })),
        [5.0, 4.0],
    );
    let two = |raw: &mut RawIscsi| {
        (raw.first_burst_bytes, raw.max_burst_bytes, raw.max_outstanding_r2t) =
            (16 * KIB, 16 * KIB, 2)
    };
    near("four bursts, two at a time", round_trips(iscsi(two)), [3.0, 2.0]);
    near("unsolicited", round_trips(iscsi(|raw| raw.initial_r2t = false)), [1.0, 0.0]);
    near("in its capsule", round_trips(nvme_tcp(1, 64 * KIB)), [1.0, 0.0]);
    near("not in its capsule", round_trips(nvme_tcp(1, 16 * KIB)), [2.0, 1.0]);
    near("nbd", round_trips(nbd(1)), [1.0, 0.0]);
}

/// Every protocol, several initiators and connections, reads and writes, lines that lose frames,
/// beside bulk: each request is answered, its parts are its whole, and the same seed gives the
/// same.
#[test]
fn every_request_is_answered_over_lines_that_lose_frames() {
    let protocols = [
        iscsi(|raw| raw.immediate_data = true),
        iscsi(|raw| raw.initial_r2t = false),
        nvme_tcp(3, 16 * KIB),
        nbd(2),
    ];
    for protocol in protocols {
        let mut plan = plan(4, 10 * US, protocol.clone(), 4, 100 * KIB);
        plan.links.iter_mut().for_each(|link| link.loss_ppb = 1_000_000);
        let RawBody::Storage(storage) = &mut plan.workloads[0].body else {
            unreachable!("it is of storage")
        };
        (storage.jobs, storage.read_ppb, storage.flush_every) = (3, 500_000_000, 5);
        plan.workloads.push(stream("bulk", "h0", "h3", 2, 20_000_000).into());
        let [outcome, again] = [simulate(plan.clone()), simulate(plan)];
        let requests = 3 * 3 * 20;
        assert_eq!(count(own(&outcome), "transactions"), requests, "{protocol:?}");
        assert_eq!(count(own(&outcome), "goodput_bytes"), requests * 100 * 1_024);
        for op in ["read", "write"] {
            let of = |key: &str| number(own(&outcome), &format!("storage_requests.{op}.{key}"));
            let parts = own(&outcome)["storage_requests"][op]["waits_s"]
                .as_object()
                .expect("all parts are reported");
            let sum: f64 = parts.values().filter_map(Value::as_f64).sum();
            within(
                "parts of latencies",
                sum / (of("latency.mean_ps") * 1e-12 * of("count")),
                (0.999_99, 1.000_01),
            );
        }
        assert_eq!(outcome.summary()["digest"], again.summary()["digest"]);
    }
}

#[test]
fn each_queue_has_a_connection() {
    for (protocol, connections) in [(iscsi(|_| ()), 1), (nvme_tcp(3, 0), 3), (nbd(2), 2)] {
        let outcome = simulate(plan(3, US, protocol, 1, 4 * KIB));
        assert_eq!(count(own(&outcome), "request_counts.connections"), 2 * connections);
    }
}

#[test]
fn what_no_session_agrees_on_is_refused() {
    let refused = |protocol: RawStorageProtocol| {
        Plan::from_raw(plan(2, US, protocol, 1, 4 * KIB)).expect_err("no session agrees on it")
    };
    let cases = [
        (iscsi(|raw| raw.first_burst_bytes = 511), "512 to 16 777 215"),
        (iscsi(|raw| raw.max_burst_bytes = 32 * KIB), "the first burst"),
        (iscsi(|raw| raw.max_outstanding_r2t = 0), "max_outstanding_r2t"),
        (iscsi(|raw| raw.commands = 0), "commands"),
        (iscsi(|raw| raw.requests = 0), "requests of a session"),
        (iscsi(|raw| raw.set_up_bytes = vec![[0, 1]]), "a step of the set-up"),
        (nvme_tcp(0, 0), "queues"),
        (nbd(0), "connections"),
    ];
    for (protocol, said) in cases {
        let error = refused(protocol).to_string();
        assert!(error.contains(said), "{error}");
    }
}
