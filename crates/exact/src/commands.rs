//! The command line of `tailrace-exact`.

use crate::boot::boot;
use crate::fault::Fault;
use crate::guest::{Machine, cage};
use crate::kernel;
use crate::registers;
use crate::spec::{BEGIN_NS, FinishedBy, Program, Stream};
use crate::trial::{CaptureOrder, Trial};
use crate::{guest::EPOCH_NS, init};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tailrace_lab::options::{Words, required};
use tailrace_plan::Plan;
use tailrace_traffic::duty::{Addresses, Congestion, Duty};

const HELP: &str = "\
tailrace-exact run --plan FILE --dir FOLDER [options]    run a trial on real kernels in virtual time; prints its outcome
    --programs FILE       programs by host: {\"h0\": [{\"words\": [\"ping\", \"10.77.0.2\"], \"is_awaited\": false}], ...}
                          a program that begins with ./ is beside FILE; docs/how-to/exact.md has all keys
    --traffic PROGRAM     this program on every host that a workload uses
    --without WORKLOAD    that program leaves this workload to others
    --kernel FILE         instead of the kernel of `make exact-deps`
    --memory MIB          of each guest (default 256)
    --core N              the core of engine and guests, counted among those that this process may use (default: any)
    --spin-limit S        wall time after which a guest that says nothing spins (default 60)
    --capture PORT FILE   what a port NODE>TOWARDS sends and receives (pcapng); more than once
    --progress            lines {\"progress\": SHARE} precede the outcome
tailrace-exact boot                                      start two guests and end them; prints what their kernel sees
    --kernel FILE         instead of the kernel of `make exact-deps`
tailrace-exact kernel                                    print where the kernel is, and why this processor has no guests
";
const MEMORY_MIB: u32 = 256;
/// No kernel of ours starts with less.
const MEMORY_MIB_MIN: u32 = 32;
const SPIN_LIMIT_S: u64 = 60;

/// Runs a command line (without the program's name).
pub fn main(words: impl Iterator<Item = String>) -> ExitCode {
    let mut words = Words::new(words);
    let result = match words.next().as_deref() {
        Some("run") => run(words),
        Some("boot") => boot_guests(words),
        Some("kernel") => print_kernel(),
        Some("cage") => match words.rest().split_first() {
            Some((kernel, arguments)) => {
                return cage(kernel, arguments).unwrap_or_else(|error| fail(&error));
            }
            None => Err("cage: a kernel is missing".to_owned()),
        },
        Some("init") => init::main(),
        Some("help" | "--help" | "-h") | None => say(HELP),
        Some(other) => unknown(other),
    };
    result.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS)
}

fn run(mut words: Words) -> Result<(), String> {
    let (mut plan_file, mut folder, mut programs_file, mut traffic, mut kernel_file) =
        (None, None, None, None, None);
    let mut without = Vec::new();
    let (mut memory_mib, mut spin_limit_s) = (MEMORY_MIB, SPIN_LIMIT_S);
    let mut captures = Vec::new();
    let (mut tells_progress, mut core) = (false, std::process::id() as usize);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--plan" => plan_file = Some(words.path()?),
            "--dir" => folder = Some(words.path()?),
            "--programs" => programs_file = Some(words.path()?),
            "--traffic" => traffic = Some(words.path()?),
            "--without" => without.push(words.value::<String>()?),
            "--kernel" => kernel_file = Some(absolute(&words.path()?)?),
            "--capture" => {
                captures.push(CaptureOrder { port: words.value()?, file: words.path()? })
            }
            "--core" => core = words.value()?,
            "--progress" => tells_progress = true,
            "--memory" => memory_mib = checked_memory(words.value()?)?,
            "--spin-limit" => spin_limit_s = words.value()?,
            other => return unknown(other),
        }
    }
    let plan_file = required(plan_file, "--plan")?;
    let text = read(&plan_file)?;
    let plan = Plan::parse(&text).map_err(|error| format!("{}: {error}", plan_file.display()))?;
    if let Some(host) = plan.raw.hosts.iter().find(|host| host.nic.lossless.is_some()) {
        return Err(format!(
            "host {}: the interface of a guest takes no part in pauses and QCN",
            host.name
        ));
    }
    let is_traffic = traffic.is_some();
    if programs_file.is_none() && traffic.is_none() {
        return Err("--programs or --traffic is needed".into());
    }
    let (mut programs, mut warnings) = (vec![Vec::new(); plan.raw.hosts.len()], Vec::new());
    if let Some(program) = traffic {
        programs = traffic_programs(&plan, &program, &without)?;
        warnings = moved_servers(&plan, &without);
    }
    if let Some(file) = programs_file {
        let named = named_programs(&plan, &file)?;
        programs.iter_mut().zip(named).for_each(|(programs, named)| programs.extend(named));
    }
    let machine = machine_of(kernel_file, memory_mib, plan.raw.seed)?;
    let limit = Duration::from_secs(spin_limit_s);
    prepare(core)?;
    let folder = required(folder, "--dir")?;
    let trial = Trial {
        plan,
        plan_file,
        folder,
        machine,
        programs,
        is_traffic,
        warnings,
        captures,
        tells_progress,
        limit,
    };
    let answer = trial.run().map_err(|fault: Fault| fault.to_string())?;
    say(&format!("{}\n", serde_json::to_string(&answer).expect("an answer is JSON")))
}

/// Two guests that do nothing.
fn boot_guests(mut words: Words) -> Result<(), String> {
    let mut kernel_file = None;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--kernel" => kernel_file = Some(absolute(&words.path()?)?),
            other => return unknown(other),
        }
    }
    let machine = machine_of(kernel_file, MEMORY_MIB, 1)?;
    prepare(std::process::id() as usize)?;
    let seen = boot(machine, Duration::from_secs(SPIN_LIMIT_S))?;
    say(&format!("{seen}\n"))
}

/// The machine of the guests.
fn machine_of(kernel: Option<PathBuf>, memory_mib: u32, seed: u64) -> Result<Machine, String> {
    let kernel = kernel
        .or_else(kernel::find)
        .ok_or("there is no kernel for guests (hint: make exact-deps)")?;
    let program =
        std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    Ok(Machine { kernel, program, memory_mib, seed, registers_bytes: registers::of_processor() })
}

/// Ends with the process that waits for the outcome, which may be killed, and stays on a core.
fn prepare(core: usize) -> Result<(), String> {
    set_pdeathsig(Signal::SIGKILL).map_err(|error| format!("asking for a signal: {error}"))?;
    stay_on_one_core(core).map_err(|error| format!("choosing a core: {error}"))
}

/// Memory of a guest. It is memory of the machine as soon as the guest uses it, which keeps a
/// record of each page from the start.
fn checked_memory(mib: u64) -> Result<u32, String> {
    let machine = nix::sys::sysinfo::sysinfo()
        .map_err(|error| format!("memory of this machine: {error}"))?
        .ram_total()
        >> 20;
    let most = u32::try_from(machine).unwrap_or(u32::MAX).max(MEMORY_MIB);
    let wanted = u32::try_from(mib).ok().filter(|mib| (MEMORY_MIB_MIN..=most).contains(mib));
    wanted.ok_or_else(|| {
        format!("--memory {mib}: a guest has {MEMORY_MIB_MIN} to {most} MiB, which is all of this machine (hint: omit it for {MEMORY_MIB})")
    })
}

/// At most one process of a trial runs at any time: on one core they hand over to each other
/// without waking another up.
fn stay_on_one_core(number: usize) -> nix::Result<()> {
    let own = Pid::from_raw(0);
    let allowed = sched_getaffinity(own)?;
    let cores: Vec<usize> =
        (0..CpuSet::count()).filter(|&core| allowed.is_set(core).unwrap_or(false)).collect();
    let Some(&core) = cores.get(number % cores.len().max(1)) else { return Ok(()) };
    let mut one = CpuSet::new();
    one.set(core)?;
    sched_setaffinity(own, &one)?;
    let_others_finish()
}

/// A process that is woken up waits until the other one waits, instead of preempting it: messages
/// are read together.
#[expect(unsafe_code, reason = "the scheduling policy has no safe wrapper")]
fn let_others_finish() -> nix::Result<()> {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is to a parameter of this function.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameter) };
    nix::errno::Errno::result(result).map(drop)
}

/// Programs from a file, by name of host. A program whose path begins with `./` is beside the file.
fn named_programs(plan: &Plan, file: &Path) -> Result<Vec<Vec<Program>>, String> {
    let mut by_name: BTreeMap<String, Vec<Program>> = serde_json::from_str(&read(file)?)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    for (host, programs) in &by_name {
        let mut problems = programs
            .iter()
            .enumerate()
            .filter_map(|(number, program)| Some((number, program.problem()?)));
        if let Some((number, problem)) = problems.next() {
            return Err(format!("{}: {host}[{number}].{problem}", file.display()));
        }
    }
    let folder =
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    for word in by_name.values_mut().flatten().filter_map(|program| program.words.first_mut()) {
        if let Some(name) = word.strip_prefix("./") {
            *word = folder.join(name).to_string_lossy().into_owned();
        }
    }
    let programs =
        plan.raw.hosts.iter().map(|host| by_name.remove(&host.name).unwrap_or_default()).collect();
    match by_name.keys().next() {
        None => Ok(programs),
        Some(name) => Err(format!("{}: the plan has no host {name:?}", file.display())),
    }
}

/// One program on every host that a workload uses.
fn traffic_programs(
    plan: &Plan,
    program: &Path,
    without: &[String],
) -> Result<Vec<Vec<Program>>, String> {
    let program =
        program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
    let program = program.to_str().ok_or("the program's path is no text")?;
    let begin = (EPOCH_NS + BEGIN_NS).to_string();
    let of_host = |(host, raw): (usize, &tailrace_plan::RawHost)| {
        if !plan.workloads.iter().any(|workload| workload.header.hosts().any(|used| used == host)) {
            return Vec::new();
        }
        let words = [
            program,
            "guest",
            "--plan",
            "/run/tailrace/plan.json",
            "--host",
            &raw.name,
            "--begin-ns",
            &begin,
            "--out",
            "/run/tailrace/out",
        ];
        let mut words = words.map(str::to_owned).to_vec();
        words.extend(without.iter().flat_map(|name| ["--without".to_owned(), name.clone()]));
        let finished_by = FinishedBy { stream: Stream::Out, text: "finished".to_owned(), lines: 1 };
        vec![Program {
            words,
            is_awaited: true,
            finished_by: Some(finished_by),
            ..Program::default()
        }]
    };
    Ok(plan.raw.hosts.iter().enumerate().map(of_host).collect())
}

/// A sentence for each server of the traffic programs that does not listen at its port of the plan:
/// each host knows all of them.
fn moved_servers(plan: &Plan, without: &[String]) -> Vec<String> {
    let names = plan.workloads.iter().map(|workload| &workload.header.name);
    let others = (0..)
        .zip(names)
        .filter(|(_, name)| without.contains(name))
        .map(|(number, _)| number)
        .collect();
    Duty::without(others, plan, 0, Addresses::new(), &Congestion::default()).moved(plan)
}

fn print_kernel() -> Result<(), String> {
    let kernel: Option<PathBuf> = kernel::find();
    say(&format!(
        "{}\n",
        json!({ "kernel": kernel, "problem": registers::problem(registers::of_processor()) })
    ))
}

/// A path that does not depend on where it is used.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn unknown(word: &str) -> Result<(), String> {
    Err(format!("unknown argument {word:?} (hint: see `tailrace-exact help`)"))
}

fn say(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("writing the output: {error}"))
}

fn fail(error: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "tailrace-exact: {error}"); // the reader may have ended
    ExitCode::FAILURE
}
