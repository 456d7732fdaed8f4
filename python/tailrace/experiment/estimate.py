"""Estimates the remaining time of a run from the trials of this run alone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tailrace.experiment.pool import Running
from tailrace.experiment.schedule import TrialKey

PROGRESS_MIN = 0.03
"""A running trial below this share is not used to estimate its length."""


class TimeEstimate:
    """Wall time of trials by arm, and the remaining time."""

    def __init__(self, keys: Sequence[TrialKey], jobs: int) -> None:
        self._waiting = set(keys)
        self._jobs = jobs
        self._wall_s: dict[str, list[float]] = defaultdict(list)
        self.total = len(keys)
        self.done = 0

    def finished(self, key: TrialKey, wall_s: float) -> None:
        """Records the wall time of a trial."""
        self._waiting.discard(key)
        self._wall_s[key.arm].append(wall_s)
        self.done += 1

    def fraction(self, running: Sequence[Running]) -> float:
        """Share of the trials that is done, including parts of running ones."""
        return (self.done + sum(r.trial.progress() for r in running)) / max(1, self.total)

    def remaining_s(self, running: Sequence[Running]) -> float | None:
        """Remaining seconds; None while no trial has ended."""
        shares = {r.key: r.trial.progress() for r in running}
        lengths = self._lengths(running, shares)
        if not lengths:
            return None
        usual = sum(lengths.values()) / len(lengths)
        begun = {r.key for r in running}
        left_s = [lengths.get(key.arm, usual) for key in self._waiting - begun]
        left_s += [lengths.get(r.key.arm, usual) * (1 - shares[r.key]) for r in running]
        # The threads share the trials, but the last trial runs on one thread.
        return max(sum(left_s) / self._jobs, max(left_s, default=0.0))

    def _lengths(self, running: Sequence[Running], shares: Mapping[TrialKey, float]) -> dict[str, float]:
        samples = {arm: list(walls) for arm, walls in self._wall_s.items()}
        for r in running:
            share = shares[r.key]
            if r.key.arm not in self._wall_s and share >= PROGRESS_MIN:
                samples.setdefault(r.key.arm, []).append(r.elapsed_s / share)
        return {arm: sum(walls) / len(walls) for arm, walls in samples.items()}
