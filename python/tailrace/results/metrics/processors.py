"""Figures of modelled processors: their use by programs of a workload, queues of their cores,
throttling."""

from collections.abc import Callable
from typing import Protocol

from tailrace.outcome.types import CoreTimes, Host, Processor, ProcessorWorkload, Program
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, PS_PER_US
from tailrace.results.summary.hosts import ProcessorMeans
from tailrace.results.summary.means import means_of


class Switched(Protocol):
    """A program, a task or a processor that was switched to another."""

    @property
    def voluntary_switches(self) -> int:
        """Because it had nothing to do."""

    @property
    def involuntary_switches(self) -> int:
        """While it could have gone on."""


def processors_of(trial: Trial) -> list[tuple[Host, Processor]]:
    """Hosts with a processor, each with it."""
    return [(host, host.processor) for host in trial.hosts.values() if host.processor]


def counted_ps(trial: Trial, host: Host) -> int:
    """Time for which a host has counted."""
    return max(1, trial.outcome.end_ps - (host.counted_from_ps or 0))


def _of_workload(trial: Trial, workload: str) -> list[ProcessorWorkload | Program]:
    """Use of each processor by the workload's programs; in live trials by host."""
    rows: list[ProcessorWorkload | Program] = [
        own for _, found in processors_of(trial) for own in found.workloads
    ]
    rows += [own for host in trial.hosts.values() for own in host.programs or []]
    return [own for own in rows if own.name == workload]


def switches_of(own: Switched) -> int:
    """Switches of context of a program, a task or a processor."""
    return own.voluntary_switches + own.involuntary_switches


def workload_figure(trial: Trial, workload: str, metric: str) -> float | None:
    """A figure of the programs of one workload on all processors together; None where none has
    one."""
    rows = _of_workload(trial, workload)
    if not rows:
        return None
    time_ps = sum(row.user_ps + row.system_ps for row in rows)
    switches = sum(switches_of(row) for row in rows)
    match metric:
        case "cpu_s":
            return time_ps / PS_PER_S
        case "context_switches":
            return float(switches)
        case "involuntary_switches":
            return float(sum(row.involuntary_switches for row in rows))
    own = trial.workloads.get(workload)
    if own is None or not own.transactions:
        return None
    return (
        time_ps / PS_PER_US if metric == "cpu_us_per_transaction" else switches
    ) / own.transactions


def runnable_mean(trial: Trial) -> float | None:
    """Tasks that run or wait, mean over time, on the host with most of them."""
    found = [
        int(own.runnable_area_ps) / counted_ps(trial, host) for host, own in processors_of(trial)
    ]
    return max(found, default=None)


def busy_ps(core: CoreTimes) -> int:
    """Time that a core spent on any work."""
    return core.user_ps + core.system_ps + core.softirq_ps


def softirq_ps(core: CoreTimes) -> int:
    """Time that a core spent on the network stack."""
    return core.softirq_ps


def busiest_core_percent(trial: Trial, spent_ps: Callable[[CoreTimes], int]) -> float | None:
    """The largest share of its time that a core spent on something."""
    found = [
        spent_ps(core) / counted_ps(trial, host) * 100
        for host, own in processors_of(trial)
        for core in own.cores
    ]
    return max(found, default=None)


def throttled_s(trial: Trial) -> float | None:
    """Time for which control groups were throttled, all together; None where none has a quota."""
    found = [group.throttled_ps for _, own in processors_of(trial) for group in own.groups]
    return sum(found) / PS_PER_S if found else None


def summarise_processors(trials: list[Trial]) -> list[ProcessorMeans]:
    """Each processor, means over trials: cores busy by kind, rates, run queues, throttling."""
    rows: dict[str, list[ProcessorMeans]] = {}
    for trial in trials:
        for host, own in processors_of(trial):
            rows.setdefault(host.name, []).append(_row(host.name, own, counted_ps(trial, host)))
    return [means_of(ProcessorMeans, found) for found in rows.values()]


def _row(name: str, own: Processor, time_ps: int) -> ProcessorMeans:
    time_s = time_ps / PS_PER_S
    return ProcessorMeans(
        name=name,
        cores=len(own.cores),
        user_cores=sum(core.user_ps for core in own.cores) / time_ps,
        system_cores=sum(core.system_ps for core in own.cores) / time_ps,
        softirq_cores=sum(core.softirq_ps for core in own.cores) / time_ps,
        steal_cores=sum(core.steal_ps for core in own.cores) / time_ps,
        idle_cores=sum(core.idle_ps for core in own.cores) / time_ps,
        voluntary_per_s=own.voluntary_switches / time_s,
        involuntary_per_s=own.involuntary_switches / time_s,
        migrations_per_s=own.migrations / time_s,
        interrupts_per_s=own.interrupts / time_s,
        ksoftirqd_wakeups=own.ksoftirqd_wakeups,
        datagram_drops=own.datagram_drops,
        runnable_mean=int(own.runnable_area_ps) / time_ps,
        runnable_max=own.runnable_max,
        throttled_s=sum(group.throttled_ps for group in own.groups) / PS_PER_S,
    )
