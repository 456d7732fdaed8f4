//! Orders of the engine for the first process of a guest.

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// Virtual time at which programs start: by then every guest has set itself up.
pub const START_NS: u64 = 1_000_000_000;
/// Virtual time of the plan's time zero: by then servers listen.
pub const BEGIN_NS: u64 = 2_000_000_000;

/// Name of the file in the folder of a host in which its guest finds its orders.
pub const SPEC: &str = "guest.json";
/// Begins the line of a guest's console in which its first process says why it cannot go on.
pub const REASON: &str = "tailrace: ";
/// From the folder of any host to the root of the machine. The command line of a kernel, from which
/// its first random numbers come, must not have the folder's path: so all paths of a guest begin
/// there (`hostfs=.`).
const UP: &str = "../";
const LEVELS: usize = 64;

/// How a guest calls a folder of the machine, given with its path, when it mounts it; the empty
/// path is the folder of its host.
pub fn of_machine(path: &str) -> String {
    if path.is_empty() { String::new() } else { UP.repeat(LEVELS) + path }
}

/// A file `guest.json` in the folder of the host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestSpec {
    /// The host, by its index in the plan.
    pub host: usize,
    /// The plan.
    pub plan: PathBuf,
    /// Output of programs goes here.
    pub output: PathBuf,
    /// In order.
    pub programs: Vec<Program>,
}

/// A program of a guest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The run lasts until it has ended, if the plan's time is not over before.
    pub is_awaited: bool,
    /// It starts so much later than the others (nanoseconds).
    #[serde(default)]
    pub delay_ns: u64,
    /// It does not end by itself: its completion is announced by lines of its output.
    #[serde(default)]
    pub finished_by: Option<FinishedBy>,
    /// The user that it runs as, by name or number; root when missing.
    #[serde(default)]
    pub user: Option<String>,
    /// Folders of the machine of which it has copies that it may change, in the guest's memory.
    #[serde(default)]
    pub copies: Vec<FolderCopy>,
    /// The signal that asks it, and none of its children, to end, such as `INT`. When missing, it
    /// and its children get `TERM`.
    #[serde(default)]
    pub stop_signal: Option<String>,
    /// It is asked to end when the programs of all hosts that are not servers have ended.
    #[serde(default)]
    pub is_server: bool,
}

impl Program {
    /// Why it cannot be a program, if so.
    pub fn problem(&self) -> Option<String> {
        if self.words.is_empty() {
            return Some("words: a program has a name".to_owned());
        }
        let name = self.stop_signal.as_ref()?;
        let is_known = signal_of(name).is_some();
        (!is_known).then(|| format!("stop_signal: {name:?} is no signal (hint: such as \"INT\")"))
    }
}

/// A signal by its name without `SIG`.
pub fn signal_of(name: &str) -> Option<Signal> {
    Signal::from_str(&format!("SIG{name}")).ok()
}

/// Lines by which a program announces its completion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishedBy {
    /// Where they stand.
    pub stream: Stream,
    /// Text that each of them contains.
    pub text: String,
    /// How many.
    pub lines: u64,
}

/// An output of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A folder of the machine, and where in the guest its copy is. It belongs to the user of its
/// program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderCopy {
    /// On the machine.
    pub from: PathBuf,
    /// In the guest, where it has memory: below `/run`, `/tmp` or `/var/tmp`.
    pub to: PathBuf,
}

/// How a program of a guest ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Whether it had to be asked to end.
    pub was_asked_to_end: bool,
    /// The last lines of its error output.
    pub last_words: String,
}

/// Counters of the queueing discipline of a guest's interface by the end of the plan's time.
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

/// The EtherType of frames between a guest's first process and the engine, which no network sees
/// (IEEE 802, local experimental).
pub const LINE_ETHERTYPE: u16 = 0x88B5;
/// Length of such a frame.
pub const LINE_FRAME_BYTES: usize = 60;

/// The messages in such a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// The guest is set up.
    Ready,
    /// Every awaited program has ended, and whether all of them well.
    Done(bool),
    /// The guest could not be set up, or a program could not be started.
    Failed,
    /// The engine: programs that are no servers shall end.
    Stop,
    /// They have ended.
    Stopped,
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
            Line::Stop => [5, 0],
            Line::Stopped => [6, 0],
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
            [5, _] => Some(Line::Stop),
            [6, _] => Some(Line::Stopped),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_other_frames_are_none() {
        for line in [
            Line::Ready,
            Line::Done(true),
            Line::Done(false),
            Line::Failed,
            Line::Stop,
            Line::Stopped,
            Line::End,
        ] {
            assert_eq!(Line::read(&line.frame()), Some(line));
        }
        assert_eq!(Line::read(&[0; 60]), None);
        assert_eq!(Line::read(&Line::End.frame()[..14]), None);
    }
}
