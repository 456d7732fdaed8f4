"""Lowers when queues and classes are served."""

from collections.abc import Mapping

from tailrace.scenario.policies.sharing import Served, shares_of
from tailrace.scenario.policies.weights import weights

Service = dict[str, int]


def lower_services(parts: Mapping[str, Served]) -> dict[str, Service]:
    """Level or weight of each part."""
    shares = shares_of(parts)
    weight_of = dict(zip(shares, weights(tuple(shares.values())), strict=True))
    return {
        name: {"dwrr": weight_of[name]} if each.strict is None else {"strict": each.strict}
        for name, each in parts.items()
    }
