"""Host parameters measured on a machine, as overrides of a scenario: `hosts` unchanged, and
`round_trips` for every statement of every OLTP workload. A rate there may depend on the size of the
response, such as `build_rate: {1MB: 5Gbit/s, 64MB: 4Gbit/s}`: a statement uses the rate of the
nearest size by ratio, and no rate where that is `none`.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from tailrace.errors import Problem, ScenarioError
from tailrace.scenario.text.document import read_document
from tailrace.scenario.text.including import read_scenario
from tailrace.scenario.text.units import SIZE, QuantityError, parse

SECTIONS = ("hosts", "round_trips")
RATES = ("build_rate", "produce_rate", "consume_rate", "unpack_rate")
NO_RATE = "none"


def host_parameters(file: Path, scenario: Sequence[Path]) -> dict[str, Any]:
    """Dotted paths and values for `load_scenario`; raises `ScenarioError` for any other content."""
    document = read_document(file)
    if unknown := [key for key in document.data if key not in SECTIONS]:
        what, hint = f"'{unknown[0]}' is not a host parameter", f"sections: {', '.join(SECTIONS)}"
        raise ScenarioError(
            [Problem(str(file), document.line((unknown[0],)), unknown[0], what, hint)]
        )
    for key in SECTIONS:
        if not isinstance(document.data.get(key) or {}, dict):
            hint = f"write keys below {key}, as `tailrace lab calibrate` does"
            raise ScenarioError(
                [Problem(str(file), document.line((key,)), key, "it must be a mapping", hint)]
            )
    given = dict(_leaves(document.data.get("hosts") or {}, "hosts"))
    statement = document.data.get("round_trips") or {}
    for path, trip in _statements(read_scenario(scenario).data):
        for key, value in statement.items():
            try:
                own = _nearest(value, trip) if key in RATES and isinstance(value, dict) else value
            except QuantityError as error:
                at = document.line(("round_trips", key))
                raise ScenarioError(
                    [Problem(str(file), at, f"round_trips.{key}", error.what, error.hint)]
                ) from None
            if own is not None:
                given[f"{path}.{key}"] = own
    return given


def _nearest(by_size: Mapping[str, Any], trip: Mapping[str, Any]) -> Any:
    """The value measured for the size nearest to the response; None for `none`, and without a
    response."""
    sizes = {parse(size, SIZE): value for size, value in by_size.items()}
    try:
        response = parse(trip.get("response"), SIZE)
    except QuantityError:
        return None  # the scenario's own problem, which is reported with its line
    if not sizes or min(*sizes, response) <= 0:
        return None
    value = sizes[min(sizes, key=lambda size: abs(log(size / response)))]
    return None if value == NO_RATE else value


def _leaves(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, part in value.items():
        if isinstance(part, dict):
            yield from _leaves(part, f"{path}.{key}")
        else:
            yield f"{path}.{key}", part


def _statements(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Path and content of every statement."""
    workloads = data.get("workloads")
    for name, workload in workloads.items() if isinstance(workloads, dict) else ():
        if isinstance(workload, dict) and isinstance(workload.get("round_trips"), list):
            for index, trip in enumerate(workload["round_trips"]):
                yield (
                    f"workloads.{name}.round_trips.{index}",
                    trip if isinstance(trip, dict) else {},
                )
