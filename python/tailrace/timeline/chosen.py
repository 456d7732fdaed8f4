"""Transactions of a trial, chosen to be traced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.errors import RunRefusedError
from tailrace.results.causes.causes import Transaction
from tailrace.results.format.numbers import span_text

MARGIN_DIVISOR = 10
"""The window begins before a transaction and ends after it by this part of its latency."""
MARGIN_PS_MIN = 100_000_000
"""And by at least 100 us, so that the queue that it met is visible."""


INTERVAL_PS = 5_000_000_000
"""Shown interval of a workload whose operations are not known: 5 ms."""
INTERVAL_REASON = "5 ms of a workload whose operations are not known"
NO_NUMBER = 2**32 - 1
PS_PER_US = 1_000_000


@dataclass(frozen=True)
class Chosen:
    """A transaction of a workload."""

    workload: str
    id: int
    """Its number among those of its workload, in the order of completion, from 0."""
    transaction: Transaction
    why: str = ""
    """In words where its parts are not known."""
    is_interval: bool = False
    """It is an interval of a workload whose operations are not known."""

    @property
    def window_ps(self) -> tuple[int, int]:
        """From before its start to after its end."""
        one = self.transaction
        margin_ps = max(MARGIN_PS_MIN, one.latency_ps // MARGIN_DIVISOR)
        return max(0, one.start_ps - margin_ps), one.end_ps + margin_ps

    @property
    def name(self) -> str:
        """`orders #12`."""
        if self.is_interval:
            return f"{self.workload} at {span_text(self.transaction.start_ps)}"
        return f"{self.workload} #{self.id}"

    @property
    def file_name(self) -> str:
        """`orders-12`, `backup-at-1500000us`."""
        if self.is_interval:
            return f"{self.workload}-at-{self.transaction.start_ps // PS_PER_US}us"
        return f"{self.workload}-{self.id}"


Workloads = Mapping[str, Sequence[Transaction]]
"""Transactions by workload, in the order of completion."""


def slowest(of: Workloads, count: int, counted_from_ps: Mapping[str, int]) -> list[Chosen]:
    """The slowest of all workloads that a run counts, from the longest; of equal ones the earlier
    first.

    Raises `RunRefusedError` when there is none.
    """
    every = [one for one in _all(of) if one.transaction.end_ps > counted_from_ps[one.workload]]
    if not every:
        raise RunRefusedError(
            "no transaction was complete after the warm-up (hint: a longer `duration`)"
        )
    return sorted(
        every, key=lambda one: (-one.transaction.latency_ps, one.transaction.start_ps, one.workload)
    )[:count]


def by_id(of: Workloads, number: int) -> list[Chosen]:
    """The transaction with this number of the only workload; raises `RunRefusedError` where there
    is none."""
    if len(of) != 1:
        raise RunRefusedError(f"--id needs --workload (hint: workloads: {', '.join(of)})")
    ((workload, transactions),) = of.items()
    if not 0 <= number < len(transactions):
        raise RunRefusedError(
            f"there is no transaction {number} of '{workload}' (hint: numbers from 0 to "
            f"{len(transactions) - 1})"
        )
    return [Chosen(workload, number, transactions[number])]


def at(of: Workloads, at_ps: int, stop_ps: int) -> list[Chosen]:
    """The transactions that were under way at a moment, from the earliest start; raises
    `RunRefusedError` where there is none, or the moment is outside the trial.
    """
    if not 0 <= at_ps <= stop_ps:
        raise RunRefusedError(
            f"--at {span_text(at_ps)} is outside the trial (hint: it ends at {span_text(stop_ps)})"
        )
    found = [one for one in _all(of) if one.transaction.start_ps <= at_ps <= one.transaction.end_ps]
    if not found:
        ends = sorted(
            {one.transaction.start_ps for one in _all(of) if one.transaction.start_ps > at_ps}
        )
        hint = f"the next starts at {span_text(ends[0])}" if ends else "none starts after that"
        raise RunRefusedError(
            "no transaction that became complete was under way at "
            f"{span_text(at_ps)} (hint: {hint})"
        )
    return sorted(found, key=lambda one: (one.transaction.start_ps, one.workload, one.id))


def intervals(
    workloads: Sequence[str], at_ps: int, stop_ps: int, users: Mapping[str, int] | None = None
) -> list[Chosen]:
    """An interval from a moment on of workloads whose operations are not known; one for each user
    (connection) where their number is given. Raises `RunRefusedError` where the moment is outside
    the trial.
    """
    if not 0 <= at_ps < stop_ps:
        raise RunRefusedError(
            f"--at {span_text(at_ps)} is outside the trial (hint: it ends at {span_text(stop_ps)})"
        )
    end_ps = min(at_ps + INTERVAL_PS, stop_ps)
    return [
        Chosen(name, NO_NUMBER, Transaction(user, at_ps, end_ps, {}, 0, 0), is_interval=True)
        for name in workloads
        for user in range((users or {}).get(name, 1))
    ]


def _all(of: Workloads) -> list[Chosen]:
    return [
        Chosen(workload, number, one)
        for workload, every in of.items()
        for number, one in enumerate(every)
    ]
