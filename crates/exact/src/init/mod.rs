//! The first process of a guest: sets its kernel up as the plan says of the host, starts its
//! programs when all guests are ready, and ends the guest when the engine says so.

mod line;
mod mounts;
mod programs;
mod randomness;
mod users;

use crate::guest::EPOCH_NS;
use crate::spec::{Ending, GuestSpec, Line, QueueReport, REASON, SPEC, START_NS};
use line::EngineLine;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use programs::{Programs, Whom};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use tailrace_lab::address;
use tailrace_lab::kernel::{
    congestion_control_of, join_networks, set_kernel, switch_off_joining, uses_priorities,
};
use tailrace_lab::netlink::{Link, Netlink, find};
use tailrace_plan::{Plan, RawHost};

/// The interface of a guest.
const INTERFACE: &str = "eth0";
/// On top of it where programs have priorities: the tags report them to the engine.
const PRIORITY_TAGS: &str = "priority";
const LOOPBACK: Link = Link(1);
/// Frames that wait in the queue of the interface: as Linux gives an Ethernet interface. Its
/// queueing discipline counts bytes.
const QUEUE_FRAMES: u32 = 1_000;
/// The header of a frame.
const ETHERNET_BYTES: u32 = 14;
/// Open files of a program.
const FILES_MAX: u64 = 1 << 20;
/// Virtual time that programs have to end after they were asked to.
const GRACE: u16 = 1_000;
/// Above this TCP shrinks its buffers. A host with gigabytes never does, and a guest would by its
/// small memory.
const TCP_MEMORY: &str = "/proc/sys/net/ipv4/tcp_mem";
const TCP_MEMORY_PAGES: &str = "1000000";
/// Its kernel's release.
const RELEASE: &str = "/proc/sys/kernel/osrelease";
/// Counters of the guest, and its kernel's release, copied into its folder at the end.
const COUNTERS: [&str; 4] = ["/proc/net/snmp", "/proc/net/netstat", "/proc/net/dev", RELEASE];

/// Runs a guest, from its first instruction to its end. The kernel panics should it return.
pub fn main() -> ! {
    let line = serve();
    if let Err(error) = line {
        // The engine quotes it from the console, which has messages of this level and above.
        let reason = error.replace('\n', " ");
        let _ = fs::write("/dev/kmsg", format!("<3>{REASON}{reason}\n"));
        if let Ok(line) = EngineLine::open(INTERFACE) {
            let _ = line.say(Line::Failed);
        }
    }
    let _ = reboot(RebootMode::RB_POWER_OFF);
    std::process::exit(1)
}

fn serve() -> Result<(), String> {
    let say = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let (spec, plan, plan_text) = read()?;
    let mut spec = spec;
    mounts::mount_all(&mut spec, &plan_text).map_err(say("mounting"))?;
    let name = &plan.raw.hosts[spec.host].name;
    randomness::seed(plan.raw.seed, name).map_err(say("seeding random numbers"))?;
    nix::unistd::sethostname(name).map_err(io::Error::from).map_err(say("setting the name"))?;
    set_kernel(&plan, spec.host).map_err(say("the kernel's settings"))?;
    fs::write(TCP_MEMORY, [TCP_MEMORY_PAGES; 3].join(" ")).map_err(say("memory for TCP"))?;
    set_up_interface(&plan, spec.host).map_err(say("the interface"))?;
    setrlimit(Resource::RLIMIT_NOFILE, FILES_MAX, FILES_MAX)
        .map_err(io::Error::from)
        .map_err(say("limits"))?;
    let line = EngineLine::open(INTERFACE).map_err(say("the line to the engine"))?;
    line.say(Line::Ready).map_err(say("the line to the engine"))?;
    let endings = run_programs(&spec, &line).map_err(say("running programs"))?;
    report(&endings).map_err(say("writing the report"))?;
    nix::unistd::sync();
    line.say(Line::End).map_err(say("the line to the engine"))
}

fn read() -> Result<(GuestSpec, Plan, String), String> {
    let spec = mounts::read_in_folder(SPEC).map_err(|error| format!("{SPEC}: {error}"))?;
    let spec: GuestSpec =
        serde_json::from_str(&spec).map_err(|error| format!("{SPEC}: {error}"))?;
    let text = |path: &Path| {
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let plan_text = text(&spec.plan)?;
    let plan =
        Plan::parse(&plan_text).map_err(|error| format!("{}: {error}", spec.plan.display()))?;
    Ok((spec, plan, plan_text))
}

fn set_up_interface(plan: &Plan, host: usize) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.up(LOOPBACK)?;
    let link = find(INTERFACE)?;
    netlink.bring_up(link, address::mac(host), plan.raw.hosts[host].mtu_bytes, QUEUE_FRAMES)?;
    netlink.bound_queue(link, queue_limit(&plan.raw.hosts[host]))?;
    if plan.raw.hosts[host].nic.gro_bytes == 0 {
        switch_off_joining(INTERFACE)?;
    }
    let link = if uses_priorities(plan) { add_priority_tags(&mut netlink, link)? } else { link };
    join_networks(&mut netlink, link, (plan, host), congestion_control_of(plan, host))
}

/// The limit of the queueing discipline: a frame that finds at most the plan's limit waiting still
/// enters, a row of segments at a time.
fn queue_limit(raw: &RawHost) -> u32 {
    let row_bytes = u64::from(raw.nic.tso_bytes.max(raw.mtu_bytes) + ETHERNET_BYTES);
    u32::try_from(raw.nic.queue_bytes.saturating_add(row_bytes)).unwrap_or(u32::MAX)
}

/// Writes the counters of the queueing discipline.
fn report_queue() -> io::Result<()> {
    let counters = Netlink::open()?.queue(find(INTERFACE)?)?;
    let report = QueueReport { drop_frames: counters.drop_frames };
    fs::write(Path::new(mounts::OUTPUT).join(QueueReport::FILE), serde_json::to_string(&report)?)
}

/// Frames that are sent through the returned interface carry a tag. Received ones have none, and
/// come by the one below.
fn add_priority_tags(netlink: &mut Netlink, below: Link) -> io::Result<Link> {
    netlink.add_priority_tags(PRIORITY_TAGS, below)?;
    let link = find(PRIORITY_TAGS)?;
    netlink.up(link)?;
    Ok(link)
}

/// Runs programs from the start on until the engine ends the guest.
fn run_programs(spec: &GuestSpec, line: &EngineLine) -> io::Result<Vec<Ending>> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    let children = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let mut programs = Programs::new(&spec.programs, EPOCH_NS + START_NS);
    let timer =
        TimerFd::new(ClockId::CLOCK_REALTIME, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
    let (mut is_stopping, mut is_ending) = (false, false);
    let mut has_said = false;
    loop {
        programs.start_due()?;
        // Nothing may ever happen on a host without programs.
        if !has_said && let Some(is_well) = programs.are_done() {
            line.say(Line::Done(is_well))?;
            has_said = true;
        }
        match programs.next_start() {
            Some(start) if !is_ending => {
                timer.set(
                    Expiration::OneShot(TimeSpec::from_duration(start)),
                    TimerSetTimeFlags::TFD_TIMER_ABSTIME,
                )?;
            }
            _ => timer.unset()?,
        }
        let limit = if is_ending { PollTimeout::from(GRACE) } else { PollTimeout::NONE };
        let files =
            [line.as_fd(), children.as_fd(), timer.as_fd()].into_iter().chain(programs.outputs());
        let mut inputs: Vec<PollFd<'_>> =
            files.map(|input| PollFd::new(input, PollFlags::POLLIN)).collect();
        let count = poll(&mut inputs, limit)?;
        let has_line = inputs[0].any().unwrap_or(false);
        while children.read_signal()?.is_some() {}
        programs.read_outputs()?;
        programs.reap()?;
        if is_ending && (count == 0 || programs.are_over()) {
            programs.kill();
            return programs.endings();
        }
        match if has_line { line.hear()? } else { None } {
            Some(Line::Stop) => {
                (is_stopping, has_said) = (true, true);
                programs.ask_to_end(Whom::Clients);
            }
            Some(Line::End) => {
                is_ending = true;
                report_queue()?;
                programs.ask_to_end(Whom::All);
                if programs.are_over() {
                    return programs.endings();
                }
            }
            _ => {}
        }
        if is_stopping && programs.clients_are_over() {
            line.say(Line::Stopped)?;
            is_stopping = false;
        }
    }
}

fn report(endings: &[Ending]) -> io::Result<()> {
    let folder = Path::new(mounts::OUTPUT);
    fs::write(folder.join("endings.json"), serde_json::to_string(endings)?)?;
    for counters in COUNTERS {
        let name = Path::new(counters).file_name().expect("it has a name");
        fs::write(folder.join(name), fs::read(counters)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_holds_a_row_of_segments_beyond_its_limit() {
        let plan = Plan::parse(include_str!("../../../lab/src/measured_plan.json"))
            .expect("the plan is sound");
        let mut raw = plan.raw.hosts[0].clone();
        raw.nic.queue_bytes = 100_000;
        assert_eq!(queue_limit(&raw), 100_000 + 65_536 + 14);
        raw.nic.tso_bytes = 0;
        assert_eq!(queue_limit(&raw), 100_000 + 1_500 + 14);
    }
}
