//! `tailrace-fabric lab`.

use super::detach;
use crate::lab::{FabricKind, Override, Setup, is_private};
use crate::limits::{self, FRAMES_PER_S_DEFAULT};
use crate::supervisor;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use tailrace_lab::address::HOSTS_MAX;
use tailrace_lab::options::{Words, required, unknown};
use tailrace_plan::Plan;

/// Name of the log in the lab's folder.
const LOG_FILE: &str = "ingress.log";

pub(super) fn run(mut words: Words) -> Result<(), String> {
    let (mut plan, mut dir, mut overrides, mut logs) = (None, None, Vec::new(), false);
    let (mut frames_per_s_max, mut detaches, mut metrics_port) =
        (FRAMES_PER_S_DEFAULT, false, None);
    let (mut kind, mut is_shaped, mut log_bytes_max) = (FabricKind::Tap, true, u64::MAX);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--plan" => plan = Some(words.path()?),
            "--dir" => dir = Some(words.path()?),
            "--frames-per-second-max" => frames_per_s_max = words.value()?,
            "--kind" => kind = words.value()?,
            "--unshaped" => is_shaped = false,
            "--detach" => detaches = true,
            "--metrics" => metrics_port = Some(words.value::<u16>()?),
            "--log-ingress" => logs = true,
            "--log-bytes-max" => log_bytes_max = words.value()?,
            "--congestion-control" => overrides.push(parse_override(&words.value::<String>()?)),
            other => return unknown(other),
        }
    }
    let plan = read_plan(&required(plan, "--plan")?)?;
    if kind == FabricKind::Tap {
        limits::check(&plan, frames_per_s_max)?;
    } else if logs {
        return Err(
            "--log-ingress: only frames that pass the plan's own switches are logged (--kind tap)"
                .into(),
        );
    }
    let dir = folder(&required(dir, "--dir")?)?;
    let metrics = metrics_port.map(listen).transpose()?;
    let control = detaches.then(|| detach::listen(&dir)).transpose()?;
    if detaches && let detach::Half::Starter(result) = detach::detach(&dir)? {
        return result;
    }
    let (groups, is_nested, warnings) = (None, false, Vec::new());
    let log = logs.then(|| dir.join(LOG_FILE));
    supervisor::run(Setup {
        plan,
        kind,
        is_shaped,
        dir,
        overrides,
        log,
        log_bytes_max,
        groups,
        is_nested,
        control,
        metrics,
        warnings,
    })
}

fn listen(port: u16) -> Result<TcpListener, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map_err(|error| format!("--metrics {port}: {error} (hint: choose another port)"))
}

pub(super) fn read_plan(path: &Path) -> Result<Plan, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))?;
    let plan = Plan::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let hosts = plan.raw.hosts.len();
    if hosts > HOSTS_MAX {
        return Err(format!(
            "{}: {hosts} hosts are too many for one machine, the limit is {HOSTS_MAX}",
            path.display()
        ));
    }
    Ok(plan)
}

/// The folder of a lab, made if needed, as an absolute path.
fn folder(path: &PathBuf) -> Result<PathBuf, String> {
    let explain = |error| format!("{}: {error}", path.display());
    fs::create_dir_all(path).map_err(explain)?;
    let absolute = path.canonicalize().map_err(explain)?;
    if is_private(&absolute) {
        return Err(format!(
            "--dir {}: the lab mounts a memory file system there; choose another folder",
            path.display()
        ));
    }
    Ok(absolute)
}

fn parse_override(text: &str) -> Override {
    match text.split_once('=') {
        Some((host, name)) => (Some(host.to_owned()), name.to_owned()),
        None => (None, text.to_owned()),
    }
}
