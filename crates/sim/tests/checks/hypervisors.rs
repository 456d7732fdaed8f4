//! Virtual machines in whole runs: a client on one hypervisor, a server on another.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const RUN: u64 = 50 * MS;

fn costs() -> RawHypervisorCosts {
    RawHypervisorCosts {
        switch_ps: 1_485_000,
        merge_ps: 500_000,
        copy_byte_fs: 124_000,
        vhost_ps: 1_500_000,
        interrupt_ps: 1_700_000,
        exit_ps: 1_000_000,
        entry_ps: 500_000,
        wake_up_ps: 510_000,
        context_switch_ps: 680_000,
        signal_ps: 750_000,
        poll_ps: 150_000,
    }
}

fn hypervisor(name: &str, host: &str, switching: RawVirtualSwitching) -> RawHypervisor {
    let polls = switching == RawVirtualSwitching::Polling;
    let mut costs = costs();
    if polls {
        costs.switch_ps = 145_000;
    }
    RawHypervisor {
        switch: name.into(),
        cores: 4,
        slice_ps: 3 * MS,
        tick_ps: 4 * MS,
        switching,
        costs,
        merge_bytes: 65_536,
        machines: vec![RawMachine {
            host: host.into(),
            cores: vec![vec![1, 2, 3]; 2],
            vhost_cores: vec![1, 2, 3],
        }],
        irq_cores: vec![0],
        polling_cores: if polls { vec![0] } else { vec![] },
        backlog_frames: 1_000,
        tap_frames: 1_000,
        sent_frames: 1_256,
        guest_ring_frames: 256,
        uplink_ring_frames: 512,
        coalesce_ps: 8 * US,
        halt_poll_ps: 0,
        neighbours: vec![],
    }
}

fn guest() -> RawProcessor {
    RawProcessor {
        cores: 2,
        slice_ps: 3 * MS,
        per_frame_ps: 1_000_000,
        per_poll_ps: 300_000,
        per_interrupt_ps: 1_700_000,
        per_send_ps: 1_700_000,
        system_call_ps: 340_000,
        read_byte_fs: 160_000,
        write_byte_fs: 130_000,
        wake_up_ps: 510_000,
        context_switch_ps: 680_000,
        idle_exit_ps: 0,
        irq_cores: vec![0],
        program_cores: vec![0, 1],
        budget_frames: 300,
        budget_ps: 8 * MS,
        steal: None,
        groups: vec![],
    }
}

/// A client and a server, each in a virtual machine of its own hypervisor, behind one switch.
pub(crate) fn plan(switching: RawVirtualSwitching, work: impl FnOnce(&mut RawPlan)) -> RawPlan {
    let mut plan = star(2, 1500, 800 * GBPS, 0, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.switches =
        ["sw", "node0", "node1"].map(|name| switch(name, 16_000_000, fifo(16_000_000))).into();
    plan.links = vec![
        link("h0", "node0", 800 * GBPS, 0),
        link("h1", "node1", 800 * GBPS, 0),
        link("node0", "sw", 10 * GBPS, US),
        link("node1", "sw", 10 * GBPS, US),
    ];
    plan.hypervisors =
        vec![hypervisor("node0", "h0", switching), hypervisor("node1", "h1", switching)];
    plan.observe.ports = vec![("sw".into(), "node0".into())];
    plan.stop_at_ps = RUN;
    for host in &mut plan.hosts {
        host.cpu.processor = Some(Box::new(guest()));
        host.cpu.per_packet_ps = 1_000_000;
    }
    work(&mut plan);
    plan
}

pub(crate) fn asking(users: u32) -> impl FnOnce(&mut RawPlan) {
    move |plan| plan.workloads.push(RawWorkload::from(requests("ask", "h0", "h1", users)))
}

fn total(core: &Value) -> u64 {
    ["user_ps", "system_ps", "softirq_ps", "steal_ps", "idle_ps"]
        .map(|kind| number(core, kind))
        .iter()
        .sum::<f64>() as u64
}

fn own(outcome: &Outcome, hypervisor: usize) -> &Value {
    &outcome.summary()["hypervisors"][hypervisor]
}

fn per_request(outcome: &Outcome, key: &str) -> f64 {
    (number(own(outcome, 0), key) + number(own(outcome, 1), key))
        / number(workload(outcome, "ask"), "transactions")
}

#[test]
fn all_time_of_real_and_virtual_cores_is_accounted_for_and_the_same_seed_gives_the_same() {
    for switching in [RawVirtualSwitching::Kernel, RawVirtualSwitching::Polling] {
        let [first, second] = [0, 1].map(|_| simulate(plan(switching, asking(8))));
        assert_eq!(first.summary()["digest"], second.summary()["digest"]);
        assert!(number(workload(&first, "ask"), "transactions") > 100.0);
        for node in 0..2 {
            assert_eq!(own(&first, node), own(&second, node));
            let (real, machine) = (
                &own(&first, node)["cores"],
                &first.summary()["hosts"][node]["processor"]["cores"],
            );
            for core in [real, machine]
                .into_iter()
                .flat_map(|cores| cores.as_array().expect("there are cores"))
            {
                assert_eq!(total(core), RUN);
            }
            // Virtual cores have run for the time that the hypervisor has given them.
            let ran: f64 = machine
                .as_array()
                .expect("it has cores")
                .iter()
                .map(|core| RUN as f64 - number(core, "steal_ps") - number(core, "idle_ps"))
                .sum();
            assert_eq!(ran as u64, count(&own(&first, node)["tasks"][0], "user_ps"));
        }
    }
}

/// One user: each request wakes, on each node, a virtual core to send and to receive, and with a
/// kernel's switch a vhost thread twice.
#[test]
fn a_request_needs_twice_as_many_switches_through_vhost_threads_as_through_polling_cores() {
    let [kernel, polling] = [RawVirtualSwitching::Kernel, RawVirtualSwitching::Polling]
        .map(|kind| simulate(plan(kind, asking(1))));
    let switches = |outcome: &Outcome| {
        per_request(outcome, "voluntary_switches") + per_request(outcome, "involuntary_switches")
    };
    within("switches of context for each request, kernel", switches(&kernel), (7.9, 8.1));
    within("switches of context for each request, polling", switches(&polling), (3.9, 4.1));
    within(
        "notifications for each request, polling",
        per_request(&polling, "notifications"),
        (0.0, 0.0),
    );
}

/// Offloads: a super-frame costs what a frame costs.
#[test]
fn bulk_is_faster_with_super_frames_and_each_of_them_crosses_the_switch_whole() {
    let bulk = |merge_bytes: u32, tso_bytes: u32| {
        simulate(plan(RawVirtualSwitching::Kernel, |plan| {
            plan.workloads.push(RawWorkload::from(stream("bulk", "h0", "h1", 1, 0)));
            plan.hypervisors.iter_mut().for_each(|own| own.merge_bytes = merge_bytes);
            plan.hosts.iter_mut().for_each(|host| host.nic.tso_bytes = tso_bytes);
        }))
    };
    let [whole, single] = [bulk(65_536, 65_536), bulk(0, 0)]
        .map(|outcome| goodput_bps(&outcome, 0, 20 * MS, RUN) / 1e9);
    assert!(whole > 2.0 * single, "{whole} and {single} Gbit/s");
}

#[test]
fn a_neighbour_steals_from_a_machine_and_not_from_a_polling_core_of_its_own() {
    let beside = |switching| {
        simulate(plan(switching, |plan| {
            asking(1)(plan);
            for own in &mut plan.hypervisors {
                let cores = vec![1, 2, 3];
                own.neighbours.push(RawNeighbour {
                    name: "busy".into(),
                    tasks: 6,
                    cores,
                    nice: 0,
                    work_ps: None,
                    wait_ps: 0,
                });
            }
        }))
    };
    for switching in [RawVirtualSwitching::Kernel, RawVirtualSwitching::Polling] {
        let (alone, beside) = (simulate(plan(switching, asking(1))), beside(switching));
        let done = |outcome: &Outcome| number(workload(outcome, "ask"), "transactions");
        assert!(done(&beside) < 0.9 * done(&alone), "{} and {}", done(&beside), done(&alone));
    }
}
