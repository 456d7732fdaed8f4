//! Events of frames in chosen windows of a replay: when they passed each wire and since when they
//! waited before it, drops, marks and pauses. Frames are known by the number with which they
//! entered; acts of programs are not known here.

use crate::frame::LiveFrame;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tailrace_dataplane::{DropCause, Frame};
use tailrace_network::End;
use tailrace_units::Time;
use tailrace_wire::{PRIORITIES, Pause};

/// Rows of each kind that are kept: together some 100 MB as JSON.
const ROWS_MAX: usize = 1 << 18;

/// The watched windows and hosts of a replay.
#[derive(Clone, Default, Debug)]
pub struct Watched {
    /// From and to, in picoseconds of the measured interval.
    pub windows_ps: Vec<(u64, u64)>,
    /// Hosts, as indices in the plan: only frames between these, in both directions; all frames
    /// where it is empty.
    pub between: Vec<(u32, u32)>,
}

/// A log of windows.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// The rows count time from here.
    begin: Time,
    /// From, to.
    windows: Vec<(Time, Time)>,
    /// Hosts of whose frames rows are kept, both directions; those of all frames where it is empty.
    between: Vec<(u32, u32)>,
    /// By frame that is in a node: since when.
    came: BTreeMap<u64, Time>,
    entered: BTreeMap<u64, Time>,
    delivered: BTreeMap<u64, Time>,
    passed: Vec<Passed>,
    stopped: Vec<Stopped>,
    paused: Vec<(usize, Time, Pause)>,
    frames: BTreeMap<u64, LiveFrame>,
    left_out: u64,
    left_out_from: Time,
}

/// A frame passed a wire.
#[derive(Clone, Copy, Debug)]
struct Passed {
    frame: Of,
    wire: usize,
    start: Time,
    end: Time,
    arrival: Time,
}

/// A frame was dropped before a wire, or marked, which has no cause.
#[derive(Clone, Copy, Debug)]
struct Stopped {
    frame: Of,
    wire: usize,
    at: Time,
    cause: Option<DropCause>,
}

/// Which frame it is; none for those that switches make.
#[derive(Clone, Copy, Debug)]
struct Of {
    id: Option<u64>,
    since: Option<Time>,
    source: Option<usize>,
    class: u8,
    bytes: u16,
}

impl Timeline {
    /// Of windows in picoseconds from `begin` on.
    pub(crate) fn new(begin: Time, Watched { windows_ps, between }: &Watched) -> Timeline {
        let at = |ps: u64| Time::from_ps(begin.ps().saturating_add(ps));
        Timeline {
            begin,
            windows: windows_ps.iter().map(|&(from, to)| (at(from), at(to))).collect(),
            between: between.clone(),
            came: BTreeMap::new(),
            entered: BTreeMap::new(),
            delivered: BTreeMap::new(),
            passed: Vec::new(),
            stopped: Vec::new(),
            paused: Vec::new(),
            frames: BTreeMap::new(),
            left_out: 0,
            left_out_from: Time::NEVER,
        }
    }

    /// A frame has come to the end of its wire, which began at a host or at a switch.
    pub(crate) fn arrived(&mut self, at: Time, (from, to): (End, End), frame: &LiveFrame) {
        let (Some(id), true) = (number(frame), self.has(at, at)) else { return };
        if matches!(from, End::Host(_)) {
            self.entered.insert(id, at);
        }
        match to {
            // A fabric has neither hypervisors nor bonds.
            End::Host(_) | End::Stage { .. } | End::Bonded(_) => self.delivered.insert(id, at),
            End::Switch { .. } => self.came.insert(id, at),
        };
    }

    /// A frame goes onto a wire.
    pub(crate) fn sent(
        &mut self,
        wire: usize,
        frame: &LiveFrame,
        (start, end, arrival): (Time, Time, Time),
        source: Option<usize>,
    ) {
        let of = self.of(start, frame, source);
        if !self.has(of.since.unwrap_or(start), end) {
            return;
        }
        if let Some(pause) = Frame::pause(frame)
            && self.has_room(self.paused.len(), arrival)
        {
            self.paused.push((wire ^ 1, arrival, pause));
        }
        if self.is_between(frame) && self.has_room(self.passed.len(), start) {
            self.note(of, frame);
            self.passed.push(Passed { frame: of, wire, start, end, arrival });
        }
    }

    /// A frame was dropped before a wire, or, without a cause, marked; a marked one stays in its
    /// node.
    pub(crate) fn stopped(
        &mut self,
        (at, wire): (Time, usize),
        frame: &LiveFrame,
        source: Option<usize>,
        cause: Option<DropCause>,
    ) {
        let of = if cause.is_some() {
            self.of(at, frame, source)
        } else {
            Of { since: None, ..whose(frame, source) }
        };
        if self.is_between(frame) && self.has(at, at) && self.has_room(self.stopped.len(), at) {
            self.note(of, frame);
            self.stopped.push(Stopped { frame: of, wire, at, cause });
        }
    }

    fn of(&mut self, at: Time, frame: &LiveFrame, source: Option<usize>) -> Of {
        // A frame that a switch originates comes when it is sent.
        let since = number(frame).map_or(Some(at), |id| self.came.remove(&id));
        Of { since, ..whose(frame, source) }
    }

    fn note(&mut self, of: Of, frame: &LiveFrame) {
        if let Some(id) = of.id {
            self.frames.entry(id).or_insert(*frame);
        }
    }

    fn is_between(&self, frame: &LiveFrame) -> bool {
        let (from, to) = (u32::from(frame.from_host), frame.packet.to_host.into());
        self.between.is_empty()
            || self.between.iter().any(|&pair| pair == (from, to) || pair == (to, from))
    }

    fn has(&self, begin: Time, end: Time) -> bool {
        self.windows.iter().any(|&(from, to)| begin <= to && from <= end)
    }

    fn has_room(&mut self, rows: usize, at: Time) -> bool {
        if rows >= ROWS_MAX {
            self.left_out += 1;
            self.left_out_from = self.left_out_from.min(at);
        }
        rows < ROWS_MAX
    }

    /// The rows by table, in columns. `u64::MAX` and `u32::MAX` stand for none; a cause is an index
    /// in `DropCause::ALL`; times are picoseconds of the measured interval. `workloads` are those
    /// of each source.
    pub(crate) fn tables(&self, workloads: &[Vec<usize>]) -> Value {
        let dropped: Vec<Stopped> =
            self.stopped.iter().filter(|row| row.cause.is_some()).copied().collect();
        let marked: Vec<Stopped> =
            self.stopped.iter().filter(|row| row.cause.is_none()).copied().collect();
        json!({
            "sources": workloads,
            "frames": self.frame_columns(),
            "hops": self.hop_columns(),
            "drops": self.stop_columns(&dropped),
            "marks": self.stop_columns(&marked),
            "pauses": self.pause_columns(),
            "left_out": { "rows": [self.left_out], "from_ps": [self.ps(Some(self.left_out_from))] },
        })
    }

    fn frame_columns(&self) -> Value {
        let key = |frame: &LiveFrame| {
            frame.key.map_or((0, 0, 0), |key| {
                (key.source_port, key.destination_port, key.protocol as u32)
            })
        };
        let rows: Vec<(u64, &LiveFrame)> =
            self.frames.iter().map(|(&id, frame)| (id, frame)).collect();
        columns(&[
            ("id", rows.iter().map(|row| row.0).collect()),
            ("from", rows.iter().map(|row| u64::from(row.1.from_host)).collect()),
            ("to", rows.iter().map(|row| u64::from(row.1.packet.to_host)).collect()),
            ("source_port", rows.iter().map(|row| u64::from(key(row.1).0)).collect()),
            ("destination_port", rows.iter().map(|row| u64::from(key(row.1).1)).collect()),
            ("protocol", rows.iter().map(|row| u64::from(key(row.1).2)).collect()),
            ("bytes", rows.iter().map(|row| u64::from(row.1.packet.frame_bytes)).collect()),
            (
                "entered_ps",
                rows.iter().map(|row| self.ps(self.entered.get(&row.0).copied())).collect(),
            ),
            (
                "delivered_ps",
                rows.iter().map(|row| self.ps(self.delivered.get(&row.0).copied())).collect(),
            ),
        ])
    }

    fn hop_columns(&self) -> Value {
        let rows = &self.passed;
        let time =
            |of: fn(&Passed) -> Time| rows.iter().map(|row| self.ps(Some(of(row)))).collect();
        let mut all =
            self.of_columns(&rows.iter().map(|row| (row.frame, row.wire)).collect::<Vec<_>>());
        all.extend([
            ("start_ps", time(|row| row.start)),
            ("end_ps", time(|row| row.end)),
            ("arrival_ps", time(|row| row.arrival)),
        ]);
        columns(&all)
    }

    fn stop_columns(&self, rows: &[Stopped]) -> Value {
        let cause = |row: &Stopped| DropCause::ALL.iter().position(|&each| Some(each) == row.cause);
        let mut all =
            self.of_columns(&rows.iter().map(|row| (row.frame, row.wire)).collect::<Vec<_>>());
        all.push(("at_ps", rows.iter().map(|row| self.ps(Some(row.at))).collect()));
        all.push((
            "cause",
            rows.iter()
                .map(|row| cause(row).map_or(u64::from(u32::MAX), |index| index as u64))
                .collect(),
        ));
        columns(&all)
    }

    fn pause_columns(&self) -> Value {
        let classes = |pause: &Pause| {
            (0..PRIORITIES).filter(|class| pause.classes >> class & 1 == 1).collect::<Vec<_>>()
        };
        let rows: Vec<(usize, Time, usize, u16)> = self
            .paused
            .iter()
            .flat_map(|(wire, at, pause)| {
                classes(pause).into_iter().map(|class| (*wire, *at, class, pause.quanta[class]))
            })
            .collect();
        columns(&[
            ("wire", rows.iter().map(|row| row.0 as u64).collect()),
            ("at_ps", rows.iter().map(|row| self.ps(Some(row.1))).collect()),
            ("class", rows.iter().map(|row| row.2 as u64).collect()),
            ("quanta", rows.iter().map(|row| u64::from(row.3)).collect()),
        ])
    }

    fn of_columns(&self, rows: &[(Of, usize)]) -> Vec<(&'static str, Vec<u64>)> {
        let none = u64::from(u32::MAX);
        vec![
            ("frame", rows.iter().map(|row| row.0.id.unwrap_or(u64::MAX)).collect()),
            (
                "source",
                rows.iter().map(|row| row.0.source.map_or(none, |source| source as u64)).collect(),
            ),
            ("class", rows.iter().map(|row| u64::from(row.0.class)).collect()),
            ("bytes", rows.iter().map(|row| u64::from(row.0.bytes)).collect()),
            ("wire", rows.iter().map(|row| row.1 as u64).collect()),
            ("since_ps", rows.iter().map(|row| self.ps(row.0.since)).collect()),
        ]
    }

    fn ps(&self, at: Option<Time>) -> u64 {
        at.filter(|at| !at.is_never())
            .map_or(u64::MAX, |at| at.ps().saturating_sub(self.begin.ps()))
    }
}

/// The number with which a frame entered; those that switches make have none.
fn number(frame: &LiveFrame) -> Option<u64> {
    (frame.on_time != Time::ZERO).then_some(frame.packet.seq)
}

fn whose(frame: &LiveFrame, source: Option<usize>) -> Of {
    Of {
        id: number(frame),
        since: None,
        source,
        class: frame.packet.tag.priority(),
        bytes: frame.packet.frame_bytes,
    }
}

fn columns(of: &[(&str, Vec<u64>)]) -> Value {
    Value::Object(
        of.iter().map(|(name, values)| ((*name).to_owned(), json!(values))).collect::<Map<_, _>>(),
    )
}
