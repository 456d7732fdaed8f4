"""Warnings about rules of `classify` that match nothing, or more than they mean."""

from collections.abc import Iterator, Sequence

from tailrace.errors import KeyPath
from tailrace.scenario.classified import Matched, Stream, matched
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.scenario import DEFAULTS, Scenario

NAMED_MAX = 3
NOTHING = "no frames of a workload meet this rule first"
Found = Iterator[tuple[KeyPath, str, str]]
OfRule = tuple[KeyPath, Rule, Sequence[Matched]]
"""Path of a rule, and what it is the first to match."""


def rules(scenario: Scenario) -> Iterator[tuple[KeyPath, str, str, bool]]:
    """Every rule: path, what is wrong with one that matches nothing, hint, and whether it matches anything."""
    of = streams_of(scenario, scenario.graph) if _has_rules(scenario) else []
    for at, rule, found in _rules(scenario, scenario.graph, of):
        yield at, NOTHING, _hint(rule, of), bool(found)


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Rules about ports that match frames of several services."""
    of = streams_of(scenario, graph) if _has_rules(scenario) else []
    for at, rule, found in _rules(scenario, graph, of):
        services = {scenario.workloads[one.stream.name].service_name(): one.stream for one in found}
        if _has_ports(rule) and len(services) > 1:
            named = [f"{stream.shown} ({service})" for service, stream in services.items()]
            what = f"this rule about ports matches frames of different services: {_listed(named)}"
            yield at, what, "narrow its ports, or give a workload another `port`"


def streams_of(scenario: Scenario, graph: Graph) -> list[Stream]:
    """The frames of all enabled workloads."""
    return [
        Stream(name, own.priority, own.dscp, own.vlan or 0, sent)
        for name, own in scenario.running.items()
        for sent in own.sent(graph)
    ]


def _has_rules(scenario: Scenario) -> bool:
    return any(switch.classify for switch in scenario.switches.values())


def _rules(scenario: Scenario, graph: Graph, of: Sequence[Stream]) -> Iterator[OfRule]:
    """The rules of all switches; those of the defaults once."""
    told: set[KeyPath] = set()
    for name in graph.switches:
        own = scenario.switches.get(name)
        at: KeyPath = ("switches", name if own and "classify" in own.model_fields_set else DEFAULTS, "classify")
        switch = scenario.switch(name)
        if switch.classify and at not in told:
            told.add(at)
            found = list(matched(switch.classify, of, graph.host_names))
            for place, rule in enumerate(switch.classify):
                yield (*at, place), rule, [one for one in found if one.rule == place]


def _has_ports(rule: Rule) -> bool:
    return rule.source_port is not None or rule.destination_port is not None


def _hint(rule: Rule, of: Sequence[Stream]) -> str:
    if not _has_ports(rule):
        return "compare it with the marks of the workloads, and with the rules before it"
    return f"ports are {_listed([stream.shown for stream in of if not stream.sent.is_answer])}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return ", ".join(names[:NAMED_MAX]) + more
