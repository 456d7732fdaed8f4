//! `tailrace-traffic`: see `tailrace_traffic::commands`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tailrace_traffic::commands::main(std::env::args().skip(1))
}
