"""What runs as it is written and yet deserves a look before its result is trusted: warnings, not refusals."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario import caution_load, caution_senders
from tailrace.scenario.check_lossless import lossless_priorities, lossless_queues
from tailrace.scenario.check_pause import set_aside
from tailrace.scenario.lower_pause import Port, groups
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.switch import Policy
from tailrace.scenario.topology import Graph
from tailrace.scenario.units import format_size

MILLI = 1000
Found = Iterator[tuple[KeyPath, str, str]]
"""Path, what may go wrong, hint."""


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Every warning of a sound scenario."""
    for name in graph.switches:
        switch = scenario.switch(name)
        ports = [Port(name, towards, switch, scenario, graph) for towards in graph.neighbours(name)]
        told: set[KeyPath] = set()
        for port in ports:
            policy_name = switch.ports.get(port.towards, switch.policy)
            policy = _policy(port)
            if not lossless_priorities(policy):
                continue
            at: KeyPath = ("policies", policy_name)
            for found in (*_queues(at, policy, port, ports), *_headroom(at, policy, port)):
                if found[0] not in told:
                    yield found
                told.add(found[0])
    yield from caution_senders.cautions(scenario, graph)
    yield from caution_load.cautions(scenario, graph)


def _policy(port: Port) -> Policy:
    policy = port.scenario.policy(port.switch.ports.get(port.towards, port.switch.policy))
    assert policy is not None, "checks refuse unknown policies"
    return policy


def _queues(at: KeyPath, policy: Policy, port: Port, ports: list[Port]) -> Found:
    """A queue at this port that is smaller than what the groups of all other ports may hold for it."""
    others = [other for other in ports if other is not port]
    for name, priority in lossless_queues(policy).items():
        held = _held_bytes(priority, others)
        limit = policy.queues[name].limit
        buffer = port.switch.buffer
        most = {
            "bytes": limit.amount,
            "frames": limit.amount * port.frame_bytes,
            "alpha-milli": limit.amount * max(0, buffer - held) // MILLI,
        }[limit.unit]
        if most < held:
            what = (
                f"lossless queue '{name}' drops above {format_size(most)}, and the other {len(others)} ports of switch "
                f"'{port.node}' may hold {format_size(held)} for it before their senders have stopped"
            )
            yield (*at, "queues", name), what, "raise its limit, or lower xoff, if so many send to one port at once"


def _held_bytes(priority: int, ports: list[Port]) -> int:
    """What the groups of one priority at these ports can hold together, thresholds and headroom."""
    fixed, alpha_milli, buffer = 0, 0, 0
    for port in ports:
        pausing = _policy(port).pausing
        for group in groups(pausing, port) if pausing is not None else []:
            if "lossless" in group and group["priorities"] >> priority & 1:
                fixed += group["limit"].get("bytes", 0) + set_aside(group)
                alpha_milli += group["limit"].get("alpha-milli", 0)
                buffer = port.switch.buffer
    # Together, groups with dynamic thresholds stop where one part in (1 + the sum of their alphas) is still free.
    shared = max(0, buffer - fixed) * alpha_milli // (MILLI + alpha_milli)
    return min(buffer, fixed + shared)


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
                f"that may still come from '{port.towards}' after a pause: the rest is dropped"
            )
            yield (*at, key, "headroom"), what, "write auto"
            return
