"""Warnings about workloads that cannot finish: more work than links or users can complete within a
trial.

Lower bounds on time: links are never idle, frames have no headers and no losses, every draw is the
mean of its distribution. A workload without a warning may still not finish; a workload with a
warning cannot.
"""

from collections import defaultdict
from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario

PS_PER_S = 10**12
SLACK = 1.02
"""Tolerance for the mean of random draws over thousands of transactions."""
Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """A warning for every finite workload that needs longer than `experiment.duration`."""
    if scenario.experiment.calibrate is not None:  # numbers and gaps are not known yet
        return
    duration_s = scenario.experiment.duration / PS_PER_S
    blamed: set[str] = set()
    for name, workload in scenario.running.items():
        least = workload.least_time(graph)
        if least is not None and least.seconds > SLACK * duration_s:
            blamed.add(name)
            what = _words(least.seconds, duration_s, least.why)
            yield ("workloads", name, least.key), what, _hint(least.seconds, least.key)
    yield from _together(scenario, graph, blamed)


def _together(scenario: Scenario, graph: Graph, blamed: set[str]) -> Found:
    """Warnings about workloads that each fit, but together exceed the link of the host that
    receives them."""
    duration_s = scenario.experiment.duration / PS_PER_S
    bytes_to: dict[str, int] = defaultdict(int)
    names: dict[str, list[str]] = defaultdict(list)
    for name, workload in scenario.running.items():
        if name not in blamed and (bulk := workload.bulk_to()) is not None:
            host, size = bulk
            bytes_to[host] += size
            names[host].append(name)
    for host, size in bytes_to.items():
        needed_s = size * 8 / graph.rates_bps[host]
        if needed_s > SLACK * duration_s:  # its own bound already warns about a single workload
            why = f"together at the line rate of '{host}'"
            yield (
                ("experiment", "duration"),
                _words(needed_s, duration_s, why, names[host]),
                _hint(needed_s, "numbers"),
            )


def _words(needed_s: float, duration_s: float, why: str, names: list[str] | None = None) -> str:
    subject = f"{', '.join(names)} need" if names else "it needs"
    needed = f"{subject} at least {_seconds(needed_s)} s {why}"
    return f"{needed}, and a trial ends after {_seconds(duration_s)} s: it cannot finish"


def _hint(needed_s: float, key: str) -> str:
    return f"raise experiment.duration above {_seconds(needed_s)}s, or lower {key}"


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
