"""The trials of an experiment and the order in which they run."""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tailrace.scenario.experiment import folder_of


@dataclass(frozen=True, order=True)
class TrialKey:
    """One trial of one arm; trials are numbered from 1."""

    arm: str
    number: int

    @property
    def folder(self) -> str:
        """Name of the arm's folder below `trials/`; some file systems do not allow a colon."""
        return folder_of(self.arm)

    def __str__(self) -> str:
        return f"{self.arm}/{self.number}"


class LazyKeys:
    """Trials that are made when they are handed out: their number is known, and fewer may come."""

    def __init__(self, make: Callable[[], Iterator[TrialKey]], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[TrialKey]:
        return self._make()


Keys = Sequence[TrialKey] | LazyKeys
"""Input of an executor."""


def shuffled(arms: Sequence[str], numbers: Iterable[int], seed: int) -> list[TrialKey]:
    """Every trial of every arm, in an order that follows from the seed.

    In a random order, drifts of the machine (temperature, other programs) affect all arms alike.
    The order consists of blocks, one for each trial number, so that a partial run has about equally
    many trials of every arm.
    """
    order: list[TrialKey] = []
    for number in numbers:
        block = [TrialKey(arm, number) for arm in arms]
        rng = random.Random(hashlib.sha256(f"tailrace/{seed}/order/{number}".encode()).digest())
        rng.shuffle(block)
        order += block
    return order
