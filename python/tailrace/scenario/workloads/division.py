"""Workloads on a network with divided rates: the ratios are kept by fewer users with the same
offered share."""

from dataclasses import dataclass
from typing import overload

from tailrace.scenario.text.distribution import Distribution


@dataclass(frozen=True)
class Divisor:
    """The divisor of a network, and the factors derived from it."""

    divisor: int
    stretch: float
    """Factor of all times; above 1 if a workload has too few users to divide."""

    @property
    def of_sizes(self) -> float:
        """Divisor of sizes in switches and of numbers of users."""
        return self.divisor / self.stretch


@overload
def divided_count(count: int, divisor: float) -> int: ...
@overload
def divided_count(count: int | None, divisor: float) -> int | None: ...
def divided_count(count: int | None, divisor: float) -> int | None:
    """A count, size or rate, divided, at least 1 unless it is 0 or None."""
    return max(1, round(count / divisor)) if count else count


def with_mean(gap: Distribution, mean_ps: float, stretch: float) -> Distribution:
    """The same shape with another mean; a normal distribution keeps its deviation, scaled by the
    stretch."""
    if not gap.mean or round(gap.mean) == round(mean_ps):
        return gap
    [(kind, value)] = gap.raw.items()
    if kind == "normal":
        raw = {"normal": {"mean": round(mean_ps), "deviation": round(value["deviation"] * stretch)}}
        return Distribution(raw, mean_ps, f"{gap.text} with mean {mean_ps / 1e9:.6g}ms")
    return gap.scaled(mean_ps / gap.mean)


def cycle_ps(users: int, pause_ps: float, answer_ps: float) -> float:
    """Time from one transaction of a user to its next, for users that share one link and pause
    between transactions: mean-value analysis of a closed network with one processor-sharing station
    (Reiser and Lavenberg, J. ACM 27(2), 1980).
    """
    waiting = 0.0
    cycle = pause_ps + answer_ps
    for number in range(1, users + 1):
        response_ps = answer_ps * (1 + waiting)
        cycle = pause_ps + response_ps
        waiting = number * response_ps / cycle if cycle else 0.0
    return cycle


def pause_ps(users: int, wanted_ps: float, answer_ps: float) -> float:
    """The gap with which a user's cycle takes `wanted_ps`; negative if the cycle is longer even
    without a gap."""
    shortest_ps = cycle_ps(users, 0.0, answer_ps)
    if shortest_ps > wanted_ps:
        return wanted_ps - shortest_ps
    low, high = 0.0, wanted_ps
    while high - low > 1.0:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if cycle_ps(users, middle, answer_ps) < wanted_ps else (low, middle)
        )
    return low
