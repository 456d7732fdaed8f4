"""Service of a port's queue or an interface's class: strict, or by a share of the rest after strict
ones."""

from collections.abc import Mapping
from typing import Protocol

ONE_PPB = 10**9


class Served(Protocol):
    """A queue or a class."""

    @property
    def strict(self) -> int | None:
        """Level, or None with a share."""

    @property
    def share(self) -> int | None:
        """Stated share in parts per billion."""


def shares_of(parts: Mapping[str, Served]) -> dict[str, int]:
    """Shares of parts that are not strict, in parts per billion; parts without a stated share
    divide the rest equally."""
    weighted = {name: each.share for name, each in parts.items() if each.strict is None}
    stated = sum(share for share in weighted.values() if share is not None)
    unstated = sum(1 for share in weighted.values() if share is None)
    left = max(0, ONE_PPB - stated) // max(1, unstated)
    return {name: left if share is None else share for name, share in weighted.items()}
