"""A performance lab for databases and storage on shared data-centre networks.

    import tailrace

    result = tailrace.run("scenario.yaml", trials=6)    # or tailrace.Result("runs/first")
    result.latency("fifo", "shop").p99_s                # seconds; .interval_s("p99"), .transactions()
    result.compare().to_pandas()                        # arms against the baseline, with intervals and p values
    result.table("port_series").to_polars()             # names of arms, workloads and ports, times in seconds
    curves = tailrace.sweep("scenario.yaml", {"workloads.shop.users": [1, 4, 16]})
    users = tailrace.search_for("scenario.yaml", {"workloads.shop.users": "1..64"}, "shop.p99 < 5ms", maximise="users")
    study = tailrace.sensitivity_of("scenario.yaml")    # which assumption decides which figure

`load` reads and checks a scenario. An error that the user can correct is a `TailraceError`; a
scenario with problems raises a `ScenarioError` that lists all of them.
"""  # noqa: E501

TYPE_CHECKING = False  # as in `typing`, whose import takes longer than the rest of the start
if TYPE_CHECKING:
    from typing import Any

    from tailrace.api import load, run, search_for, sensitivity_of, sweep
    from tailrace.errors import ScenarioError, ScenarioWarning, TailraceError
    from tailrace.results import Result

__all__ = [
    "Result",
    "ScenarioError",
    "ScenarioWarning",
    "TailraceError",
    "load",
    "run",
    "search_for",
    "sensitivity_of",
    "sweep",
]

_HOMES = {
    "Result": "tailrace.results",
    "ScenarioError": "tailrace.errors",
    "ScenarioWarning": "tailrace.errors",
    "TailraceError": "tailrace.errors",
    "load": "tailrace.api",
    "run": "tailrace.api",
    "search_for": "tailrace.api",
    "sensitivity_of": "tailrace.api",
    "sweep": "tailrace.api",
}
"""Imports a name when it is first used, so that the command line starts quickly."""


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'tailrace' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
