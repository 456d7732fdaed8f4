//! Hosts with several interfaces as one.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// A star whose first `bonded` hosts have a second link.
fn bonded_star(hosts: usize, bonded: usize) -> RawPlan {
    let mut plan = star(hosts, 1500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, 20 * MS);
    for host in 0..bonded {
        plan.hosts[host].nic.bond = Some(RawBondPolicy::Flow);
        let second = plan.links[host].clone();
        plan.links.push(second);
    }
    plan
}

fn goodput(outcome: &Outcome) -> u64 {
    outcome.summary()["workloads"]
        .as_array()
        .expect("workloads")
        .iter()
        .map(|work| count(work, "goodput_bytes"))
        .sum()
}

fn of_interfaces(outcome: &Outcome, host: &str, key: &str) -> Vec<u64> {
    let bond = host_summary(outcome, host)["bond"].as_array().expect("a bond");
    bond.iter().map(|interface| count(interface, key)).collect()
}

/// Two streams share one link or have one each, which is twice the rate: as often as not.
#[test]
fn two_streams_of_a_bond_have_one_link_or_both() {
    let seeds = 40;
    let run = |bonded: usize, seed: u64| {
        let mut plan = bonded_star(3, bonded);
        plan.seed = seed;
        plan.workloads =
            ["h1", "h2"].map(|to| RawWorkload::from(stream(to, "h0", to, 1, 0))).into();
        simulate(plan)
    };
    let single = goodput(&run(0, 1)) as f64;
    let mut both = 0;
    for seed in 0..seeds {
        let outcome = run(1, seed);
        let rate = goodput(&outcome) as f64 / single;
        let data =
            of_interfaces(&outcome, "h0", "sent_bytes").iter().filter(|&&bytes| bytes > 0).count();
        let band = if data == 2 { (1.9, 2.1) } else { (0.98, 1.02) };
        within(&format!("rate of two streams over {data} links, of one link"), rate, band);
        both += usize::from(data == 2);
    }
    // Binomial, 40 times 1/2: 20 with a standard deviation of 3.2.
    assert!((7..=33).contains(&both), "both links are used by {both} of {seeds}");
}

/// One switch: the sender spreads its connections, and the switch those to the receiver.
#[test]
fn many_connections_between_bonds_have_the_rate_of_two_links() {
    let run = |bonded: usize| {
        let mut plan = bonded_star(2, bonded);
        plan.workloads = vec![RawWorkload::from(stream("w", "h0", "h1", 64, 0))];
        simulate(plan)
    };
    let (one, two) = (run(0), run(2));
    within(
        "rate of 64 connections over two links, of one",
        goodput(&two) as f64 / goodput(&one) as f64,
        (1.8, 2.02),
    );
    let received = of_interfaces(&two, "h1", "received_frames");
    assert!(
        received.iter().all(|&frames| frames > received.iter().sum::<u64>() / 4),
        "{received:?}"
    );
    assert_eq!(received.iter().sum::<u64>(), count(host_summary(&two, "h1"), "rx_frames"));
}

/// Two leaves and a spine: a server with a link to each leaf answers clients at both, and at a
/// third.
#[test]
fn a_host_at_two_leaves_is_reached_over_both() {
    let mut plan = star(4, 1500, 10 * GBPS, US, switch("a", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    plan.stop_at_ps = 20 * MS;
    plan.observe.ports.clear();
    for name in ["b", "c", "spine"] {
        plan.switches.push(switch(name, 16_000_000, fifo(16_000_000)));
    }
    let link = |a: &str, b: &str| RawLink { a: a.into(), b: b.into(), ..plan.links[0].clone() };
    let links = [
        ("h0", "a"),
        ("h0", "b"),
        ("h1", "a"),
        ("h2", "b"),
        ("h3", "c"),
        ("a", "spine"),
        ("b", "spine"),
        ("c", "spine"),
    ];
    plan.links = links.map(|(a, b)| link(a, b)).into();
    plan.hosts[0].nic.bond = Some(RawBondPolicy::Flow);
    let asked = |client: &str| {
        let mut drawn = requests(client, client, "h0", 32);
        drawn.requests = 50;
        RawWorkload::from(drawn)
    };
    plan.workloads = ["h1", "h2", "h3"].map(asked).into();
    let outcome = simulate(plan.clone());
    for work in outcome.summary()["workloads"].as_array().expect("workloads") {
        assert_eq!(count(work, "request_counts.answered"), 32 * 50);
    }
    for key in ["sent_frames", "received_frames"] {
        let frames = of_interfaces(&outcome, "h0", key);
        assert!(
            frames.iter().all(|&one| one > frames.iter().sum::<u64>() / 4),
            "{key}: {frames:?}"
        );
    }
    let frames = &outcome.summary()["conservation"];
    let gone = count(frames, "delivered") + count(frames, "dropped") + count(frames, "in_network");
    assert_eq!(count(frames, "sent"), gone);
    assert_eq!(&outcome.summary()["digest"], &simulate(plan).summary()["digest"]);
}
