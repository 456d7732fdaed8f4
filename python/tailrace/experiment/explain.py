"""Trials of a run, simulated once more and explained."""

import array
from collections.abc import Mapping, Sequence

from tailrace.errors import RunRefusedError
from tailrace.experiment.native import CODES, Columns, NativeTrial, Outcome, explain_trial, make_trial
from tailrace.experiment.pool import Pool, Running
from tailrace.experiment.schedule import TrialKey


class ExplainedTrial:
    """A trial of a plan, explained while it runs."""

    def __init__(self, plan_json: str) -> None:
        self._native: NativeTrial = make_trial(plan_json)

    def run(self) -> Outcome:
        """Runs to the end; raises `RunRefusedError` for what cannot be explained."""
        return explain_trial(self._native)

    def progress(self) -> float:
        """Share of the trial that is done, 0 to 1."""
        return self._native.progress()

    def cancel(self) -> None:
        """Requests `run` to return early."""
        self._native.cancel()


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


def values(columns: Columns) -> dict[str, Sequence[int]]:
    """A table of the simulator as integers by column."""
    found: dict[str, Sequence[int]] = {}
    for name, (kind, data) in columns.items():
        column = array.array(CODES[kind])
        column.frombytes(data)
        found[name] = column
    return found
