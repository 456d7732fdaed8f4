"""Problems of levels and shares: of the queues of a port, or of the classes of an interface."""

from collections.abc import Iterator, Mapping

from tailrace.errors import KeyPath
from tailrace.scenario.policies.sharing import ONE_PPB, Served, shares_of

SHARE_PPB_MIN = 10**6
"""Shares are stored as weights in thousandths."""

Found = Iterator[tuple[KeyPath, str, str]]


class Sharing:
    """The parts that share a line."""

    def __init__(self, noun: str, parts: Mapping[str, Served]) -> None:
        self._noun = noun
        self._parts = parts
        self._shares = shares_of(parts)
        self._stated = sum(each.share or 0 for each in parts.values())

    def problems(self, at: KeyPath) -> Found:
        """Problems of all parts together."""
        if self._stated > ONE_PPB:
            what = f"the shares add up to {self._stated / 1e7:g} %"
            yield at, what, "lower them to at most 100% together"

    def problems_of(self, name: str, at: KeyPath) -> Found:
        """Problems of one part."""
        strict, share = self._parts[name].strict, self._parts[name].share
        if strict is not None and share is not None:
            yield at, f"a {self._noun} is either strict or has a share", "remove one of the two"
        if strict is None and self._shares[name] < SHARE_PPB_MIN and self._stated <= ONE_PPB:
            yield (
                at,
                f"{self._noun} '{name}' is left without a share",
                "give it at least 0.1%, or others less",
            )
