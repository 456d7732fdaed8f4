//! Two idle guests: whether exact runs work on this machine, and the machine as their kernel sees
//! it.

use crate::guest::Machine;
use crate::trial::Trial;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tailrace_lab::measured_plan::two_hosts;
use tailrace_plan::Plan;

const RATE_BPS: u64 = 1_000_000_000;
const MTU_BYTES: u64 = 1_500;
const HOSTS: usize = 2;

/// A folder that is gone afterwards.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // no caller is left to report to
    }
}

/// Starts two guests in virtual time, and ends them; returns their observations.
///
/// # Errors
/// Why they do not start.
pub fn boot(machine: Machine, limit: Duration) -> Result<Value, String> {
    let started = Instant::now();
    let scratch =
        Scratch(std::env::temp_dir().join(format!("tailrace-boot-{}", std::process::id())));
    let say = |error| format!("{}: {error}", scratch.0.display());
    let plan_file = scratch.0.join("plan.json");
    let plan_text = two_hosts(RATE_BPS, MTU_BYTES).to_string();
    fs::create_dir_all(&scratch.0).and_then(|()| fs::write(&plan_file, &plan_text)).map_err(say)?;
    let plan = Plan::parse(&plan_text).expect("the plan is ours");
    let folder = scratch.0.join("run");
    let trial = Trial {
        plan,
        plan_file,
        folder: folder.clone(),
        machine,
        programs: vec![Vec::new(); HOSTS],
        is_traffic: false,
        warnings: Vec::new(),
        captures: Vec::new(),
        tells_progress: false,
        limit,
    };
    let answer = trial.run().map_err(|fault| fault.what)?;
    Ok(json!({
        "release": release(&folder).map_err(say)?,
        "wall_s": started.elapsed().as_secs_f64(),
        "registers": answer.outcome.exact.and_then(|exact| exact.registers),
    }))
}

/// The release of the first guest's kernel.
fn release(folder: &Path) -> std::io::Result<String> {
    let text = fs::read_to_string(folder.join("hosts").join("h0").join("out").join("osrelease"))?;
    Ok(text.trim().to_owned())
}
