"""The trials of a large sweep, made when they are handed out."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from math import gcd

from tailrace.errors import TailraceError
from tailrace.experiment.looks import trials_least
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.large import document_of_points
from tailrace.scenario.loading import Loaded, scenario_at
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import AT, Sweep

HELD_MAX = 256
"""Scenarios that are cached while their trials run; others are built again when needed."""
GOLDEN = 0.6180339887498949
"""Steps of this share of all points leave no large gap, however many of the points have run."""


class Grid:
    """Every arm at every point, by number. Points have the order of a walk that soon covers the
    whole grid."""

    def __init__(self, loaded: Loaded, arms: Sequence[str], scale: float) -> None:
        assert loaded.scenario.sweep is not None, "a large sweep is a sweep"
        self.sweep: Sweep = loaded.scenario.sweep
        self.arms = list(arms)
        self.trials = trials_least(loaded.scenario.experiment)
        self._changes = {arm: loaded.scenario.arms.get(arm, {}) for arm in arms}
        self._document = document_of_points(loaded.document)
        self._scale = scale
        self._held: OrderedDict[str, Plans] = OrderedDict()
        self._holding = threading.Lock()
        self.done = bytearray((self.count + 7) // 8)
        """A bit for each trial that needs not run."""

    @property
    def count(self) -> int:
        """Number of trials."""
        return self.sweep.count * len(self.arms) * self.trials

    def mark(self, point: int, arm: str, trial: int) -> int:
        """Notes that a trial has run, or all of an arm at a point for trial 0; returns how many
        were not noted yet."""
        first = (point * len(self.arms) + self.arms.index(arm)) * self.trials
        new = 0
        for number in [first + trial - 1] if trial else range(first, first + self.trials):
            bit = 1 << (number & 7)
            new += not self.done[number >> 3] & bit
            self.done[number >> 3] |= bit
        return new

    def keys(self, impossible: Callable[[int, str, str], None]) -> Iterator[TrialKey]:
        """The trials that have not run. `impossible` receives point, arm and reason of an invalid
        scenario."""
        for point in self._walk():
            for arm in self.arms:
                left = [
                    number
                    for number in range(1, self.trials + 1)
                    if not self._is_done(point, arm, number)
                ]
                if not left:
                    continue
                key = f"{arm}{AT}{point}"
                try:
                    self.plans(key).hash(key)
                except TailraceError as error:
                    impossible(point, arm, " ".join(str(error).split()))
                    continue
                yield from (TrialKey(key, number) for number in left)

    def plans(self, key: str) -> Plans:
        """The plans of an arm at a point; raises `TailraceError` where the scenario is invalid."""
        with self._holding:
            if (plans := self._held.get(key)) is None:
                plans = self._held[key] = Plans(
                    {key: scaled(self._scenario(*parts_of(key)), self._scale)}
                )
                if len(self._held) > HELD_MAX:
                    self._held.popitem(last=False)
            return plans

    def scenario(self, key: str) -> Scenario:
        """The scenario of an arm at a point."""
        return self.plans(key).scenarios[key]

    def json(self, key: TrialKey) -> str:
        """The plan of one trial."""
        return self.plans(key.arm).json(key)

    def _scenario(self, point: int, arm: str) -> Scenario:
        scenario, problems = scenario_at(
            self._document, self._changes[arm], self.sweep.point(point).values
        )
        if scenario is None or problems:
            raise TailraceError(f"{problems[0].what}")
        return scenario

    def _walk(self) -> Iterator[int]:
        count = self.sweep.count
        step = max(1, round(count * GOLDEN))
        while gcd(step, count) != 1:
            step += 1
        return ((number * step) % count for number in range(count))

    def _is_done(self, point: int, arm: str, trial: int) -> bool:
        number = (point * len(self.arms) + self.arms.index(arm)) * self.trials + trial - 1
        return bool(self.done[number >> 3] & 1 << (number & 7))


def parts_of(key: str) -> tuple[int, str]:
    """Point and arm."""
    arm, _, point = key.rpartition(AT)
    return int(point), arm
