"""The product-limit estimate (Kaplan and Meier 1958) of the share of values beyond a latency, from
few bounds.

Between two bounds the factors of the product telescope: it depends on the number of values that
ended there, and of those at risk. A value that is censored at a latency was at risk up to and
including that latency.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping


class Survival:
    """Of values of which `ended_by` says how many ended after at most a latency; `cuts` are
    censored, by bound."""

    def __init__(
        self, ended_by: Callable[[float], int], values: int, cuts: Mapping[int, int]
    ) -> None:
        self._ended_by, self._values = ended_by, values
        self._cuts_ps = list(cuts)
        share, at_risk, before = 1.0, values, 0
        # Behind each number of bounds: the share that survives them, how many are at risk, and how
        # many ended before.
        self._behind = [(share, at_risk, before)]
        for cut_ps, count in cuts.items():
            ended = ended_by(cut_ps)
            share *= 1 - (ended - before) / at_risk if at_risk else 1.0
            at_risk, before = at_risk - (ended - before) - count, ended
            self._behind.append((share, at_risk, before))

    def beyond(self, latency_ps: float) -> float:
        """Estimated share of the values beyond a latency."""
        share, at_risk, before = self._behind[bisect_left(self._cuts_ps, latency_ps)]
        return share * (1 - (self._ended_by(latency_ps) - before) / at_risk) if at_risk else share

    def followed(self, latency_ps: float, before_ps: float) -> float:
        """Estimated share of the values that were not censored before a latency; `before_ps` is the
        one before it at which values ended.
        """
        _, at_risk, before = self._behind[bisect_left(self._cuts_ps, latency_ps)]
        running = self.beyond(before_ps)
        left = at_risk - max(0, self._ended_by(before_ps) - before)
        return left / self._values / running if running > 0 else 0.0
