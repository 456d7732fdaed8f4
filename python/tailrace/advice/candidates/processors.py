"""Cores: more of them, programs pinned away from interrupts, receive queues, and another virtual
switch."""

from collections.abc import Iterator
from typing import Any

from tailrace.advice.candidate import WORK, Candidate, Settings
from tailrace.advice.settings import poll_mode_settings
from tailrace.advice.situation import Situation
from tailrace.scenario.network.cpu import CORES_MAX

EVIDENCE = "docs/models/cpu.md"
DPDK = "ovs-dpdk"


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Changes of modelled processors and hypervisors."""
    cores = {name: situation.scenario.host(name).cpu.cores for name in situation.hosts}
    modelled = {name: number for name, number in cores.items() if number}
    if modelled:
        yield from _of_hosts(situation, modelled)
    shared = {
        name: cpu.program_cores
        for name in situation.hosts
        if (cpu := situation.scenario.host(name).cpu).cores == 0
        and isinstance(cpu.program_cores, int)
        and cpu.program_cores
    }
    if shared:
        yield Candidate(
            name="cores-twice",
            group="cores-twice",
            title="Programs have twice as many cores",
            changes={
                f"hosts.{name}.cpu.program_cores": 2 * number for name, number in shared.items()
            },
            acts_on=WORK,
            costs="Hardware, or a larger virtual machine.",
            evidence=EVIDENCE,
        )
    if situation.scenario.hypervisors:
        yield from _of_hypervisors(situation)


def _of_hosts(situation: Situation, cores: dict[str, int]) -> Iterator[Candidate]:
    yield Candidate(
        name="cores-twice",
        group="cores-twice",
        title="Hosts have twice as many cores",
        changes={
            f"hosts.{name}.cpu.cores": min(CORES_MAX, 2 * number) for name, number in cores.items()
        },
        acts_on=WORK,
        costs="Hardware, or a larger virtual machine.",
        evidence=EVIDENCE,
    )
    several = {name: number for name, number in cores.items() if number > 1}
    few = {
        name: number
        for name, number in several.items()
        if situation.scenario.host(name).cpu.rx_queues < number
    }
    if few:
        yield Candidate(
            name="receive-queues",
            group="receive-queues",
            title="One receive queue for each core (RSS)",
            changes={f"hosts.{name}.cpu.rx_queues": number for name, number in few.items()},
            acts_on=WORK,
            costs="Interrupts on every core: programs are interrupted everywhere.",
            settings=tuple(
                Settings(
                    f"host {name}",
                    (f"ethtool -L $INTERFACE combined {number}",),
                    (
                        "ethtool -L $INTERFACE combined "
                        f"{situation.scenario.host(name).cpu.rx_queues}",
                    ),
                )
                for name, number in few.items()
            ),
            evidence=EVIDENCE,
        )
    crowded = {
        name: number for name, number in several.items() if len(_programs(situation, name)) > 1
    }
    pinned: dict[str, Any] = {}
    lines: list[Settings] = []
    for name, number in crowded.items():
        own = [one for one in _programs(situation, name) if one in situation.targets]
        rest = [one for one in _programs(situation, name) if one not in situation.targets]
        half = max(1, number // 2)
        if not own or not rest or situation.scenario.host(name).cpu.groups:
            continue
        first, last = list(range(half)), list(range(half, number))
        pinned[f"hosts.{name}.cpu.groups"] = {
            "goal": {"workloads": own, "cores": first},
            "others": {"workloads": rest, "cores": last},
        }
        lines.append(
            Settings(
                f"host {name}, for the units of the services",
                (
                    f"systemctl set-property --runtime $GOAL AllowedCPUs={first[0]}-{first[-1]}",
                    f"systemctl set-property --runtime $OTHERS AllowedCPUs={last[0]}-{last[-1]}",
                ),
                (
                    "systemctl set-property --runtime $GOAL AllowedCPUs=",
                    "systemctl set-property --runtime $OTHERS AllowedCPUs=",
                ),
            )
        )
    if pinned:
        yield Candidate(
            name="pinned",
            group="pinned",
            title="Programs of the goal and the others have cores of their own",
            changes=pinned,
            acts_on=WORK,
            costs="Cores that idle for one cannot serve the other.",
            settings=tuple(lines),
            evidence=EVIDENCE,
        )


def _programs(situation: Situation, host: str) -> list[str]:
    """Workloads with a program on a host."""
    running = situation.scenario.running
    return [
        name
        for name, workload in running.items()
        if host in {end for _, end in workload.named_ends()}
    ]


def _of_hypervisors(situation: Situation) -> Iterator[Candidate]:
    hypervisors = situation.scenario.hypervisors
    kernel = {name: one for name, one in hypervisors.items() if not one.polls}
    if kernel:
        yield Candidate(
            name="poll-mode-switch",
            group="poll-mode-switch",
            title="The virtual switch polls on a core of its own (OvS-DPDK)",
            changes={f"hypervisors.{name}.switch": DPDK for name in kernel},
            acts_on=frozenset(),
            costs="One core of each hypervisor does nothing else; huge pages "
            "for every virtual machine.",
            settings=poll_mode_settings(list(kernel)),
            evidence="reproductions/yahoo-ovs-dpdk",
        )
    yield Candidate(
        name="hypervisor-cores-twice",
        group="hypervisor-cores-twice",
        title="Hypervisors have twice as many cores",
        changes={
            f"hypervisors.{name}.cores": min(CORES_MAX, 2 * one.cores)
            for name, one in hypervisors.items()
        },
        acts_on=frozenset(),
        costs="Hardware.",
        evidence="reproductions/nutanix-density",
    )
