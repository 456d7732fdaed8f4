//! What the lab asks the thread of the data plane.

use serde_json::Value;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

/// A question to the thread, with where its answer goes.
pub(super) type Question = (Ask, Sender<Result<Value, String>>);

/// What can be asked.
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
