"""Semantic checks for workloads: unknown or unreachable hosts, and the checks of each kind."""

from collections.abc import Iterator
from itertools import islice

from tailrace.errors import KeyPath, closest
from tailrace.scenario.network.device import known_devices
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import Surroundings, WorkloadKind

ENDS_BLAMED_MAX = 200
"""Unknown hosts of one workload that are reported at most."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario, graph: Graph, *, is_joined: bool) -> Found:
    """Problems of every workload; paths are checked only when all links have two ends
    (`is_joined`)."""
    around = surroundings(scenario, graph)
    for name, workload in scenario.workloads.items():
        at: KeyPath = ("workloads", name)
        unknown = list(islice(_ends(at, workload, graph), ENDS_BLAMED_MAX))
        yield from unknown
        own = [workload.path_problems(graph)] if is_joined and not unknown else []
        for found in (*own, workload.problems(around)):
            yield from (((*at, *key), what, hint) for key, what, hint in found)


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Warnings of every enabled workload of a valid scenario."""
    around = surroundings(scenario, graph)
    for name, workload in scenario.running.items():
        yield from (
            (("workloads", name, *key), what, hint) for key, what, hint in workload.cautions(around)
        )


def surroundings(scenario: Scenario, graph: Graph) -> Surroundings:
    """The parts of a scenario that workloads may read."""
    named = {name for workload in scenario.workloads.values() for _, name in workload.named_ends()}
    mtus = {name: scenario.host(name).mtu for name in named & graph.host_names}
    return Surroundings(graph, scenario.experiment.duration, known_devices(scenario.devices), mtus)


def _ends(at: KeyPath, workload: WorkloadKind, graph: Graph) -> Found:
    for key, name in workload.named_ends():
        if name in graph.switch_names:
            yield (*at, *key), f"'{name}' is a switch, not a host", "name a host"
        elif name not in graph.host_names:
            yield (*at, *key), f"there is no host '{name}'", closest(name, graph.hosts, "hosts")
