"""Costs of live trials: processor time and context switches of programs, of the switch and of the machine, in total and
per request, and frames that interfaces lost.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, PS_PER_US
from tailrace.results.metrics.processors import KINDS, switches_of

LOSSES = ("rx_dropped", "rx_overruns", "tx_dropped", "tx_overruns")


def summarise_costs(trials: list[Trial]) -> dict[str, Any] | None:
    """Means over live trials; None for others."""
    found = [row for trial in trials if (trial.outcome.get("live") or {}).get("machine") and (row := _row(trial))]
    return _mean(found) if found else None


def _row(trial: Trial) -> dict[str, Any]:
    live, span_s = trial.outcome["live"], trial.outcome["live"]["span_s"]
    requests = {one["name"]: int(one.get("transactions") or 0) for one in trial.outcome["workloads"]}
    done = sum(requests.values())
    return {
        "programs": {
            f"{row['name']}/{host['name']}": _spent(row, span_s, requests.get(row["name"], 0))
            for host in trial.outcome["hosts"]
            for row in host.get("programs", [])
        },
        "switch": _spent(live["switch"], span_s, done) if live["switch"] else None,
        "neighbours": {name: _spent(row, span_s, 0) for name, row in live["neighbours"].items()},
        "machine": _machine(live["machine"], span_s, done),
        "losses": _losses(live["interfaces"]),
    }


def _spent(row: Mapping[str, Any], span_s: float, requests: int) -> dict[str, float | None]:
    """`row` is of a program, of all programs of a workload on a host, or of the switch."""
    return {
        "user_cores": row["user_ps"] / PS_PER_S / span_s,
        "system_cores": row["system_ps"] / PS_PER_S / span_s,
        "voluntary_per_s": row["voluntary_switches"] / span_s,
        "involuntary_per_s": row["involuntary_switches"] / span_s,
        "switches_per_request": switches_of(row) / requests if requests else None,
        "cpu_us_per_request": (row["user_ps"] + row["system_ps"]) / PS_PER_US / requests if requests else None,
    }


def _machine(row: Mapping[str, Any], span_s: float, requests: int) -> dict[str, float | None]:
    return {
        **{f"{kind}_cores": row[f"{kind}_ps"] / PS_PER_S / span_s for kind in KINDS},
        "switches_per_s": row["context_switches"] / span_s,
        "switches_per_request": row["context_switches"] / requests if requests else None,
        "backlog_dropped": row["backlog"]["dropped"],
        "backlog_squeezed": row["backlog"]["squeezed"],
    }


def _losses(interfaces: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Interfaces that lost frames, of hosts and of a foreign switch."""
    every = {f"{host} eth0": own for host, own in interfaces["hosts"].items()} | dict(interfaces["switch"])
    return {name: lost for name, own in every.items() if any((lost := {key: own[key] for key in LOSSES}).values())}


def _mean(rows: list[Any]) -> Any:
    """The means of values of one shape; a part that some trials lack is the mean of the others."""
    kept = [row for row in rows if row is not None]
    if not kept:
        return None
    if isinstance(kept[0], Mapping):
        return {key: _mean([row.get(key) for row in kept]) for key in _keys(kept)}
    return sum(kept) / len(kept)


def _keys(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def parts_of(costs: Mapping[str, Any], most: int | None = None) -> list[tuple[str, dict[str, float | None]]]:
    """The programs, the switch and the neighbours of an arm with what each spent; of programs and neighbours `most`."""
    switch = [("switch", costs["switch"])] if costs["switch"] else []
    return [*list(costs["programs"].items())[:most], *switch, *list(costs["neighbours"].items())[:most]]


def cost_rows(summary: Mapping[str, Any], text: Callable[[float | None], str]) -> list[list[str]]:
    """A text table with the programs, the switch, the neighbours and the machine of each arm; none without costs."""
    rows: list[list[str]] = []
    for arm, own in summary["arms"].items():
        if not (costs := own.get("costs")):
            continue
        rows += [[arm, name, *(text(value) for value in _figures(part))] for name, part in parts_of(costs)]
        machine = costs["machine"]
        figures = (machine["user_cores"], machine["system_cores"], machine["softirq_cores"])
        switches = (machine["switches_per_s"], machine["switches_per_request"], None)
        rows.append([arm, "machine", *(text(value) for value in (*figures, *switches))])
    return [["arm", "workload/host", *HEADS], *rows] if rows else []


HEADS = ("user, cores", "system, cores", "soft irq, cores", "switches/s", "per request", "CPU us/request")


def _figures(part: Mapping[str, Any]) -> tuple[float | None, ...]:
    return (
        part["user_cores"],
        part["system_cores"],
        None,
        part["voluntary_per_s"] + part["involuntary_per_s"],
        part["switches_per_request"],
        part["cpu_us_per_request"],
    )
