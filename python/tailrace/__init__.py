"""A performance lab for databases and storage on shared data-centre networks.

`tailrace.run("scenario.yaml")` runs a scenario and returns its `Result`; `tailrace.sweep` runs it at every point of one
or several axes, `tailrace.load` reads and checks one.
"""

TYPE_CHECKING = False  # as in `typing`, which costs more time than everything that the program does until it can answer
if TYPE_CHECKING:
    from typing import Any

    from tailrace.api import load, run, sweep
    from tailrace.errors import ScenarioError, ScenarioWarning, TailraceError
    from tailrace.results import Result

__all__ = ["Result", "ScenarioError", "ScenarioWarning", "TailraceError", "load", "run", "sweep"]

_HOMES = {
    "Result": "tailrace.results",
    "ScenarioError": "tailrace.errors",
    "ScenarioWarning": "tailrace.errors",
    "TailraceError": "tailrace.errors",
    "load": "tailrace.api",
    "run": "tailrace.api",
    "sweep": "tailrace.api",
}
"""Names are imported when they are used: the command line starts in a fraction of the time."""


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'tailrace' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
