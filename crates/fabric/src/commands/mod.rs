//! The command line of `tailrace-fabric`.

mod blast;
mod bulk;
mod compute;
mod detach;
mod doctor;
mod exec;
mod generator;
mod lab;
mod limits;
mod load;
mod observe;
mod punctuality;

use crate::cgroup::Cleared;
use crate::failure::{report_failure, tell_people};
use crate::replay::Replayed;
use crate::sys::process::die_with_parent;
use nix::sys::signal::Signal;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use tailrace_lab::network::Watched;
use tailrace_lab::options::{Words, required, unknown};
use tailrace_plan::Plan;

const HELP: &str = "\
tailrace-fabric lab --plan FILE --dir FOLDER [options]   run the network of a plan for real programs; commands and
                                                         events are lines of JSON on input and output
    --kind tap|bridge|ovs|ovs-dpdk|ovs-vhost|ports
                                       what joins the hosts: the plan's switches; for comparison the kernel's bridge or
                                       Open vSwitch (plain or with DPDK), of which only the rates and the sizes of queues
                                       are the plan's; ovs-vhost: Open vSwitch with DPDK for programs that serve sockets
                                       vhost-0 .. ; or nothing but interfaces port-0 .. in the lab's own namespace
    --unshaped                         a comparison fabric without rates
    --frames-per-second-max N          refuse plans that can exceed it (see `limits`)
    --log-ingress                      record the frames that enter the network in FOLDER/ingress.log
    --log-bytes-max N                  bound of that file; a log that reaches it is marked as truncated
    --congestion-control [HOST=]NAME   instead of the plan's; as often as needed
    --detach                           return when it is ready; commands by FOLDER/control.sock
    --metrics PORT                     counters for OpenMetrics collectors on 127.0.0.1
tailrace-fabric exec --dir FOLDER HOST -- PROGRAM ...    a program on a host of a running lab
tailrace-fabric replay --plan FILE --log FILE            replay a log: same digest; needs no privileges; --window FROM-TO (ps) shows its frames,
                                                         --between HOST,HOST only those of these two
    --effect                           also the effect of lateness on delays and drops
tailrace-fabric observe                                  what an interface sends and receives, as pcapng on the output; the
                                                         order is JSON on the input
tailrace-fabric doctor                                   capabilities of this machine for a lab, as JSON
tailrace-fabric limits [--seconds N] [--kind KIND]       measure the capacity of this machine; --frames-only: without ports
tailrace-fabric clean                                    remove the control groups of labs whose owner is gone
";

/// Runs a command line (without the program's name).
pub fn main(words: impl Iterator<Item = String>) -> ExitCode {
    let mut words = Words::new(words);
    let result = match words.next().as_deref() {
        Some("lab") => lab::run(words),
        Some("exec") => {
            return exec::run(words).unwrap_or_else(|error| {
                tell_people(&error); // the output is the program's
                ExitCode::FAILURE
            });
        }
        Some("observe") => {
            return observe::run(words).map_or_else(
                |error| {
                    tell_people(&error); // the output is the capture
                    ExitCode::FAILURE
                },
                |()| ExitCode::SUCCESS,
            );
        }
        Some("doctor") => doctor::run(),
        Some("clean") => clean(),
        Some("replay") => replay(words),
        Some("limits") => limits::run(words),
        Some("source") => load::source(words),
        Some("sink") => load::sink(words),
        Some("fill") => bulk::fill(words),
        Some("drain") => bulk::drain(words),
        Some("generator") => generator::run(words),
        Some("blast") => blast::run(words),
        Some("catch") => blast::catch(words),
        Some("compute") => compute::run(words),
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

/// Removes the control groups of labs whose owner has ended, and lists them. Everything else of a
/// lab ends with its last process.
fn clean() -> Result<(), String> {
    let Cleared { removed, left } = crate::cgroup::clear();
    print_json(&json!({ "removed": removed, "left": left }))?;
    if left.is_empty() {
        Ok(())
    } else {
        Err("some control groups could not be removed (hint: run the command as their owner)"
            .into())
    }
}

/// A command that creates labs of its own ends with its parent process, as its answer would not be
/// read.
fn end_with_starter() -> Result<(), String> {
    die_with_parent(Signal::SIGTERM).map_err(|error| format!("requesting a signal: {error}"))
}

/// The output of `replay`.
#[derive(Serialize)]
struct ReplayAnswer {
    #[serde(flatten)]
    replayed: Replayed,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<Value>,
}

/// Replays a log and prints its outcome with the digest.
fn replay(mut words: Words) -> Result<(), String> {
    let (mut plan, mut log, mut wants_effect, mut windows_ps, mut pairs) =
        (None, None, false, Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--effect" => wants_effect = true,
            "--window" => windows_ps.push(window_ps(&words.value::<String>()?)?),
            "--between" => pairs.push(words.value::<String>()?),
            "--plan" => plan = Some(words.path()?),
            "--log" => log = Some(words.path()?),
            other => return unknown(other),
        }
    }
    let plan = lab::read_plan(&required(plan, "--plan")?)?;
    let log = required(log, "--log")?;
    let between = pairs.iter().map(|pair| hosts(&plan, pair)).collect::<Result<_, _>>()?;
    let replayed = crate::replay::replay_watched(&plan, &log, &Watched { windows_ps, between })?;
    let effect = wants_effect.then(|| crate::effect::effect(&plan, &log)).transpose()?;
    print_json(&json!(ReplayAnswer { replayed, effect }))
}

/// Two hosts of a plan, as A,B.
fn hosts(plan: &Plan, word: &str) -> Result<(u32, u32), String> {
    let host = |name: &str| {
        plan.raw.hosts.iter().position(|host| host.name == name).map(|host| host as u32)
    };
    let found = word.split_once(',').and_then(|(one, other)| Some((host(one)?, host(other)?)));
    found.ok_or_else(|| format!("--between: {word:?} is not two hosts of the plan, as A,B"))
}

/// A window as FROM-TO in picoseconds of the measured interval.
fn window_ps(word: &str) -> Result<(u64, u64), String> {
    let parts =
        word.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    parts
        .filter(|(from, to)| from <= to)
        .ok_or_else(|| format!("--window: {word:?} is not FROM-TO in picoseconds"))
}

fn print_json(value: &Value) -> Result<(), String> {
    say(&format!("{value}\n"))
}

fn say(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("writing the output: {error}"))
}
