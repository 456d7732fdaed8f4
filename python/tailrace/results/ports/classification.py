"""Which rule of `classify` matches which frames of a plan."""

from collections.abc import Iterator

from msgspec import Struct, to_builtins

from tailrace.plan import types as planned
from tailrace.plan.types import Plan
from tailrace.scenario.classified import matched
from tailrace.scenario.policies.classify import PROTOCOLS, Rule
from tailrace.scenario.workloads.planned import workloads_of

PROTOCOL_NAMES = {number: name for name, number in PROTOCOLS.items()}


class ClassifyRule(Struct, frozen=True, kw_only=True):
    """A rule of a switch."""

    switch: str
    number: int
    """From 1, in the order of the switch."""
    conditions: str
    """Such as `protocol tcp, destination_port 5432`."""
    to_class: int
    """Class of matching frames."""
    matches: list[str]
    """Frames whose first matching rule it is, such as `shop to tcp port 5432`; `(possibly)` where
    the plan does not determine it: ports of clients are assigned during the trial."""


def classify_rules(plan: Plan) -> Iterator[ClassifyRule]:
    """The rules of all switches of a plan."""
    hosts = {host.name for host in plan.hosts}
    of = [traffic for own in workloads_of(plan) for traffic in own.traffic]
    for switch in plan.switches:
        found = list(matched([_rule(rule) for rule in switch.classify], of, hosts))
        for index, rule in enumerate(switch.classify):
            met = [one for one in found if one.rule == index]
            matches = [
                one.traffic.words if one.is_certain else f"{one.traffic.words} (possibly)"
                for one in met
            ]
            yield ClassifyRule(
                switch=switch.name,
                number=index + 1,
                conditions=_conditions(rule),
                to_class=rule.class_,
                matches=matches,
            )


def _rule(rule: planned.Rule) -> Rule:
    """The rule as scenarios have it."""
    return Rule.model_validate({"class": rule.class_, **_stated(rule)})


def _stated(rule: planned.Rule) -> dict[str, object]:
    stated = {key: value for key, value in to_builtins(rule).items() if key != "class"}
    if rule.protocol is not None:
        stated["protocol"] = PROTOCOL_NAMES[rule.protocol]
    for key in ("source_port", "destination_port"):
        if key in stated:
            stated[key] = _range(stated[key])
    return stated


def _range(ports: object) -> str:
    """First and last port as scenarios have them."""
    assert isinstance(ports, tuple)
    first, last = ports
    return str(first) if first == last else f"{first}-{last}"


def _conditions(rule: planned.Rule) -> str:
    words = [f"{key} {_value(value)}" for key, value in _stated(rule).items()]
    return ", ".join(words) or "all"


def _value(value: object) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else str(value)
