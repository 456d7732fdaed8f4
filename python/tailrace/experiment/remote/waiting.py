"""The trials that have not been sent yet, and their order: longest first, as far as lengths are
known."""

import heapq
from collections import deque
from collections.abc import Iterator, Sequence

from tailrace.experiment.schedule import Keys, TrialKey

BATCH_S = 0.5
"""Wall time for which a batch is made: long beside the cost of sending it, short beside a run."""
BATCH_TRIALS_MAX = 50
"""Trials of a batch at most."""
LAST_BATCHES = 4
"""The rest of a run is divided into this many batches for each slot, so that the workers end
together."""


class Waiting:
    """Trials by arm. The first trial of each arm goes first and measures the arm; then the longest
    go first.

    The order does not influence a result: simulated trials do not depend on the machine. Trials
    that are made when they are handed out have one usual length, and keep their order.
    """

    def __init__(self, keys: Keys) -> None:
        self._first: deque[TrialKey] = deque()
        self._rest: dict[str, deque[TrialKey]] = {}
        self._again: deque[TrialKey] = deque()
        self._longest: list[tuple[float, str]] = []
        self._lengths: dict[str, tuple[float, int]] = {}
        self._total: tuple[float, int] = (0.0, 0)
        self.suspects: deque[TrialKey] = deque()
        """Trials with which workers died."""
        self.left = len(keys)
        seen: set[str] = set()
        self._source: Iterator[TrialKey] | None = None
        if not isinstance(keys, Sequence):
            self._source = iter(keys)
            return
        for key in keys:
            if key.arm not in seen:
                seen.add(key.arm)
                self._first.append(key)
            else:  # an arm with one trial, as the points of a large sweep have, needs no queue of its own  # noqa: E501
                self._rest.setdefault(key.arm, deque()).append(key)

    def mean_s(self, arm: str) -> float | None:
        """Mean wall time of an arm's trials; that of all trials for an arm without one; None before
        the first."""
        total_s, count = self._lengths.get(arm, self._total)
        return total_s / count if count else None

    def measured(self, arm: str, wall_s: float) -> None:
        """Records the wall time of a trial."""
        total_s, count = self._lengths.get(arm, (0.0, 0))
        if self._source is None:
            self._lengths[arm] = total_s + wall_s, count + 1
        self._total = self._total[0] + wall_s, self._total[1] + 1
        if count == 0 and arm in self._rest:
            heapq.heappush(self._longest, (-wall_s, arm))

    def back(self, keys: Sequence[TrialKey], *, is_suspect: bool = False) -> None:
        """Takes back trials that were sent and did not run: they run first, and suspects after all
        others."""
        if is_suspect:
            self.suspects.extend(keys)
            return
        self._again.extendleft(reversed(keys))
        self.left += len(keys)

    def suspect(self) -> TrialKey | None:
        """The next trial with which workers died, once no other trial is left; None without one."""
        return self.suspects.popleft() if self.suspects and not self.left else None

    def batch(self, slots: int) -> list[TrialKey]:
        """The next trials for one worker: as many as take `BATCH_S`, fewer near the end; empty
        without any."""
        taken: list[TrialKey] = []
        limit_s = self._limit_s(slots)
        filled_s = 0.0
        while self.left and len(taken) < BATCH_TRIALS_MAX:
            if (key := self._next()) is None:
                self.left = 0
                break
            expected_s = self.mean_s(key.arm)
            is_alone = expected_s is None
            if taken and (is_alone or filled_s + (expected_s or 0) > limit_s):
                self._again.appendleft(key)
                break
            taken.append(key)
            self.left -= 1
            filled_s += expected_s or 0
            if is_alone:
                break
        return taken

    def _limit_s(self, slots: int) -> float:
        total_s, count = self._total
        rest_s = self.left * total_s / max(1, count)
        return min(BATCH_S, rest_s / (LAST_BATCHES * max(1, slots)))

    def _next(self) -> TrialKey | None:
        """Removes the next trial; there is one, unless fewer are made than were announced."""
        if self._again:
            return self._again.popleft()
        if self._source is not None:
            return next(self._source, None)
        if self._first:
            return self._first.popleft()
        if self._longest:
            arm = self._longest[0][1]
            key = self._rest[arm].popleft()
            if not self._rest[arm]:
                heapq.heappop(self._longest)
                del self._rest[arm]
            return key
        arm, trials = next(iter(self._rest.items()))  # the arm's first trial has not ended yet
        key = trials.popleft()
        if not trials:
            del self._rest[arm]
        return key
