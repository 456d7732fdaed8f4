"""A sequential test of whether something nearly always or nearly never holds.

Wald's ratio of likelihoods: each trial in which it holds multiplies the evidence by `SHARE / (1 - SHARE)`, each other
one divides it. If it holds in at most `1 - SHARE` of all trials, the evidence ever exceeds `1 / error` with a
probability of at most `error`, however often it is looked at (Ville's inequality), and the same the other way round.
Between the two shares the test ends as well, but its error is not bounded.
"""

from dataclasses import dataclass
from math import ceil, log

SHARE = 0.95
"""What holds in this share of trials holds nearly always; in the remaining share, nearly never."""
_STEP = log(SHARE / (1 - SHARE))


@dataclass(frozen=True)
class SequentialTest:
    """A test with a bound on the probability of a wrong decision."""

    error: float

    @property
    def lead(self) -> int:
        """Trials by which one side has to lead: also the number of trials of a clear case."""
        return max(1, ceil(log(1 / self.error) / _STEP - 1e-9))

    def decide(self, held: int, failed: int) -> bool | None:
        """True for nearly always, False for nearly never, None while more trials are needed."""
        if abs(held - failed) < self.lead:
            return None
        return held > failed
