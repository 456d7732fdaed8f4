"""The switches of a plan in words."""

from dataclasses import dataclass

from msgspec import to_builtins
from msgspec.json import encode

from tailrace.errors import few
from tailrace.plan.types import Aqm, Dpp, Etrap, Limit, Plan, Policy, Queue, Service, Switch
from tailrace.report.policy.ingress import (
    EVERY,
    alpha_text,
    bits,
    ingress_sentences,
    ranges_text,
    rule_words,
)
from tailrace.results.format.numbers import digits_text, rate_text, size_text, span_text
from tailrace.scenario.policies.aqm.base import Writer
from tailrace.scenario.policies.aqm.kinds import describe_aqm

# Ports that are named before "and N more".
NAMES_MAX = 4

RESET_WORDS = {
    "order-safe": "unless some of its packets are still in the normal queue",
    "naive": "even if some of its packets are still in the normal queue",
}
FULL_WORDS = {
    "evict-oldest": "the flow that has been silent longest is evicted",
    "untracked": "further flows are not tracked",
}


@dataclass(frozen=True)
class PolicyWords:
    """A policy of ports."""

    where: str
    """`all ports`, `port to db`."""
    sentences: list[str]
    policy: Policy


@dataclass(frozen=True)
class SwitchWords:
    """Switches with the same settings."""

    names: list[str]
    title: str
    rules: list[str]
    policies: list[PolicyWords]


def switch_sentences(plan: Plan) -> list[SwitchWords]:
    """For every switch: a title, and one sentence per queue and mechanism of each different policy.

    Switches with the same settings share one entry: a fabric has many.
    """
    beside = _switches_beside(plan)
    names_of: dict[bytes, list[str]] = {}
    settings_of: dict[bytes, tuple[Switch, list[tuple[str, Policy]]]] = {}
    for switch in plan.switches:
        policies = _policies(switch, beside.get(switch.name, set()))
        mtus = (switch.mtu_bytes, switch.port_mtus)
        own = (switch.buffer_bytes, switch.switching, switch.latency_ps, switch.classify, *mtus)
        key = encode((own, policies))
        names_of.setdefault(key, []).append(switch.name)
        settings_of[key] = switch, policies
    return [
        _described(names_of[key], switch, policies)
        for key, (switch, policies) in settings_of.items()
    ]


def _described(names: list[str], switch: Switch, policies: list[tuple[str, Policy]]) -> SwitchWords:
    title = (
        f"{size_text(switch.buffer_bytes)} shared buffer, {switch.switching.replace('-', ' ')}, "
        f"{span_text(switch.latency_ps)} pipeline"
    )
    rules = [rule_words(rule) for rule in switch.classify]
    return SwitchWords(
        names,
        title,
        rules,
        [PolicyWords(where, policy_sentences(own), own) for where, own in policies],
    )


def _switches_beside(plan: Plan) -> dict[str, set[str]]:
    """By switch the neighbouring switches."""
    names = {switch.name for switch in plan.switches}
    beside: dict[str, set[str]] = {}
    for link in plan.links:
        if link.a in names and link.b in names:
            beside.setdefault(link.a, set()).add(link.b)
            beside.setdefault(link.b, set()).add(link.a)
    return beside


def _policies(switch: Switch, switches_beside: set[str]) -> list[tuple[str, Policy]]:
    """Different policies of a switch and where they are; ports with the same one share an entry."""
    different: dict[bytes, tuple[list[str], Policy]] = {}
    for port in switch.port_policies:
        different.setdefault(encode(port.policy), ([], port.policy))[0].append(port.towards)
    own = list(different.values())
    if len(own) == 1 and set(own[0][0]) == switches_beside:
        # The same words for every switch of a fabric, so that they share an entry.
        return [("ports to hosts", switch.policy), ("ports to switches", own[0][1])]
    others = "all other ports" if own else "all ports"
    return [(others, switch.policy), *((_where(names), policy) for names, policy in own)]


def _where(names: list[str]) -> str:
    if len(names) == 1:
        return f"port to {names[0]}"
    return f"ports to {few(names, NAMES_MAX)}"


def policy_sentences(policy: Policy) -> list[str]:
    """One sentence per queue and mechanism of a policy."""
    sentences = [_queue(queue) for queue in policy.queues]
    if policy.dpp:
        sentences.append(_dpp(policy.dpp, policy.queues))
    if policy.etrap:
        sentences.append(_etrap(policy.etrap))
    return sentences + ingress_sentences(policy)


def _queue(queue: Queue) -> str:
    parts = [service_words(queue.service), limit_words(queue.limit)]
    if queue.reserved_bytes:
        parts.append(f"{size_text(queue.reserved_bytes)} reserved")
    for rate_bps, words in ((queue.shape_min_bps, "at least"), (queue.shape_max_bps, "at most")):
        if rate_bps:
            parts.append(f"{words} {rate_text(rate_bps)}")
    if (aqm := aqm_words(queue.aqm)) != "":
        parts.append(aqm)
    if queue.qcn:
        parts.append(f"QCN around {size_text(queue.qcn.set_point_bytes)}")
    return f"Queue {queue.name}: {', '.join(parts)}."


def service_words(service: Service) -> str:
    """How a queue is served."""
    if service.strict is not None:
        return f"strict priority, level {service.strict}"
    return f"weighted {(service.dwrr or 0) / 10:g} %"


def limit_words(limit: Limit) -> str:
    """When a queue is full."""
    if limit.bytes is not None:
        return f"at most {size_text(limit.bytes)}"
    if limit.frames is not None:
        return f"at most {limit.frames} frames"
    return f"at most {alpha_text(limit)} times the free buffer"


def aqm_words(aqm: Aqm) -> str:
    """Which frames are marked or dropped before; empty for none."""
    return describe_aqm(to_builtins(aqm), Writer(size_text, span_text))


def _dpp(dpp: Dpp, queues: list[Queue]) -> str:
    express = queues[dpp.express_queue].name
    return (
        f"Dynamic packet prioritisation: the first {dpp.max_packets} packets of a "
        f"flow{_in_classes(dpp)} go to {express}; after {span_text(dpp.age_ps)} of silence a flow "
        f"counts as new, {RESET_WORDS[dpp.reset]}; {digits_text(dpp.table_entries)} flow entries; "
        f"when the table is full, {FULL_WORDS[dpp.when_full]}."
    )


def _in_classes(dpp: Dpp) -> str:
    return f" in class {ranges_text(bits(dpp.classes))}" if dpp.classes != EVERY else ""


def _etrap(etrap: Etrap) -> str:
    return (
        f"Elephant trap: a flow of more than {size_text(etrap.byte_count)} that sends "
        f"{size_text(etrap.bandwidth_threshold_bytes)} in every {span_text(etrap.age_ps)} is an "
        f"elephant; {digits_text(etrap.table_entries)} flow entries."
    )
