"""Figures of hypervisors: context switches, exits, overruns, and the work of their cores."""

from collections.abc import Callable

from tailrace.outcome.types import Hypervisor
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, PS_PER_US
from tailrace.results.metrics.processors import busy_ps, switches_of
from tailrace.results.summary.hosts import HypervisorMeans
from tailrace.results.summary.means import means_of


def _counted_ps(trial: Trial) -> int:
    since_ps = max((host.counted_from_ps or 0 for host in trial.outcome.hosts), default=0)
    return max(1, trial.outcome.end_ps - since_ps)


def _summed(trial: Trial, of: Callable[[Hypervisor], int]) -> int | None:
    found = trial.outcome.hypervisors
    return sum(of(own) for own in found) if found else None


def _polled_for_nothing_ps(own: Hypervisor) -> int:
    polled = sum(task.user_ps for task in own.tasks if task.kind == "polling")
    return max(0, polled - own.polled_for_frames_ps)


def _busy_ps(own: Hypervisor) -> int:
    """Time of all cores; polling for nothing is no work."""
    return sum(busy_ps(core) for core in own.cores) - _polled_for_nothing_ps(own)


def switches_per_s(trial: Trial) -> float | None:
    """Switches of context on all hypervisors together, per second."""
    switches = _summed(trial, switches_of)
    return None if switches is None else switches * PS_PER_S / _counted_ps(trial)


def _overruns(own: Hypervisor) -> int:
    return (
        sum(port.receive_overruns + port.send_overruns for port in own.ports) + own.backlog_overruns
    )


def overruns(trial: Trial) -> float | None:
    """Frames that found a queue of a hypervisor full."""
    found = _summed(trial, _overruns)
    return None if found is None else float(found)


def _kernel_ps(own: Hypervisor) -> int:
    """Time of kernels for virtual machines, without that of neighbours."""
    tasks = sum(task.system_ps for task in own.tasks if task.kind != "neighbour")
    return tasks + sum(core.softirq_ps for core in own.cores)


def _inside_ps(own: Hypervisor) -> int:
    """Time in which virtual machines ran, and in which cores that poll switched frames."""
    cores = sum(task.user_ps for task in own.tasks if task.kind == "virtual-cores")
    return cores + own.polled_for_frames_ps


def kernel_share_percent(trial: Trial) -> float | None:
    """Share of the time for virtual machines that the kernels of hypervisors took."""
    kernel, inside = _summed(trial, _kernel_ps), _summed(trial, _inside_ps)
    return (
        None
        if kernel is None or inside is None or not kernel + inside
        else 100 * kernel / (kernel + inside)
    )


def per_transaction(trial: Trial, workload: str, metric: str) -> float | None:
    """A figure of all hypervisors for each completed transaction of a workload."""
    own = trial.workloads.get(workload)
    whole = _summed(trial, PER_TRANSACTION[metric])
    if whole is None or own is None or not own.transactions:
        return None
    return (
        whole
        / (PS_PER_US if metric == "hypervisor_cpu_us_per_transaction" else 1)
        / own.transactions
    )


PER_TRANSACTION: dict[str, Callable[[Hypervisor], int]] = {
    "hypervisor_switches_per_transaction": switches_of,
    "exits_per_transaction": lambda own: own.exits,
    "hypervisor_cpu_us_per_transaction": _busy_ps,
}


def summarise_hypervisors(trials: list[Trial]) -> list[HypervisorMeans]:
    """Each hypervisor, means over trials: cores by kind of work, rates, and frames that found a
    queue full."""
    rows: dict[str, list[HypervisorMeans]] = {}
    for trial in trials:
        for own in trial.outcome.hypervisors or []:
            rows.setdefault(own.name, []).append(_row(own, _counted_ps(trial)))
    return [means_of(HypervisorMeans, found) for found in rows.values()]


def _row(own: Hypervisor, time_ps: int) -> HypervisorMeans:
    time_s = time_ps / PS_PER_S
    polling_ps = _polled_for_nothing_ps(own)
    return HypervisorMeans(
        name=own.name,
        cores=len(own.cores),
        user_cores=(sum(core.user_ps for core in own.cores) - polling_ps) / time_ps,
        system_cores=sum(core.system_ps for core in own.cores) / time_ps,
        softirq_cores=sum(core.softirq_ps for core in own.cores) / time_ps,
        idle_cores=sum(core.idle_ps for core in own.cores) / time_ps,
        polling_cores=polling_ps / time_ps,
        voluntary_per_s=own.voluntary_switches / time_s,
        involuntary_per_s=own.involuntary_switches / time_s,
        exits_per_s=own.exits / time_s,
        receive_overruns=sum(port.receive_overruns for port in own.ports),
        send_overruns=sum(port.send_overruns for port in own.ports),
        backlog_overruns=own.backlog_overruns,
        overruns=_overruns(own),
    )
