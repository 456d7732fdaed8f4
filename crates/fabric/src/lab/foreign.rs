//! Hosts joined by a foreign switch: the kernel's bridge, Open vSwitch, or a program of the user.
//! The mechanisms of the plan have no effect; the lines limit rates, and the kernel counts.

use super::devices::{self, Devices, Reading};
use super::kind::FabricKind;
use super::line::{Line, Passed};
use super::openvswitch::OpenVSwitch;
use super::star::Star;
use crate::cgroup::Groups;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use tailrace_lab::address;
use tailrace_lab::netlink::{Link, Netlink, find};
use tailrace_outcome::{Cpu, Dropped, Drops, Fabric, NetworkOutcome, Port, Queue, Switch};
use tailrace_plan::Plan;

/// Name of the kernel's bridge in the lab's own namespace.
const BRIDGE: &str = "bridge0";
/// The kernel notices that a pair of interfaces is up after some time: it checks once in a second.
const RUNNING_WAIT: Duration = Duration::from_secs(5);
const RUNNING_POLL: Duration = Duration::from_millis(10);
/// Name of a port's only queue, after its discipline.
const QUEUE: &str = "tbf";
/// Cause of a drop there.
const TAIL_DROP: &str = "tail-drop";
/// Cause of frames that came into the switch and did not come out of it.
const IN_SWITCH: &str = "in-switch";
const PS_PER_NS: u128 = 1_000;

/// A foreign switch that is running.
#[derive(Debug)]
pub(super) struct Foreign {
    name: String,
    seed: u64,
    netlink: Netlink,
    /// The star and its lines, where rates are kept.
    shaped: Option<(Star, Vec<Line>)>,
    devices: Devices,
    /// Their counters at that time.
    counted_at_begin: Vec<Reading>,
    begin: Instant,
    /// Frames that had passed the lines by that time.
    passed_at_begin: Vec<Passed>,
    /// Processor time of the switch until then, where it is a program.
    processor_at_begin: Duration,
    /// When the measured interval ended, and the counts at that time.
    end: Option<(Instant, Happened)>,
    switch: Option<OpenVSwitch>,
}

/// Counts of an interval.
#[derive(Clone, Debug)]
struct Happened {
    passed: Vec<Passed>,
    /// Counters of the interfaces of the switch.
    counted: Vec<Reading>,
    /// Processor time of the switch, where it is a program.
    processor: Option<Duration>,
}

impl Foreign {
    /// Joins hosts by their ports. The calling thread is in the lab's own namespace. `star`: rates
    /// are kept as it says.
    pub(super) fn start(
        kind: FabricKind,
        plan: &Plan,
        ports: &[Link],
        star: Option<Star>,
        (groups, dir): (Option<&Groups>, &Path),
    ) -> io::Result<Foreign> {
        let mut netlink = Netlink::open()?;
        be_silent()?;
        let lines = star.map(|star| create_lines(&mut netlink, plan, ports, star)).transpose()?;
        ports.iter().try_for_each(|&port| netlink.up(port))?;
        let ends: Vec<String> = match &lines {
            Some((_, lines)) => lines.iter().map(|line| line.switch_end.clone()).collect(),
            None => (0..ports.len()).map(|index| format!("port-{index}")).collect(),
        };
        for (host, end) in ends.iter().enumerate() {
            netlink.set_mtu(find(end)?, switch_mtu(plan, host))?;
        }
        let switch = match kind {
            FabricKind::Bridge => {
                join_by_bridge(&mut netlink, plan, &ends)?;
                None
            }
            FabricKind::OpenVSwitch(datapath) => {
                let mtus: Vec<u32> = (0..ends.len()).map(|host| switch_mtu(plan, host)).collect();
                Some(OpenVSwitch::start(datapath, &ends, &mtus, groups, dir)?)
            }
            FabricKind::Tap | FabricKind::Ports => None,
        };
        let deadline = Instant::now() + RUNNING_WAIT;
        for (index, (&port, host)) in ports.iter().zip(&plan.raw.hosts).enumerate() {
            wait_for_port(index, &host.name, deadline, || netlink.is_running(port))?;
        }
        let devices = Devices::find(if lines.is_some() { &ends } else { &[] })?;
        let (name, seed) = (plan.raw.name.clone(), plan.raw.seed);
        let (begin, passed_at_begin, processor_at_begin) =
            (Instant::now(), Vec::new(), Duration::ZERO);
        let mut foreign = Foreign {
            name,
            seed,
            netlink,
            shaped: lines,
            devices,
            counted_at_begin: Vec::new(),
            begin,
            passed_at_begin,
            processor_at_begin,
            end: None,
            switch,
        };
        foreign.begin()?;
        Ok(foreign)
    }

    /// The measured interval begins.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        let before = Instant::now();
        self.passed_at_begin = self.totals()?;
        self.counted_at_begin = self.devices.read(&mut self.netlink)?;
        self.processor_at_begin =
            self.switch.as_ref().map_or(Ok(Duration::ZERO), OpenVSwitch::processor_time)?;
        (self.begin, self.end) = (middle_since(before), None);
        Ok(())
    }

    /// It ends.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let before = Instant::now();
        let happened = self.happened()?;
        self.end = Some((middle_since(before), happened));
        Ok(())
    }

    fn happened(&mut self) -> io::Result<Happened> {
        let passed = self
            .totals()?
            .into_iter()
            .zip(&self.passed_at_begin)
            .map(|(now, &then)| Line::passed(now, then))
            .collect();
        let counted = devices::since(self.devices.read(&mut self.netlink)?, &self.counted_at_begin);
        let at_begin = self.processor_at_begin;
        let processor = self.switch.as_ref().map(OpenVSwitch::processor_time).transpose()?;
        Ok(Happened {
            passed,
            counted,
            processor: processor.map(|time| time.saturating_sub(at_begin)),
        })
    }

    fn totals(&mut self) -> io::Result<Vec<Passed>> {
        let lines = self.shaped.as_ref().map_or(&[][..], |(_, lines)| lines.as_slice());
        Line::totals(lines, &mut self.netlink)
    }

    /// The outcome so far. Figures that the kernel does not count are absent.
    pub(super) fn outcome(&mut self) -> io::Result<NetworkOutcome> {
        let (end, happened) = match &self.end {
            Some(kept) => kept.clone(),
            None => (Instant::now(), self.happened()?),
        };
        let measured = end.duration_since(self.begin);
        let end_ps = u64::try_from(measured.as_nanos() * PS_PER_NS).unwrap_or(u64::MAX);
        let (ports, switches, netstat) = match &self.shaped {
            Some((star, _)) => {
                let rows = self.devices.rows(star, &happened.counted, &happened.passed);
                (ports(star, &happened.passed), vec![switch(star, &happened.passed)], rows)
            }
            None => Default::default(),
        };
        let share = |time: Duration| time.as_secs_f64() / measured.as_secs_f64().max(1e-9);
        let cpu = Cpu { switch_share: happened.processor.map(share), ..Cpu::default() };
        Ok(NetworkOutcome {
            name: self.name.clone(),
            seed: self.seed,
            end_ps,
            ports,
            switches,
            interfaces: Some(BTreeMap::new()),
            netstat,
            fabric: Some(Fabric { cpu, ..Fabric::default() }),
            ..NetworkOutcome::default()
        })
    }
}

fn create_lines(
    netlink: &mut Netlink,
    plan: &Plan,
    ports: &[Link],
    star: Star,
) -> io::Result<(Star, Vec<Line>)> {
    let explain = |error: io::Error| match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP) => io::Error::new(
            error.kind(),
            format!("this kernel lacks tbf, cls_u32 or act_mirred, which limit rates: {error}"),
        ),
        _ => error,
    };
    let lines = ports.iter().zip(&star.lines).enumerate();
    let lines = lines.map(|(index, (&port, of))| {
        Line::create(netlink, index, port, of, plan.raw.hosts[index].mtu_bytes)
    });
    let lines = lines.collect::<io::Result<_>>().map_err(explain)?;
    Ok((star, lines))
}

/// Waits until the port of a host carries frames.
fn wait_for_port(
    index: usize,
    host: &str,
    deadline: Instant,
    mut is_running: impl FnMut() -> io::Result<bool>,
) -> io::Result<()> {
    while !is_running()? {
        if Instant::now() >= deadline {
            let waited_s = RUNNING_WAIT.as_secs();
            return Err(io::Error::other(format!(
                "port-{index} of host {host:?} forwards no frames after {waited_s} s"
            )));
        }
        std::thread::sleep(RUNNING_POLL);
    }
    Ok(())
}

fn join_by_bridge(netlink: &mut Netlink, plan: &Plan, ends: &[String]) -> io::Result<()> {
    netlink.add_bridge(BRIDGE)?;
    let bridge = find(BRIDGE)?;
    for (index, end) in ends.iter().enumerate() {
        let port = find(end)?;
        netlink.enslave(port, bridge)?;
        netlink.add_forwarding(port, address::mac(index))?;
    }
    netlink.set_mtu(bridge, mtu_max(plan))?;
    netlink.up(bridge)
}

/// The MTU of the switch's port towards a host: that of the plan, or else the host's. The kernel
/// drops a longer frame at this device, in both directions, where it is more than a VLAN's tag
/// longer (`is_skb_forwardable`).
fn switch_mtu(plan: &Plan, host: usize) -> u32 {
    let graph = &plan.graph;
    let end = graph.ports[host][0];
    let switch = end.peer.checked_sub(graph.hosts);
    let own =
        switch.and_then(|switch| plan.port_mtu(switch, graph.port_of_link(end.link, end.peer)));
    own.unwrap_or(plan.raw.hosts[host].mtu_bytes)
}

fn mtu_max(plan: &Plan) -> u32 {
    plan.raw.hosts.iter().map(|host| host.mtu_bytes).max().unwrap_or(0)
}

/// When counters were read that took from then until now: a busy machine may have stopped in
/// between.
fn middle_since(before: Instant) -> Instant {
    before + before.elapsed() / 2
}

/// Interfaces of this namespace send nothing by themselves: all counted frames are the hosts'.
fn be_silent() -> io::Result<()> {
    for which in ["all", "default"] {
        match fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {} // a kernel without IPv6 has nothing to switch off
        }
    }
    Ok(())
}

fn ports(star: &Star, passed: &[Passed]) -> Vec<Port> {
    let port = |(of, passed): (&super::star::LineOf, &Passed)| {
        let queue = passed.queue;
        Port {
            node: star.switch.clone(),
            towards: of.host.clone(),
            rate_bps: of.port.rate_bps,
            tx_frames: queue.tx_frames,
            tx_bytes: queue.tx_bytes,
            queues: vec![Queue {
                name: QUEUE.to_owned(),
                tx_frames: queue.tx_frames,
                tx_bytes: queue.tx_bytes,
                drops: lost(TAIL_DROP, queue.drop_frames, None),
                depth_bytes: queue.depth_bytes,
                ..Queue::default()
            }],
            ..Port::default()
        }
    };
    star.lines.iter().zip(passed).map(port).collect()
}

/// Frames that were lost for one cause.
fn lost(cause: &str, frames: u64, bytes: Option<u64>) -> Drops {
    (frames > 0).then(|| (cause.to_owned(), Dropped { frames, bytes })).into_iter().collect()
}

/// Frames that came in and did not come out were lost in the switch, or are in it still.
fn switch(star: &Star, passed: &[Passed]) -> Switch {
    let sum = |of: fn(&Passed) -> u64| -> u64 { passed.iter().map(of).sum() };
    let frames = sum(|line| line.from_host.0).saturating_sub(sum(|line| line.from_switch.0));
    let bytes = sum(|line| line.from_host.1).saturating_sub(sum(|line| line.from_switch.1));
    Switch {
        name: star.switch.clone(),
        buffer_bytes: star.buffer_bytes,
        early_drops: lost(IN_SWITCH, frames, Some(bytes)),
        ..Switch::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::star::{LineOf, shape};
    use serde_json::json;
    use tailrace_lab::netlink::QdiscCounters;

    fn star() -> Star {
        let line =
            |host: &str| LineOf { host: host.into(), port: shape(1_000_000, 24, 1_514, 3_028) };
        Star { switch: "sw".into(), buffer_bytes: 3_028, lines: vec![line("a"), line("b")] }
    }

    #[test]
    fn a_port_that_does_not_run_is_named_with_its_host() {
        let mut readings = [false, true].into_iter();
        let later = Instant::now() + RUNNING_WAIT;
        wait_for_port(0, "db1", later, || Ok(readings.next().expect("two readings are enough")))
            .expect("it runs at the second reading");
        let error = wait_for_port(1, "db2", Instant::now(), || Ok(false))
            .expect_err("it never runs")
            .to_string();
        assert!(error.contains("port-1") && error.contains("\"db2\""), "{error}");
    }

    #[test]
    fn a_port_has_what_the_kernel_counts_and_nothing_else() {
        let queue = QdiscCounters { tx_frames: 7, tx_bytes: 700, drop_frames: 2, depth_bytes: 0 };
        let passed = [Passed::default(), Passed { queue, ..Passed::default() }];
        let ports = ports(&star(), &passed);
        assert_eq!(ports[0].queues[0].drops, Drops::new());
        assert_eq!(json!(ports[1].queues[0].drops), json!({ "tail-drop": { "frames": 2 } }));
        assert_eq!((ports[1].towards.as_str(), ports[1].tx_bytes), ("b", 700));
        assert!(json!(ports[1].queues[0]).get("marked_frames").is_none(), "marks are not counted");
    }

    #[test]
    fn what_does_not_come_out_of_the_switch_was_lost_there() {
        let line = |from_host, from_switch| Passed { from_host, from_switch, ..Passed::default() };
        let lost = switch(&star(), &[line((10, 1_000), (0, 0)), line((0, 0), (8, 800))]);
        assert_eq!(json!(lost.early_drops), json!({ "in-switch": { "frames": 2, "bytes": 200 } }));
        assert_eq!(switch(&star(), &[line((3, 300), (3, 300))]).early_drops, Drops::new());
    }
}
