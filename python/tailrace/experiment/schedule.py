"""Which trials there are, and in which order they run."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SOLO = "solo:"
"""Arms of this prefix have one workload alone in the baseline arm."""


@dataclass(frozen=True, order=True)
class TrialKey:
    """One trial of one arm; trials count from 1."""

    arm: str
    number: int

    @property
    def folder(self) -> str:
        """Name of the arm's folder below `trials/`; a colon is not allowed in file names everywhere."""
        return f"solo-{self.arm.removeprefix(SOLO)}" if self.arm.startswith(SOLO) else self.arm

    def __str__(self) -> str:
        return f"{self.arm}/{self.number}"


def shuffled(arms: Sequence[str], numbers: Iterable[int], seed: int) -> list[TrialKey]:
    """Every trial of every arm, in an order that follows from the seed.

    Machines warm up and other programs come and go: in a random order such effects fall on all arms alike. The order is
    made of blocks, one for each trial number, so that a partial run has about as many trials of every arm.
    """
    order: list[TrialKey] = []
    for number in numbers:
        block = [TrialKey(arm, number) for arm in arms]
        rng = random.Random(hashlib.sha256(f"tailrace/{seed}/order/{number}".encode()).digest())
        rng.shuffle(block)
        order += block
    return order
