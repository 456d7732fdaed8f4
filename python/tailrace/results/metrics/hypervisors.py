"""Figures of hypervisors: switches of context, exits, overruns, and what their cores spent time on."""

from collections.abc import Callable
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, PS_PER_US
from tailrace.results.metrics.processors import switches_of

BUSY = ("user", "system", "softirq")


def hypervisors_of(trial: Trial) -> list[dict[str, Any]]:
    """The hypervisors of a trial."""
    found: list[dict[str, Any]] = trial.outcome.get("hypervisors", [])
    return found


def _counted_ps(trial: Trial) -> int:
    hosts = trial.hosts.values()
    since = max((int(host.get("counted_from_ps", 0)) for host in hosts), default=0)
    return max(1, int(trial.outcome["end_ps"]) - since)


def _summed(trial: Trial, of: Callable[[dict[str, Any]], int]) -> int | None:
    found = hypervisors_of(trial)
    return sum(of(own) for own in found) if found else None


def _polled_for_nothing_ps(own: dict[str, Any]) -> int:
    polled = sum(int(task["user_ps"]) for task in own["tasks"] if task["kind"] == "polling")
    return max(0, polled - int(own["polled_for_frames_ps"]))


def _busy_ps(own: dict[str, Any]) -> int:
    """Time of all cores; polling for nothing is no work."""
    return sum(int(core[f"{kind}_ps"]) for core in own["cores"] for kind in BUSY) - _polled_for_nothing_ps(own)


def switches_per_s(trial: Trial) -> float | None:
    """Switches of context on all hypervisors together, per second."""
    switches = _summed(trial, switches_of)
    return None if switches is None else switches * PS_PER_S / _counted_ps(trial)


def _overruns(own: dict[str, Any]) -> int:
    ports = sum(int(port["receive_overruns"] + port["send_overruns"]) for port in own["ports"])
    return ports + int(own["backlog_overruns"])


def overruns(trial: Trial) -> float | None:
    """Frames that found a queue of a hypervisor full."""
    found = _summed(trial, _overruns)
    return None if found is None else float(found)


def _kernel_ps(own: dict[str, Any]) -> int:
    """Time of kernels for virtual machines, without that of neighbours."""
    tasks = sum(int(task["system_ps"]) for task in own["tasks"] if task["kind"] != "neighbour")
    return tasks + sum(int(core["softirq_ps"]) for core in own["cores"])


def _inside_ps(own: dict[str, Any]) -> int:
    """Time in which virtual machines ran, and in which cores that poll switched frames."""
    cores = sum(int(task["user_ps"]) for task in own["tasks"] if task["kind"] == "virtual-cores")
    return cores + int(own["polled_for_frames_ps"])


def kernel_share_percent(trial: Trial) -> float | None:
    """Share of the time for virtual machines that the kernels of hypervisors took."""
    kernel, inside = _summed(trial, _kernel_ps), _summed(trial, _inside_ps)
    return None if kernel is None or inside is None or not kernel + inside else 100 * kernel / (kernel + inside)


def per_transaction(trial: Trial, workload: str, metric: str) -> float | None:
    """A figure of all hypervisors for each completed transaction of a workload."""
    done: int = (trial.workload(workload) or {}).get("transactions", 0)
    whole = _summed(trial, PER_TRANSACTION[metric])
    if whole is None or not done:
        return None
    return whole / (PS_PER_US if metric == "hypervisor_cpu_us_per_transaction" else 1) / done


PER_TRANSACTION: dict[str, Callable[[dict[str, Any]], int]] = {
    "hypervisor_switches_per_transaction": switches_of,
    "exits_per_transaction": lambda own: int(own["exits"]),
    "hypervisor_cpu_us_per_transaction": _busy_ps,
}


def summarise_hypervisors(trials: list[Trial]) -> list[dict[str, Any]]:
    """Each hypervisor, means over trials: cores by kind of work, rates, and frames that found a queue full."""
    rows: dict[str, list[dict[str, float]]] = {}
    for trial in trials:
        for own in hypervisors_of(trial):
            rows.setdefault(own["name"], []).append(_row(own, _counted_ps(trial)))
    return [
        {"name": name} | {key: sum(row[key] for row in found) / len(found) for key in found[0]}
        for name, found in rows.items()
    ]


def _row(own: dict[str, Any], time_ps: int) -> dict[str, float]:
    time_s = time_ps / PS_PER_S
    cores = {kind: sum(int(core[f"{kind}_ps"]) for core in own["cores"]) for kind in (*BUSY, "idle")}
    polling = _polled_for_nothing_ps(own)
    return {
        "cores": float(len(own["cores"])),
        **{f"{kind}_cores": (ps - (polling if kind == "user" else 0)) / time_ps for kind, ps in cores.items()},
        "polling_cores": polling / time_ps,
        "voluntary_per_s": own["voluntary_switches"] / time_s,
        "involuntary_per_s": own["involuntary_switches"] / time_s,
        "exits_per_s": own["exits"] / time_s,
        "receive_overruns": float(sum(port["receive_overruns"] for port in own["ports"])),
        "send_overruns": float(sum(port["send_overruns"] for port in own["ports"])),
        "backlog_overruns": float(own["backlog_overruns"]),
        "overruns": float(_overruns(own)),
    }
