//! `tailrace-exact`: see `tailrace_exact::commands`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tailrace_exact::commands::main(std::env::args().skip(1))
}
