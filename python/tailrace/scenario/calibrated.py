"""Host parameters that were measured on a machine, as overrides of a scenario: `hosts` as it stands there, and
`round_trips` for every statement of every OLTP workload.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tailrace.errors import Problem, ScenarioError
from tailrace.scenario.document import read_document

SECTIONS = ("hosts", "round_trips")


def host_parameters(file: Path, scenario: Path) -> dict[str, Any]:
    """Dotted paths and values for `load_scenario`; raises `ScenarioError` when the file holds anything else."""
    document = read_document(file)
    if unknown := [key for key in document.data if key not in SECTIONS]:
        what, hint = f"'{unknown[0]}' is no host parameter", f"sections: {', '.join(SECTIONS)}"
        raise ScenarioError([Problem(str(file), document.line((unknown[0],)), unknown[0], what, hint)])
    given = dict(_leaves(document.data.get("hosts") or {}, "hosts"))
    statement = document.data.get("round_trips") or {}
    for place in _statements(read_document(scenario).data):
        given |= {f"{place}.{key}": value for key, value in statement.items()}
    return given


def _leaves(value: Mapping[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    for key, part in value.items():
        if isinstance(part, dict):
            yield from _leaves(part, f"{place}.{key}")
        else:
            yield f"{place}.{key}", part


def _statements(data: Mapping[str, Any]) -> Iterator[str]:
    workloads = data.get("workloads")
    for name, workload in workloads.items() if isinstance(workloads, dict) else ():
        if isinstance(workload, dict) and workload.get("kind") == "oltp":
            for index, _ in enumerate(workload.get("round_trips") or []):
                yield f"workloads.{name}.round_trips.{index}"
