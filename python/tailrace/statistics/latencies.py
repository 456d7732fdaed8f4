"""The latencies of the trials of one arm: each trial, all together, and all but one."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from tailrace.statistics.histogram import Histogram, position_of, rank_of
from tailrace.statistics.survival import Survival


@dataclass(frozen=True)
class Latencies:
    """Histograms of the trials, at least one."""

    trials: Sequence[Histogram]

    @cached_property
    def pooled(self) -> Histogram:
        """All trials together."""
        return Histogram.together(self.trials)

    def percentiles_without(self, percent: float) -> list[int | None]:
        """A percentile of all trials but one, in picoseconds, for each of at least two; None where
        it is unknown."""
        return [self._percentile_without(trial, percent) for trial in self.trials]

    def _percentile_without(self, trial: Histogram, percent: float) -> int | None:
        pooled, edges = self.pooled, self.pooled.edges_ps

        def ended_by(latency_ps: float) -> int:
            return pooled.ended_by(latency_ps) - trial.ended_by(latency_ps)

        if pooled.cuts:
            cuts = {
                cut_ps: count - trial.cuts.get(cut_ps, 0) for cut_ps, count in pooled.cuts.items()
            }
            at = position_of(Survival(ended_by, pooled.values - trial.values, cuts), edges, percent)
        else:
            at = bisect_left(edges, rank_of(percent, pooled.count - trial.count), key=ended_by)
        return edges[at] if at < len(edges) else None

    @property
    def longest_ps(self) -> int:
        """The longest recorded or censored latency."""
        return max(self.pooled.max_ps, self.pooled.longest_cut_off_ps)

    def scores(self, latency_ps: float, percent: float) -> list[float]:
        """Transactions of each trial beyond a latency, more than expected if it is this
        percentile."""
        share = 1 - percent / 100
        surviving = self.pooled.surviving(latency_ps)
        return [
            tail.beyond(latency_ps, surviving) - share * tail.trial.values for tail in self._tails
        ]

    @cached_property
    def _tails(self) -> Sequence["_Tail"]:
        return [_Tail.of(trial, self.pooled) for trial in self.trials]


@dataclass(frozen=True)
class _Tail:
    """A trial, with the probabilities of its censored values to exceed a latency.

    A value that was censored before that latency counts with its probability to reach it (Efron
    1967, `The Two Sample Problem with Censored Data`, Fifth Berkeley Symposium 4): the share that
    survives the latency over that which survives its own bound.
    """

    trial: Histogram
    cuts_ps: Sequence[int]
    counts: Sequence[int]
    """Number of values censored before each of `cuts_ps`, and of all."""
    chances: Sequence[float]
    """Their counts over the shares that survive their bounds, summed likewise."""

    @classmethod
    def of(cls, trial: Histogram, pooled: Histogram) -> "_Tail":
        cuts = trial.cuts.items()
        chances = [count / pooled.surviving(cut_ps) for cut_ps, count in cuts]
        counts = list(accumulate((count for _, count in cuts), initial=0))
        return cls(trial, list(trial.cuts), counts, list(accumulate(chances, initial=0.0)))

    def beyond(self, latency_ps: float, surviving: float) -> float:
        """Number of values beyond a latency, which such a share of all survives."""
        before = bisect_left(self.cuts_ps, latency_ps)
        later = self.counts[-1] - self.counts[before]
        return (
            self.trial.count
            - self.trial.ended_by(latency_ps)
            + later
            + surviving * self.chances[before]
        )
