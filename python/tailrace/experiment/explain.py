"""Trials of a run, simulated once more and explained."""

from collections.abc import Callable, Mapping, Sequence

from tailrace.errors import RunRefusedError, TailraceError
from tailrace.experiment.engine import SimulatedTrial
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.native import Outcome, explain_trial, run_trial
from tailrace.experiment.pool import Pool, Running
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.schedule import TrialKey


class ExplainedTrial(SimulatedTrial):
    """A trial of a plan, explained while it runs."""

    def run(self) -> Outcome:
        """Runs to the end; raises `TailraceError` for what cannot be explained."""
        return explain_trial(self._native)


class _Kept:
    """Keeps the outcomes of a pool, and reports its progress."""

    def __init__(self, reporter: Reporter, estimate: TimeEstimate) -> None:
        self.outcomes: dict[TrialKey, Outcome] = {}
        self._estimate = estimate
        self._reporter = reporter

    def tick(self, running: Sequence[Running]) -> None:
        """From the pool."""
        self._reporter.tick(running)

    def finished(self, key: TrialKey, outcome: Outcome, wall_s: float) -> None:
        """Keeps an outcome."""
        self.outcomes[key] = outcome
        self._estimate.finished(key, wall_s)
        self._reporter.finished(key, outcome.data, wall_s)


class ExplainedIfPossible(ExplainedTrial):
    """A trial of a plan, explained where that is possible."""

    def run(self) -> Outcome:
        """Runs to the end; the outcome has tables of causes, or, where the plan is refused, those of any run."""
        try:
            return super().run()
        except TailraceError:
            return run_trial(self._native)


def outcomes_of(
    plans: Mapping[TrialKey, str], jobs: int, trial: Callable[[str], SimulatedTrial], reporter: Reporter, what: str
) -> dict[TrialKey, Outcome]:
    """Runs every plan, `jobs` at a time, and reports it as `what`. Failed ones are among the outcomes.

    Raises `KeyboardInterrupt` when interrupted.
    """
    estimate = TimeEstimate(list(plans), jobs)
    kept = _Kept(reporter, estimate)
    reporter.begin(what, estimate)
    try:
        if Pool(jobs, lambda key: trial(plans[key]), kept).run_all(list(plans)):
            raise KeyboardInterrupt
    finally:
        reporter.end()
    return {key: kept.outcomes[key] for key in plans}


def explain_all(plans: Mapping[TrialKey, str], jobs: int, reporter: Reporter) -> dict[TrialKey, Outcome]:
    """Explains every plan, `jobs` at a time; raises `RunRefusedError` for the first that cannot be, and
    `KeyboardInterrupt` when interrupted.
    """
    outcomes = outcomes_of(plans, jobs, ExplainedTrial, reporter, "explaining")
    for key, outcome in outcomes.items():
        if outcome.data.get("status") == "failed":
            raise RunRefusedError(f"{key} cannot be explained: {outcome.data['reason']}")
    return outcomes
