"""Semantic checks of neighbours, and which engines have none."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.checks.cores import absent_core
from tailrace.scenario.scenario import Scenario

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Cores that the host does not have, and cores that are named twice."""
    for host, own in scenario.hosts.items():
        cores_max = scenario.host(host).cpu.cores
        for name, neighbour in own.neighbours.items():
            at: KeyPath = ("hosts", host, "neighbours", name, "cores")
            for index, core in enumerate(neighbour.cores or []):
                if cores_max and core >= cores_max:
                    yield (*at, index), *absent_core(core, cores_max, "the host")
                if core in (neighbour.cores or [])[:index]:
                    yield (*at, index), f"core {core} is named twice", "name each core once"


def absent(scenario: Scenario, engine: str) -> Found:
    """Neighbours, for an engine in which they would have no effect."""
    for host, own in scenario.hosts.items():
        if own.neighbours:
            what = (
                f"{engine} runs have no neighbours: the programs of a host "
                "are alone on its processor"
            )
            yield ("hosts", host, "neighbours"), what, "omit them, or use --live"
