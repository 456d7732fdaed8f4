//! Runs the plan in a file and prints its summary: for profilers, which want a program without an interpreter.
#![expect(clippy::print_stdout, reason = "this program prints its result")]

use tailrace_plan::Plan;
use tailrace_sim::{Control, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: run_plan PLAN.json")?;
    let plan = Plan::parse(&std::fs::read_to_string(path)?)?;
    println!("{}", run(&plan, &Control::default()).to_json());
    Ok(())
}
