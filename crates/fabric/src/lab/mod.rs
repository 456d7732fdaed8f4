//! A lab: the first process of a process namespace. It makes the hosts, runs the data plane, starts
//! programs and reaps them. When it ends, for whatever reason, the kernel ends everything in it.

mod back_pressure;
mod clients;
mod devices;
mod fabric;
mod foreign;
mod hosts;
mod kind;
mod line;
mod measurement;
mod metrics;
mod mounts;
mod openvswitch;
mod openvswitch_tools;
mod programs;
pub mod protocol;
mod star;

pub use fabric::lacking;
pub use hosts::Override;
pub use kind::FabricKind;
pub use mounts::{SCRATCH, is_private};
pub(crate) use star::queue_limit_bytes;

use crate::cgroup::{self, Groups};
use crate::log::Writer;
use crate::plane::question::Ask;
use crate::sys::process::reap;
use clients::Clients;
use fabric::Fabric;
use hosts::Host;
use measurement::Measurement;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use programs::Programs;
use protocol::{Command, Op};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use tailrace_lab::address;
use tailrace_lab::netlink::{Link, Netlink};
use tailrace_lab::vlans::Vlans;
use tailrace_plan::Plan;

/// Configuration of a lab.
#[derive(Debug)]
pub struct Setup {
    /// The plan.
    pub plan: Plan,
    /// The fabric that joins the hosts.
    pub kind: FabricKind,
    /// Whether a comparison fabric keeps the rates of links.
    pub is_shaped: bool,
    /// Folder of the lab's state file.
    pub dir: PathBuf,
    /// Congestion controls instead of the plan's.
    pub overrides: Vec<Override>,
    /// File for a log of the frames that enter the network.
    pub log: Option<PathBuf>,
    /// Most bytes of it.
    pub log_bytes_max: u64,
    /// Control groups, if there are any.
    pub groups: Option<Groups>,
    /// Whether root is root only inside a user namespace.
    pub is_nested: bool,
    /// Socket for the clients of a detached lab, whose input and output no process holds.
    pub control: Option<UnixListener>,
    /// Where collectors ask for counters.
    pub metrics: Option<TcpListener>,
    /// Deviations from the request so far.
    pub warnings: Vec<String>,
}

struct Lab {
    plan: Arc<Plan>,
    hosts: Vec<Host>,
    fabric: Fabric,
    programs: Programs,
    clients: Clients,
    measurement: Measurement,
}

/// Runs a lab to its end.
///
/// # Errors
/// Why it could not be made, as text.
pub fn run(setup: Setup) -> Result<(), String> {
    let pid = outer_pid()?;
    let text = |error: io::Error| error.to_string();
    let children = watch_children().map_err(text)?;
    // The thread of the built-in switch has real-time priority, which a group may not give.
    let joins = setup.kind != FabricKind::Tap
        && setup.plan.raw.hosts.iter().any(|host| !host.neighbours.is_empty());
    if let Some(groups) = setup.groups.as_ref().filter(|_| joins) {
        groups
            .join(cgroup::NO_HOST)
            .map_err(|error| format!("joining a control group: {error}"))?;
    }
    let spaces = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    unshare(spaces).map_err(|error| format!("creating namespaces: {error}"))?;
    let names: Vec<String> = setup.plan.raw.hosts.iter().map(|host| host.name.clone()).collect();
    mounts::set_up(&names).map_err(text)?;
    Netlink::open().and_then(|mut netlink| netlink.up(Link(1))).map_err(text)?;
    let plan = Arc::new(setup.plan);
    let vlans = Vlans::new(&plan)?;
    let star = setup.kind.star(&plan, setup.is_shaped)?;
    let made =
        hosts::create_all(&plan, (setup.kind, star.as_ref()), &setup.overrides).map_err(text)?;
    let (hosts, wires): (Vec<Host>, Vec<_>) = made.into_iter().unzip();
    let log = setup
        .log
        .as_deref()
        .map(|path| Writer::bounded(path, setup.log_bytes_max))
        .transpose()
        .map_err(|error| format!("creating the log: {error}"))?;
    let resources = (setup.groups.as_ref(), setup.dir.as_path());
    let fabric = Fabric::start(setup.kind, &plan, wires, star, log, resources)
        .map_err(|error| format!("joining the hosts: {error}"))?;
    let mut warnings = setup.warnings;
    if setup.kind == FabricKind::Tap && !fabric.is_realtime() {
        warnings.push("no real-time scheduling (CAP_SYS_NICE is missing): other programs may delay the fabric".into());
    }
    if hosts.iter().any(|host| host.lacks_queue) {
        warnings.push(back_pressure::MISSING.into());
    }
    let programs =
        Programs::new(setup.groups.clone(), setup.is_nested, joins && setup.groups.is_some());
    let ready = json!({
        "event": "ready",
        "version": env!("CARGO_PKG_VERSION"),
        "hosts": hosts.iter().enumerate().map(|(index, host)| describe(index, host, &vlans)).collect::<Vec<_>>(),
        "cgroup": setup.groups.as_ref().map(|groups| &groups.name),
        "cpu_limits": setup.groups.as_ref().is_some_and(Groups::can_limit_cpus),
        "io_limits": setup.groups.as_ref().is_some_and(Groups::can_limit_io),
        "priorities": programs.can_prioritise(),
        "nested": setup.is_nested,
        "kind": setup.kind.name(),
        "realtime": fabric.is_realtime(),
        "stamps": hosts.iter().all(Host::is_stamping),
        "warnings": warnings,
        "lab_pid": pid,
    });
    write_state(&setup.dir, &ready, &hosts)?;
    if setup.control.is_some() {
        protocol::say(&ready); // its starter waits for this one word
    }
    let clients = Clients::new(setup.control);
    let measurement = Measurement::new(setup.kind, fabric.is_realtime(), setup.log);
    let mut lab = Lab { plan, hosts, fabric, programs, clients, measurement };
    lab.clients.tell(&ready);
    lab.serve(&children, setup.metrics.as_ref())
}

impl Lab {
    /// Executes commands and reports events of programs, until the last command or until no client
    /// is left.
    fn serve(mut self, children: &SignalFd, metrics: Option<&TcpListener>) -> Result<(), String> {
        let files: Vec<_> =
            [children.as_fd()].into_iter().chain(metrics.map(AsFd::as_fd)).collect();
        loop {
            let heard = self
                .clients
                .listen(&files)
                .map_err(|error| format!("waiting for commands: {error}"))?;
            if let (Some(true), Some(listener)) = (heard.others.get(1), metrics) {
                metrics::serve(listener, &self.fabric.outcome()?);
            }
            while let Ok(Some(_)) = children.read_signal() {}
            self.reap();
            for (from, line) in heard.lines {
                let command = match protocol::parse(&line) {
                    Ok(command) => command,
                    Err(answer) => {
                        self.clients.answer(from, &answer);
                        continue;
                    }
                };
                if matches!(command.op, Op::Down) {
                    let Lab { mut hosts, fabric, mut clients, measurement, .. } = self;
                    let outcome =
                        fabric.stop().map(|outcome| measurement.complete(outcome, &mut hosts));
                    let answer = outcome.map(|outcome| json!({ "outcome": outcome }));
                    clients.answer(from, &protocol::answer(command.id, answer));
                    return Ok(());
                }
                let Command { id, op } = command;
                let answer = self.carry_out(op);
                self.clients.answer(from, &protocol::answer(id, answer));
            }
            if heard.is_over {
                return Ok(());
            }
        }
    }

    fn carry_out(&mut self, op: Op) -> Result<Value, String> {
        match op {
            Op::Spawn(order) => {
                let host = order.host.as_deref().map(|name| self.host(name)).transpose()?;
                let pid = self.programs.start(&order, host.map(|host| &self.hosts[host]))?;
                Ok(json!({ "pid": pid.as_raw() }))
            }
            Op::Signal { name, signal, group } => {
                self.programs.signal(&name, &signal, group).map(|()| Value::Null)
            }
            Op::Begin => {
                self.measurement.begin(&mut self.hosts)?;
                self.fabric.begin().map(|begun| begun.to_json())
            }
            Op::End => {
                self.fabric.end()?;
                self.measurement.end(&mut self.hosts);
                Ok(Value::Null)
            }
            Op::Counters => {
                let outcome = self.fabric.outcome()?;
                Ok(json!({ "outcome": self.measurement.complete(outcome, &mut self.hosts) }))
            }
            Op::Capture { port, path } => {
                let (host, name) = (self.port(&port)?, format!("{}>{}", port.0, port.1));
                if is_private(&path) {
                    return Err(format!(
                        "{} would be removed with the lab: choose another folder",
                        path.display()
                    ));
                }
                self.fabric.ask(Ask::Capture(host, path, name)).map(|done| done.to_json())
            }
            Op::CaptureStop { port } => self
                .fabric
                .ask(Ask::CaptureEnd(self.port(&port)?))
                .map(|captured| captured.to_json()),
            Op::Down => unreachable!("the end is handled by who calls"),
        }
    }

    fn host(&self, name: &str) -> Result<usize, String> {
        let found = self.plan.raw.hosts.iter().position(|host| host.name == name);
        found.ok_or_else(|| format!("the plan has no host {name:?}"))
    }

    /// The host behind a port of a switch.
    fn port(&self, (switch, towards): &(String, String)) -> Result<usize, String> {
        let host = self.host(towards).map_err(|error| {
            format!("{error}; only ports of switches towards hosts can be captured")
        })?;
        let graph = &self.plan.graph;
        let peer = &graph.names[graph.ports[host][0].peer];
        if peer == switch {
            Ok(host)
        } else {
            Err(format!("{towards:?} is at {peer:?}, not at {switch:?}"))
        }
    }

    fn reap(&mut self) {
        while let Some(reaped) = reap() {
            if let Some(event) = self.programs.ended(&reaped) {
                self.clients.tell(&event);
            }
        }
    }
}

/// The number of this process in the namespace that it came from: /proc is still that of the
/// measurement.
fn outer_pid() -> Result<i32, String> {
    let link = fs::read_link("/proc/self").map_err(|error| format!("/proc: {error}"))?;
    link.to_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| "/proc/self is not a number".into())
}

/// Ends of children become readable. Before there are threads, which all must leave the signal
/// alone.
fn watch_children() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.thread_set_mask()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

fn describe(index: usize, host: &Host, vlans: &Vlans) -> Value {
    let in_vlan = |(vlan, number): (u16, usize)| {
        (vlan.to_string(), json!(address::ipv4_in(number, index).to_string()))
    };
    json!({
        "vlans": vlans.of_host(index).map(in_vlan).collect::<serde_json::Map<_, _>>(),
        "name": host.name,
        "address": address::ipv4(index).to_string(),
        "mac": address::mac_text(index),
        "mtu": host.mtu_bytes,
        "congestion_control": host.congestion_control,
    })
}

/// Writes the state that a program needs to join the lab: its process, and the file of each host's
/// network namespace in it.
fn write_state(dir: &std::path::Path, ready: &Value, hosts: &[Host]) -> Result<(), String> {
    let files = hosts.iter().map(|host| (host.name.clone(), json!(host.namespace.as_raw_fd())));
    let mut state = ready.clone();
    state["network_files"] = Value::Object(files.collect());
    let path = dir.join("lab.json");
    fs::write(&path, state.to_string())
        .map_err(|error| format!("writing {}: {error}", path.display()))
}
