"""Warnings about rules of `classify` that match nothing, or more than they mean."""

from collections.abc import Iterator, Sequence

from tailrace.errors import KeyPath, few
from tailrace.scenario.classified import Matched, matched
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.scenario.workloads.ports import Traffic

NAMED_MAX = 3
NOTHING = "no frames of a workload meet this rule first"
Found = Iterator[tuple[KeyPath, str, str]]
OfRule = tuple[KeyPath, Rule, Sequence[Matched]]
"""Path of a rule, and the traffic whose first match it is."""


def rules(scenario: Scenario) -> Iterator[tuple[KeyPath, str, str, bool]]:
    """Every rule: path, the fault of a rule that matches nothing, hint, and whether it matches
    anything."""
    of = traffic_of(scenario, scenario.graph) if _has_rules(scenario) else []
    for at, rule, found in _rules(scenario, scenario.graph, of):
        yield at, NOTHING, _hint(rule, of), bool(found)


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Rules about ports that match frames of several services."""
    of = traffic_of(scenario, graph) if _has_rules(scenario) else []
    for at, rule, found in _rules(scenario, graph, of):
        services = {
            scenario.workloads[one.traffic.workload].service_name(): one.traffic for one in found
        }
        if _has_ports(rule) and len(services) > 1:
            named = [f"{traffic.words} ({service})" for service, traffic in services.items()]
            what = (
                "this rule about ports matches frames of different services: "
                f"{few(named, NAMED_MAX)}"
            )
            yield at, what, "narrow its ports, or give a workload another `port`"


def traffic_of(scenario: Scenario, graph: Graph) -> list[Traffic]:
    """The frames of all enabled workloads."""
    raw = {"workloads": [own.planned(name, graph) for name, own in scenario.running.items()]}
    return [traffic for planned in planned_workloads(raw) for traffic in planned.traffic]


def _has_rules(scenario: Scenario) -> bool:
    return any(switch.classify for switch in scenario.switches.values())


def _rules(scenario: Scenario, graph: Graph, of: Sequence[Traffic]) -> Iterator[OfRule]:
    """The rules of all switches; those of the defaults once."""
    noted: set[KeyPath] = set()
    for name in graph.switches:
        own = scenario.switches.get(name)
        at: KeyPath = (
            "switches",
            name if own and "classify" in own.model_fields_set else DEFAULTS,
            "classify",
        )
        switch = scenario.switch(name)
        if switch.classify and at not in noted:
            noted.add(at)
            found = list(matched(switch.classify, of, graph.host_names))
            for index, rule in enumerate(switch.classify):
                yield (*at, index), rule, [one for one in found if one.rule == index]


def _has_ports(rule: Rule) -> bool:
    return rule.source_port is not None or rule.destination_port is not None


def _hint(rule: Rule, of: Sequence[Traffic]) -> str:
    if not _has_ports(rule):
        return "compare it with the marks of the workloads, and with the rules before it"
    return f"ports are {few([traffic.words for traffic in of if not traffic.is_answer], NAMED_MAX)}"
