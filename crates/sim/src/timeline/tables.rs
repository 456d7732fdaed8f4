//! A timeline as columns. Times are picoseconds, `u64::MAX` and `u32::MAX` stand for none.

use super::hops::{CoreWait, Dropped, Hop, Marked, Paused};
use super::socket_samples::Row;
use super::{Of, Timeline};
use crate::causes::{
    Explanation, FrameId, KnownSocket, Member, Part, Recorder, SentFrame, WorkOnFrame,
};
use std::collections::BTreeSet;
use tailrace_dataplane::DropCause;
use tailrace_record::{Column, Table};
use tailrace_units::Time;
use tailrace_wire::PRIORITIES;

/// Its tables: `timeline_sockets` (both ends of each watched connection, the client's first),
/// `timeline_frames` (what they sent), `timeline_hops`, `timeline_drops`, `timeline_marks`,
/// `timeline_pauses`, `timeline_looks`, `timeline_core_waits` (of programs on hosts without a
/// processor), `timeline_works` (of hypervisors on frames), `timeline_transactions` and
/// `timeline_members` (the wanted transactions and their frames), `timeline_steps` (their paths)
/// and `timeline_left_out` (the number of rows that found no room, when the first of a frame would
/// have been, and connections that are not watched, intervals of cores). `transaction` is the row
/// in the table of causes.
pub(crate) fn tables(timeline: &Timeline, recorder: &Recorder, cores_left_out: u64) -> Vec<Table> {
    let hops = &timeline.hops;
    let left_out = hops.left_out.rows + timeline.samples.left_out;
    vec![
        sockets(timeline, recorder),
        frames(timeline, recorder),
        sent(&hops.sent),
        dropped(&hops.dropped),
        marked(&hops.marked),
        paused(&hops.paused),
        samples(&timeline.samples.rows),
        core_waits(&timeline.core_waits),
        works(timeline, recorder),
        transactions(recorder.members()),
        members(recorder.members()),
        steps(recorder.members(), &recorder.explained),
        Table {
            name: "timeline_left_out",
            columns: vec![
                ("rows", Column::U64(vec![left_out])),
                ("from_ps", Column::U64(vec![time(Some(hops.left_out.from))])),
                ("connections", Column::U64(vec![timeline.connections_left_out as u64])),
                ("cores", Column::U64(vec![cores_left_out])),
            ],
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

/// `user` is `u32::MAX` for programs with several sockets.
fn sockets(timeline: &Timeline, recorder: &Recorder) -> Table {
    let known =
        |&number: &u32| *recorder.socket(number).expect("the run is the one in which it was found");
    let watched: Vec<KnownSocket> = timeline.watched.iter().map(known).collect();
    let columns = vec![
        ("workload", u32s(&watched, |socket| socket.workload)),
        ("user", u32s(&watched, |socket| socket.user.unwrap_or(u32::MAX))),
        ("host", u32s(&watched, |socket| u32::from(socket.id.0))),
        ("endpoint", u32s(&watched, |socket| socket.id.1)),
        ("port", u32s(&watched, |socket| u32::from(socket.port))),
    ];
    Table { name: "timeline_sockets", columns }
}

/// Frames of watched connections of which there are rows.
fn frame_ids(timeline: &Timeline) -> BTreeSet<FrameId> {
    let hops = timeline.hops.sent.iter().map(|hop| hop.of);
    hops.chain(timeline.hops.dropped.iter().map(|row| row.of)).filter_map(|of| of.frame).collect()
}

/// Frames that watched sockets sent. `prior_part` is the index of a part.
fn frames(timeline: &Timeline, recorder: &Recorder) -> Table {
    let known: Vec<(FrameId, SentFrame)> =
        frame_ids(timeline).into_iter().filter_map(|id| Some((id, recorder.frame(id)?))).collect();
    // The ends of a connection follow each other.
    let receiver = |frame: &SentFrame| timeline.indices[&frame.sender] ^ 1;
    let mut columns = vec![
        ("id", u64s(&known, |frame| frame.0)),
        ("to_socket", u32s(&known, |frame| receiver(&frame.1))),
        ("handed_ps", u64s(&known, |frame| frame.1.handed.ps())),
        ("delivered_ps", u64s(&known, |frame| time(Some(frame.1.delivered)))),
        ("prior", u64s(&known, |frame| frame.1.prior.map_or(u64::MAX, |prior| prior.0))),
        (
            "prior_part",
            u32s(&known, |frame| frame.1.prior.map_or(u32::MAX, |prior| prior.1 as u32)),
        ),
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
    let names = [
        ("sack0_offset", "sack0_bytes"),
        ("sack1_offset", "sack1_bytes"),
        ("sack2_offset", "sack2_bytes"),
    ];
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
    let cause = |cause: DropCause| {
        DropCause::ALL.iter().position(|&each| each == cause).map_or(u32::MAX, |index| index as u32)
    };
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
    columns
        .extend([("wire", u32s(rows, |row| row.wire)), ("at_ps", u64s(rows, |row| row.at.ps()))]);
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

fn samples(rows: &[Row]) -> Table {
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

fn core_waits(rows: &[CoreWait]) -> Table {
    let columns = vec![
        ("socket", u32s(rows, |row| row.socket_index)),
        ("since_ps", u64s(rows, |row| row.since.ps())),
        ("until_ps", u64s(rows, |row| row.until.ps())),
    ];
    Table { name: "timeline_core_waits", columns }
}

fn works(timeline: &Timeline, recorder: &Recorder) -> Table {
    let rows: Vec<(FrameId, WorkOnFrame)> = frame_ids(timeline)
        .into_iter()
        .flat_map(|id| recorder.works_on(id).into_iter().map(move |work| (id, work)))
        .collect();
    let columns = vec![
        ("frame", u64s(&rows, |row| row.0)),
        ("hypervisor", u32s(&rows, |row| row.1.hypervisor)),
        ("is_vhost", u32s(&rows, |row| u32::from(row.1.is_vhost))),
        ("since_ps", u64s(&rows, |row| row.1.since.ps())),
        ("start_ps", u64s(&rows, |row| row.1.start.ps())),
        ("done_ps", u64s(&rows, |row| row.1.done.ps())),
    ];
    Table { name: "timeline_works", columns }
}

/// The wanted ones that were complete in time: the first frame with payload of the critical path,
/// and its last frame.
fn transactions(of: &[Member]) -> Table {
    let columns = vec![
        ("transaction", u32s(of, |one| one.row)),
        ("first_frame", u64s(of, |one| one.ends.map_or(u64::MAX, |ends| ends.0))),
        ("last_frame", u64s(of, |one| one.ends.map_or(u64::MAX, |ends| ends.1))),
    ];
    Table { name: "timeline_transactions", columns }
}

fn members(of: &[Member]) -> Table {
    let rows: Vec<(u32, FrameId)> =
        of.iter().flat_map(|one| one.frames.iter().map(|&frame| (one.row, frame))).collect();
    Table {
        name: "timeline_members",
        columns: vec![
            ("transaction", u32s(&rows, |row| row.0)),
            ("frame", u64s(&rows, |row| row.1)),
        ],
    }
}

/// In the order of time. `part` is an index in `Part::ALL`.
fn steps(wanted: &[Member], of: &[Explanation]) -> Table {
    let steps = |row: u32| of[row as usize].steps.iter().rev();
    let rows: Vec<_> =
        wanted.iter().flat_map(|one| steps(one.row).map(move |&step| (one.row, step))).collect();
    let part = |part: Part| {
        Part::ALL.iter().position(|&each| each == part).expect("all parts are listed") as u32
    };
    let columns = vec![
        ("transaction", u32s(&rows, |row| row.0)),
        ("part", u32s(&rows, |row| part(row.1.part))),
        ("from_ps", u64s(&rows, |row| row.1.from.ps())),
        ("to_ps", u64s(&rows, |row| row.1.to.ps())),
        ("wire", u32s(&rows, |row| row.1.wire.unwrap_or(u32::MAX))),
    ];
    Table { name: "timeline_steps", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::Pause;

    #[test]
    fn a_pause_has_a_row_for_each_class_that_it_is_about() {
        let mut quanta = [7; PRIORITIES];
        quanta[5] = 0;
        let row = Paused {
            wire: 3,
            at: Time::from_ps(11),
            pause: Pause { classes: 0b10_1000, quanta, is_link_pause: false },
        };
        let expected = [
            ("wire", Column::U32(vec![3, 3])),
            ("at_ps", Column::U64(vec![11, 11])),
            ("class", Column::U32(vec![3, 5])),
            ("quanta", Column::U32(vec![7, 0])),
        ];
        assert_eq!(paused(&[row]).columns, expected);
    }
}
