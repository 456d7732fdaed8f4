//! The command line of `tailrace-fabric`.

mod lab;

use crate::options::{Words, unknown};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;

const HELP: &str = "\
tailrace-fabric lab --plan FILE --dir FOLDER [options]   run the network of a plan for real programs; commands and
                                                         events are lines of JSON on input and output
    --congestion-control [HOST=]NAME   instead of the plan's; as often as needed
tailrace-fabric clean                                    remove the control groups of labs whose owner is gone
";

/// Runs a command line (without the program's name).
pub fn main(words: impl Iterator<Item = String>) -> ExitCode {
    let mut words = Words::new(words);
    let result = match words.next().as_deref() {
        Some("lab") => lab::run(words),
        Some("clean") => clean(),
        Some("help" | "--help" | "-h") | None => say(HELP),
        Some(other) => unknown(other),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report_failure(&error);
            ExitCode::FAILURE
        }
    }
}

/// Removes the control groups of labs whose owner is gone, and says which. Everything else of a lab goes with its last
/// process.
fn clean() -> Result<(), String> {
    let found = crate::cgroup::stale();
    let left: Vec<&str> = found.iter().filter(|groups| !groups.remove()).map(|groups| groups.name.as_str()).collect();
    let removed: Vec<&str> = found.iter().map(|groups| groups.name.as_str()).filter(|name| !left.contains(name)).collect();
    print_json(&json!({ "removed": removed, "left": left }))?;
    if left.is_empty() { Ok(()) } else { Err("some groups could not be removed: are you their owner?".into()) }
}

/// Says why there is no result: for programs on the output, for people on the error output.
pub fn report_failure(error: &str) {
    let event = json!({ "event": "failed", "error": error });
    // Whoever should hear of it may be gone.
    let _ = writeln!(io::stdout(), "{event}");
    let _ = writeln!(io::stderr(), "tailrace-fabric: {error}");
}

fn print_json(value: &Value) -> Result<(), String> {
    say(&format!("{value}\n"))
}

fn say(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("writing the output: {error}"))
}
