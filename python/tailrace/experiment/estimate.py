"""Estimates the remaining time of a run from the trials of this run alone."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tailrace.experiment.pool import Running
from tailrace.experiment.schedule import Keys, TrialKey

PROGRESS_MIN = 0.03
"""A running trial below this share is not used to estimate its length."""
ARMS_MAX = 5000
"""With more trials than this, all of them have one typical length: the arms of a large sweep are
not distinguished."""
OFFERED_MIN_S = 5.0
"""Before the slots have offered this time, they are taken to be busy all the time."""
USE_MIN = 0.01
"""Share of the offered time that trials take, at least."""
EVERY = "every arm"


class TimeEstimate:
    """Wall time of trials by arm, and the remaining time."""

    def __init__(self, keys: Keys, jobs: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_by_arm = isinstance(keys, Sequence) and len(keys) <= ARMS_MAX
        self._left = (
            Counter(key.arm for key in keys) if self._is_by_arm else Counter({EVERY: len(keys)})
        )
        self.jobs = jobs
        """Trials at the same time; may change while the trials run."""
        self._lengths: dict[str, tuple[float, int]] = {}
        """Of an arm: seconds of its finished trials, and their number."""
        self.total = len(keys)
        self.done = 0
        self._worked_s = 0.0
        self._offered_s = 0.0
        self._clock = clock
        self._seen_s: float | None = None

    def observe(self, jobs: int) -> None:
        """The number of trials that can run at the same time now; 0 where there is no worker."""
        now_s = self._clock()
        if self._seen_s is not None:
            self._offered_s += self.jobs * (now_s - self._seen_s)
        self._seen_s, self.jobs = now_s, jobs

    def finished(self, key: TrialKey, wall_s: float) -> None:
        """Records the wall time of a trial."""
        arm = self._of(key)
        self._left[arm] -= 1
        total_s, count = self._lengths.get(arm, (0.0, 0))
        self._lengths[arm] = total_s + wall_s, count + 1
        self._worked_s += wall_s
        self.done += 1

    def skip(self, count: int) -> None:
        """Notes that this many of the announced trials will not run."""
        self._left[EVERY] -= count
        self.total -= count

    def fraction(self, running: Sequence[Running]) -> float:
        """Share of the trials that is done, including parts of running ones."""
        return (self.done + sum(r.trial.progress() for r in running)) / max(1, self.total)

    def remaining_s(self, running: Sequence[Running]) -> float | None:
        """Remaining seconds; None while no trial has ended, and without slots.

        The estimate assumes the present use of the slots, including the costs of sending trials and
        waiting for them.
        """
        shares = {r.key: r.trial.progress() for r in running}
        lengths = self._means(running, shares)
        if not lengths or self.jobs < 1:
            return None
        usual = sum(lengths.values()) / len(lengths)
        left = Counter(self._left)
        left.subtract(Counter(self._of(r.key) for r in running))
        waiting_s = sum(count * lengths.get(arm, usual) for arm, count in left.items() if count > 0)
        each_s = [lengths.get(self._of(r.key), usual) for r in running]
        begun_s = [length * (1 - shares[r.key]) for r, length in zip(running, each_s, strict=True)]
        worked_s = self._worked_s + sum(each_s) - sum(begun_s)
        longest_s = max(
            [lengths.get(arm, usual) for arm, count in left.items() if count > 0] + begun_s,
            default=0.0,
        )
        # The slots share the trials, but the last trial runs on one slot.
        return max((waiting_s + sum(begun_s)) / (self.jobs * self._use(worked_s)), longest_s)

    def _use(self, worked_s: float) -> float:
        """Share of the time of the slots in which trials ran."""
        if self._offered_s < OFFERED_MIN_S:
            return 1.0
        return min(1.0, max(USE_MIN, worked_s / self._offered_s))

    def _of(self, key: TrialKey) -> str:
        return key.arm if self._is_by_arm else EVERY

    def _means(
        self, running: Sequence[Running], shares: Mapping[TrialKey, float]
    ) -> dict[str, float]:
        means = {arm: total_s / count for arm, (total_s, count) in self._lengths.items()}
        begun: dict[str, list[float]] = {}
        for r in running:
            if self._of(r.key) not in means and shares[r.key] >= PROGRESS_MIN:
                begun.setdefault(self._of(r.key), []).append(r.elapsed_s / shares[r.key])
        return means | {arm: sum(walls) / len(walls) for arm, walls in begun.items()}
