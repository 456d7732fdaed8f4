//! `tailrace-fabric`: see `tailrace_fabric::commands`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tailrace_fabric::commands::main(std::env::args().skip(1))
}
