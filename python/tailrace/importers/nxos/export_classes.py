"""`class-map type qos` and `policy-map type qos` from rules of classification."""

from collections.abc import Iterator

from tailrace.importers.nxos.units import rate_words
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import takes_all
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.switch import Policy, Switch


def class_names(switch: Switch) -> str:
    """Name of the policy of type qos."""
    return f"{switch.policy}-classes"


def class_lines(switch: Switch, policy: Policy) -> list[str]:
    """A class-map for each rule in order, and the policy that sets the qos-group of each."""
    rules = [
        (f"{switch.policy}-{n}", rule)
        for n, rule in enumerate(_rules(switch), 1)
        if _is_sayable(rule)
    ]
    lines: list[str] = []
    for name, rule in rules:
        if rule.protocol is not None:
            lines += [
                f"ip access-list {name}",
                f"  10 permit {rule.protocol} {_side(rule.source_port)} "
                f"{_side(rule.destination_port)}",
            ]
        lines += [
            f"class-map type qos match-all {name}",
            *(f"  match {words}" for words in _conditions(name, rule)),
        ]
    lines.append(f"policy-map type qos {class_names(switch)}")
    police = _police(policy)
    for name, rule in [*rules, ("class-default", _otherwise(switch))]:
        lines += [f"  class {name}", f"    set qos-group {rule.class_}"]
        if police is not None and police[0] == rule.class_:
            lines.append(f"    {police[1]}")
    return lines


def police_remark(switch: Switch, policy: Policy, remarks: Remarks) -> None:
    """NX-OS polices each class separately: a policer for several rules becomes one for each."""
    police = _police(policy)
    if police is None or not switch.classify:
        return
    rules = [rule for rule in (*_rules(switch), _otherwise(switch)) if rule.class_ == police[0]]
    if len(rules) > 1:
        words = (
            f"each of the {len(rules)} classes of qos-group {police[0]} gets its own copy of this "
            "policer: together they pass more"
        )
        remarks.add(0, f"policies.{switch.policy}.police", "not-modelled", words)


def _rules(switch: Switch) -> list[Rule]:
    """The rules without the catch-all rule."""
    rules = switch.classify
    return rules[:-1] if rules and takes_all(rules[-1]) else rules


def _otherwise(switch: Switch) -> Rule:
    last = switch.classify[-1] if switch.classify else None
    return last if last is not None and takes_all(last) else Rule.model_validate({"class": 0})


def _is_sayable(rule: Rule) -> bool:
    names_host = any((rule.ingress, rule.source, rule.destination))
    has_ports = rule.source_port is not None or rule.destination_port is not None
    return not names_host and not (has_ports and rule.protocol is None)


def _conditions(name: str, rule: Rule) -> Iterator[str]:
    if rule.pcp is not None:
        yield f"cos {_listed(rule.pcp)}"
    if rule.dscp is not None:
        yield f"dscp {_listed(rule.dscp)}"
    if rule.vlan is not None:
        yield f"vlan {_listed(rule.vlan)}"
    if rule.protocol is not None:
        yield f"access-group name {name}"


def _listed(numbers: list[int]) -> str:
    return ",".join(str(number) for number in numbers)


def _side(ports: tuple[int, int] | None) -> str:
    if ports is None:
        return "any"
    first, last = ports
    return f"any eq {first}" if first == last else f"any range {first} {last}"


def _police(policy: Policy) -> tuple[int, str] | None:
    """The policed class and the command, where NX-OS can express the policer."""
    police = policy.police
    if police is None or police.per_flow or len(police.priorities) != 1:
        return None
    words = (
        f"police cir {rate_words(police.rate)} bc {police.burst} bytes conform transmit "
        "violate drop"
    )
    return police.priorities[0], words
