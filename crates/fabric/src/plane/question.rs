//! Questions of the lab to the thread of the data plane.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use tailrace_outcome::NetworkOutcome;

/// A question to the thread, with where its answer goes.
pub(super) type Question = (Ask, Sender<Result<Answer, String>>);

/// The questions.
#[derive(Debug)]
pub enum Ask {
    /// Count anew.
    Begin,
    /// Keep the outcome as it is.
    End,
    /// The outcome.
    Counters,
    /// Begin a capture at the port of a host, into this file; the name of the port.
    Capture(usize, PathBuf, String),
    /// End the capture at the port of a host.
    CaptureEnd(usize),
    /// The outcome with its tables, and the end.
    Stop,
}

/// The answers.
#[derive(Debug)]
pub enum Answer {
    /// Done.
    Done,
    /// The interval began at this time of the clock of programs' logs (nanoseconds of the epoch).
    Begun(u64),
    /// The outcome.
    Outcome(Box<NetworkOutcome>),
    /// Counts of a capture.
    Captured {
        /// In the file.
        frames: u64,
        /// That came too fast for the file.
        missed: u64,
    },
}

impl Answer {
    /// The outcome.
    ///
    /// # Panics
    /// When something else was asked.
    pub(super) fn outcome(self) -> NetworkOutcome {
        match self {
            Answer::Outcome(outcome) => *outcome,
            Answer::Done | Answer::Begun(_) | Answer::Captured { .. } => {
                unreachable!("the outcome was asked for")
            }
        }
    }

    /// As JSON for the lab's clients; null where there is nothing to report.
    pub fn to_json(&self) -> Value {
        match self {
            Answer::Done => Value::Null,
            Answer::Begun(at_ns) => json!({ "begun_epoch_ns": at_ns }),
            Answer::Outcome(outcome) => json!(outcome),
            Answer::Captured { frames, missed } => json!({ "frames": frames, "missed": missed }),
        }
    }
}
