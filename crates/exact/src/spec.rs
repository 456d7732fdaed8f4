//! What the first process of a guest is told by the engine.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Virtual time at which programs start: by then every guest has set itself up.
pub const START_NS: u64 = 1_000_000_000;
/// Virtual time of the plan's time zero: by then servers listen.
pub const BEGIN_NS: u64 = 2_000_000_000;

/// A file `guest.json` in the folder of the host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestSpec {
    /// The host, by its index in the plan.
    pub host: usize,
    /// The plan.
    pub plan: PathBuf,
    /// What programs write goes here.
    pub output: PathBuf,
    /// In order.
    pub programs: Vec<Program>,
}

/// A program of a guest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The run lasts until it has ended, if the plan's time is not over before.
    pub is_awaited: bool,
    /// It starts so much later than the others (nanoseconds).
    #[serde(default)]
    pub delay_ns: u64,
    /// It does not end by itself: what is awaited is a line on its standard output that begins with `finished`.
    #[serde(default)]
    pub tells_when_finished: bool,
}

/// How a program of a guest ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Whether it had to be told to end.
    pub was_told: bool,
    /// What it wrote to its error output last.
    pub last_words: String,
}

/// What the queueing discipline of a guest's interface has counted by the end of the plan's time.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueReport {
    /// Frames, and rows of segments, that did not fit.
    pub drop_frames: u64,
}

impl QueueReport {
    /// Where the guest writes it.
    pub const FILE: &str = "queue.json";
}

/// The EtherType of frames between a guest's first process and the engine, which no network sees (IEEE 802, local
/// experimental).
pub const LINE_ETHERTYPE: u16 = 0x88B5;
/// Length of such a frame.
pub const LINE_FRAME_BYTES: usize = 60;

/// What is said in such a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// The guest is set up.
    Ready,
    /// Every awaited program has ended, and whether all of them well.
    Done(bool),
    /// The guest could not be set up, or a program could not be started.
    Failed,
    /// The engine: programs shall end, and then the guest.
    End,
}

impl Line {
    /// The frame.
    pub fn frame(self) -> [u8; LINE_FRAME_BYTES] {
        let mut frame = [0; LINE_FRAME_BYTES];
        frame[12..14].copy_from_slice(&LINE_ETHERTYPE.to_be_bytes());
        frame[14..16].copy_from_slice(&match self {
            Line::Ready => [1, 0],
            Line::Done(is_well) => [2, u8::from(is_well)],
            Line::Failed => [3, 0],
            Line::End => [4, 0],
        });
        frame
    }

    /// From a frame; `None` for every other frame.
    pub fn read(frame: &[u8]) -> Option<Line> {
        if frame.get(12..14) != Some(&LINE_ETHERTYPE.to_be_bytes()) {
            return None;
        }
        match frame.get(14..16)? {
            [1, _] => Some(Line::Ready),
            [2, is_well] => Some(Line::Done(*is_well != 0)),
            [3, _] => Some(Line::Failed),
            [4, _] => Some(Line::End),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_other_frames_are_none() {
        for line in [Line::Ready, Line::Done(true), Line::Done(false), Line::Failed, Line::End] {
            assert_eq!(Line::read(&line.frame()), Some(line));
        }
        assert_eq!(Line::read(&[0; 60]), None);
        assert_eq!(Line::read(&Line::End.frame()[..14]), None);
    }
}
