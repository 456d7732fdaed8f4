//! The message of a failing process of a lab before it ends.

use serde_json::json;
use std::io::{self, Write};

/// Reports why there is no result: for programs as an event on the output, for people on the error
/// output.
pub fn report_failure(error: &str) {
    let event = json!({ "event": "failed", "error": error });
    // The reader may have ended.
    let _ = writeln!(io::stdout(), "{event}");
    tell_people(error);
}

/// One line on the error output.
pub fn tell_people(error: &str) {
    let _ = writeln!(io::stderr(), "tailrace-fabric: {error}"); // the reader may have ended
}
