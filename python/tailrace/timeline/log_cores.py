"""The work of cores, from the tables of the simulator (`crates/sim/src/core_logs.rs`)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailrace.timeline.log import NONE_32, CoreTime, CoreWait, Socket, Values, Work

_SOFTIRQ, _SWITCH, _USER, _SYSTEM, _STOLEN = range(5)
_WHAT = {
    _SOFTIRQ: "soft interrupt",
    _SWITCH: "switch to {}",
    _USER: "{}",
    _SYSTEM: "{}, kernel",
    _STOLEN: "stolen by the hypervisor",
}
"""By number of the column `what`, with the name of the work's owner."""
_THREAD, _VIRTUAL_CORE, _VHOST, _POLLING, _NEIGHBOUR = range(5)
"""Numbers of the column `role`."""
_CORE = (
    "host",
    "hypervisor",
    "core",
    "from_ps",
    "to_ps",
    "what",
    "workload",
    "task",
    "role",
    "machine",
)


def read_cores(tables: Mapping[str, Values], plan: Mapping[str, Any]) -> dict[str, list[CoreTime]]:
    """By host or hypervisor, in the order of the ends."""
    hosts = [str(host["name"]) for host in plan["hosts"]]
    workloads = [str(workload["header"]["name"]) for workload in plan["workloads"]]
    found: dict[str, list[CoreTime]] = defaultdict(list)
    for host, hypervisor, core, from_ps, to_ps, what, workload, task, role, machine in _rows(
        tables["timeline_cores"], _CORE
    ):
        name = hosts[host] if host != NONE_32 else _hypervisor(plan, hypervisor)
        of = workloads[workload] if workload != NONE_32 else _role(role, hosts, machine)
        found[name].append(
            CoreTime(
                core, from_ps, to_ps, _WHAT[what].format(of), None if task == NONE_32 else task
            )
        )
    return dict(found)


def read_works(tables: Mapping[str, Values], plan: Mapping[str, Any]) -> dict[str, list[Work]]:
    """By hypervisor, in the order of the frames."""
    found: dict[str, list[Work]] = defaultdict(list)
    for frame, hypervisor, is_vhost, since_ps, start_ps, done_ps in _rows(
        tables["timeline_works"],
        ("frame", "hypervisor", "is_vhost", "since_ps", "start_ps", "done_ps"),
    ):
        stage = "vhost threads" if is_vhost else "virtual switch"
        found[_hypervisor(plan, hypervisor)].append(Work(frame, stage, since_ps, start_ps, done_ps))
    return dict(found)


def read_core_waits(
    tables: Mapping[str, Values], sockets: Sequence[Socket]
) -> dict[str, list[CoreWait]]:
    """By host, in the order of the ends."""
    found: dict[str, list[CoreWait]] = defaultdict(list)
    for socket, since_ps, until_ps in _rows(
        tables["timeline_core_waits"], ("socket", "since_ps", "until_ps")
    ):
        found[sockets[socket].host].append(CoreWait(since_ps, until_ps, socket))
    return dict(found)


def _hypervisor(plan: Mapping[str, Any], number: int) -> str:
    return str(plan["hypervisors"][number]["switch"])


def _role(role: int, hosts: Sequence[str], machine: int) -> str:
    of = f" of {hosts[machine]}" if machine != NONE_32 else ""
    names = {
        _VIRTUAL_CORE: "virtual core",
        _VHOST: "vhost thread",
        _POLLING: "polling thread",
        _NEIGHBOUR: "neighbour",
    }
    return names.get(role, "kernel thread") + of


def _rows(table: Values, keys: Iterable[str]) -> Iterable[tuple[int, ...]]:
    return zip(*(table[key] for key in keys), strict=True)
