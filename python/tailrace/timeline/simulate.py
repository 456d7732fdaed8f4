"""A trial that is simulated once more, with a log of chosen windows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tailrace.errors import RunRefusedError, TailraceError
from tailrace.experiment.native import drop_causes, make_trial, trace_trial, values
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.log import Log, read_log
from tailrace.timeline.log_cores import read_core_waits, read_cores, read_works


def log_of(plan: dict[str, Any], plan_json: str, chosen: Sequence[Chosen]) -> Log:
    """The log of the windows of these transactions; raises `RunRefusedError` when the plan cannot
    be traced."""
    names = [str(workload["header"]["name"]) for workload in plan["workloads"]]
    windows_ps = apart([one.window_ps for one in chosen])
    transactions = [(names.index(one.workload), one.id, one.transaction.user) for one in chosen]
    try:
        tables = trace_trial(make_trial(plan_json), windows_ps, transactions)
    except TailraceError as error:
        raise RunRefusedError(f"the trial cannot be traced: {error}") from None
    read = {name: values(columns) for name, columns in tables.items()}
    log = read_log(read, plan, windows_ps, drop_causes())
    return replace(
        log,
        cores=read_cores(read, plan),
        works=read_works(read, plan),
        core_waits=read_core_waits(read, log.sockets),
    )


def connections_of(plan: Mapping[str, Any], workload: str | None) -> dict[str, int]:
    """The number of connections of this workload, by its name, if they carry bulk data without an
    end; otherwise nothing."""
    planned = {own.name: own.endless_connections for own in planned_workloads(plan)}
    count = planned.get(workload or "")
    return {} if workload is None or count is None else {workload: count}


def datagram_workloads(plan: Mapping[str, Any]) -> set[str]:
    """Names of the workloads of a plan whose packets are datagrams, which have no connection."""
    return {own.name for own in planned_workloads(plan) if own.are_datagrams}


def apart(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same windows in order; adjacent ones are merged."""
    found: list[tuple[int, int]] = []
    for from_ps, to_ps in sorted(windows):
        if found and from_ps <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], to_ps))
        else:
            found.append((from_ps, to_ps))
    return found
