"""The screening: every candidate runs in a few short trials with common random numbers and a fixed
total budget."""

from dataclasses import dataclass

from tailrace.advice.candidate import Candidate
from tailrace.advice.situation import Situation
from tailrace.experiment.native import Ran
from tailrace.results.metrics.definitions import key_of_latency
from tailrace.results.metrics.latency import latency_figure
from tailrace.scenario.goal import Goal

EVENTS = 60_000_000
"""Events of all trials together: half a minute of one core."""
SHARE_MIN = 0.25
"""Share of the length of a trial, at least, whatever the budget."""
LATENCIES_MIN = 5
"""A trial lasts at least this many times the goal's present latency: a remedy for a timeout shows
only after it."""
LEAST_PERCENT = 3.0
"""Candidates with smaller improvements are not confirmed."""
MS_PER_S, PS_PER_S = 1000, 10**12


@dataclass(frozen=True)
class Screening:
    """Length and number of the trials of every candidate."""

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
        """Whether it is worth confirming."""
        return self.improvement_percent is not None and self.improvement_percent >= LEAST_PERCENT


def screening_of(
    present: Ran | None, situation: Situation, goal: Goal, arms: int, trials: int, scale: float
) -> Screening:
    """The screening of this many arms. `present` is one trial of the present; without it trials are
    not shortened."""
    duration_s = situation.scenario.experiment.duration * scale / PS_PER_S
    share = 1.0
    if present is not None:
        budget = EVENTS / max(1, (present.outcome.events or 0) * arms * trials)
        wait_s = _latency_s(present, situation, goal)
        share = min(1.0, max(budget, SHARE_MIN, LATENCIES_MIN * wait_s / duration_s))
    return Screening(trials, share, share * duration_s)


def _latency_s(present: Ran, situation: Situation, goal: Goal) -> float:
    """The goal's present figure, of the slowest of its workloads; 0 for figures other than
    latencies."""
    key = key_of_latency(goal.metric)
    own = [one for one in present.outcome.workloads if one.name in situation.targets] if key else []
    found = [figure.ms for one in own if (figure := latency_figure(one, key or ""))]
    return max(found, default=0.0) / MS_PER_S
