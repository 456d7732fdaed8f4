//! `tailrace-fabric observe`: the frames of an interface as a capture on the output, for `tailrace
//! profile`; the order is JSON on standard input. The last line of the error output is the report,
//! as the output is the capture.

use super::blast::read_order;
use crate::observe::{WatchSpec, observe};
use crate::sys::stopping::Stopping;
use std::io::{self, BufWriter, Write};
use tailrace_lab::options::Words;

/// Handed on at once.
const BUFFER_BYTES: usize = 1 << 18;

pub(super) fn run(words: Words) -> Result<(), String> {
    let order = WatchSpec::parse(&read_order(words)?)?;
    let stopping = Stopping::watch().map_err(|error| format!("watching signals: {error}"))?;
    let mut output = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let report = observe(&order, &mut output, || stopping.is_asked())?;
    let line = serde_json::to_string(&report).expect("numbers can be written");
    writeln!(io::stderr(), "{line}").map_err(|error| format!("writing the report: {error}"))
}
