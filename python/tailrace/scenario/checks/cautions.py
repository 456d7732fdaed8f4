"""Warnings about valid scenarios whose results may mislead."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.checks import (
    buffers,
    classify,
    elephants,
    finish,
    hypervisors,
    load,
    lossless,
    mtus,
    senders,
    workloads,
)
from tailrace.scenario.checks.lossless import lossless_priorities, lossless_queues
from tailrace.scenario.checks.pause import set_aside
from tailrace.scenario.lowering.pause import Port, groups
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.units import format_size

MILLI = 1000
Found = Iterator[tuple[KeyPath, str, str]]
"""Path, problem, hint."""


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Every warning about a valid scenario."""
    for name in graph.switches:
        switch = scenario.switch(name)
        policies = {
            policy: scenario.policy(policy) for policy in (switch.policy, *switch.ports.values())
        }
        if any(policy is not None and lossless_priorities(policy) for policy in policies.values()):
            yield from _switch(
                [Port(name, towards, switch, scenario, graph) for towards in graph.neighbours(name)]
            )
    yield from lossless.cautions(scenario, graph)
    yield from buffers.cautions(scenario, graph)
    yield from senders.cautions(scenario, graph)
    yield from classify.cautions(scenario, graph)
    yield from elephants.cautions(scenario, graph)
    yield from workloads.cautions(scenario, graph)
    yield from load.cautions(scenario, graph)
    yield from finish.cautions(scenario, graph)
    yield from hypervisors.cautions(scenario)
    yield from mtus.cautions(scenario, graph)


def _switch(ports: list[Port]) -> Found:
    """Warnings about the switch with these ports, each reported once."""
    noted: set[KeyPath] = set()
    held = _Held(ports)
    for port in ports:
        policy_name = port.switch.ports.get(port.towards, port.switch.policy)
        policy = _policy(port)
        if not lossless_priorities(policy):
            continue
        at: KeyPath = ("policies", policy_name)
        for found in (*_queues(at, policy, port, held), *_headroom(at, policy, port)):
            if found[0] not in noted:
                yield found
            noted.add(found[0])


def _policy(port: Port) -> Policy:
    policy = port.scenario.policy(port.switch.ports.get(port.towards, port.switch.policy))
    assert policy is not None, "checks reject unknown policies"
    return policy


def _queues(at: KeyPath, policy: Policy, port: Port, held: "_Held") -> Found:
    """A lossless queue at this port with a limit below the bytes that the groups of all other ports
    may hold for it."""
    for name, priority in lossless_queues(policy).items():
        held_bytes = held.beside(port, priority)
        limit = policy.queues[name].limit
        buffer = port.switch.buffer
        most = {
            "bytes": limit.amount,
            "frames": limit.amount * port.frame_bytes,
            "alpha-milli": limit.amount * max(0, buffer - held_bytes) // MILLI,
        }[limit.unit]
        if most < held_bytes:
            what = (
                f"lossless queue '{name}' drops above {format_size(most)}, but the other "
                f"{held.ports - 1} ports of switch '{port.node}' may hold "
                f"{format_size(held_bytes)} for it before their senders have stopped"
            )
            yield (
                (*at, "queues", name),
                what,
                "raise its limit, or lower xoff, if that many ports send to one port at a time",
            )


class _Held:
    """Bytes that the lossless groups of a switch can hold together, by priority: thresholds and
    headroom."""

    def __init__(self, ports: list[Port]) -> None:
        self.ports = len(ports)
        # Of all ports together: groups, bytes, and the sum of their alphas. Those of one port are
        # subtracted where needed.
        self._all = [(0, 0, 0)] * PRIORITIES
        for port in ports:
            for priority, own in enumerate(_own_groups(port)):
                self._all[priority] = _sum(self._all[priority], own)

    def beside(self, port: Port, priority: int) -> int:
        """Bytes of one priority that the groups of all ports but this one can hold together."""
        number, fixed, alpha_milli = _sum(self._all[priority], _own_groups(port)[priority], sign=-1)
        buffer = port.switch.buffer if number else 0
        # Together, groups with dynamic thresholds stop where one part in (1 + the sum of their
        # alphas) is still free.
        shared = max(0, buffer - fixed) * alpha_milli // (MILLI + alpha_milli)
        return min(buffer, fixed + shared)


_Sums = tuple[int, int, int]


def _sum(a: _Sums, b: _Sums, *, sign: int = 1) -> _Sums:
    return a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2]


def _own_groups(port: Port) -> list[_Sums]:
    """By priority: the number of lossless groups of a port, their bytes, and the sum of their
    alphas."""
    own = [(0, 0, 0)] * PRIORITIES
    pausing = _policy(port).pausing
    for group in groups(pausing, port) if pausing is not None else []:
        sums = (
            1,
            group["limit"].get("bytes", 0) + set_aside(group),
            group["limit"].get("alpha-milli", 0),
        )
        for priority in range(PRIORITIES):
            if "lossless" in group and group["priorities"] >> priority & 1:
                own[priority] = _sum(own[priority], sums)
    return own


def _headroom(at: KeyPath, policy: Policy, port: Port) -> Found:
    pausing = policy.pausing
    if pausing is None:
        return
    key = "pfc" if policy.pfc is not None else "link_pause"
    needed = port.headroom_bytes(pausing)
    for group in groups(pausing, port):
        own = group.get("lossless", {}).get("headroom_bytes", needed)
        if own < needed:
            what = (
                f"headroom of {format_size(own)} is less than the {format_size(needed)} "
                f"that may still arrive from '{port.towards}' after a pause: the excess is dropped"
            )
            yield (*at, key, "headroom"), what, "write auto"
            return
