//! Runs the plan in a file and prints its summary, with `--explain` recorded and explained, with
//! `--cores N` on so many threads (and how that went, on the error output), divided by the rates of
//! ports, with `--measured N` by measured load, with `--up-to N` if that pays, with `--peak` and
//! the largest resident set of the process, there too: for profilers, which want a program without
//! an interpreter. `--window N` prints what a window of N parts without events takes, in
//! nanoseconds.
#![expect(clippy::print_stdout, reason = "this program prints its result")]
#![expect(clippy::print_stderr, reason = "and how it came about")]

use tailrace_plan::Plan;
use tailrace_sim::{Control, Cores, Partition, cost_of_a_window, explain, run, run_on, run_parted};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or(
        "usage: run_plan PLAN.json [--explain | --cores N | --measured N | --up-to N | --peak]",
    )?;
    if path == "--window" {
        let parts = arguments.get(1).ok_or("--window takes a number of parts")?.parse()?;
        println!("{}", cost_of_a_window(parts).as_nanos());
        return Ok(());
    }
    let plan = Plan::parse(&std::fs::read_to_string(path)?)?;
    let control = Control::default();
    let outcome = match arguments.get(1).map(String::as_str) {
        None => run(&plan, &control),
        Some("--peak") => {
            let outcome = run(&plan, &control);
            let status = std::fs::read_to_string("/proc/self/status")?;
            eprintln!(
                "{}",
                status
                    .lines()
                    .find(|line| line.starts_with("VmHWM:"))
                    .ok_or("the kernel tells no VmHWM")?
            );
            outcome
        }
        Some("--explain") => explain(&plan, &control).outcome,
        Some("--cores") => {
            let cores = arguments.get(2).ok_or("--cores takes a number")?.parse()?;
            let (outcome, course) =
                run_parted(&plan, &Partition::balanced(&plan, cores)?, &control);
            eprintln!("{course:?}");
            outcome
        }
        Some(how @ ("--measured" | "--up-to")) => {
            let cores = arguments.get(2).ok_or("a number is missing")?.parse()?;
            let cores = if how == "--measured" {
                Cores::Exactly(cores)
            } else {
                Cores::UpTo(cores, |_| true)
            };
            let (outcome, course) = run_on(&plan, cores, &control)?;
            eprintln!("{course:?}");
            outcome
        }
        Some(other) => return Err(format!("unknown argument: {other}").into()),
    };
    outcome.json_pieces().for_each(|piece| print!("{piece}"));
    println!();
    Ok(())
}
