"""Figures of modelled processors: what programs of a workload took of them, queues of their cores, throttling."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, PS_PER_US

KINDS = ("user", "system", "softirq", "steal", "idle")


def processors_of(trial: Trial) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Hosts with a processor, each with it."""
    return [(host, processor) for host in trial.hosts.values() if (processor := host.get("processor"))]


def counted_ps(trial: Trial, host: dict[str, Any]) -> int:
    """Time for which a host has counted."""
    return max(1, int(trial.outcome["end_ps"]) - int(host.get("counted_from_ps", 0)))


def _of_workload(trial: Trial, workload: str) -> list[dict[str, Any]]:
    """What its programs took of each processor; live, on each host."""
    rows = [row for _, processor in processors_of(trial) for row in processor["workloads"]]
    rows += [row for host in trial.hosts.values() for row in host.get("programs", [])]
    return [row for row in rows if row["name"] == workload]


def _time_ps(row: dict[str, Any]) -> int:
    return int(row["user_ps"] + row["system_ps"])


def switches_of(row: Mapping[str, Any]) -> int:
    """Switches of context of a program, a task or a processor."""
    return int(row["voluntary_switches"] + row["involuntary_switches"])


def _summed(rows: Iterable[dict[str, Any]], of: Callable[[dict[str, Any]], int]) -> int:
    return sum(of(row) for row in rows)


def workload_figure(trial: Trial, workload: str, metric: str) -> float | None:
    """A figure of the programs of one workload on all processors together; None where none has one."""
    rows = _of_workload(trial, workload)
    if not rows:
        return None
    match metric:
        case "cpu_s":
            return _summed(rows, _time_ps) / PS_PER_S
        case "context_switches":
            return float(_summed(rows, switches_of))
        case "involuntary_switches":
            return float(_summed(rows, lambda row: int(row["involuntary_switches"])))
    done: int = (trial.workload(workload) or {}).get("transactions", 0)
    if not done:
        return None
    if metric == "cpu_us_per_transaction":
        return _summed(rows, _time_ps) / PS_PER_US / done
    return _summed(rows, switches_of) / done


def runnable_mean(trial: Trial) -> float | None:
    """Tasks that run or wait, mean over time, on the host with most of them."""
    found = [int(own["runnable_area_ps"]) / counted_ps(trial, host) for host, own in processors_of(trial)]
    return max(found, default=None)


def busiest_core_percent(trial: Trial, kinds: tuple[str, ...]) -> float | None:
    """The largest share of its time that a core spent on these kinds."""
    found = [
        sum(core[f"{kind}_ps"] for kind in kinds) / counted_ps(trial, host) * 100
        for host, own in processors_of(trial)
        for core in own["cores"]
    ]
    return max(found, default=None)


def throttled_s(trial: Trial) -> float | None:
    """Time for which control groups were throttled, all together; None where none has a quota."""
    found = [group["throttled_ps"] for _, own in processors_of(trial) for group in own["groups"]]
    return sum(found) / PS_PER_S if found else None


def summarise_processors(trials: list[Trial]) -> list[dict[str, Any]]:
    """Each processor, means over trials: cores busy by kind, rates, run queues, throttling."""
    names = dict.fromkeys(host["name"] for trial in trials for host, _ in processors_of(trial))
    return [{"name": name} | _processor(name, trials) for name in names]


def _processor(name: str, trials: list[Trial]) -> dict[str, Any]:
    rows = [_row(trial, trial.hosts[name]) for trial in trials if trial.hosts[name].get("processor")]
    return {key: sum(row[key] for row in rows) / len(rows) for key in rows[0]}


def _row(trial: Trial, host: dict[str, Any]) -> dict[str, float]:
    own, time_ps = host["processor"], counted_ps(trial, host)
    time_s = time_ps / PS_PER_S
    return {
        "cores": float(len(own["cores"])),
        **{f"{kind}_cores": sum(core[f"{kind}_ps"] for core in own["cores"]) / time_ps for kind in KINDS},
        "voluntary_per_s": own["voluntary_switches"] / time_s,
        "involuntary_per_s": own["involuntary_switches"] / time_s,
        "migrations_per_s": own["migrations"] / time_s,
        "interrupts_per_s": own["interrupts"] / time_s,
        "ksoftirqd_wakeups": float(own["ksoftirqd_wakeups"]),
        "datagram_drops": float(own["datagram_drops"]),
        "runnable_mean": int(own["runnable_area_ps"]) / time_ps,
        "runnable_max": float(own["runnable_max"]),
        "throttled_s": sum(group["throttled_ps"] for group in own["groups"]) / PS_PER_S,
    }
