"""Probes from this machine, or from one of its network namespaces, to an address: there and
back."""

from collections.abc import Sequence
from pathlib import Path

from tailrace.errors import closest
from tailrace.tools.path.path import Asked, Direction, probe
from tailrace.tools.path.talk import Agent, ProbeError
from tailrace.tools.path.ways import ThereAndBack

NAMED = "/run/netns"
"""Where `ip netns` keeps its namespaces."""


def probe_address(
    name: str, namespace: str | None, expected_mtu: int | None, asked: Asked
) -> tuple[Direction, int]:
    """The way to an address and back, and the MTU that was expected: by default that of the
    interface to it."""
    where = f"namespace {namespace}" if namespace else "this machine"
    with Agent(where, _enter(namespace)) as agent:
        route = agent.ask("route", name=name)
        expected = expected_mtu if expected_mtu is not None else int(route["mtu"])
        way = ThereAndBack(agent, route["address"])
        asked = Asked(expected, asked.tries, asked.limit_s)
        return probe((route["from"], name), way, asked, is_round_trip=True), expected


def _enter(namespace: str | None) -> Sequence[str]:
    if namespace is None:
        return []
    names = sorted(_names())
    if "/" not in namespace and namespace not in names:
        raise ProbeError(
            f"there is no network namespace '{namespace}' (hint: "
            f"{closest(namespace, names, 'namespaces')})"
        )
    path = namespace if "/" in namespace else f"{NAMED}/{namespace}"
    return ["nsenter", f"--net={path}", "--"]


def _names() -> list[str]:
    folder = Path(NAMED)
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []
