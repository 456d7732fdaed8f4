//! Activity of cores during a timeline: those of the hosts on which watched connections end, and
//! those of the hypervisors that run these hosts.

use crate::hypervisors::HypervisorNode;
use crate::world::World;
use std::collections::BTreeSet;
use tailrace_host::cpu::{CoreLog, CoreRow, Doing, Kind, NO_OWNER, Processor};
use tailrace_record::{Column, Table};
use tailrace_units::Time;

/// Stands for no hypervisor, no workload and no machine.
const NONE: u32 = u32::MAX;

/// The role of a task of a hypervisor. Its number is that of the column `role`; threads of hosts
/// are `Thread`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Thread,
    VirtualCore,
    Vhost,
    Polling,
    Neighbour,
}

/// Activity of a core. Its number is that of the column `what`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Softirq,
    Switch,
    User,
    System,
    Stolen,
}

struct Row {
    host: u32,
    hypervisor: u32,
    of: CoreRow,
    /// Of a host, the workload.
    workload: u32,
    /// Of a hypervisor, the host that is the machine.
    machine: u32,
    role: Role,
}

fn is_there(node: &HypervisorNode, hosts: &BTreeSet<u16>) -> bool {
    node.machines.iter().flatten().any(|machine| hosts.contains(&(machine.host as u16)))
}

/// From now on logs of the cores of these hosts are kept in these windows.
pub(crate) fn keep_logs(world: &mut World, windows: &[(Time, Time)], hosts: &BTreeSet<u16>) {
    let own = hosts.iter().map(|&host| usize::from(host)).collect::<Vec<_>>();
    for host in own {
        if let Some(processor) = world.hosts[host].processor_mut() {
            processor.keep_log(windows.to_vec());
        }
    }
    for node in world.hypervisors.iter_mut().filter(|node| is_there(node, hosts)) {
        node.model.processor_mut().keep_log(windows.to_vec());
    }
}

/// Its table, `timeline_cores`: host or hypervisor, core, interval, activity and its owner; and how
/// many rows are left out.
pub(crate) fn table(world: &mut World) -> (Table, u64) {
    let now = world.now;
    let mut rows = Vec::new();
    let mut left_out = 0;
    let mut settled = |processor: &mut Processor| -> Option<Vec<CoreRow>> {
        processor.log()?;
        processor.settle_all(now);
        let log: &CoreLog = processor.log()?;
        left_out += log.left_out();
        Some(log.rows().to_vec())
    };
    for (number, host) in (0..).zip(&mut world.hosts) {
        for of in host.processor_mut().and_then(&mut settled).into_iter().flatten() {
            rows.push(Row {
                host: number,
                hypervisor: NONE,
                of,
                workload: owner(of.doing),
                machine: NONE,
                role: Role::Thread,
            });
        }
    }
    for (number, node) in (0..).zip(&mut world.hypervisors) {
        for of in settled(node.model.processor_mut()).into_iter().flatten() {
            let (role, machine) = role(owner(of.doing), node);
            rows.push(Row { host: NONE, hypervisor: number, of, workload: NONE, machine, role });
        }
    }
    (columns(&rows), left_out)
}

fn owner(doing: Doing) -> u32 {
    match doing {
        Doing::Stolen | Doing::Softirq => NO_OWNER,
        Doing::Switch { owner, .. } | Doing::Work { owner, .. } => owner,
    }
}

/// A hypervisor counts for the cores of each machine, for the vhost thread of each, for polling
/// threads, and for each neighbour, in that order.
fn role(owner: u32, node: &HypervisorNode) -> (Role, u32) {
    let machines: Vec<u32> = node.machines.iter().flatten().map(|machine| machine.host).collect();
    let (at, count) = (owner as usize, machines.len());
    match at {
        _ if owner == NO_OWNER => (Role::Thread, NONE),
        _ if at < count => (Role::VirtualCore, machines[at]),
        _ if at < 2 * count => (Role::Vhost, machines[at - count]),
        _ if at == 2 * count => (Role::Polling, NONE),
        _ => (Role::Neighbour, NONE),
    }
}

fn what(doing: Doing) -> What {
    match doing {
        Doing::Stolen => What::Stolen,
        Doing::Softirq => What::Softirq,
        Doing::Switch { .. } => What::Switch,
        Doing::Work { kind: Kind::User, .. } => What::User,
        Doing::Work { kind: Kind::System | Kind::Softirq | Kind::Steal | Kind::Idle, .. } => {
            What::System
        }
    }
}

fn task(doing: Doing) -> u32 {
    match doing {
        Doing::Stolen | Doing::Softirq => NONE,
        Doing::Switch { task, .. } | Doing::Work { task, .. } => task,
    }
}

fn columns(rows: &[Row]) -> Table {
    let u32s = |value: fn(&Row) -> u32| Column::U32(rows.iter().map(value).collect());
    let columns = vec![
        ("host", u32s(|row| row.host)),
        ("hypervisor", u32s(|row| row.hypervisor)),
        ("core", u32s(|row| row.of.core as u32)),
        ("from_ps", Column::U64(rows.iter().map(|row| row.of.from.ps()).collect())),
        ("to_ps", Column::U64(rows.iter().map(|row| row.of.to.ps()).collect())),
        ("what", u32s(|row| what(row.of.doing) as u32)),
        ("workload", u32s(|row| row.workload)),
        ("task", u32s(|row| task(row.of.doing))),
        ("role", u32s(|row| row.role as u32)),
        ("machine", u32s(|row| row.machine)),
    ];
    Table { name: "timeline_cores", columns }
}
