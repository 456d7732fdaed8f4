"""Which frames of which workload a rule of `classify` matches, as far as a scenario or a plan says
it."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.workloads.ports import Traffic


@dataclass(frozen=True)
class Matched:
    """A frame's way through the rules of a switch."""

    traffic: Traffic
    rule: int | None
    """Index of the rule in `classify`; None where no rule matches, and the frame keeps its
    priority."""
    is_certain: bool
    """Whether all of these frames meet it; false where hosts, the way or the ports that clients get
    decide."""


def matched(rules: Sequence[Rule], of: Iterable[Traffic], hosts: Set[str]) -> Iterator[Matched]:
    """Every rule that may be the first to match some of the frames; `hosts` are all of the
    network."""
    for traffic in of:
        for index, rule in enumerate(rules):
            answer = _matches(rule, traffic, hosts)
            if answer is not False:
                yield Matched(traffic, index, answer is True)
            if answer is True:
                break
        else:
            yield Matched(traffic, None, is_certain=True)


def _matches(rule: Rule, traffic: Traffic, hosts: Set[str]) -> bool | None:
    """Whether a rule matches all of these frames (True), none (False), or some of them (None)."""
    marks = ((rule.pcp, traffic.priority), (rule.dscp, traffic.dscp), (rule.vlan, traffic.vlan))
    answers: list[bool | None] = [values is None or own in values for values, own in marks]
    answers.append(rule.protocol in (None, traffic.protocol))
    answers.append(_hosts(rule.source, traffic.sources))
    answers.append(_hosts(rule.destination, traffic.destinations))
    answers.append(_ingress(rule.ingress, traffic.sources, hosts))
    answers.append(_ports(rule.source_port, traffic.source_ports))
    answers.append(_ports(rule.destination_port, traffic.destination_ports))
    if False in answers:
        return False
    return None if None in answers else True


def _hosts(named: str | None, hosts: frozenset[str]) -> bool | None:
    if named is None:
        return True
    return False if named not in hosts else (True if len(hosts) == 1 else None)


def _ingress(named: str | None, sources: frozenset[str], hosts: Set[str]) -> bool | None:
    """Whether frames from these sources enter at the named neighbour: a host sends its own frames;
    for a switch it depends on the path."""
    return None if named is not None and named not in hosts else _hosts(named, sources)


def _ports(named: tuple[int, int] | None, own: tuple[int, int]) -> bool | None:
    if named is None or (named[0] <= own[0] and own[1] <= named[1]):
        return True
    return False if named[1] < own[0] or own[1] < named[0] else None
