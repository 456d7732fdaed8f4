"""The number of trials of each arm in a run: fixed, or with `trials: auto` that of the deciding
look."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from tailrace.experiment.reporter import Reporter
from tailrace.scenario.experiment import Experiment
from tailrace.statistics.looks import looks_until

if TYPE_CHECKING:
    from tailrace.results.summary.looks import Standing

BILLION = 10**9


def trials_least(spec: Experiment) -> int:
    """Trials of each arm at least."""
    return looks_until(spec.trials_max)[0] if spec.trials == "auto" else spec.trials


def trials_most(spec: Experiment) -> int:
    """Trials of each arm at most."""
    return looks_until(spec.trials_max)[-1] if spec.trials == "auto" else spec.trials


class Looks:
    """The wanted trials, and the results of the looks at the complete ones.

    A look considers complete trials only, never partial ones: its result does not depend on the
    order in which trials end, and an interrupted run has the same result as an uninterrupted one.
    """

    def __init__(self, spec: Experiment) -> None:
        self._spec = spec
        self.trials = trials_least(spec)
        """Of each arm, wanted now."""
        self._found: list[tuple[int, list[Standing]]] = []
        self.is_out_of_time = False

    @property
    def name(self) -> str:
        """The name of the wanted trials in progress messages."""
        if not self._spec.is_auto:
            return "trials"
        return f"up to {self.trials} trials of each arm"

    def goes_on(self, path: Path, arms: Sequence[str], reporter: Reporter) -> bool:
        """Performs the look at the complete trials. Returns whether these arms need more trials,
        whose number is then in `trials`."""
        from tailrace.results import Run
        from tailrace.results.compare.looks import standings
        from tailrace.results.compare.looks_text import looks_sentence

        every = standings(Run.read(path).until(self.trials), self._precision)
        # Arms of earlier calls that do not run now may have fewer trials.
        found = [
            standing for standing in every if {standing.arm, standing.baseline} <= {None, *arms}
        ]
        self._found.append((self.trials, found))
        reporter.say(looks_sentence(found, self.trials, trials_most(self._spec), self._precision))
        later = [trials for trials in looks_until(self._spec.trials_max) if trials > self.trials]
        if not later or all(standing.is_decided for standing in found):
            return False
        self.trials = later[0]
        return True

    def back(self) -> None:
        """Returns to the last look: the time is over before the trials of the next look are
        complete."""
        if self._found:
            self.trials = self._found[-1][0]
            self.is_out_of_time = True

    @property
    def _precision(self) -> float:
        return self._spec.precision / BILLION

    def trials_planned(self, held: Mapping[str, Any]) -> int:
        """Trials of each arm, those of earlier calls included; `held` is the manifest in the
        directory."""
        is_same = self._spec.is_auto and bool(held.get("auto"))
        return self.trials if is_same else max(self.trials, int(held.get("trials") or 0))

    def trials_finished(self, held: Mapping[str, Any]) -> int:
        """Trials of each arm of a run that had finished."""
        return int(held.get("trials") or self.trials) if self._spec.is_auto else self.trials

    def described(self, held: Mapping[str, Any]) -> dict[str, Any] | None:
        """The looks for the manifest. A run with looks keeps them when a later call states a number
        of trials."""
        if not self._spec.is_auto:
            return held.get("auto")
        looks = [
            {"trials": trials, "standings": [to_builtins(one) for one in found]}
            for trials, found in self._found
        ]
        return {"trials_max": trials_most(self._spec), "precision": self._precision, "looks": looks}
