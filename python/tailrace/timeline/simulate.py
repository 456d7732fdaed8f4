"""A trial that is simulated once more, with a log of chosen windows."""

from collections.abc import Sequence
from typing import Any

from tailrace.errors import RunRefusedError, TailraceError
from tailrace.experiment.native import drop_causes, make_trial, trace_trial, values
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.log import Log, read_log


def log_of(plan: dict[str, Any], plan_json: str, chosen: Sequence[Chosen]) -> Log:
    """The log of the windows of these transactions; raises `RunRefusedError` when the plan cannot be traced."""
    names = [str(workload["header"]["name"]) for workload in plan["workloads"]]
    windows_ps = apart([one.window_ps for one in chosen])
    users = [(names.index(one.workload), one.transaction.user) for one in chosen]
    try:
        tables = trace_trial(make_trial(plan_json), windows_ps, users)
    except TailraceError as error:
        raise RunRefusedError(f"the trial cannot be traced: {error}") from None
    return read_log({name: values(columns) for name, columns in tables.items()}, plan, windows_ps, drop_causes())


def apart(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same windows in order; those that touch are one."""
    found: list[tuple[int, int]] = []
    for from_ps, to_ps in sorted(windows):
        if found and from_ps <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], to_ps))
        else:
            found.append((from_ps, to_ps))
    return found
