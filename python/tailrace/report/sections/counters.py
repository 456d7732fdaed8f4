"""Counters: of packet prioritization, pauses, TCP, requests, single kinds of workloads, hosts and
programs."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.report.limits import HOSTS_MAX
from tailrace.report.sections.rows import ArmRow, arm_rows
from tailrace.results.kinds.contribution import KindTable
from tailrace.results.kinds.registry import tables_of_kinds
from tailrace.results.metrics.costs import parts_of
from tailrace.results.metrics.subject_rows import SubjectRow, subject_rows
from tailrace.results.summary.hosts import (
    HostMeans,
    HypervisorMeans,
    InterfaceLosses,
    MachineSpent,
    ProcessorMeans,
    Spent,
)
from tailrace.results.summary.network import DppMeans, PauseMeans, PortMeans
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.text.bonds import BondRow, bond_rows
from tailrace.results.text.fragments import COUNTERS as FRAGMENT_COUNTERS
from tailrace.results.text.fragments import FragmentRow, fragment_rows
from tailrace.results.text.limiting_text import verdict_words
from tailrace.results.workload import REQUEST_COUNTERS, TCP_COUNTERS

NO_LIMIT = "–"
PAUSES_MAX = 10
"""Ports and interfaces of an arm whose pauses are listed."""


@dataclass(frozen=True)
class ListedCosts:
    """Costs of live programs, the switch and the machine, and the interfaces that lost frames."""

    parts: list[tuple[str, Spent]]
    machine: MachineSpent
    losses: list[tuple[str, InterfaceLosses]]


@dataclass(frozen=True)
class Counters:
    """The section."""

    tcp: list[SubjectRow]
    tcp_counters: list[str]
    """Counters that at least one workload has."""
    limited_by: list[str]
    """Verdicts, beside `tcp`; empty where there is none."""
    requests: list[SubjectRow]
    request_counters: tuple[str, ...]
    kind_tables: list[KindTable]
    dpp: list[ArmRow[PortMeans]]
    dpp_counters: tuple[str, ...]
    pauses: list[ArmRow[PauseMeans]]
    pauses_omitted: int
    hosts: list[ArmRow[HostMeans]]
    bonds: list[BondRow]
    fragments: list[FragmentRow]
    fragment_head: list[str]
    processors: list[ArmRow[ProcessorMeans]]
    hypervisors: list[ArmRow[HypervisorMeans]]
    costs: list[ArmRow[ListedCosts]]


def counters(summary: Summary) -> Counters:
    """Counters of all kinds that the run has."""
    arms = summary.arms
    tcp = subject_rows(summary, lambda own: own.tcp)
    hosts = [(arm, own.hosts) for arm, own in arms.items()]
    return Counters(
        tcp=tcp,
        tcp_counters=[
            key for key in TCP_COUNTERS if any(getattr(row.own.tcp, key) is not None for row in tcp)
        ],
        limited_by=_limited_by(tcp),
        requests=subject_rows(summary, lambda own: own.request_counts),
        request_counters=REQUEST_COUNTERS,
        kind_tables=tables_of_kinds(summary),
        dpp=arm_rows(
            arms, lambda own: [port for port in own.ports if port.dpp and _has_classified(port.dpp)]
        ),
        dpp_counters=DppMeans.__struct_fields__,
        pauses=arm_rows(arms, lambda own: own.pauses[:PAUSES_MAX]),
        pauses_omitted=max([0, *(len(own.pauses) - PAUSES_MAX for own in arms.values())]),
        hosts=arm_rows(arms, _busiest),
        bonds=bond_rows(hosts),
        fragments=fragment_rows(hosts, HOSTS_MAX),
        fragment_head=[*FRAGMENT_COUNTERS, "most memory"],
        processors=arm_rows(arms, _fewest_idle),
        hypervisors=arm_rows(arms, _most_overruns),
        costs=arm_rows(arms, _costs),
    )


def _limited_by(rows: Sequence[SubjectRow]) -> list[str]:
    if not any(row.own.limits for row in rows):
        return []
    return [verdict_words(row.own.limits) if row.own.limits else NO_LIMIT for row in rows]


def _has_classified(counted: DppMeans) -> bool:
    return bool(counted.prioritised_frames or counted.normal_frames)


def _busiest(arm: ArmSummary) -> list[HostMeans]:
    """Hosts that lost frames or were busiest: a fabric has hundreds that did little."""
    ranked = sorted(
        arm.hosts,
        key=lambda host: (-(host.nic_queue_drops + host.rx_ring_drops), -host.cpu_busy_share),
    )
    kept = {host.name for host in ranked[:HOSTS_MAX]}
    return [host for host in arm.hosts if host.name in kept]


def _fewest_idle(arm: ArmSummary) -> list[ProcessorMeans]:
    return sorted(arm.processors, key=lambda own: own.idle_cores)[:HOSTS_MAX]


def _most_overruns(arm: ArmSummary) -> list[HypervisorMeans]:
    return sorted(arm.hypervisors, key=lambda own: (-own.overruns, own.idle_cores))[:HOSTS_MAX]


def _costs(arm: ArmSummary) -> list[ListedCosts]:
    own = arm.costs
    return (
        [ListedCosts(parts_of(own, HOSTS_MAX), own.machine, list(own.losses.items())[:HOSTS_MAX])]
        if own
        else []
    )
