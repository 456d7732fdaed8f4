//! Open vSwitch as the switch of a lab: its database and its daemon, in the lab's own namespaces.
//! Everything that it would keep below /run or /etc is in the lab's memory, and everything ends
//! with the lab.

use super::kind::Datapath;
use super::openvswitch_tools::{HOME, control, environment, run, switch_control, tool, wait_for};
use crate::cgroup::{self, Groups};
use crate::sys::process::{self, ChildSetup};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tailrace_lab::address;

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
const BRIDGE: &str = "br0";
/// The daemon in Debian's packages, and as others install it. The package with DPDK makes
/// `ovs-vswitchd` mean its own.
const DAEMON: [&str; 2] = ["/usr/lib/openvswitch-switch/ovs-vswitchd", "/usr/sbin/ovs-vswitchd"];
const DAEMON_DPDK: [&str; 2] =
    ["/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk", "/usr/sbin/ovs-vswitchd"];
/// Libraries that DPDK loads while it runs, for ports to the kernel and for memory, and Debian's
/// package of each.
const DPDK_LIBRARIES: [(&str, &str); 2] = [
    ("librte_net_af_packet", "librte-net-af-packet"),
    ("librte_mempool_ring", "librte-mempool-ring"),
];
/// Memory for DPDK's packets: 300 MB of the daemon were seen in use with it. Open vSwitch takes
/// fewer packets where its usual 262 144 do not fit.
const DPDK_MEMORY_MB: u32 = 256;

/// Open vSwitch at work. It ends with its value, and whatever happens with the lab's first process.
#[derive(Debug)]
pub(super) struct OpenVSwitch {
    daemons: Vec<Daemon>,
}

/// One of its programs.
#[derive(Debug)]
struct Daemon {
    pid: Pid,
    /// With its number, distinguishes it from a later process.
    start_ticks: u64,
    /// Its output.
    log: PathBuf,
}

impl OpenVSwitch {
    /// Starts it with a port at each of these interfaces. Its output goes to files in `dir`.
    pub(super) fn start(
        datapath: Datapath,
        ends: &[String],
        mtus: &[u32],
        groups: Option<&Groups>,
        dir: &Path,
    ) -> io::Result<OpenVSwitch> {
        let daemon = daemon(datapath)?;
        fs::create_dir_all(HOME)?;
        run(tool("ovsdb-tool").arg("create").arg(format!("{HOME}/conf.db")).arg(SCHEMA))?;
        let mut switch = OpenVSwitch { daemons: Vec::new() };
        let mut server = tool("ovsdb-server");
        server.args([
            format!("{HOME}/conf.db"),
            format!("--remote=punix:{HOME}/db.sock"),
            format!("--unixctl={HOME}/db.ctl"),
        ]);
        switch.daemons.push(begin(&mut server, groups, dir.join("ovsdb-server.log"))?);
        wait_for("db.sock", dir)?;
        run(control().args(["--no-wait", "init"]))?;
        if datapath != Datapath::Netdev {
            let mask = 1_u128
                << (std::thread::available_parallelism().map_or(1, usize::from) - 1).min(127);
            let core = format!("other_config:pmd-cpu-mask={mask:#x}");
            // Without huge pages and without devices: nothing of the machine is touched.
            let extra = format!(
                "other_config:dpdk-extra=\"--no-pci --no-huge --legacy-mem -m {DPDK_MEMORY_MB}\""
            );
            run(control().args([
                "--no-wait",
                "set",
                "Open_vSwitch",
                ".",
                "other_config:dpdk-init=true",
                &core,
                &extra,
            ]))?;
        }
        let mut vswitchd = Command::new(daemon);
        environment(&mut vswitchd)
            .args([format!("unix:{HOME}/db.sock"), format!("--unixctl={HOME}/switch.ctl")]);
        switch.daemons.push(begin(&mut vswitchd, groups, dir.join("ovs-vswitchd.log"))?);
        run(control().args(ports(datapath, ends, mtus)))?;
        refuse_errors(dir)?;
        for index in 0..ends.len() {
            let (port, mac) = (port_name(datapath, ends, index), address::mac_text(index));
            run(switch_control().args(["fdb/add", BRIDGE, &port, "0", &mac]))?;
        }
        Ok(switch)
    }

    /// Processor time of its daemons so far.
    ///
    /// # Errors
    /// When one of them has ended, since when nothing is switched.
    pub(super) fn processor_time(&self) -> io::Result<Duration> {
        self.daemons.iter().map(Daemon::processor_time).sum()
    }
}

impl Drop for OpenVSwitch {
    fn drop(&mut self) {
        for daemon in &self.daemons {
            // it may have ended
            let _ = nix::sys::signal::kill(daemon.pid, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

impl Daemon {
    fn processor_time(&self) -> io::Result<Duration> {
        let pid = self.pid.to_string();
        let time =
            process::processor_time(&pid).filter(|_| process::is_alive(&pid, self.start_ticks));
        time.ok_or_else(|| {
            io::Error::other(format!("Open vSwitch has ended: see {}", self.log.display()))
        })
    }
}

/// The missing parts on this machine, for the user; `None` when nothing is missing.
pub(super) fn lacking(datapath: Datapath) -> Option<String> {
    let (paths, package) = installation(datapath);
    if !Path::new(SCHEMA).is_file() || !paths.iter().any(|path| Path::new(path).is_file()) {
        return Some(format!("Open vSwitch is not installed (Debian's package: {package})"));
    }
    let lacks =
        |(library, _): &&(&str, &str)| datapath != Datapath::Netdev && !has_library(library);
    let (library, package) = DPDK_LIBRARIES.iter().find(lacks)?;
    Some(format!("DPDK's {library} is not installed (Debian's package: {package} with a number)"))
}

/// Paths of the daemon, and Debian's package.
fn installation(datapath: Datapath) -> ([&'static str; 2], &'static str) {
    match datapath {
        Datapath::Netdev => (DAEMON, "openvswitch-switch"),
        Datapath::Dpdk | Datapath::Vhost => (DAEMON_DPDK, "openvswitch-switch-dpdk"),
    }
}

/// Whether DPDK finds a library that it loads while it runs: below a folder of its own among the
/// libraries.
fn has_library(name: &str) -> bool {
    let entries = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let machines: Vec<PathBuf> = ["/usr/lib", "/usr/local/lib", "/usr/lib64"]
        .iter()
        .flat_map(|directory| {
            let directory = Path::new(directory);
            let below: Vec<PathBuf> = entries(directory);
            below.into_iter().chain([directory.to_owned()])
        })
        .collect();
    let folders =
        machines.iter().flat_map(|machine| -> Vec<PathBuf> { entries(&machine.join("dpdk")) });
    let starts = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}.so")))
    };
    folders.into_iter().any(|folder| -> bool {
        let files: Vec<PathBuf> = entries(&folder);
        files.iter().any(starts)
    })
}

fn daemon(datapath: Datapath) -> io::Result<&'static str> {
    if let Some(lacks) = lacking(datapath) {
        return Err(io::Error::other(lacks));
    }
    let (paths, _) = installation(datapath);
    Ok(paths.into_iter().find(|path| Path::new(path).is_file()).expect("it was there a moment ago"))
}

/// Arguments of `ovs-vsctl`: a bridge in user space with a port for each interface.
fn ports(datapath: Datapath, ends: &[String], mtus: &[u32]) -> Vec<String> {
    let mut words: Vec<String> =
        ["--", "add-br", BRIDGE, "--", "set", "bridge", BRIDGE].map(str::to_owned).to_vec();
    words.push("datapath_type=netdev".into());
    for (index, (end, mtu_bytes)) in ends.iter().zip(mtus).enumerate() {
        let port = port_name(datapath, ends, index);
        words.extend(
            ["--", "add-port", BRIDGE, &port, "--", "set", "interface", &port].map(str::to_owned),
        );
        match datapath {
            Datapath::Netdev => words.push(format!("mtu_request={mtu_bytes}")),
            Datapath::Dpdk => {
                words.extend([
                    "type=dpdk".to_owned(),
                    format!("options:dpdk-devargs=net_af_packet{index},iface={end}"),
                ]);
            }
            Datapath::Vhost => words.extend([
                "type=dpdkvhostuserclient".to_owned(),
                format!("options:vhost-server-path={HOME}/vhost-{index}"),
                format!("mtu_request={mtu_bytes}"),
            ]),
        }
    }
    words
}

fn port_name(datapath: Datapath, ends: &[String], index: usize) -> String {
    match datapath {
        Datapath::Netdev => ends[index].clone(),
        Datapath::Dpdk => format!("dpdk-{index}"),
        Datapath::Vhost => format!("vhost-{index}"),
    }
}

/// A port that could not be made is no error of `ovs-vsctl`: the reason stands in the database.
fn refuse_errors(dir: &Path) -> io::Result<()> {
    let said = run(control().args(["--bare", "--columns=error", "list", "Interface"]))?;
    match said.lines().find(|line| !line.trim().is_empty()) {
        None => Ok(()),
        Some(error) => Err(io::Error::other(format!(
            "Open vSwitch: {error} (see {}/ovs-vswitchd.log)",
            dir.display()
        ))),
    }
}

/// Starts a daemon in the foreground.
fn begin(command: &mut Command, groups: Option<&Groups>, log: PathBuf) -> io::Result<Daemon> {
    let file = File::create(&log)?;
    command.arg("--verbose=syslog:off").stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let groups = groups.map_or(Vec::new(), |groups| groups.join_files(cgroup::NO_HOST));
    let program = command.get_program().to_owned();
    let explain =
        |error: io::Error| io::Error::new(error.kind(), format!("starting {program:?}: {error}"));
    let pid =
        process::spawn(command, ChildSetup { groups, ..ChildSetup::default() }).map_err(explain)?;
    // Its number is reserved until it is waited for, which happens only after the lab is ready.
    let start_ticks = process::start_ticks(&pid.to_string())
        .ok_or_else(|| io::Error::other("/proc is not mounted"))?;
    Ok(Daemon { pid, start_ticks, log })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_in_user_space_gets_every_port() {
        let ends = ["switch-0".to_owned(), "switch-1".to_owned()];
        let words = ports(Datapath::Netdev, &ends, &[1_500, 9_000]).join(" ");
        assert!(
            words.contains(
                "add-br br0 -- set bridge br0 datapath_type=netdev -- add-port br0 switch-0 "
            ),
            "{words}"
        );
        assert!(words.ends_with("set interface switch-1 mtu_request=9000"), "{words}");
        let words = ports(Datapath::Dpdk, &ends, &[1_500, 1_500]).join(" ");
        assert!(
            words.ends_with(
                "interface dpdk-1 type=dpdk options:dpdk-devargs=net_af_packet1,iface=switch-1"
            ),
            "{words}"
        );
    }

    #[test]
    fn a_switch_that_has_ended_has_no_processor_time() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("it starts");
        let pid = child.id().to_string();
        let start_ticks = process::start_ticks(&pid).expect("it is there");
        let daemon = Daemon {
            pid: Pid::from_raw(child.id() as i32),
            start_ticks,
            log: "there/ovs-vswitchd.log".into(),
        };
        let switch = OpenVSwitch { daemons: vec![daemon] };
        assert!(switch.processor_time().is_ok());
        child.kill().expect("it is ours");
        while process::is_alive(&pid, start_ticks) {
            std::thread::yield_now(); // it ends by itself
        }
        let error = switch.processor_time().expect_err("it has ended").to_string();
        assert_eq!(error, "Open vSwitch has ended: see there/ovs-vswitchd.log");
        drop(switch);
        child.wait().expect("it is ours");
    }
}
