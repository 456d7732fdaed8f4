//! Conditions on a plan, and the messages with location and reason when it violates them.

use serde_json::{Value, json};
use tailrace_plan::{Plan, RawHost, RawLink, RawPlan, RawSwitch};

/// Two hosts at one switch, one stream between them.
fn sound() -> Value {
    let buffer = json!({"initial_bytes": 1_000_000, "maximum_bytes": 1_000_000});
    let host = |name: &str| {
        json!({
            "name": name,
            "mtu_bytes": 1500, "ip": null,
            "nic": {
                "queue_bytes": 1_000_000, "tso_bytes": 64_000, "gro_bytes": 64_000, "rx_coalesce_ps": 0,
                "rx_jitter": {"constant": 0}, "rx_ring_frames": 4096
            },
            "cpu": {"per_packet_ps": 0, "per_byte_fs": 0},
            "tcp": {
                "congestion_control": "cubic", "slow_start_exit": "hystart", "initial_window_segments": 10,
                "window_cap_bytes": 0, "ecn": false, "sack": true, "tail_loss_probe": true,
                "rto_min_ps": 200_000_000_000_u64, "rto_max_ps": 120_000_000_000_000_u64,
                "delayed_ack_ps": 40_000_000_000_u64, "slow_start_after_idle": true, "small_queue_ps": 1_000_000_000,
                "send_buffer": buffer, "receive_buffer": buffer
            }
        })
    };
    let queue = json!({"name": "default", "service": {"dwrr": 1000}, "limit": {"bytes": 100_000}, "aqm": "none"});
    let link = |a: &str| json!({"a": a, "b": "leaf", "rate_bps": 10_000_000_000_u64, "delay_ps": 0, "loss_ppb": 0});
    json!({
        "version": 2, "name": "test", "seed": 1, "stop_at_ps": 1_000_000, "clock_offset_ppb": 0,
        "framing": {"header_bytes": 14, "overhead_bytes": 24},
        "hosts": [host("app"), host("db")],
        "switches": [{
            "name": "leaf", "switching": "store-and-forward", "latency_ps": 0, "buffer_bytes": 1_000_000,
            "policy": {"queues": [queue], "queue_of_priority": [0, 0, 0, 0, 0, 0, 0, 0], "dpp": null},
            "port_policies": [], "mtu_bytes": null, "port_mtus": []
        }],
        "links": [link("app"), link("db")],
        "workloads": [{"header": {"name": "backup", "priority": 0, "port": 5432}, "body": {"stream": {
            "source": "db", "destination": "app", "connections": 2, "bytes": 0, "stagger_ps": 0, "pin_forward": [],
            "pin_backward": []
        }}}],
        "observe": {"ports": [], "series_bins": 0, "series_bin_ps": 1, "transactions_max": 0, "digest": false}
    })
}

/// The message when the value at `place` is another.
fn said(location: &str, value: &Value) -> String {
    let mut plan = sound();
    *plan.pointer_mut(location).expect("the location is in the plan") = value.clone();
    Plan::parse(&plan.to_string())
        .err()
        .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
}

fn every_case_is_refused_so(cases: &[(&str, Value, &str)]) {
    for (location, value, expected) in cases {
        assert_eq!(said(location, value), *expected, "{location} = {value}");
    }
}

#[test]
fn a_sound_plan_is_accepted() {
    assert_eq!(said("/seed", &json!(2)), "accepted");
}

#[test]
fn nonsense_about_the_run_and_its_hosts_is_refused_with_its_location() {
    every_case_is_refused_so(&[
        (
            "/version",
            json!(1),
            "version: only version 2 is supported: create the plan again from its scenario",
        ),
        ("/stop_at_ps", json!(0), "stop_at_ps: must be above 0"),
        (
            "/clock_offset_ppb",
            json!(1_000_001),
            "clock_offset_ppb: must be at most 1 000 000 (1000 ppm)",
        ),
        ("/hosts/1/name", json!("app"), "hosts and switches: two nodes have the name \"app\""),
        ("/hosts/0/mtu_bytes", json!(575), "host app: mtu_bytes must be 576 to 9216"),
        ("/hosts/0/mtu_bytes", json!(9217), "host app: mtu_bytes must be 576 to 9216"),
        (
            "/hosts/0/ip",
            json!({"reassembly_timeout_ps": 1, "reassembly_memory_bytes": 1 << 22, "reassembly_distance": 64}),
            "host app: ip.reassembly_timeout_ps must be 1 to 3600 whole seconds",
        ),
        (
            "/hosts/0/ip",
            json!({"reassembly_timeout_ps": 1_000_000_000_000_u64, "reassembly_memory_bytes": 65_535, "reassembly_distance": 64}),
            "host app: ip.reassembly_memory_bytes must be 65 536 to 1 073 741 824",
        ),
        (
            "/hosts/0/ip",
            json!({"reassembly_timeout_ps": 1_000_000_000_000_u64, "reassembly_memory_bytes": 65_536, "reassembly_distance": 65_537}),
            "host app: ip.reassembly_distance must be at most 65 536",
        ),
        (
            "/hosts/0/nic/queue_bytes",
            json!(1500),
            "host app: nic.queue_bytes must be at least one frame",
        ),
        (
            "/hosts/0/nic/rx_jitter",
            json!({"uniform": {"low": 2, "high": 1}}),
            "app: uniform: low must not be above high",
        ),
        (
            "/hosts/0/tcp/rto_min_ps",
            json!(0),
            "host app: tcp.rto_min_ps must be above 0 and at most rto_max_ps",
        ),
        (
            "/observe/ports",
            json!([["app", "leaf"]]),
            "observe.ports: only ports of switches can be observed",
        ),
    ]);
}

#[test]
fn links_that_make_no_network_are_refused() {
    every_case_is_refused_so(&[
        (
            "/links/0/loss_ppb",
            json!(1_000_000_001),
            "links[0]: loss_ppb must be at most 1 000 000 000",
        ),
        ("/links/0/rate_bps", json!(0), "links[0]: the rate must be above 0"),
        ("/links/0/b", json!("app"), "links[0]: a link must join two different nodes"),
        ("/links/0/b", json!("spine"), "links[0]: there is no node named \"spine\""),
        ("/links/0/a", json!("db"), "host app: a host must have exactly one link, not 0"),
    ]);
}

#[test]
fn a_policy_that_no_port_could_follow_is_refused() {
    let red = json!({"red": {"minimum_bytes": 9, "maximum_bytes": 8, "probability_milli": 20, "weight_exponent": 9, "ecn": true}});
    let dpp = json!({"max_packets": 20, "age_ps": 1, "express_queue": 0, "reset": "naive", "table_entries": 1024, "when_full": "untracked"});
    let stranger = json!([{"towards": "leaf", "policy": sound()["switches"][0]["policy"]}]);
    let queue = "/switches/0/policy/queues/0";
    every_case_is_refused_so(&[
        ("/switches/0/mtu_bytes", json!(575), "switch leaf: mtu_bytes must be 576 to 9216"),
        (
            "/switches/0/port_mtus",
            json!([{"towards": "app", "mtu_bytes": 9217}]),
            "switch leaf.port_mtus[app]: mtu_bytes must be 576 to 9216",
        ),
        (
            "/switches/0/port_mtus",
            json!([{"towards": "leaf", "mtu_bytes": 1500}]),
            "switch leaf.port_mtus[leaf]: no link joins the switch and this node",
        ),
        ("/switches/0/buffer_bytes", json!(0), "switch leaf: buffer_bytes must be above 0"),
        (
            "/switches/0/policy/queues",
            json!([]),
            "switch leaf.policy: a port must have one to eight queues",
        ),
        (
            "/switches/0/policy/queue_of_priority/7",
            json!(1),
            "switch leaf.policy: queue_of_priority names a queue that does not exist",
        ),
        (
            &format!("{queue}/limit"),
            json!({"bytes": 1_000_001}),
            "switch leaf.policy.default: the limit must be above 0 and at most the switch's buffer",
        ),
        (
            &format!("{queue}/service"),
            json!({"dwrr": 0}),
            "switch leaf.policy.default: a weight must be 1 to 1000 thousandths",
        ),
        (
            &format!("{queue}/aqm"),
            red,
            "switch leaf.policy.default: red: the minimum must be at most the maximum, the probability at most 1000, and the weight exponent 0 to 15",
        ),
        (
            "/switches/0/policy/dpp",
            dpp,
            "switch leaf.policy: dpp.express_queue must be strict, and served before every other queue",
        ),
        (
            "/switches/0/port_policies",
            stranger,
            "switch leaf.port_policies[leaf]: no link joins the switch and this node",
        ),
    ]);
}

#[test]
fn a_workload_that_could_not_run_is_refused() {
    let stream = "/workloads/0/body/stream";
    every_case_is_refused_so(&[
        ("/workloads", json!([]), "workloads: the plan has no workloads"),
        (&format!("{stream}/source"), json!("leaf"), "backup: \"leaf\" is a switch, not a host"),
        (&format!("{stream}/source"), json!("app"), "backup: the two ends must be different hosts"),
        ("/workloads/0/header/priority", json!(8), "backup: priority must be 0 to 7"),
        (&format!("{stream}/connections"), json!(0), "backup: connections must be 1 to a million"),
        (
            &format!("{stream}/pin_forward"),
            json!(["leaf", "leaf"]),
            "backup: a pinned path must follow links from end to end",
        ),
    ]);
}

#[test]
fn the_vlans_of_workloads_are_1_to_4094() {
    let said = |vlan: u16| {
        let mut plan = sound();
        plan["workloads"][0]["header"]["vlan"] = json!(vlan);
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    let refusal = "backup: vlan must be 1 to 4094, or 0 for none";
    assert_eq!([0, 1, 4_094, 4_095].map(said), ["accepted", "accepted", "accepted", refusal]);
}

/// An IP packet has at most 65 535 bytes; distributions without a largest value are cut when drawn.
/// The MTU is no limit: longer datagrams are sent in fragments.
#[test]
fn a_datagram_fits_an_ip_packet() {
    let said = |sizes: Value| {
        let mut plan = sound();
        plan["workloads"][0]["body"] = json!({"datagrams": {
            "source": "db", "destination": "app", "sizes": sizes, "interarrival": {"constant": 1_000}, "count": 1,
        }});
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    let refusal = "backup: a datagram must carry at most 65507 bytes";
    for (sizes, expected) in [
        (json!({"constant": 65_507}), "accepted"),
        (json!({"constant": 65_508}), refusal),
        (json!({"uniform": {"low": 1, "high": 65_507}}), "accepted"),
        (json!({"uniform": {"low": 1, "high": 65_508}}), refusal),
        (json!({"exponential": {"mean": 5_000}}), "accepted"),
    ] {
        assert_eq!(said(sizes.clone()), expected, "{sizes}");
    }
}

/// Requests of a user of the first host to the second.
fn requests() -> Value {
    let none = json!({"constant": 0});
    json!({"requests": {
        "clients": ["app"], "servers": ["db"], "is_random": false, "is_udp": false, "is_kept": true, "users": 1, "gap": none,
        "arrivals": null, "spikes": [], "connections": 0, "pipeline": 1, "requests": 0, "request": {"constant": 100},
        "response": {"constant": 100}, "service": {"time": none, "work": none, "concurrency": 0}, "timeout_ps": 0, "retries": 0,
        "stages": []
    }})
}

#[test]
fn requests_that_could_not_be_made_are_refused() {
    let said = |key: &str, value: Value| {
        let mut plan = sound();
        plan["workloads"][0]["body"] = requests();
        plan["workloads"][0]["body"]["requests"][key] = value;
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    assert_eq!(said("users", json!(3)), "accepted");
    let spike = |at: u64, factor: u64| json!({"factor_milli": factor, "at_ps": at, "for_ps": 10});
    let stage = |servers: Value, awaited: u32| {
        json!([{"servers": servers, "request": {"constant": 1}, "response": {"constant": 1}, "service": requests()["requests"]["service"],
            "count": 1, "is_parallel": true, "awaited": awaited}])
    };
    let below = |mut stage: Value, inner: &Value| {
        stage[0]["stages"] = inner.clone();
        stage
    };
    assert_eq!(said("timeout_ps", json!(5)), "accepted");
    let deep = |tiers: usize| {
        (0..tiers).fold(json!([]), |inner, _| below(stage(json!(["app"]), 0), &inner))
    };
    assert_eq!(said("stages", deep(1)), "accepted");
    for (key, value, expected) in [
        ("servers", json!(["app"]), "a host must not ask itself"),
        ("servers", json!(["db", "db"]), "a host must be named once"),
        ("clients", json!([]), "requests must have clients and servers"),
        ("users", json!(0), "requests need either users or arrivals"),
        ("users", json!(1_000_001), "users and connections must be at most a million"),
        ("pipeline", json!(0), "pipeline must be 1 to 1000"),
        ("retries", json!(101), "retries must be at most 100"),
        ("retries", json!(1), "only requests with a timeout are sent again"),
        ("is_udp", json!(true), "queries of UDP must have a timeout"),
        ("response", json!({"constant": 0}), "requests and responses must have at least one byte"),
        (
            "spikes",
            json!([spike(5, 0)]),
            "spikes must follow each other, with a factor from 0.001 to 1000",
        ),
        (
            "spikes",
            json!([spike(5, 9), spike(14, 9)]),
            "spikes must follow each other, with a factor from 0.001 to 1000",
        ),
        ("stages", stage(json!(["db"]), 0), "a host must not ask itself, whatever is between"),
        (
            "stages",
            below(stage(json!(["app"]), 0), &stage(json!(["db"]), 0)),
            "a host must not ask itself, whatever is between",
        ),
        (
            "stages",
            below(stage(json!(["app"]), 0), &stage(json!(["app"]), 0)),
            "a host must not ask itself, whatever is between",
        ),
        ("stages", stage(json!(["app"]), 2), "a server waits for more responses than there are"),
    ] {
        assert_eq!(said(key, value), format!("backup: {expected}"), "{key}");
    }
}

#[test]
fn blocks_that_could_not_be_exchanged_are_refused() {
    let serving = json!({"time": {"constant": 0}, "work": {"constant": 0}, "concurrency": 0});
    let blocks = json!({"blocks": {
        "nodes": ["app", "db"], "clients": ["app"], "users": 2, "gap": {"constant": 0}, "arrivals": null, "spikes": [],
        "transactions": 0, "blocks_milli": 1000, "messages_milli": 0, "is_parallel": false, "block": {"constant": 1000},
        "message": {"constant": 200}, "block_service": serving, "message_service": serving, "timeout_ps": 1000, "retries": 3
    }});
    let said = |key: &str, value: Value| {
        let mut plan = sound();
        plan["workloads"][0]["body"] = blocks.clone();
        plan["workloads"][0]["body"]["blocks"][key] = value;
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    assert_eq!(said("clients", json!(["db", "app"])), "accepted");
    for (key, value, expected) in [
        ("nodes", json!(["app"]), "blocks must have 2 to 64 nodes"),
        ("nodes", json!(["app", "app"]), "a host must be named once"),
        ("clients", json!([]), "a node must have users"),
        ("users", json!(0), "blocks need either users or arrivals"),
        ("users", json!(1_000_001), "users must be at most a million"),
        ("blocks_milli", json!(1_000_001), "a transaction asks for at most 1000 of each"),
        ("blocks_milli", json!(0), "a transaction must ask for blocks or send messages"),
        ("block", json!({"constant": 0}), "requests and responses must have at least one byte"),
        ("timeout_ps", json!(0), "blocks must have a timeout"),
        ("retries", json!(101), "retries must be at most 100"),
    ] {
        assert_eq!(said(key, value), format!("backup: {expected}"), "{key}");
    }
}

#[test]
fn bonds_without_meaning_are_refused() {
    let said = |links: usize, rate: Option<u64>, key: &str, value: Value| {
        let mut plan = sound();
        let first = plan["links"][0].clone();
        let (name, location) = (
            first["a"].clone(),
            plan["hosts"]
                .as_array()
                .and_then(|hosts| hosts.iter().position(|host| host["name"] == first["a"])),
        );
        let location = location.unwrap_or_else(|| panic!("{name} is a host"));
        plan["hosts"][location]["nic"]["bond"] = json!("flow");
        (1..links).for_each(|_| plan["links"].as_array_mut().expect("links").push(first.clone()));
        if let Some(rate) = rate {
            plan["links"][0]["rate_bps"] = json!(rate);
        }
        *plan["hosts"][location].pointer_mut(key).expect("a key of a host") = value;
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    let same = |links, rate| said(links, rate, "/nic/gro_bytes", json!(0));
    assert_eq!(same(2, None), "accepted");
    assert!(same(1, None).ends_with("a bond must have 2 to 8 links, not 1"));
    assert!(same(9, None).ends_with("a bond must have 2 to 8 links, not 9"));
    assert!(same(2, Some(7)).ends_with("the links of a bond must have the same rate"));
    assert!(
        said(2, None, "/cpu/per_packet_ps", json!(1))
            .ends_with("a bond has neither pauses nor costs of receiving")
    );
    assert!(said(2, None, "/nic/bond", json!("chance")).contains("unknown variant `chance`"));
}

#[test]
fn a_key_that_a_header_or_body_does_not_have_is_refused() {
    for (location, key) in [
        ("/workloads/0/header", "bytes"),
        ("/workloads/0/body/stream", "name"),
        ("/workloads/0", "stream"),
    ] {
        let mut plan = sound();
        plan.pointer_mut(location).expect("the location is in the plan")[key] = json!(1);
        let said = Plan::parse(&plan.to_string()).expect_err("the key is unknown").to_string();
        assert!(said.contains(&format!("unknown field `{key}`")), "{said}");
    }
}

#[test]
fn keys_of_live_runs_only_are_not_checked() {
    let mut plan = sound();
    plan["workloads"][0]["header"]["live"] = json!({"load_generator": "unheard-of"});
    assert!(Plan::parse(&plan.to_string()).is_ok());
}

#[test]
fn as_many_connections_as_the_agenda_can_number_are_accepted_and_one_more_is_not() {
    let connections = "/workloads/0/body/stream/connections";
    assert_eq!(said(connections, &json!(524_286)), "accepted");
    let limit = "workloads: users, connections and links together must be at most 524 288";
    assert_eq!(said(connections, &json!(524_287)), limit);
}

#[test]
fn as_many_hosts_as_a_packet_can_name_are_accepted_and_one_more_is_not() {
    let with_hosts = |count: usize| {
        let mut raw: RawPlan = serde_json::from_value(sound()).expect("the plan is sound");
        let second = RawSwitch { name: "other".into(), ..raw.switches[0].clone() };
        raw.switches.push(second);
        raw.links.push(RawLink { a: "other".into(), ..raw.links[0].clone() });
        for n in raw.hosts.len()..count {
            raw.hosts.push(RawHost { name: format!("h{n}"), ..raw.hosts[0].clone() });
            let b = if n % 2 == 0 { "leaf" } else { "other" };
            raw.links.push(RawLink { a: format!("h{n}"), b: b.into(), ..raw.links[0].clone() });
        }
        Plan::from_raw(raw).err().map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    assert_eq!(with_hosts(65_536), "accepted");
    assert_eq!(with_hosts(65_537), "hosts: must be at most 65 536");
}

#[test]
fn an_unknown_key_is_refused() {
    let mut plan = sound();
    plan["observe"]["colour"] = json!("red");
    let said = Plan::parse(&plan.to_string()).expect_err("no key has this name").to_string();
    assert!(said.starts_with("the plan cannot be read: unknown field `colour`"), "{said}");
}

/// Threads that need time for a frame, or pause after it.
#[test]
fn frames_without_time_between_them_are_refused() {
    let said = |change: &dyn Fn(&mut Value)| {
        let mut plan = sound();
        let mut body = json!({
            "source": "db", "destination": "app", "payload_bytes": 958, "threads": 4, "delay_ps": 0, "interval_ps": 0,
            "cost": {"constant": 0}, "locked": {"constant": 1_000}, "count": 0,
        });
        change(&mut body);
        plan["workloads"][0]["body"] = json!({ "frames": body });
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    let nothing = json!({"constant": 0});
    assert_eq!(said(&|_| ()), "accepted");
    assert_eq!(
        said(&|body| body["locked"] = nothing.clone()),
        "backup: a thread must need time for a frame, or pause after it"
    );
    assert_eq!(
        said(&|body| (body["locked"], body["delay_ps"]) = (nothing.clone(), json!(1))),
        "accepted"
    );
    for threads in [0, 65] {
        assert_eq!(
            said(&|body| body["threads"] = json!(threads)),
            "backup: frames must have 1 to 64 threads"
        );
    }
    assert_eq!(
        said(&|body| body["payload_bytes"] = json!(7)),
        "backup: a frame must carry 8 to 65507 bytes"
    );
    assert_eq!(
        said(&|body| body["destination"] = json!("db")),
        "backup: the two ends must be different hosts"
    );
}

#[test]
fn what_can_happen_in_one_event_is_bounded() {
    let of_oltp = |trips: usize, write: u64| {
        let trip = r#"{"request_bytes": 1, "response_bytes": 50000000, "server_time": {"constant": 0}, "produce_fs_per_byte": 0,
            "consume_fs_per_byte": 0, "write_bytes": "#;
        let body = r#"{"oltp": {"client": "app", "server": "db", "users": 1, "transactions": 1, "warmup_transactions": 0,
            "gap": {"constant": 0}, "gap_from": "end", "start": {"constant": 0}, "round_trips": ["#;
        let body = format!("{body}{}]}}}}", vec![format!("{trip}{write}}}"); trips].join(","));
        said("/workloads/0/body", &serde_json::from_str(&body).expect("it is JSON"))
    };
    assert_eq!([of_oltp(10_000, 0), of_oltp(1, 191)], ["accepted", "accepted"]);
    assert_eq!(of_oltp(1, 190), "backup: a response must have at most 262 144 pieces");
    assert_eq!(of_oltp(10_001, 0), "backup: a transaction must have at most 10 000 round trips");
}
