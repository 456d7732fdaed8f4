"""Semantic warnings about what cannot finish: more work than lines carry, or users do, within a trial.

Bounds from below: lines are never idle, no frame has headers or is lost, every draw is the mean of its distribution.
What passes may still be unfinished; what is warned of will be.
"""

from collections import defaultdict
from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.workloads.workload import Flows, Oltp, Stream, Workload

PS_PER_S = 10**12
SLACK = 1.02
"""Draws of thousands of transactions are closer to their mean than this."""
Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """A warning for every workload with a number to do that needs longer than `experiment.duration`."""
    if scenario.experiment.calibrate is not None:  # numbers and gaps are not known yet
        return
    duration_s = scenario.experiment.duration / PS_PER_S
    blamed: set[str] = set()
    for name, workload in scenario.running.items():
        found = _longest(workload, graph)
        if found is not None and found[0] > SLACK * duration_s:
            needed_s, why, key = found
            blamed.add(name)
            yield ("workloads", name, key), _words(needed_s, duration_s, why), _hint(needed_s, key)
    yield from _together(scenario, graph, blamed)


def _longest(workload: Workload, graph: Graph) -> tuple[float, str, str] | None:
    """The least time that a workload needs in seconds, what decides it, and the key of its number."""
    match workload:
        case Oltp() if workload.transactions:
            rate_bps = _line_bps(graph, workload.server, workload.client)
            bits = workload.users * workload.transactions * _response_bytes(workload) * 8
            pace_s = (workload.transactions - 1) * _cycle_s(workload, rate_bps)  # no pause follows the last one
            bounds = [(pace_s, "at its users' own pace"), (bits / rate_bps, "at the line rate")]
            return (*max(bounds), "transactions")
        case Stream() if workload.size:
            line_bps = _line_bps(graph, workload.source, workload.destination)
            rate_bps = min(line_bps, workload.rate or line_bps)
            needed_s = workload.start / PS_PER_S + workload.connections * workload.size * 8 / rate_bps
            return needed_s, "at the line rate" if rate_bps == line_bps else "at its own rate", "size"
        case Flows() if workload.flows and workload.interarrival is not None:
            needed_s = (workload.start + workload.flows * workload.interarrival.mean) / PS_PER_S
            return needed_s, "at the pace of its arrivals", "flows"
        case Flows() if workload.flows and workload.load:
            sources = graph.hosts if workload.sources == "all" else workload.sources
            offered_bps = sum(graph.rates_bps[host] for host in sources) * workload.load / 10**9
            needed_s = workload.start / PS_PER_S + workload.flows * workload.sizes.mean * 8 / offered_bps
            return needed_s, "at the pace of its arrivals", "flows"
        case _:
            return None


def _cycle_s(workload: Oltp, rate_bps: int) -> float:
    """One transaction after the other: the round trips alone on the line, and the gap."""
    busy_s = sum(
        trip.repeat * (_mean_s(trip.server_time) + trip.response * 8 / rate_bps) for trip in workload.round_trips
    )
    gap_s = _mean_s(workload.gap)
    return max(gap_s, busy_s) if workload.gap_from == "start" else gap_s + busy_s


def _together(scenario: Scenario, graph: Graph, blamed: set[str]) -> Found:
    """Workloads that fit alone, and not through the link of the host that receives them all."""
    duration_s = scenario.experiment.duration / PS_PER_S
    bytes_to: dict[str, int] = defaultdict(int)
    names: dict[str, list[str]] = defaultdict(list)
    for name, workload in scenario.running.items():
        if name in blamed:
            continue
        match workload:
            case Oltp() if workload.transactions:
                bytes_to[workload.client] += workload.users * workload.transactions * _response_bytes(workload)
                names[workload.client].append(name)
            case Stream() if workload.size:
                bytes_to[workload.destination] += workload.connections * workload.size
                names[workload.destination].append(name)
            case _:
                pass
    for host, size in bytes_to.items():
        needed_s = size * 8 / graph.rates_bps[host]
        if needed_s > SLACK * duration_s:  # of one workload alone, its own bound has said so
            why = f"together at the line rate of '{host}'"
            yield ("experiment", "duration"), _words(needed_s, duration_s, why, names[host]), _hint(needed_s, "numbers")


def _words(needed_s: float, duration_s: float, why: str, names: list[str] | None = None) -> str:
    subject = f"{', '.join(names)} need" if names else "it needs"
    needed = f"{subject} at least {_seconds(needed_s)} s {why}"
    return f"{needed}, and a trial ends after {_seconds(duration_s)} s: it cannot finish"


def _hint(needed_s: float, key: str) -> str:
    return f"raise experiment.duration above {_seconds(needed_s)}s, or lower {key}"


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _response_bytes(workload: Oltp) -> int:
    return sum(trip.repeat * trip.response for trip in workload.round_trips)


def _mean_s(distribution: Distribution) -> float:
    return distribution.mean / PS_PER_S


def _line_bps(graph: Graph, *hosts: str) -> int:
    """The slower of the links of two hosts."""
    return min(graph.rates_bps[host] for host in hosts)
