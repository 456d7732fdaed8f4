"""Problems of the traffic classes of an interface (802.1Qaz)."""

from collections.abc import Iterator, Mapping

from tailrace.errors import KeyPath
from tailrace.scenario.network.host import NicClass
from tailrace.scenario.policies.switch import ONE_PPB, shares_of

SHARE_PPB_MIN = 10**6
"""A thousandth: the smallest weight of a plan."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(at: KeyPath, classes: Mapping[str, NicClass]) -> Found:
    """A priority in two classes, and shares that cannot be."""
    shares = shares_of({name: each.share for name, each in classes.items() if each.strict is None})
    stated = sum(each.share or 0 for each in classes.values())
    if stated > ONE_PPB:
        yield at, f"the shares add up to {stated / 1e7:g} %", "lower them to at most 100% together"
    owners: dict[int, str] = {}
    for name, each in classes.items():
        here: KeyPath = (*at, name)
        if each.strict is not None and each.share is not None:
            yield here, "a class is either strict or has a share", "remove one of the two"
        if each.strict is None and shares[name] < SHARE_PPB_MIN and stated <= ONE_PPB:
            yield here, f"class '{name}' is left without a share", "give it at least 0.1%, or others less"
        for priority in each.priorities:
            if (owner := owners.setdefault(priority, name)) != name:
                what = f"priority {priority} is in class '{owner}' already"
                yield (*here, "priorities"), what, "list each priority once"
