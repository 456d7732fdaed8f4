//! Timelines of chosen windows: what they keep agrees with what was explained, and with itself.

use crate::common::*;
use std::collections::BTreeMap;
use tailrace_plan::*;
use tailrace_sim::{Column, Control, Explanation, Table, Wanted, explain, traced};

/// Users beside a bulk transfer to the same port, whose queue overflows.
fn plan() -> Plan {
    let mut plan = star(4, 1500, 10 * GBPS, 5 * US, switch("sw", 2_000_000, fifo(60_000)));
    plan.workloads =
        vec![RawWorkload::from(oltp("oltp", "h0", "h1", 8, 20, 64_000)), RawWorkload::from(stream("bulk", "h2", "h0", 4, 0))];
    Plan::from_raw(plan).expect("the plan is sound")
}

/// A table of numbers by column.
struct Rows<'a>(&'a Table);

impl Rows<'_> {
    fn of(&self, name: &str) -> Vec<u64> {
        let column = self.0.columns.iter().find(|column| column.0 == name).expect("the column is there");
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

/// The slowest transaction with a dropped frame, and the tables of its timeline.
fn traced_loss() -> (Vec<Explanation>, usize, Vec<Table>) {
    let plan = plan();
    let transactions = explain(&plan, &Control::default()).expect("it can be explained").transactions;
    let losing = (0..transactions.len()).filter(|&row| !transactions[row].losses.is_empty());
    let row = losing.max_by_key(|&row| transactions[row].parts.total()).expect("frames of users are dropped");
    let one = &transactions[row];
    let wanted = Wanted::from_ps(vec![(one.start.ps(), one.end.ps() + US)], vec![(one.workload, one.user)]);
    let tables = traced(&plan, &Control::default(), &wanted).expect("it can be traced");
    (transactions, row, tables)
}

#[test]
fn steps_follow_each_other_from_the_start_to_the_completion_and_are_the_parts() {
    let (transactions, row, tables) = traced_loss();
    let one = &transactions[row];
    let steps = table(&tables, "timeline_steps");
    let (of, part, from, to) = (steps.of("transaction"), steps.of("part"), steps.of("from_ps"), steps.of("to_ps"));
    let own: Vec<usize> = (0..of.len()).filter(|&step| of[step] == row as u64).collect();
    assert_eq!((from[own[0]], to[*own.last().expect("there are steps")]), (one.start.ps(), one.end.ps()));
    assert!(own.windows(2).all(|next| to[next[0]] == from[next[1]]));
    let mut by_part = BTreeMap::new();
    own.iter().for_each(|&step| *by_part.entry(part[step]).or_insert(0) += to[step] - from[step]);
    for (index, &each) in tailrace_sim::Part::ALL.iter().enumerate() {
        assert_eq!(by_part.get(&(index as u64)).copied().unwrap_or(0), one.parts.of(each).ps(), "{each:?}");
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
    let (frame, wire, at, cause) = (drops.of("frame"), drops.of("wire"), drops.of("at_ps"), drops.of("cause"));
    for loss in &transactions[row].losses {
        let found =
            (0..at.len()).find(|&drop| (at[drop], wire[drop]) == (loss.at.ps(), u64::from(loss.wire)) && frame[drop] != u64::MAX);
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
    let (cwnd, flight, again) = (looks.of("cwnd_bytes"), looks.of("in_flight_bytes"), looks.of("retransmits"));
    assert!(cwnd.iter().all(|&cwnd| cwnd > 0) && flight.iter().max() > Some(&10_000));
    let frames = table(&tables, "timeline_frames");
    let repeated = frames.of("repeats").iter().filter(|&&copy| copy != u64::MAX).count() as u64;
    assert_eq!(again.iter().sum::<u64>(), repeated, "each repetition is a frame");
    assert_eq!(table(&tables, "timeline_sockets").of("port").len(), 2);
    let left_out = table(&tables, "timeline_left_out");
    assert_eq!((left_out.of("rows"), left_out.of("from_ps")), (vec![0], vec![u64::MAX]));
}
