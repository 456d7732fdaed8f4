"""Reports of the rate of each worker during a run."""

import time
from collections.abc import Callable
from dataclasses import dataclass

FIRST_RATES_S = 10.0
"""Seconds from the first result to the first line of rates."""
RATES_INTERVAL_S_MAX = 300.0
"""Seconds between two lines at most; the first intervals double, so that a long run does not fill
its log."""
LISTED_MAX = 8
"""Workers in a line at most: the slowest, because a slow one explains more."""


@dataclass
class Rate:
    """Trials and busy time of one worker since the last line, and since it was first seen."""

    trials: int = 0
    busy_s: float = 0.0
    trials_before: int = 0


class Rates:
    """Trials and busy time by worker."""

    def __init__(
        self, name: str, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._say = say
        self._clock = clock
        self._rates: dict[str, Rate] = {}
        self._began_s: float | None = None
        self._last_s = self._ended_s = 0.0
        self._every_s = FIRST_RATES_S

    def add(self, worker: str, wall_s: float) -> None:
        """Records a trial that ended and its wall time."""
        if self._began_s is None:
            self._began_s = self._last_s = self._clock() - wall_s
        self._ended_s = self._clock()
        rate = self._rates.setdefault(worker, Rate())
        rate.trials, rate.busy_s = rate.trials + 1, rate.busy_s + wall_s

    def report_when_due(self) -> None:
        """Reports the rates since the last line, when the interval has passed."""
        if self._began_s is None or (passed_s := self._clock() - self._last_s) < self._every_s:
            return
        self._report_rates(passed_s)
        self._last_s, self._every_s = self._clock(), min(2 * self._every_s, RATES_INTERVAL_S_MAX)
        for rate in self._rates.values():
            rate.trials_before, rate.trials, rate.busy_s = rate.trials_before + rate.trials, 0, 0.0

    def report_total(self) -> None:
        """Reports the number of trials of each worker, and the rate of all of them from the first
        trial to the last."""
        if self._began_s is None:
            return
        wall_s = max(self._ended_s - self._began_s, 1e-9)
        done = {worker: rate.trials_before + rate.trials for worker, rate in self._rates.items()}
        total = sum(done.values())
        each = [
            f"{worker} {count}" for worker, count in sorted(done.items(), key=lambda item: item[1])
        ]
        self._say(
            f"{self._name}: {total} trials in {wall_s:.1f} s, {total / wall_s:.1f} per second: "
            f"{_listed(each)}"
        )

    def _report_rates(self, passed_s: float) -> None:
        ordered = sorted(self._rates.items(), key=lambda item: item[1].trials)
        each = [
            f"{worker} {rate.trials / passed_s:.1f} (busy {min(1.0, rate.busy_s / passed_s):.0%})"
            for worker, rate in ordered
        ]
        total = sum(rate.trials for rate in self._rates.values())
        self._say(f"{self._name}: {total / passed_s:.1f} trials per second: {_listed(each)}")


def _listed(each: list[str]) -> str:
    more = len(each) - LISTED_MAX
    return ", ".join(each[:LISTED_MAX]) + (f" and {more} more workers" if more > 0 else "")
