"""Several variables: Optuna proposes settings, and its study is stored beside the runs.

A sampler draws each proposal. Its seed follows from the search's seed and the number of decided
settings, so an interrupted search continues with the same proposals.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.search.asked import GRID, Asked
from tailrace.search.deciding import Decider, Tried, excess
from tailrace.search.options import SearchOptions
from tailrace.search.rule import Rule

STUDY = "study.log"
EARLY_ERROR = 0.05
"""Error probability of the decision on a proposal. A wrong decision costs proposals and does not
change the result."""
FIRST_RANDOM = 10
"""Settings that are drawn at random before the sampler learns."""
REPEATED_MAX = 3
"""Proposals for each new setting: a proposal may repeat a known setting."""
SEEDS_APART = 100_003
EXCESS = "excess"


def library() -> Any:
    """Optuna; raises `RunRefusedError` with the remedy where it is not installed."""
    try:
        import optuna
    except ImportError:
        hint = "pip install 'tailrace[search]', or vary one value"
        raise RunRefusedError(
            f"a search over several variables needs the package optuna (hint: {hint})"
        ) from None
    return optuna


@dataclass
class Several:
    """A search over several variables, or for the best figure."""

    wanted: SearchOptions
    asked: Asked
    decider: Decider
    folder: Path
    seed: int
    final: Rule
    """The rule for the resulting setting: its error is corrected for the number of settings among
    which it was chosen."""

    def run(self) -> Tried | None:
        """Tries settings. Returns the best one that meets the goals with the stated confidence, or
        None."""
        if self.wanted.sampler == GRID:
            grid = list(product(*(range(len(one.values)) for one in self.asked.variables)))
            self.decider.run_ahead(grid)
            for positions in grid:
                self.decider.try_at(positions)
        else:
            self._propose()
        return self._confirmed()

    def _propose(self) -> None:
        optuna = library()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            for positions in dict.fromkeys(self._known(study := self._study(optuna))):
                self.decider.try_at(positions)
            while (
                len(set(known := self._known(study))) < self._count
                and len(known) < REPEATED_MAX * self._count
            ):
                study.sampler = self._sampler(optuna, len(known))
                self._one(optuna, study)

    @property
    def _count(self) -> int:
        return min(self.wanted.evaluations, self.asked.count)

    def _study(self, optuna: Any) -> Any:
        backend = optuna.storages.journal.JournalFileBackend(str(self.folder / STUDY))
        storage = optuna.storages.JournalStorage(backend)
        return optuna.create_study(
            study_name="search",
            storage=storage,
            load_if_exists=True,
            direction="minimize" if self.asked.aim.is_minimised else "maximize",
        )

    def _known(self, study: Any) -> list[tuple[int, ...]]:
        """Positions of the decided settings, in order. An interrupted setting is proposed again."""
        decided = [
            trial
            for trial in study.get_trials(deepcopy=False)
            if trial.state.is_finished() and trial.values
        ]
        return [self._positions(trial) for trial in decided]

    def _positions(self, trial: Any) -> tuple[int, ...]:
        return tuple(int(trial.params[variable.path]) for variable in self.asked.variables)

    def _sampler(self, optuna: Any, number: int) -> Any:
        seed = self.seed * SEEDS_APART + number
        match self.wanted.sampler:
            case "random":
                return optuna.samplers.RandomSampler(seed=seed)
            case _:
                return optuna.samplers.TPESampler(
                    seed=seed, n_startup_trials=FIRST_RANDOM, multivariate=True
                )

    def _one(self, optuna: Any, study: Any) -> None:
        """Decides one proposal; a known proposal runs no trials."""
        trial = study.ask()
        positions = tuple(
            trial.suggest_int(variable.path, 0, len(variable.values) - 1)
            for variable in self.asked.variables
        )
        try:
            tried = self.decider.tried.get(positions) or self.decider.try_at(positions)
        except BaseException:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            raise
        trial.set_constraint(EXCESS, self._excess_of(tried))
        trial.set_user_attr("setting", self.decider.name(tried))
        study.tell(trial, self.value_of(tried))

    def value_of(self, tried: Tried) -> float:
        """The quantity to minimise or maximise: a position, or the figure of the last goal."""
        if self.asked.aim.variable is not None:
            return float(tried.positions[self.asked.aim.variable])
        value = tried.figures[-1].value
        worst = float("inf") if self.asked.aim.is_minimised else float("-inf")
        return worst if value is None else value

    def _excess_of(self, tried: Tried) -> float:
        """Distance of the figures beyond their bounds, relative to the bounds; at most zero where
        the goals are met."""
        worst = excess(self.asked.goals, tried)
        return min(worst, 0.0) if tried.is_met else max(worst, 1e-6)

    def _confirmed(self) -> Tried | None:
        """The best setting that still meets the goals after more trials."""
        found = sorted((one for one in self.decider.tried.values() if one.is_met), key=self._rank)
        rule = self.final.from_trials(self.wanted.confirm)
        for one in found:
            again = self.decider.try_at(one.positions, rule)
            if again.is_met:
                return again
        return None

    def _rank(self, tried: Tried) -> tuple[float, Sequence[int]]:
        value = self.value_of(tried)
        return (value if self.asked.aim.is_minimised else -value, tried.positions)
