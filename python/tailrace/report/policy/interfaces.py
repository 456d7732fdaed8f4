"""The interfaces of hosts that take part in pauses and notifications, in words."""

from tailrace.errors import few
from tailrace.plan.types import NicClass, NicLossless, Plan, Storm
from tailrace.report.policy.ingress import bits, ranges_text
from tailrace.results.format.numbers import rate_text, span_text

# Hosts that are named before "and N more".
NAMES_MAX = 6


def interface_sentences(plan: Plan) -> list[str]:
    """Pauses that hosts obey and rates that they limit, hosts with the same sentence together; then
    broken interfaces."""
    found: dict[str, list[str]] = {}
    storms = []
    for host in plan.hosts:
        lossless = host.nic.lossless
        found.setdefault(_obeys(lossless) if lossless else "ignore pauses", []).append(host.name)
        if lossless and lossless.storm:
            storms.append(f"A fault: the interface of {host.name} {_storm(lossless.storm)}.")
    if list(found) == ["ignore pauses"]:
        return storms
    return [
        f"Interfaces of {_names(names, len(plan.hosts))} {words}." for words, names in found.items()
    ] + storms


def _obeys(lossless: NicLossless) -> str:
    if lossless.obeys_link_pause:
        words = f"obey 802.3x pauses within {span_text(lossless.response_ps)}"
    elif lossless.obeys:
        priorities = ranges_text(bits(lossless.obeys))
        words = f"obey pauses of priority {priorities} within {span_text(lossless.response_ps)}"
    else:
        words = "ignore pauses"
    if qcn := lossless.qcn:
        words += f" and limit rates when notified (QCN, not below {rate_text(qcn.rate_min_bps)})"
    if classes := lossless.classes:
        words += f" and send by ETS: {', '.join(_class(each) for each in classes)}"
    return words


def _class(own: NicClass) -> str:
    """A class of 802.1Qaz: its name, priorities and service."""
    priorities = ranges_text(bits(own.priorities))
    service = own.service
    how = f"weight {service.dwrr}" if service.strict is None else f"strict, level {service.strict}"
    return f"{own.name} (priority {priorities}, {how})"


def _storm(storm: Storm) -> str:
    priorities = ranges_text(bits(storm.priorities))
    start, end = span_text(storm.from_ps), span_text(storm.until_ps)
    return f"sends pauses for priority {priorities} repeatedly from {start} to {end}"


def _names(names: list[str], hosts: int) -> str:
    return "all hosts" if len(names) == hosts else few(names, NAMES_MAX)
