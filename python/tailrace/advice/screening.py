"""The screening: every candidate in a few short trials with common random numbers, of a fixed
budget together."""

from dataclasses import dataclass

from tailrace.advice.candidate import Candidate
from tailrace.advice.situation import Situation
from tailrace.experiment.native import Ran
from tailrace.results.metrics.definitions import key_of_latency
from tailrace.results.metrics.latency import latency_figure
from tailrace.scenario.goal import Goal

EVENTS = 60_000_000
"""Of all trials together: half a minute of one core."""
SHARE_MIN = 0.25
"""Of the length of a trial, whatever the budget says."""
LATENCIES_MIN = 5
"""So many times the goal's latency at present is a trial at least: a remedy for a timeout shows
only after it."""
LEAST_PERCENT = 3.0
"""A candidate whose improvement is smaller is not confirmed."""
MS_PER_S, PS_PER_S = 1000, 10**12


@dataclass(frozen=True)
class Screening:
    """How every candidate was tried."""

    trials: int
    """Of each candidate and of the present, with the same random numbers."""
    share: float
    """Of the length of a trial."""
    duration_s: float
    """Of each trial."""


@dataclass(frozen=True)
class Screened:
    """A candidate that was tried."""

    candidate: Candidate
    improvement_percent: float | None
    """Of the goal's figure; None where its trials have none."""

    @property
    def is_better(self) -> bool:
        """Whether it is worth a confirmation."""
        return self.improvement_percent is not None and self.improvement_percent >= LEAST_PERCENT


def screening_of(
    present: Ran | None, situation: Situation, goal: Goal, arms: int, trials: int, scale: float
) -> Screening:
    """The screening of so many arms; `present` is one trial at present, without which trials are
    not shortened."""
    duration_s = situation.scenario.experiment.duration * scale / PS_PER_S
    share = 1.0
    if present is not None:
        budget = EVENTS / max(1, (present.outcome.events or 0) * arms * trials)
        wait_s = _latency_s(present, situation, goal)
        share = min(1.0, max(budget, SHARE_MIN, LATENCIES_MIN * wait_s / duration_s))
    return Screening(trials, share, share * duration_s)


def _latency_s(present: Ran, situation: Situation, goal: Goal) -> float:
    """The goal's figure at present, of the slowest of its workloads; 0 for what is no latency."""
    key = key_of_latency(goal.metric)
    own = [one for one in present.outcome.workloads if one.name in situation.targets] if key else []
    found = [figure.ms for one in own if (figure := latency_figure(one, key or ""))]
    return max(found, default=0.0) / MS_PER_S
