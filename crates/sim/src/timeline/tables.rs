//! A timeline as columns. Times are picoseconds, `u64::MAX` and `u32::MAX` stand for none.

use super::hops::{Dropped, Hop, Marked, Paused};
use super::looks::Row;
use super::{Of, Timeline};
use crate::causes::{Explanation, FrameId, Part, Recorder, SentFrame, SocketId};
use std::collections::BTreeSet;
use tailrace_dataplane::DropCause;
use tailrace_record::{Column, Table};
use tailrace_units::Time;
use tailrace_wire::PRIORITIES;

/// Its tables: `timeline_sockets` (both ends of each watched connection, the client's first; `port` is asked for the local port),
/// `timeline_frames` (what they sent), `timeline_hops`, `timeline_drops`, `timeline_marks`, `timeline_pauses`, `timeline_looks`,
/// `timeline_steps` (of the explanations of watched users; `transaction` is the row in the table of causes) and
/// `timeline_left_out` (the number of rows that found no room, and when the first of a frame would have been).
pub(crate) fn tables(timeline: &Timeline, recorder: &Recorder, port: impl Fn(SocketId) -> u16) -> Vec<Table> {
    let hops = &timeline.hops;
    let left_out = hops.left_out.rows + timeline.looks.left_out;
    vec![
        sockets(timeline, port),
        frames(timeline, recorder),
        sent(&hops.sent),
        dropped(&hops.dropped),
        marked(&hops.marked),
        paused(&hops.paused),
        looks(&timeline.looks.rows),
        steps(timeline, &recorder.explained),
        Table {
            name: "timeline_left_out",
            columns: vec![("rows", Column::U64(vec![left_out])), ("from_ps", Column::U64(vec![time(Some(hops.left_out.from))]))],
        },
    ]
}

fn u32s<T>(rows: &[T], value: impl Fn(&T) -> u32) -> Column {
    Column::U32(rows.iter().map(value).collect())
}

fn u64s<T>(rows: &[T], value: impl Fn(&T) -> u64) -> Column {
    Column::U64(rows.iter().map(value).collect())
}

fn time(of: Option<Time>) -> u64 {
    of.filter(|&at| at != Time::NEVER).map_or(u64::MAX, Time::ps)
}

fn sockets(timeline: &Timeline, port: impl Fn(SocketId) -> u16) -> Table {
    let Timeline { watched, wanted, .. } = timeline;
    let users: Vec<(u32, u32)> = wanted.users.iter().flat_map(|&user| [user, user]).collect();
    let columns = vec![
        ("workload", u32s(&users, |user| user.0)),
        ("user", u32s(&users, |user| user.1)),
        ("host", u32s(watched, |socket| u32::from(socket.0))),
        ("endpoint", u32s(watched, |socket| socket.1)),
        ("port", u32s(watched, |&socket| u32::from(port(socket)))),
    ];
    Table { name: "timeline_sockets", columns }
}

/// What watched sockets sent. `prior_part` is the index of a part.
fn frames(timeline: &Timeline, recorder: &Recorder) -> Table {
    let hops = timeline.hops.sent.iter().map(|hop| hop.of);
    let ids: BTreeSet<FrameId> = hops.chain(timeline.hops.dropped.iter().map(|row| row.of)).filter_map(|of| of.frame).collect();
    let known: Vec<(FrameId, SentFrame)> = ids.into_iter().filter_map(|id| Some((id, recorder.frame(id)?))).collect();
    let receiver = |frame: &SentFrame| {
        let to = (frame.packet.to_host, frame.packet.to_endpoint);
        timeline.watched.iter().position(|&socket| socket == to).expect("only frames of watched sockets have numbers") as u32
    };
    let mut columns = vec![
        ("id", u64s(&known, |frame| frame.0)),
        ("to_socket", u32s(&known, |frame| receiver(&frame.1))),
        ("handed_ps", u64s(&known, |frame| frame.1.handed.ps())),
        ("delivered_ps", u64s(&known, |frame| time(Some(frame.1.delivered)))),
        ("prior", u64s(&known, |frame| frame.1.prior.map_or(u64::MAX, |prior| prior.0))),
        ("prior_part", u32s(&known, |frame| frame.1.prior.map_or(u32::MAX, |prior| prior.1 as u32))),
        ("repeats", u64s(&known, |frame| frame.1.repeats.unwrap_or(u64::MAX))),
        ("seq", u64s(&known, |frame| frame.1.packet.seq)),
        ("ack", u64s(&known, |frame| frame.1.packet.ack)),
        ("window_bytes", u32s(&known, |frame| frame.1.packet.window)),
        ("flags", u32s(&known, |frame| u32::from(frame.1.packet.flags.bits()))),
        ("ecn", u32s(&known, |frame| frame.1.packet.ecn as u32)),
        ("dscp", u32s(&known, |frame| u32::from(frame.1.packet.dscp))),
        ("priority", u32s(&known, |frame| u32::from(frame.1.packet.tag.priority()))),
        ("vlan", u32s(&known, |frame| u32::from(frame.1.packet.tag.vlan()))),
        ("tag_bytes", u32s(&known, |frame| u32::from(frame.1.packet.tag.bytes()))),
        ("frame_bytes", u32s(&known, |frame| u32::from(frame.1.packet.frame_bytes))),
        ("payload_bytes", u32s(&known, |frame| u32::from(frame.1.packet.payload_bytes))),
    ];
    let names = [("sack0_offset", "sack0_bytes"), ("sack1_offset", "sack1_bytes"), ("sack2_offset", "sack2_bytes")];
    for (block, (offset, bytes)) in names.into_iter().enumerate() {
        columns.push((offset, u32s(&known, |frame| frame.1.packet.sack[block].offset as u32)));
        columns.push((bytes, u32s(&known, |frame| frame.1.packet.sack[block].bytes)));
    }
    Table { name: "timeline_frames", columns }
}

fn of_columns<T>(rows: &[T], of: impl Fn(&T) -> Of) -> Vec<(&'static str, Column)> {
    vec![
        ("frame", u64s(rows, |row| of(row).frame.unwrap_or(u64::MAX))),
        ("workload", u32s(rows, |row| of(row).workload.unwrap_or(u32::MAX))),
        ("class", u32s(rows, |row| u32::from(of(row).class))),
        ("bytes", u32s(rows, |row| u32::from(of(row).bytes))),
    ]
}

fn sent(rows: &[Hop]) -> Table {
    let mut columns = of_columns(rows, |row| row.of);
    columns.extend([
        ("wire", u32s(rows, |row| row.wire)),
        ("since_ps", u64s(rows, |row| time(row.since))),
        ("start_ps", u64s(rows, |row| row.start.ps())),
        ("end_ps", u64s(rows, |row| row.end.ps())),
        ("arrival_ps", u64s(rows, |row| row.arrival.ps())),
    ]);
    Table { name: "timeline_hops", columns }
}

/// `cause` is the index in `DropCause::ALL`.
fn dropped(rows: &[Dropped]) -> Table {
    let cause = |cause: DropCause| DropCause::ALL.iter().position(|&each| each == cause).map_or(u32::MAX, |index| index as u32);
    let mut columns = of_columns(rows, |row| row.of);
    columns.extend([
        ("wire", u32s(rows, |row| row.wire)),
        ("since_ps", u64s(rows, |row| time(row.since))),
        ("at_ps", u64s(rows, |row| row.at.ps())),
        ("cause", u32s(rows, |row| row.cause.map_or(u32::MAX, cause))),
    ]);
    Table { name: "timeline_drops", columns }
}

fn marked(rows: &[Marked]) -> Table {
    let mut columns = of_columns(rows, |row| row.of);
    columns.extend([("wire", u32s(rows, |row| row.wire)), ("at_ps", u64s(rows, |row| row.at.ps()))]);
    Table { name: "timeline_marks", columns }
}

/// A row for each class that a pause is about; `quanta` of 0 end it.
fn paused(rows: &[Paused]) -> Table {
    let by_class = |row: &Paused| {
        let (wire, at, pause) = (row.wire, row.at, row.pause);
        (0..PRIORITIES)
            .filter(move |class| pause.classes >> class & 1 == 1)
            .map(move |class| (wire, at, class, pause.quanta[class]))
    };
    let rows: Vec<(u32, Time, usize, u16)> = rows.iter().flat_map(by_class).collect();
    let columns = vec![
        ("wire", u32s(&rows, |row| row.0)),
        ("at_ps", u64s(&rows, |row| row.1.ps())),
        ("class", u32s(&rows, |row| row.2 as u32)),
        ("quanta", u32s(&rows, |row| u32::from(row.3))),
    ];
    Table { name: "timeline_pauses", columns }
}

fn looks(rows: &[Row]) -> Table {
    let columns = vec![
        ("at_ps", u64s(rows, |row| row.at.ps())),
        ("socket", u32s(rows, |row| row.socket)),
        ("cwnd_bytes", u64s(rows, |row| row.cwnd_bytes)),
        ("in_flight_bytes", u64s(rows, |row| row.in_flight_bytes)),
        ("unsent_bytes", u64s(rows, |row| row.unsent_bytes)),
        ("timeouts", u32s(rows, |row| row.events[0])),
        ("probes", u32s(rows, |row| row.events[1])),
        ("retransmits", u32s(rows, |row| row.events[2])),
    ];
    Table { name: "timeline_looks", columns }
}

/// In the order of time. `part` is an index in `Part::ALL`.
fn steps(timeline: &Timeline, of: &[Explanation]) -> Table {
    let is_wanted =
        |one: &Explanation| timeline.wanted.users.contains(&(one.workload, one.user)) && timeline.wanted.has(one.start, one.end);
    let wanted = of.iter().zip(0_u32..).filter(|(one, _)| is_wanted(one));
    let rows: Vec<_> = wanted.flat_map(|(one, row)| one.steps.iter().rev().map(move |&step| (row, step))).collect();
    let part = |part: Part| Part::ALL.iter().position(|&each| each == part).expect("all parts are listed") as u32;
    let columns = vec![
        ("transaction", u32s(&rows, |row| row.0)),
        ("part", u32s(&rows, |row| part(row.1.part))),
        ("from_ps", u64s(&rows, |row| row.1.from.ps())),
        ("to_ps", u64s(&rows, |row| row.1.to.ps())),
        ("wire", u32s(&rows, |row| row.1.wire.unwrap_or(u32::MAX))),
    ];
    Table { name: "timeline_steps", columns }
}
