"""Trials of a run, simulated once more and explained."""

from collections.abc import Mapping, Sequence

from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import SimulatedTrial
from tailrace.experiment.native import Outcome, explain_trial
from tailrace.experiment.pool import Pool, Running
from tailrace.experiment.schedule import TrialKey


class ExplainedTrial(SimulatedTrial):
    """A trial of a plan, explained while it runs."""

    def run(self) -> Outcome:
        """Runs to the end; raises `TailraceError` for what cannot be explained."""
        return explain_trial(self._native)


class _Kept:
    """Keeps the outcomes of a pool."""

    def __init__(self) -> None:
        self.outcomes: dict[TrialKey, Outcome] = {}

    def tick(self, running: Sequence[Running]) -> None:
        """Tells nothing."""

    def finished(self, key: TrialKey, outcome: Outcome, wall_s: float) -> None:
        """Keeps an outcome."""
        self.outcomes[key] = outcome


def explain_all(plans: Mapping[TrialKey, str], jobs: int) -> dict[TrialKey, Outcome]:
    """Explains every plan, `jobs` at a time; raises `RunRefusedError` for the first that cannot be, and
    `KeyboardInterrupt` when interrupted.
    """
    kept = _Kept()
    if Pool(jobs, lambda key: ExplainedTrial(plans[key]), kept).run_all(list(plans)):
        raise KeyboardInterrupt
    for key in plans:
        if kept.outcomes[key].data.get("status") == "failed":
            raise RunRefusedError(f"{key} cannot be explained: {kept.outcomes[key].data['reason']}")
    return {key: kept.outcomes[key] for key in plans}
