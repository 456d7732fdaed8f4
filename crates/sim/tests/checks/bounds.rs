//! Bounds that TCP cannot exceed, and rates that it must reach.

use crate::common::*;
use tailrace_plan::*;

/// Of each frame's bytes on the wire, the payload is goodput: 1448 of 1538 at an MTU of 1500, 8948
/// of 9038 at 9000 (20 bytes of IP, 32 of TCP with timestamps, 14 of Ethernet, 24 of check
/// sequence, preamble and gap).
#[test]
fn a_long_flow_fills_the_line_up_to_its_headers() {
    for (mtu, payload, wire) in [(1500, 1448.0, 1538.0), (9000, 8948.0, 9038.0)] {
        for congestion_control in [RawCongestionControl::Cubic, RawCongestionControl::NewReno] {
            let mut plan =
                star(2, mtu, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(4_000_000)));
            plan.clock_offset_ppb = 0;
            plan.stop_at_ps = 300 * MS;
            plan.hosts.iter_mut().for_each(|host| host.tcp.congestion_control = congestion_control);
            plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", 1, 0)));
            let outcome = simulate(plan);
            let share = goodput_bps(&outcome, 0, 100 * MS, 300 * MS) / (10 * GBPS) as f64;
            let bound = payload / wire;
            within(
                &format!("{congestion_control:?} at MTU {mtu}, of the bound"),
                share / bound,
                (0.995, 1.0005),
            );
        }
    }
}

/// A window W and a round trip R give W/R, whatever the line could carry (RFC 7323, section 1.1).
/// Waiting for the next acknowledgement to make larger bursts (TSO) costs a short path some of
/// that, but never much of it: a tenth where small queues split the window. (Linux 6.1 carries 0.93
/// of W/R with 345 segments in 4 ms, in virtual time.)
#[test]
fn a_flow_limited_by_its_window_carries_one_window_per_round_trip() {
    let cases = [(44, 250 * US), (100, MS), (362, 5 * MS), (1_000, 10 * MS), (362, 20 * MS)];
    for ((segments, delay), (tso_bytes, least)) in
        cases.into_iter().flat_map(|case| [(case, (0, 0.99)), (case, (65_536, 0.9))])
    {
        let window = segments * 1448;
        let mut plan = star(2, 1500, 10 * GBPS, delay, switch("sw", 64_000_000, fifo(64_000_000)));
        plan.clock_offset_ppb = 0;
        plan.stop_at_ps = 4 * S;
        plan.observe.series_bins = 4;
        plan.observe.series_bin_ps = S;
        plan.hosts.iter_mut().for_each(prompt);
        plan.hosts
            .iter_mut()
            .for_each(|host| (host.tcp.window_cap_bytes, host.nic.tso_bytes) = (window, tso_bytes));
        plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", 1, 0)));
        let outcome = simulate(plan);
        // Two wires each way; the sending times of one frame and of one acknowledgement add 0.2 to
        // 1 % at the shortest.
        let round_trip = (4 * delay + 2 * 1538 * 800 + 2 * 90 * 800) as f64 / S as f64;
        let expected = (window * 8) as f64 / round_trip;
        let got = goodput_bps(&outcome, 0, 2 * S, 4 * S);
        within(
            &format!("goodput with {segments} segments in {round_trip} s, of W/R"),
            got / expected,
            (least, 1.01),
        );
    }
}

/// N windows from N connections: streams help until the line is full (the table in the posts on
/// streams against throughput has this shape).
#[test]
fn streams_add_up_until_the_line_is_full() {
    for (connections, share) in [(1, 0.25), (2, 0.5), (4, 1.0), (8, 1.0)] {
        let delay = 250 * US;
        let mut plan = star(2, 9000, 10 * GBPS, delay, switch("sw", 64_000_000, fifo(64_000_000)));
        plan.stop_at_ps = 600 * MS;
        plan.hosts.iter_mut().for_each(prompt);
        // A quarter of the line's bandwidth-delay product, and a little, because the frame's own
        // time adds to the round trip.
        let window = (10 * GBPS / 8 * 4 * 250 / 1_000_000) as f64 * 8948.0 / 9038.0 / 4.0;
        plan.hosts.iter_mut().for_each(|host| host.tcp.window_cap_bytes = window as u64);
        plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", connections, 0)));
        let outcome = simulate(plan);
        let bound = (10 * GBPS) as f64 * 8948.0 / 9038.0;
        let got = goodput_bps(&outcome, 0, 200 * MS, 600 * MS) / bound;
        // The cap is in whole segments (34 of 34.6), and short windows wait for larger bursts.
        within(&format!("share of {connections} connections"), got, (share * 0.9, share * 1.005));
    }
}

/// A program that offers less than the line carries is the bound itself; one that offers more
/// changes nothing. One write of each connection comes before the rate counts, which is 0.02 %
/// here.
#[test]
fn a_stream_with_a_rate_carries_that_rate_or_what_the_line_does() {
    let measured = |rate_bps: u64, connections: u32| {
        let mut plan = star(2, 9000, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(4_000_000)));
        plan.clock_offset_ppb = 0;
        plan.stop_at_ps = 300 * MS;
        let write_bytes = if rate_bps > 0 { 131_072 } else { 0 };
        let mut bulk = stream("bulk", "h1", "h0", connections, 0);
        (bulk.rate_bps, bulk.write_bytes) = (rate_bps, write_bytes);
        plan.workloads.push(RawWorkload::from(bulk));
        goodput_bps(&simulate(plan), 0, 100 * MS, 300 * MS)
    };
    for (rate_bps, connections) in [(2 * GBPS, 1), (2 * GBPS, 4), (9 * GBPS, 3), (200_000_000, 1)] {
        let share = measured(rate_bps, connections) / rate_bps as f64;
        within(
            &format!("{connections} connections at {rate_bps} bit/s, of the rate"),
            share,
            (0.99, 1.01),
        );
    }
    within(
        "a rate above the line, of no rate",
        measured(20 * GBPS, 2) / measured(0, 2),
        (0.999, 1.001),
    );
}
