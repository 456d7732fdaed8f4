"""Probes between two hosts of a fabric that runs: each end is ours, and so are the counters on the
way."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailrace.errors import closest
from tailrace.files import read_json
from tailrace.live.public import Lab, Standing, exec_words
from tailrace.tools.path.path import Asked, Direction, Located, probe
from tailrace.tools.path.talk import Agent, ProbeError
from tailrace.tools.path.ways import OneWay
from tailrace.tools.path.where import Counted, located

Counters = Callable[[], Counted]


def probe_standing(fabric: Standing, ends: tuple[str, str], asked: Asked) -> list[Direction]:
    """Both directions between two hosts of a fabric that stays up."""
    return _probe(fabric, ends, asked, lambda: Counted.of(fabric.counters()))


def probe_lab(lab: Lab, ends: tuple[str, str], asked: Asked) -> list[Direction]:
    """Both directions between two hosts of a lab."""
    as_standing = Standing("lab", lab.folder, lab.ready)
    return _probe(as_standing, ends, asked, lambda: Counted.of(lab.counters()))


def _probe(
    fabric: Standing, ends: tuple[str, str], asked: Asked, counters: Counters
) -> list[Direction]:
    plan = read_json(fabric.folder / "plan.json")
    addresses = {str(host["name"]): str(host["address"]) for host in fabric.hosts}
    with _agent(fabric, ends[0]) as one, _agent(fabric, ends[1]) as other:
        found = []
        for source, destination, names in ((one, other, ends), (other, one, ends[::-1])):
            way = OneWay(source, destination, addresses[names[1]])
            found.append(
                probe(
                    (names[0], names[1]), way, asked, _locate(plan, (names[0], names[1]), counters)
                )
            )
        return found


def _agent(fabric: Standing, host: str) -> Agent:
    words: Sequence[str] = exec_words(fabric, host, ["true"])[:-1]
    return Agent(host, words)


def _locate(plan: Mapping[str, Any], ends: tuple[str, str], counters: Counters) -> Located:
    def locate(send: Callable[[], None], probes: int) -> dict[str, Any] | None:
        before = counters()
        send()
        return located(plan, ends, counters().since(before), probes)

    return locate


def mtus(fabric: Standing) -> dict[str, int]:
    """MTU of the interface of every host."""
    return {str(host["name"]): int(host["mtu"]) for host in fabric.hosts}


def require_hosts(ends: tuple[str, str], hosts: Sequence[str], where: str) -> None:
    """Raises `ProbeError` for a name that is no host, and for the same host twice."""
    for name in ends:
        if name not in hosts:
            raise ProbeError(
                f"{where} has no host '{name}' (hint: {closest(name, hosts, 'hosts')})"
            )
    if ends[0] == ends[1]:
        raise ProbeError(f"a path has two ends; '{ends[0]}' was named twice (hint: name two hosts)")
