"""Semantic checks of processors."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.checks.cores import excessive_costs, wrong_cores
from tailrace.scenario.network.cpu import (
    COSTS,
    COSTS_OF_BYTES,
    COSTS_OF_PROCESSOR,
    PROFILES,
    ControlGroup,
    Cpu,
)
from tailrace.scenario.network.host import Host
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.units import format_size

Found = Iterator[tuple[KeyPath, str, str]]

NEED_CORES = (
    "profile",
    "clock",
    "memory_share",
    *COSTS_OF_PROCESSOR,
    "slice",
    "rx_queues",
    "irq_cores",
    "netdev_budget",
    "netdev_budget_time",
    "steal",
    "groups",
)
"""Keys that have an effect only with `cores`."""
QUOTA_PS_MIN = 10**9
QUOTA_PERIOD_PS_MAX = 10**12
"""Linux refuses a quota or a period below `min_cfs_quota_period` and a period above
`max_cfs_quota_period`."""


def check(scenario: Scenario) -> Found:
    """Semantic checks of the processors of this scenario."""
    for name, own in scenario.hosts.items():
        merged = scenario.host(name).cpu
        at: KeyPath = ("hosts", name, "cpu")
        yield from (_with_cores if merged.cores else _without_cores)(at, own.cpu, merged)
        yield from excessive_costs(at, own.cpu, COSTS, COSTS_OF_BYTES, _usual)
        yield from _groups((*at, "groups"), own.cpu, merged, scenario)
        yield from _memory(("hosts", name), scenario.host(name), scenario)
        if name != DEFAULTS:
            yield from _strangers((*at, "groups"), name, own.cpu, scenario)


def _without_cores(at: KeyPath, own: Cpu, cpu: Cpu) -> Found:
    for key in NEED_CORES:
        if key in own.model_fields_set and getattr(own, key) != Cpu.model_fields[key].default:
            yield (
                (*at, key),
                f"`{key}` has no effect on a host whose processor is not modelled",
                "write `cores: 4` too",
            )
    if cpu.scheduler == "eevdf":
        yield (
            (*at, "scheduler"),
            "eevdf needs a processor: `cores` is not set",
            "write `cores: 4` too",
        )
    if isinstance(own.program_cores, list):
        what = "a list of cores needs a processor: `cores` is not set"
        yield (
            (*at, "program_cores"),
            what,
            f"write program_cores: {len(own.program_cores)}, or `cores` too",
        )


def _with_cores(at: KeyPath, own: Cpu, cpu: Cpu) -> Found:
    if cpu.scheduler == "fcfs":
        what = "fcfs is the scheduler of hosts without a modelled processor"
        yield (*at, "scheduler"), what, "omit it, or omit `cores` and write program_cores"
    if not isinstance(cpu.program_cores, list) and cpu.program_cores:
        what = "with `cores`, `program_cores` is a list of core numbers"
        least = min(cpu.program_cores, cpu.cores)
        yield (
            (*at, "program_cores"),
            what,
            f"write program_cores: {list(range(least))}, or omit it for all cores",
        )
    if "time_slice" in own.model_fields_set:
        yield (
            (*at, "time_slice"),
            "`time_slice` is a setting of fcfs",
            "write `slice` for eevdf, or omit it",
        )
    for key in ("program_cores", "irq_cores"):
        if isinstance(cores := getattr(own, key), list):
            yield from wrong_cores((*at, key), cores, cpu.cores, "the host")
    for key, unit in (("slice", "3ms is usual"), ("netdev_budget", "300 frames is usual")):
        if getattr(own, key) == 0:
            yield (*at, key), f"`{key}` must be greater than zero", unit
    if "netdev_budget_time" in own.model_fields_set and own.netdev_budget_time == 0:
        yield (
            (*at, "netdev_budget_time"),
            "`netdev_budget_time` must be greater than zero",
            "8ms is usual",
        )
    if "clock" in own.model_fields_set and own.clock == 0:
        yield (
            (*at, "clock"),
            "`clock` must be greater than zero",
            "write a frequency such as 2.4GHz",
        )
    if "clock" in own.model_fields_set and cpu.profile == "none":
        yield (
            (*at, "clock"),
            "`clock` scales the costs of a profile, and there is none",
            "write a profile, or omit it",
        )


def _usual(key: str) -> str:
    unit, least = ("ps", 10**5) if key in COSTS_OF_BYTES else ("ns", 10**6)
    return f"{(getattr(PROFILES['linux-kernel'], key) or least) / 1000:g}{unit} is usual"


def _strangers(at: KeyPath, host: str, own: Cpu, scenario: Scenario) -> Found:
    """Groups with workloads that have no program on this host."""
    for group, members in own.groups.items():
        for index, name in enumerate(members.workloads):
            named = (
                list(scenario.workloads[name].named_ends()) if name in scenario.workloads else []
            )
            # A side that is not named is all hosts.
            is_whole = len({key[0] for key, _ in named}) > 1
            if is_whole and host not in (hosts := list(dict.fromkeys(end for _, end in named))):
                what = f"'{name}' has no program on {host}"
                yield (
                    (*at, group, "workloads", index),
                    what,
                    f"write the group at {' or '.join(hosts[:3])}, or omit it",
                )


def _bandwidth(at: KeyPath, group: ControlGroup) -> Found:
    for key in ("quota", "period"):
        if (time := getattr(group, key)) is not None and time < QUOTA_PS_MIN:
            yield (
                (*at, key),
                f"`{key}` must be at least 1ms, as in Linux",
                "write a time such as 50ms",
            )
    if group.period is not None and group.period > QUOTA_PERIOD_PS_MAX:
        yield (*at, "period"), "`period` must be at most 1s, as in Linux", "100ms is usual"


def _groups(at: KeyPath, own: Cpu, cpu: Cpu, scenario: Scenario) -> Found:
    members: dict[str, str] = {}
    for name, group in own.groups.items():
        here = (*at, name)
        if group.cores is not None and cpu.cores:
            yield from wrong_cores((*here, "cores"), group.cores, cpu.cores, "the host")
        if group.period is not None and group.quota is None:
            yield (
                (*here, "period"),
                "a period without a quota limits nothing",
                "write a quota, such as 50ms",
            )
        if group.quota is not None and group.period is None:
            yield (
                (*here, "quota"),
                "a quota needs a period",
                "write period: 100ms too, as Linux has it",
            )
        yield from _bandwidth(here, group)
        for index, workload in enumerate(group.workloads):
            if workload not in scenario.workloads:
                what = f"there is no workload '{workload}'"
                yield (
                    (*here, "workloads", index),
                    what,
                    closest(workload, list(scenario.workloads), "workloads"),
                )
            elif workload in members:
                what = (
                    f"the programs of '{workload}' already belong to the group "
                    f"'{members[workload]}'"
                )
                yield (*here, "workloads", index), what, "name each workload in one group of a host"
            members[workload] = name


def _memory(at: KeyPath, host: Host, scenario: Scenario) -> Found:
    """Groups that need more memory than the host has; those without a running workload need
    none."""
    needs = {
        name: group.memory
        for name, group in host.cpu.groups.items()
        if group.memory is not None
        and any(workload in scenario.running for workload in group.workloads)
    }
    if host.memory is None:
        for name in needs:
            what = "memory of a group is not compared with anything: the host has no `memory`"
            yield (
                (*at, "cpu", "groups", name, "memory"),
                what,
                "write `memory: 256GB` in the host too",
            )
        return
    needed = 0
    for count, (name, memory) in enumerate(needs.items()):
        needed += memory
        if needed > host.memory:
            groups = "the group needs" if len(needs) == 1 else f"{len(needs)} groups need"
            what = (
                f"{groups} {format_size(sum(needs.values()))} of memory, and the host has "
                f"{format_size(host.memory)}"
            )
            fitting = f"the first {count} of them fit" if count else "raise it"
            yield (*at, "cpu", "groups", name, "memory"), what, fitting
            return
