//! Timelines of chosen windows: what they keep agrees with what was explained, and with itself.

use crate::common::*;
use crate::hypervisors;
use std::collections::BTreeMap;
use tailrace_plan::*;
use tailrace_sim::{
    Column, Control, Explanation, Table, Wanted, WantedTransaction, explain, traced,
};

/// Users beside a bulk transfer to the same port, whose queue overflows.
fn plan() -> Plan {
    let mut plan = star(4, 1500, 10 * GBPS, 5 * US, switch("sw", 2_000_000, fifo(60_000)));
    plan.workloads = vec![
        RawWorkload::from(oltp("oltp", "h0", "h1", 8, 20, 64_000)),
        RawWorkload::from(stream("bulk", "h2", "h0", 4, 0)),
    ];
    Plan::from_raw(plan).expect("the plan is sound")
}

/// A table of numbers by column.
struct Rows<'a>(&'a Table);

impl Rows<'_> {
    fn of(&self, name: &str) -> Vec<u64> {
        let column =
            self.0.columns.iter().find(|column| column.0 == name).expect("the column is there");
        match &column.1 {
            Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
            Column::U64(values) => values.clone(),
            Column::F64(_) => unreachable!("a timeline has whole numbers"),
        }
    }
}

fn table<'a>(of: &'a [Table], name: &str) -> Rows<'a> {
    Rows(of.iter().find(|table| table.name == name).expect("the table is there"))
}

/// One of these transactions, as a trace wants it.
fn wanted(of: &[Explanation], row: usize) -> WantedTransaction {
    let Explanation { workload, user, .. } = of[row];
    let number = of[..row].iter().filter(|one| one.workload == workload).count() as u32;
    WantedTransaction { workload, number, user }
}

/// The slowest transaction with a dropped frame, and the tables of its timeline.
fn traced_loss() -> (Vec<Explanation>, usize, Vec<Table>) {
    let plan = plan();
    let transactions = explain(&plan, &Control::default()).transactions;
    let losing = (0..transactions.len()).filter(|&row| !transactions[row].losses.is_empty());
    let row = losing
        .max_by_key(|&row| transactions[row].parts.total())
        .expect("frames of users are dropped");
    let one = &transactions[row];
    let wanted = Wanted::from_ps(
        vec![(one.start.ps(), one.end.ps() + US)],
        vec![wanted(&transactions, row)],
    );
    let tables = traced(&plan, &Control::default(), &wanted);
    (transactions, row, tables)
}

#[test]
fn steps_follow_each_other_from_the_start_to_the_completion_and_are_the_parts() {
    let (transactions, row, tables) = traced_loss();
    let one = &transactions[row];
    let steps = table(&tables, "timeline_steps");
    let (of, part, from, to) =
        (steps.of("transaction"), steps.of("part"), steps.of("from_ps"), steps.of("to_ps"));
    let own: Vec<usize> = (0..of.len()).filter(|&step| of[step] == row as u64).collect();
    assert_eq!(
        (from[own[0]], to[*own.last().expect("there are steps")]),
        (one.start.ps(), one.end.ps())
    );
    assert!(own.windows(2).all(|next| to[next[0]] == from[next[1]]));
    let mut by_part = BTreeMap::new();
    own.iter().for_each(|&step| *by_part.entry(part[step]).or_insert(0) += to[step] - from[step]);
    for (index, &each) in tailrace_sim::Part::ALL.iter().enumerate() {
        assert_eq!(
            by_part.get(&(index as u64)).copied().unwrap_or(0),
            one.parts.of(each).ps(),
            "{each:?}"
        );
    }
}

#[test]
fn the_causes_of_what_was_complete_are_those_of_the_whole_run() {
    let (transactions, row, tables) = traced_loss();
    let ends = table(&tables, "causes").of("end_ps");
    assert!(ends.len() > row, "it ran to the end of the window");
    assert!(ends.iter().zip(&transactions).all(|(&end, one)| end == one.end.ps()));
}

#[test]
fn a_frame_comes_to_the_switch_when_it_has_passed_the_wire_before() {
    let (_, _, tables) = traced_loss();
    let hops = table(&tables, "timeline_hops");
    let (frame, since, arrival) = (hops.of("frame"), hops.of("since_ps"), hops.of("arrival_ps"));
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    let mut followed = 0;
    for hop in (0..frame.len()).filter(|&hop| frame[hop] != u64::MAX) {
        if let Some(before) = last.insert(frame[hop], arrival[hop]) {
            assert_eq!(since[hop], before, "frame {}", frame[hop]);
            followed += 1;
        }
    }
    assert!(followed > 40, "a response of 64 kB has so many segments: {followed}");
    let known = since.iter().filter(|&&since| since != u64::MAX).count();
    assert!(10 * known > 9 * since.len(), "few frames were in a queue when the window began");
}

#[test]
fn every_loss_of_the_path_is_a_drop_of_a_watched_frame_and_has_its_cause() {
    let (transactions, row, tables) = traced_loss();
    let drops = table(&tables, "timeline_drops");
    let (frame, wire, at, cause) =
        (drops.of("frame"), drops.of("wire"), drops.of("at_ps"), drops.of("cause"));
    for loss in &transactions[row].losses {
        let found = (0..at.len()).find(|&drop| {
            (at[drop], wire[drop]) == (loss.at.ps(), u64::from(loss.wire))
                && frame[drop] != u64::MAX
        });
        let drop = found.expect("the loss is in the timeline");
        assert_eq!(cause[drop], 0, "tail drop is the first of the causes");
    }
    let frames = table(&tables, "timeline_frames");
    let (id, repeats) = (frames.of("id"), frames.of("repeats"));
    let lost: Vec<u64> = frame.into_iter().filter(|&frame| frame != u64::MAX).collect();
    assert!(lost.iter().any(|lost| repeats.contains(lost)), "a lost frame was sent again");
    assert!(lost.iter().all(|lost| id.contains(lost)));
}

#[test]
fn windows_and_repetitions_of_watched_sockets_are_seen() {
    let (_, _, tables) = traced_loss();
    let looks = table(&tables, "timeline_looks");
    let (cwnd, flight, again) =
        (looks.of("cwnd_bytes"), looks.of("in_flight_bytes"), looks.of("retransmits"));
    assert!(cwnd.iter().all(|&cwnd| cwnd > 0) && flight.iter().max() > Some(&10_000));
    let frames = table(&tables, "timeline_frames");
    let repeated = frames.of("repeats").iter().filter(|&&copy| copy != u64::MAX).count() as u64;
    assert_eq!(again.iter().sum::<u64>(), repeated, "each repetition is a frame");
    assert_eq!(table(&tables, "timeline_sockets").of("port").len(), 2);
    let left_out = table(&tables, "timeline_left_out");
    assert_eq!((left_out.of("rows"), left_out.of("from_ps")), (vec![0], vec![u64::MAX]));
}

/// The last transaction of the first workload, and the tables of its timeline.
fn traced_last(plan: RawPlan) -> (Explanation, Vec<Table>) {
    let plan = Plan::from_raw(plan).expect("the plan is sound");
    let transactions = explain(&plan, &Control::default()).transactions;
    let row = transactions.iter().rposition(|one| one.workload == 0).expect("some are complete");
    let one = &transactions[row];
    let window = (one.start.ps().saturating_sub(US), one.end.ps() + US);
    let tables = traced(
        &plan,
        &Control::default(),
        &Wanted::from_ps(vec![window], vec![wanted(&transactions, row)]),
    );
    (one.clone(), tables)
}

/// An idle network with one workload.
fn quiet(hosts: usize, workload: impl Into<RawWorkload>) -> RawPlan {
    let mut plan = star(hosts, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.workloads = vec![workload.into()];
    plan
}

/// The hosts at which watched connections end, and whether the ends of the path are frames that the
/// timeline has.
fn ends(tables: &[Table]) -> (Vec<u64>, bool) {
    let sockets = table(tables, "timeline_sockets");
    let frames = table(tables, "timeline_frames").of("id");
    let of = table(tables, "timeline_transactions");
    let known = of
        .of("first_frame")
        .into_iter()
        .chain(of.of("last_frame"))
        .all(|frame| frames.contains(&frame));
    (sockets.of("host"), known)
}

/// A server asks two others for each request, over connections that it opens when it wants.
#[test]
fn a_request_has_the_connections_of_all_tiers_and_no_others() {
    let mut requests = requests("w", "h1", "h0", 3);
    requests.requests = 20;
    requests.stages = vec![stage(&["h2", "h3"], RawDistribution::Constant(0))];
    let (_, tables) = traced_last(quiet(4, requests));
    let (mut hosts, is_known) = ends(&tables);
    assert!(is_known, "the arrows have frames");
    hosts.sort_unstable();
    assert_eq!(
        hosts,
        [0, 0, 0, 1, 2, 3],
        "one of the client's three with the server, and the server's with both"
    );
    let members = table(&tables, "timeline_members").of("frame");
    let frames = table(&tables, "timeline_frames");
    let (id, to, payload) = (frames.of("id"), frames.of("to_socket"), frames.of("payload_bytes"));
    let own: Vec<u64> = (0..id.len())
        .filter(|&at| members.contains(&id[at]) && payload[at] > 0)
        .map(|at| to[at])
        .collect();
    assert_eq!(
        own.iter().collect::<std::collections::BTreeSet<_>>().len(),
        6,
        "each end is sent something: {own:?}"
    );
}

#[test]
fn flows_storage_and_ranks_have_their_connections_too() {
    let names = |host: &str| vec![host.to_owned()];
    let sizes = RawDistribution::Constant(20_000);
    let flows = flows_between(
        "flows",
        [names("h0"), names("h1")],
        sizes,
        RawDistribution::Constant(MS),
        10,
    );
    let mut disk = quiet(2, storage("w", &["h0"], 1));
    disk.devices = vec![ssd(1)];
    let RawBody::Storage(storage) = &mut disk.workloads[0].body else {
        unreachable!("it is of storage")
    };
    (storage.requests, storage.target) = (20, Some("h1".into()));
    storage.protocol =
        RawStorageProtocol::Nbd(RawNbd { connections: 1, requests: 16, structured_replies: true });
    let ranks = quiet(2, mpi("job", MpiPattern::Allreduce, &["h0", "h1"], &[1_000], 20));
    for plan in [quiet(2, flows), disk, ranks] {
        let name = format!("{:?}", plan.workloads[0].header.name);
        let (one, tables) = traced_last(plan);
        let (hosts, is_known) = ends(&tables);
        assert!(
            is_known && hosts.len() >= 2 && hosts.contains(&0) && hosts.contains(&1),
            "{name}: {hosts:?}"
        );
        let steps = table(&tables, "timeline_steps");
        let time: u64 =
            steps.of("to_ps").iter().zip(steps.of("from_ps")).map(|(to, from)| to - from).sum();
        assert_eq!(time, one.end.since(one.start).ps(), "{name}");
        assert!(
            table(&tables, "timeline_looks").of("cwnd_bytes").iter().all(|&cwnd| cwnd > 0),
            "{name}"
        );
    }
}

/// A stream without an end is never complete, but its connections can be watched.
#[test]
fn connections_of_an_endless_stream_are_watched_when_they_are_chosen() {
    let plan =
        Plan::from_raw(quiet(2, stream("bulk", "h0", "h1", 2, 0))).expect("the plan is sound");
    let of = |user| WantedTransaction { workload: 0, number: u32::MAX, user };
    let wanted = Wanted::from_ps(vec![(MS, 2 * MS)], vec![of(0), of(1)]);
    let tables = traced(&plan, &Control::default(), &wanted);
    assert_eq!(table(&tables, "timeline_sockets").of("user"), [0, 0, 1, 1]);
    assert!(table(&tables, "timeline_frames").of("id").len() > 500, "a millisecond at 10 Gbit/s");
}

/// A request between virtual machines: each part of its path that is work of a hypervisor ends when
/// the work on its frame does.
#[test]
fn work_of_hypervisors_and_their_cores_is_in_the_timeline() {
    for switching in [RawVirtualSwitching::Kernel, RawVirtualSwitching::Polling] {
        let (_, tables) = traced_last(hypervisors::plan(switching, |plan| {
            hypervisors::asking(1)(plan);
            plan.stop_at_ps = 10 * MS;
        }));
        let part = |part: tailrace_sim::Part| {
            tailrace_sim::Part::ALL.iter().position(|&each| each == part).expect("it is listed")
                as u64
        };
        let steps = table(&tables, "timeline_steps");
        let (of, to) = (steps.of("part"), steps.of("to_ps"));
        let works = table(&tables, "timeline_works");
        let (is_vhost, done) = (works.of("is_vhost"), works.of("done_ps"));
        for (kind, which) in
            [(tailrace_sim::Part::VirtualSwitch, 0), (tailrace_sim::Part::Vhost, 1)]
        {
            let path: Vec<u64> =
                (0..of.len()).filter(|&step| of[step] == part(kind)).map(|step| to[step]).collect();
            let is_done =
                |at: &u64| (0..done.len()).any(|work| done[work] == *at && is_vhost[work] == which);
            assert!(path.iter().all(is_done), "{kind:?} of {switching:?}: {path:?}, {done:?}");
            assert_eq!(
                path.is_empty(),
                switching == RawVirtualSwitching::Polling && which == 1,
                "{switching:?}"
            );
        }
        let cores = table(&tables, "timeline_cores");
        let roles: std::collections::BTreeSet<(bool, u64)> = cores
            .of("hypervisor")
            .iter()
            .zip(cores.of("role"))
            .map(|(&node, role)| (node == u64::from(u32::MAX), role))
            .collect();
        assert!(
            roles.contains(&(true, 0)) && roles.contains(&(false, 1)),
            "machines and virtual cores: {roles:?}"
        );
    }
}

#[test]
fn waits_for_a_core_are_in_the_timeline() {
    let mut users = oltp("oltp", "h1", "h0", 4, 5, 1_000);
    (users.gap, users.start) = (RawDistribution::Constant(0), RawDistribution::Constant(0));
    users.round_trips[0].server_work_ps = 100 * US;
    let mut plan = quiet(2, users);
    plan.hosts[0].cpu.program_cores = 1;
    let (one, tables) = traced_last(plan);
    let waits = table(&tables, "timeline_core_waits");
    let waited: u64 = waits
        .of("until_ps")
        .iter()
        .zip(waits.of("since_ps"))
        .map(|(until, since)| until - since)
        .sum();
    assert_eq!(waited, one.parts.of(tailrace_sim::Part::CoreWait).ps());
    assert!(waited > 100 * US);
}
