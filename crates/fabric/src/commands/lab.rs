//! `tailrace-fabric lab`.

use crate::address::HOSTS_MAX;
use crate::guardian;
use crate::lab::{Override, Setup, is_private};
use crate::options::{Words, required, unknown};
use crate::sys::process::Ending;
use std::fs;
use std::path::{Path, PathBuf};
use tailrace_plan::Plan;

pub(super) fn run(mut words: Words) -> Result<(), String> {
    let (mut plan, mut dir, mut overrides) = (None, None, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--plan" => plan = Some(words.path()?),
            "--dir" => dir = Some(words.path()?),
            "--congestion-control" => overrides.push(parse_override(&words.value::<String>()?)),
            other => return unknown(other),
        }
    }
    let plan = read_plan(&required(plan, "--plan")?)?;
    let dir = folder(&required(dir, "--dir")?)?;
    let (groups, is_nested, control, warnings) = (None, false, None, Vec::new());
    match guardian::run(Setup { plan, dir, overrides, groups, is_nested, control, warnings })? {
        Ending::Exit(0) => Ok(()),
        Ending::Exit(code) => Err(format!("the lab ended with code {code}")),
        Ending::Signal(signal) => Err(format!("the lab was ended by signal {signal}")),
    }
}

pub(super) fn read_plan(path: &Path) -> Result<Plan, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))?;
    let plan = Plan::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let hosts = plan.raw.hosts.len();
    if hosts > HOSTS_MAX {
        return Err(format!("{}: {hosts} hosts are too many for one machine, {HOSTS_MAX} are possible", path.display()));
    }
    Ok(plan)
}

/// The folder of a lab, made if needed, as an absolute path.
fn folder(path: &PathBuf) -> Result<PathBuf, String> {
    let explain = |error| format!("{}: {error}", path.display());
    fs::create_dir_all(path).map_err(explain)?;
    let absolute = path.canonicalize().map_err(explain)?;
    if is_private(&absolute) {
        return Err(format!("--dir {}: a lab has its own such place in memory; choose another folder", path.display()));
    }
    Ok(absolute)
}

fn parse_override(text: &str) -> Override {
    match text.split_once('=') {
        Some((host, name)) => (Some(host.to_owned()), name.to_owned()),
        None => (None, text.to_owned()),
    }
}
