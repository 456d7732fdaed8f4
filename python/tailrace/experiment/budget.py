"""Trials within a time limit: each next trial is chosen so that every arm gets its valid trials as
far as time allows.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tailrace.experiment.schedule import TrialKey


@dataclass(frozen=True)
class Lack:
    """The valid trials that an arm still lacks."""

    arm: str
    valid: int
    wanted: int

    @property
    def sentence(self) -> str:
        """The same as a clause of a message."""
        return f"{self.arm} has {self.valid} of {self.wanted} valid trials"


@dataclass
class Budget:
    """Wall time for the trials of a run; a trial that is expected to end after it is not
    started."""

    limit_s: float
    clock: Callable[[], float] = time.monotonic
    _started_s: float = field(init=False)
    _longest_s: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started_s = self.clock()

    def took(self, key: TrialKey, wall_s: float) -> None:
        """Records the wall time of a trial, which is expected of the other trials of its arm."""
        self._longest_s[key.arm] = max(wall_s, self._longest_s.get(key.arm, 0.0))

    def has_room(self, key: TrialKey) -> bool:
        """Whether a trial is expected to end in time; True for an arm of which no trial has run
        yet."""
        spent_s = self.clock() - self._started_s
        return (
            spent_s < self.limit_s and spent_s + self._longest_s.get(key.arm, 0.0) <= self.limit_s
        )


def lacks(keys: Sequence[TrialKey], statuses: Mapping[TrialKey, str]) -> list[Lack]:
    """Arms with fewer valid trials than wanted, in the order of the schedule."""
    wanted: dict[str, int] = {}
    valid: dict[str, int] = {}
    for key in keys:
        wanted[key.arm] = wanted.get(key.arm, 0) + 1
        valid[key.arm] = valid.get(key.arm, 0) + (statuses.get(key) == "ok")
    return [Lack(arm, valid[arm], number) for arm, number in wanted.items() if valid[arm] < number]


def next_trial(
    keys: Sequence[TrialKey],
    statuses: Mapping[TrialKey, str],
    may_run: Callable[[TrialKey], bool],
    attempts: Callable[[TrialKey], int],
) -> TrialKey | None:
    """The next trial: of the arms that lack valid trials, the one with the fewest attempts, and its
    trial with the fewest.

    An arm whose trials are all invalid thus takes no more than its share of the time. `may_run`
    returns whether a trial has no result yet, or was invalidated by the machine, and still fits in
    the time.
    """
    lacking = {lack.arm for lack in lacks(keys, statuses)}
    spent: dict[str, int] = {}
    for key in keys:
        spent[key.arm] = spent.get(key.arm, 0) + attempts(key)
    candidates = [
        key for key in keys if key.arm in lacking and statuses.get(key) != "ok" and may_run(key)
    ]
    return min(
        candidates, key=lambda key: (spent[key.arm], attempts(key), keys.index(key)), default=None
    )
