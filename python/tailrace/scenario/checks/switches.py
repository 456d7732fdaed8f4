"""Semantic checks for switches: buffers, the policies of their ports, rules of classification."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.checks import pause, sizes
from tailrace.scenario.lowering.pause import Port, groups
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.switch import Policy, Switch
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.units import format_size

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario, graph: Graph) -> Found:
    """Problems of every switch."""
    for name, own in scenario.switches.items():
        at: KeyPath = ("switches", name)
        if name != DEFAULTS and name not in graph.switch_names:
            hint = closest(name, [*graph.switches, DEFAULTS], "switches")
            yield (
                at,
                f"there is no switch '{name}'",
                f"{hint}; `tailrace import --name` renames an imported one",
            )
            continue
        switch = scenario.switch(name)
        if switch.buffer == 0:
            yield (*at, "buffer"), "`buffer` must be greater than zero", "12MB is usual"
        if "policy" in own.model_fields_set or "buffer" in own.model_fields_set or name == DEFAULTS:
            yield from _used_policy((*at, "policy"), switch.policy, switch, scenario)
        yield from _port_policies(at, name, switch, own, scenario, graph)
        for index, rule in enumerate(own.classify):
            yield from _rule((*at, "classify", index), rule, name, graph)
    yield from _ports(scenario, graph)


def _port_policies(
    at: KeyPath, name: str, switch: Switch, own: Switch, scenario: Scenario, graph: Graph
) -> Found:
    for towards, policy in own.ports.items():
        if not _is_beside(name, towards, graph):
            hint = closest(towards, _beside(name, graph), f"neighbours of '{name}'")
            yield (*at, "ports", towards), f"no link joins '{name}' and '{towards}'", hint
        yield from _used_policy((*at, "ports", towards), policy, switch, scenario)
    for towards in own.port_mtu:
        if not _is_beside(name, towards, graph):
            hint = closest(towards, _beside(name, graph), f"neighbours of '{name}'")
            yield (*at, "port_mtu", towards), f"no link joins '{name}' and '{towards}'", hint


def _is_beside(switch: str, towards: str, graph: Graph) -> bool:
    """Whether a switch has a port to a node; `switches.defaults` may name any node."""
    if switch == DEFAULTS:
        return towards in graph.host_names or towards in graph.switch_names
    return graph.are_joined(switch, towards)


def _beside(switch: str, graph: Graph) -> list[str]:
    return graph.nodes if switch == DEFAULTS else graph.neighbours(switch)


def _used_policy(at: KeyPath, name: str, switch: Switch, scenario: Scenario) -> Found:
    policy = scenario.policy(name)
    if policy is None:
        yield (
            at,
            f"there is no policy '{name}'",
            closest(name, list(dict.fromkeys([*scenario.policies, "fifo"])), "policies"),
        )
        return
    for queue_name, queue in policy.queues.items():
        if queue.limit.unit == "bytes" and queue.limit.amount > switch.buffer:
            limit, buffer = format_size(queue.limit.amount), format_size(switch.buffer)
            what = (
                f"queue '{queue_name}' of policy '{name}' may hold {limit}, but the switch has "
                f"a buffer of {buffer}"
            )
            yield at, what, "lower the queue's limit or raise the switch's buffer"
        if queue.reserved > switch.buffer:
            what = f"queue '{queue_name}' of policy '{name}' reserves {format_size(queue.reserved)}"
            yield (
                at,
                f"{what}, the switch has {format_size(switch.buffer)}",
                "lower what it reserves",
            )
    reserved = sum(queue.reserved for queue in policy.queues.values())
    if reserved > switch.buffer >= max(queue.reserved for queue in policy.queues.values()):
        what = f"the queues of policy '{name}' reserve {format_size(reserved)} together"
        yield at, f"{what}, the switch has {format_size(switch.buffer)}", "lower what they reserve"


def _ports(scenario: Scenario, graph: Graph) -> Found:
    """Problems of sizes and pauses at every port; a policy is reported once for each switch."""
    known: dict[tuple[object, ...], _Groups] = {}
    for name in graph.switches:
        switch = scenario.switch(name)
        blamed: set[str] = set()
        sized: set[str] = set()
        set_aside = 0
        last: KeyPath = ("switches", name)
        for towards in dict.fromkeys(graph.neighbours(name)):
            policy_name = switch.ports.get(towards, switch.policy)
            policy = scenario.policy(policy_name)
            if policy is None:
                continue
            port = Port(name, towards, switch, scenario, graph)
            if policy_name not in sized:
                sized.add(policy_name)
                yield from sizes.check(("policies", policy_name), policy, port)
            if policy.pausing is None or graph.link_of[name, towards].rate_bps == 0:
                continue
            last = ("policies", policy_name, "pfc" if policy.pfc is not None else "link_pause")
            # Ports with equal links and neighbours have the same groups, which are computed and
            # checked once.
            key = (policy_name, *port.surroundings)
            if key not in known:
                known[key] = _Groups(last, policy_name, policy, port)
            set_aside += known[key].set_aside
            if known[key].has_problems and policy_name not in blamed:
                blamed.add(policy_name)
                yield from pause.check_port(last, policy_name, policy, port)
        if set_aside >= switch.buffer > 0 and not blamed:
            what = (
                f"the headroom of all ports of switch '{name}' is {format_size(set_aside)} "
                "together, which is not less than its buffer"
            )
            yield (
                last,
                what,
                f"raise the buffer above {format_size(set_aside)}, lower the headroom, or use "
                "fewer lossless ports",
            )


class _Groups:
    """The priority groups of a port: their reserved bytes, and whether they have problems."""

    def __init__(self, at: KeyPath, name: str, policy: Policy, port: Port) -> None:
        assert policy.pausing is not None, "only such ports have groups"
        self.set_aside = sum(map(pause.set_aside, groups(policy.pausing, port)))
        self.has_problems = any(True for _ in pause.check_port(at, name, policy, port))


def _rule(at: KeyPath, rule: Rule, switch: str, graph: Graph) -> Found:
    stated = [
        key for key in Rule.model_fields if key != "class_" and getattr(rule, key) is not None
    ]
    if not stated:
        yield (
            at,
            "the rule has no condition and would match every frame",
            "add dscp, pcp, protocol, ports, source, ...",
        )
    for key in ("pcp", "dscp", "vlan"):
        if getattr(rule, key) == []:
            yield (
                (*at, key),
                "an empty list matches nothing",
                "omit it, or list the values to match",
            )
    for key in ("source", "destination"):
        host = getattr(rule, key)
        if host is not None and host not in graph.host_names:
            yield (*at, key), f"there is no host '{host}'", closest(host, graph.hosts, "hosts")
    if rule.ingress is not None and not _is_beside(switch, rule.ingress, graph):
        hint = closest(rule.ingress, _beside(switch, graph), f"neighbours of '{switch}'")
        yield (*at, "ingress"), f"no link joins '{switch}' and '{rule.ingress}'", hint
