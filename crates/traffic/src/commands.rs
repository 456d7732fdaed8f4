//! The command line.

use crate::duty::{Addresses, Congestion, Duty};
use crate::host::{Host, Settings};
use crate::kernel::{Begin, ClockKind, HostProgress, Input, run};
use crate::merge::merge;
use crate::record::Record;
use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::str::FromStr;
use tailrace_outcome::TrafficOutcome;
use tailrace_plan::Plan;
use tailrace_record::collect_tables;
use tailrace_units::{Span, Time};

const USAGE: &str = "\
tailrace-traffic: the workloads of a plan over the sockets of this system

    tailrace-traffic guest --plan FILE --host NAME --begin-ns NS|--begin-file FILE --out FOLDER [OPTIONS]
        runs the ends of one host from NS, on the clock, until the plan's end; SIGTERM and SIGINT end it earlier.
        Writes FOLDER/NAME.traffic at the end. Tells on standard output `ready`, `finished PS` and `ended PS`; the first two
        stand in FOLDER/NAME.ready and FOLDER/NAME.finished too, for whoever cannot read the output. Ready: its listeners
        are open. Finished: everything that has an end and is measured by this host is complete. A trial is over when all
        hosts have said so, if anything has an end.
        --begin-file FILE               NS stands in this file, in a line, which is written when all hosts are ready
        --clock realtime|monotonic      the clock of --begin-ns; realtime when missing
        --address NAME[.VLAN]=IPV4      where a host is; 10.77.0.1 plus its place in the plan when missing, 10.78.0.1 in the
                                        first VLAN, and so on
        --congestion [WORKLOAD=]NAME    congestion control; the plan's when missing; `system` leaves the system's
        --bin-ns NS                     bins of received bytes; 1000000 when missing
        --tcp-ns NS                     reads TCP's counters so often; when missing as often as the plan wants windows, and at the
                                        end of the warm-up and at the end
        --without WORKLOAD              leaves a workload to other programs
        --end-on-input                  bytes, or the end, of standard input end the trial too

    tailrace-traffic merge --plan FILE [--end-ps PS] RECORD...
        makes the outcome of a trial from the records of its hosts, as JSON on standard output

    tailrace-traffic help
";

/// Bins of received bytes.
const BIN_NS: u64 = 1_000_000;

/// Runs the command with these words.
pub fn main(words: impl Iterator<Item = String>) -> ExitCode {
    match command(&words.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // It may not be read; the exit code says it too.
            let _ = writeln!(io::stderr(), "tailrace-traffic: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command(words: &[String]) -> Result<(), String> {
    match words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("guest", rest)) => guest(Options::parse(rest)?),
        Some(("merge", rest)) => merge_records(Options::parse(rest)?),
        None | Some(("help" | "--help" | "-h", _)) => say(USAGE),
        Some((other, _)) => {
            Err(format!("unknown command {other:?} (hint: see `tailrace-traffic help`)"))
        }
    }
}

/// All options, of both commands.
#[derive(Default)]
struct Options {
    plan: Option<PathBuf>,
    host: Option<String>,
    begin_ns: Option<u64>,
    begin_file: Option<PathBuf>,
    out: Option<PathBuf>,
    is_monotonic: bool,
    addresses: Vec<String>,
    congestion: Congestion,
    bin_ns: Option<u64>,
    tcp_ns: Option<u64>,
    ends_on_input: bool,
    without: Vec<String>,
    end_ps: Option<u64>,
    records: Vec<PathBuf>,
}

impl Options {
    fn parse(words: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word}: a value is missing"));
            match word.as_str() {
                "--plan" => options.plan = Some(value()?.into()),
                "--host" => options.host = Some(value()?.clone()),
                "--begin-ns" => options.begin_ns = Some(number(word, value()?)?),
                "--begin-file" => options.begin_file = Some(value()?.into()),
                "--out" => options.out = Some(value()?.into()),
                "--clock" => options.is_monotonic = is_monotonic(value()?)?,
                "--address" => options.addresses.push(value()?.clone()),
                "--congestion" => set_congestion(&mut options.congestion, value()?),
                "--bin-ns" => options.bin_ns = Some(positive(word, value()?)?),
                "--tcp-ns" => options.tcp_ns = Some(positive(word, value()?)?),
                "--without" => options.without.push(value()?.clone()),
                "--end-on-input" => options.ends_on_input = true,
                "--end-ps" => options.end_ps = Some(number(word, value()?)?),
                other if other.starts_with("--") => {
                    return Err(format!(
                        "unknown option {other:?} (hint: see `tailrace-traffic help`)"
                    ));
                }
                record => options.records.push(record.into()),
            }
        }
        Ok(options)
    }

    fn read_plan(&self) -> Result<Plan, String> {
        let path = required(self.plan.as_ref(), "--plan")?;
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Plan::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn required<T>(value: Option<T>, option: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("{option} is missing"))
}

fn number<T: FromStr>(option: &str, word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{option}: {word:?} is no number"))
}

fn positive(option: &str, word: &str) -> Result<u64, String> {
    let value = number(option, word)?;
    if value == 0 { Err(format!("{option} is above zero")) } else { Ok(value) }
}

fn is_monotonic(word: &str) -> Result<bool, String> {
    match word {
        "monotonic" => Ok(true),
        "realtime" => Ok(false),
        other => Err(format!("--clock: {other:?} is neither realtime nor monotonic")),
    }
}

fn set_congestion(congestion: &mut Congestion, word: &str) {
    match word.split_once('=') {
        Some((workload, name)) => {
            congestion.of_workload.insert(workload.to_owned(), Rc::from(name));
        }
        None if word == "system" => congestion.is_systems = true,
        None => congestion.usual = Some(Rc::from(word)),
    }
}

fn addresses(plan: &Plan, words: &[String]) -> Result<Addresses, String> {
    let parse = |word: &String| {
        let (at, ip) = word.split_once('=')?;
        let ip: Ipv4Addr = ip.parse().ok()?;
        let host_named = |name: &str| {
            plan.raw.hosts.iter().position(|host| host.name == name).map(|host| host as u32)
        };
        // Names of hosts may have dots.
        if let Some(host) = host_named(at) {
            return Some(((host, 0), ip));
        }
        let (name, vlan) = at.rsplit_once('.')?;
        Some(((host_named(name)?, vlan.parse().ok()?), ip))
    };
    words
        .iter()
        .map(|word| {
            parse(word)
                .ok_or_else(|| format!("--address: {word:?} is not HOST=IPV4 or HOST.VLAN=IPV4"))
        })
        .collect()
}

fn guest(options: Options) -> Result<(), String> {
    let plan = options.read_plan()?;
    let name = required(options.host.as_ref(), "--host")?;
    let out = required(options.out.as_ref(), "--out")?;
    let begin = match (options.begin_ns, options.begin_file) {
        (Some(ns), None) => Begin::At(ns),
        (None, Some(path)) => Begin::InFile(path),
        (None, None) => return Err("--begin-ns or --begin-file is missing".to_owned()),
        (Some(_), Some(_)) => {
            return Err("--begin-ns and --begin-file exclude each other".to_owned());
        }
    };
    let number = plan.raw.hosts.iter().position(|host| host.name == *name);
    let number = number.ok_or_else(|| format!("--host: the plan has no host {name:?}"))? as u32;
    if let Some(unknown) =
        options.congestion.of_workload.keys().find(|known| !has_workload(&plan, known))
    {
        return Err(format!("--congestion: the plan has no workload {unknown:?}"));
    }
    if let Some(unknown) = options.without.iter().find(|known| !has_workload(&plan, known)) {
        return Err(format!("--without: the plan has no workload {unknown:?}"));
    }
    let names = plan.workloads.iter().map(|workload| &workload.header.name);
    let others = (0..)
        .zip(names)
        .filter(|(_, name)| options.without.contains(name))
        .map(|(number, _)| number)
        .collect();
    let duty = Duty::without(
        others,
        &plan,
        number,
        addresses(&plan, &options.addresses)?,
        &options.congestion,
    );
    let bin = Span::from_ns(options.bin_ns.unwrap_or(BIN_NS));
    let of_plan =
        Some(Span::from_ps(plan.raw.observe.windows_ps)).filter(|&interval| interval > Span::ZERO);
    let tcp_interval = options.tcp_ns.map(Span::from_ns).or(of_plan);
    let host = Host::new(&plan, duty, number, Settings { bin, tcp_interval });
    let kind = if options.is_monotonic { ClockKind::Monotonic } else { ClockKind::Realtime };
    let input = if options.ends_on_input { Input::EndsTrial } else { Input::Ignored };
    let stop_at = Time::from_ps(plan.raw.stop_at_ps);
    let tell = |news| tell(news, out, name);
    let ended = run(host, kind, &begin, stop_at, input, tell)
        .map_err(|error| format!("host {name}: {error}"))?;
    let path = out.join(format!("{name}.traffic"));
    fs::write(&path, &ended.record).map_err(|error| format!("{}: {error}", path.display()))?;
    say(&format!("ended {}\n", ended.at.ps()))
}

fn has_workload(plan: &Plan, name: &str) -> bool {
    plan.workloads.iter().any(|workload| workload.header.name == name)
}

/// One line for the runner of the trial, and a file.
fn tell(news: HostProgress, out: &Path, host: &str) -> io::Result<()> {
    let line = match news {
        HostProgress::Ready => {
            fs::write(out.join(format!("{host}.ready")), "")?;
            "ready\n".to_owned()
        }
        HostProgress::Finished(at) => {
            fs::write(out.join(format!("{host}.finished")), format!("{}\n", at.ps()))?;
            format!("finished {}\n", at.ps())
        }
    };
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

fn say(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output: {error}"))
}

fn merge_records(options: Options) -> Result<(), String> {
    let plan = options.read_plan()?;
    let read =
        |path: &PathBuf| read_record(path).map_err(|error| format!("{}: {error}", path.display()));
    let records = options.records.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let merged = merge(&plan, &records, options.end_ps.map(Time::from_ps))?;
    let outcome = TrafficOutcome { tables: Some(collect_tables(&merged.tables)), ..merged.summary };
    say(&format!("{}\n", serde_json::to_string(&outcome).expect("an outcome is JSON")))
}

fn read_record(path: &Path) -> Result<Record, String> {
    Record::parse(&fs::read(path).map_err(|error| error.to_string())?)
}
