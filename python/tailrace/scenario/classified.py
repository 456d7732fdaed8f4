"""Which frames of which workload a rule of `classify` matches, as far as a scenario or a plan says it."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.workloads.ports import Sent


@dataclass(frozen=True)
class Stream:
    """Frames of a workload in one direction."""

    name: str
    priority: int
    dscp: int
    vlan: int
    sent: Sent

    @property
    def shown(self) -> str:
        """Such as `shop to tcp port 5432` and `shop from tcp port 5432`."""
        sent = self.sent
        port, way = (sent.source_ports[0], "from") if sent.is_answer else (sent.destination_ports[0], "to")
        return f"{self.name} {way} {sent.protocol} port {port}"


@dataclass(frozen=True)
class Matched:
    """A frame's way through the rules of a switch."""

    stream: Stream
    rule: int | None
    """Place of the rule in `classify`; None where no rule matches, and the frame keeps its priority."""
    is_certain: bool
    """Whether all frames of the stream meet it; false where hosts or the way decide."""


def matched(rules: Sequence[Rule], of: Sequence[Stream], hosts: Set[str]) -> Iterator[Matched]:
    """Every rule that may be the first to match some frames of a stream; `hosts` are all of the network."""
    for stream in of:
        for place, rule in enumerate(rules):
            answer = _matches(rule, stream, hosts)
            if answer is not False:
                yield Matched(stream, place, answer is True)
            if answer is True:
                break
        else:
            yield Matched(stream, None, is_certain=True)


def _matches(rule: Rule, stream: Stream, hosts: Set[str]) -> bool | None:
    """Whether a rule matches all frames of a stream (True), none (False), or some of them (None)."""
    sent = stream.sent
    marks = ((rule.pcp, stream.priority), (rule.dscp, stream.dscp), (rule.vlan, stream.vlan))
    answers: list[bool | None] = [values is None or own in values for values, own in marks]
    answers.append(rule.protocol in (None, sent.protocol))
    answers.append(_hosts(rule.source, sent.sources))
    answers.append(_hosts(rule.destination, sent.destinations))
    answers.append(_ingress(rule.ingress, sent.sources, hosts))
    answers.append(_ports(rule.source_port, sent.source_ports))
    answers.append(_ports(rule.destination_port, sent.destination_ports))
    if False in answers:
        return False
    return None if None in answers else True


def _hosts(named: str | None, hosts: frozenset[str]) -> bool | None:
    if named is None:
        return True
    return False if named not in hosts else (True if len(hosts) == 1 else None)


def _ingress(named: str | None, sources: frozenset[str], hosts: Set[str]) -> bool | None:
    """A host sends what comes from it; what comes from a switch depends on the way."""
    return None if named is not None and named not in hosts else _hosts(named, sources)


def _ports(named: tuple[int, int] | None, own: tuple[int, int]) -> bool | None:
    if named is None or (named[0] <= own[0] and own[1] <= named[1]):
        return True
    return False if named[1] < own[0] or own[1] < named[0] else None
