//! Completions of each kind of workload.

use super::*;

/// Headers of 66 bytes and options of 8 in a SYN, 24 around the frame.
const SYN_PS: u64 = (66 + 8 + 24) * 800;

#[test]
fn a_flow_is_its_handshake_and_its_bytes() {
    let hosts: [Vec<String>; 2] = [vec!["h0".into()], vec!["h1".into()]];
    let sizes = RawDistribution::Constant(1_000);
    let flows = flows_between("flows", hosts, sizes, RawDistribution::Constant(MS), 10);
    let found = check(quiet(2, flows)).transactions;
    assert_eq!(found.len(), 10);
    for one in &found {
        let wires = 2 * (2 * SYN_PS + on_wire(1_000));
        // The data stand behind the acknowledgement of the SYN-ACK.
        assert_eq!(
            parts(one),
            [
                (Part::InterfaceQueue, on_wire(0)),
                (Part::Serialisation, wires),
                (Part::Propagation, 6 * 5 * US)
            ]
        );
    }
}

/// Two tiers: a server works for 10 ms, asks another that works for 20 ms, and answers.
#[test]
fn the_path_of_a_request_leads_through_the_tiers_that_it_waited_for() {
    let work = |ps| RawServing {
        work: RawDistribution::Constant(ps),
        ..serving(RawDistribution::Constant(0), 0)
    };
    let mut requests = requests("w", "h1", "h0", 1);
    (requests.requests, requests.service) = (20, work(10 * MS));
    requests.stages = vec![stage(&["h2", "h3"], RawDistribution::Constant(0))];
    requests.stages[0].service = work(20 * MS);
    let found = check(quiet(4, requests)).transactions;
    assert_eq!(found.len(), 20);
    for one in &found[1..] {
        assert_eq!(ps(one, Part::ServerWork), 30 * MS, "{one:?}");
        assert_eq!(ps(one, Part::Propagation), 8 * 5 * US, "{one:?}");
        assert_eq!(ps(one, Part::Start) + ps(one, Part::ClientWork), 0);
    }
}

/// Twenty requests to a device of another host, so many under way, of which a session carries so
/// many.
fn over_nbd(depth: u32, requests: u32) -> RawPlan {
    let mut plan = quiet(2, storage("w", &["h0"], depth));
    plan.devices = vec![ssd(1)];
    let RawBody::Storage(storage) = &mut plan.workloads[0].body else {
        unreachable!("it is of storage")
    };
    (storage.requests, storage.target) = (20, Some("h1".into()));
    storage.protocol =
        RawStorageProtocol::Nbd(RawNbd { connections: 1, requests, structured_replies: true });
    plan
}

#[test]
fn a_request_of_storage_is_its_device_and_the_network() {
    let plan = over_nbd(1, 16);
    let found = check(plan).transactions;
    assert_eq!(found.len(), 20);
    for one in &found[1..] {
        // 4096 bytes at 8 Gbit/s take 4.096 us.
        assert_eq!(ps(one, Part::Device), 100 * US + 4_096_000, "{one:?}");
        assert_eq!(ps(one, Part::Propagation), 4 * 5 * US);
        // The blocks of a response are segments that stand behind each other.
        let rest = [Part::Serialisation, Part::InterfaceQueue].map(|part| ps(one, part));
        assert!(rest[0] < 10 * US && rest[1] < 5 * US, "{one:?}");
        assert_eq!(
            [Part::Start, Part::ClientWork, Part::ServerWork, Part::Receive]
                .map(|part| ps(one, part)),
            [0; 4],
            "{one:?}"
        );
    }
}

/// Two requests under way of which the session carries one: the other waits for its entry, whatever
/// the first one does meanwhile.
#[test]
fn a_request_of_storage_waits_for_an_entry_of_the_queue() {
    let plan = over_nbd(2, 1);
    let found = check(plan.clone()).transactions;
    for one in &found[2..] {
        let whole = one.end.since(one.start).ps();
        assert_eq!(ps(one, Part::Device), 100 * US + 4_096_000, "{one:?}");
        assert!(whole.abs_diff(2 * ps(one, Part::EntryWait)) < US, "half of it: {one:?}");
        assert_eq!(ps(one, Part::Start), 0, "{one:?}");
    }
    let outcome = run(&Plan::from_raw(plan).expect("the plan is sound"), &Control::default());
    let read = &outcome.summary()["workloads"][0]["storage_requests"]["read"];
    let each = ["entry", "network"].map(|part| {
        read["waits_s"][part].as_f64().expect("it is reported") * 1e12 / found.len() as f64
    });
    let reported =
        found.iter().map(|one| ps(one, Part::EntryWait)).sum::<u64>() as f64 / found.len() as f64;
    assert!((each[0] - reported).abs() < 1.0, "{each:?} {reported}");
    assert!(each[1] < 50.0 * US as f64, "the network is what is left: {each:?}");
}

#[test]
fn a_device_of_the_same_host_is_all_of_a_request() {
    let mut plan = quiet(2, storage("w", &["h0"], 4));
    plan.devices = vec![ssd(1)];
    let RawBody::Storage(storage) = &mut plan.workloads[0].body else {
        unreachable!("it is of storage")
    };
    storage.requests = 20;
    for one in &check(plan).transactions {
        assert_eq!(ps(one, Part::Device), one.end.since(one.start).ps());
    }
}

/// A ring of four ranks on four hosts, and one of two ranks each on two.
#[test]
fn an_operation_of_ranks_is_the_messages_that_it_waited_for() {
    for hosts in
        [&["h0", "h1", "h2", "h3"][..], &["h0", "h1", "h0", "h1"], &["h0", "h0", "h1", "h1"]]
    {
        let mut job = mpi("job", MpiPattern::Allreduce, hosts, &[64, 100_000], 20);
        (job.send_overhead_ps, job.receive_overhead_ps) = (US, US);
        let found = check(quiet(4, job)).transactions;
        for one in found.iter().filter(|one| one.start > found[0].end) {
            assert!(ps(one, Part::ClientWork) > 0 && ps(one, Part::ServerWork) == 0, "{one:?}");
            assert_eq!(ps(one, Part::Start), 0, "{one:?}");
        }
    }
}
