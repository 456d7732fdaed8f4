"""MLRsearch: throughput under several loss goals at once, by the library of FD.io behind a measurer
of our own.

draft-ietf-bmwg-mlrsearch; the search is theirs, trials are ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.tools.switch.rig import Rig

GOAL_LOSS_RATIOS = (0.0, 0.001, 0.005)
"""Zero loss is not repeatable on virtual cores; 0.1 and 0.5 % are beside it."""
WIDTH = 0.01
"""A goal is reached when its bounds are as close as this."""
EXCEED_RATIO = 0.5
"""draft-ietf-bmwg-mlrsearch: half of the trials at a load may have a higher loss."""
INITIAL_SHARE = 0.125
"""Of a trial's length, the first trials of a search."""
PRECEDING_TARGETS = 2
MIN_LOAD_SHARE = 1e-3
"""Of the largest load, the smallest."""
SEARCH_TRIALS_MAX = 40
"""Full trials whose time a search may take; what it found until then is kept."""


@dataclass(frozen=True)
class GoalFound:
    """The result of one goal."""

    loss_ratio: float
    lower_fps: float | None
    """Relevant lower bound."""
    upper_fps: float | None
    """Relevant upper bound; None where the largest load still meets the goal."""
    conditional_fps: float | None
    """Conditional throughput."""

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        is_regular = self.lower_fps is not None and self.upper_fps is not None
        return {
            "goal_loss_ratio": self.loss_ratio,
            "goal_result": "regular" if is_regular else "irregular",
            "relevant_lower_bound_fps": self.lower_fps,
            "relevant_upper_bound_fps": self.upper_fps,
            "conditional_throughput_fps": self.conditional_fps,
        }


@dataclass(frozen=True)
class MlrResult:
    """All goals for one size of frames."""

    goals: tuple[GoalFound, ...]
    trials: int
    why_not: str = ""
    """Why the search has no result."""

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "goals": [goal.as_data() for goal in self.goals],
            "trials": self.trials,
            "search_goal": {
                "exceed_ratio": EXCEED_RATIO,
                "relative_width": WIDTH,
                "preceding_targets": PRECEDING_TARGETS,
            },
            "failed": self.why_not or None,
        }


def library() -> Any:
    """The library; raises `RunRefusedError` with the remedy where it is not installed."""
    try:
        import MLRsearch  # type: ignore[import-untyped]  # the library has no types
    except ImportError:
        hint = "pip install 'tailrace[measure]', or leave mlrsearch out of --tests"
        raise RunRefusedError(
            f"the test mlrsearch needs the package MLRsearch (hint: {hint})"
        ) from None
    return MLRsearch


def search(
    rig: Rig, size: int, most_fps: float, duration_s: float, say: Callable[[str], None]
) -> MlrResult:
    """Searches for all goals below the largest rate."""
    mlr = library()
    before = len(rig.trials)
    config = mlr.Config()
    config.goals = [_goal(mlr, ratio, duration_s) for ratio in GOAL_LOSS_RATIOS]
    config.max_load = max(most_fps, config.min_load * 2)
    config.min_load = most_fps * MIN_LOAD_SHARE
    config.max_load = most_fps
    config.warmup_duration = 0.0
    config.search_duration_max = max(SEARCH_TRIALS_MAX * duration_s, 60.0)
    try:
        found = mlr.MultipleLossRatioSearch(config=config).search(
            measurer=_measurer(mlr, rig, size), debug=say
        )
    except RuntimeError as error:
        return MlrResult((), len(rig.trials) - before, str(error))
    goals = tuple(_found(goal.loss_ratio, found[goal]) for goal in config.goals)
    return MlrResult(goals, len(rig.trials) - before)


def _goal(mlr: Any, loss_ratio: float, duration_s: float) -> Any:
    return mlr.SearchGoal(
        loss_ratio=loss_ratio,
        exceed_ratio=EXCEED_RATIO,
        relative_width=WIDTH,
        initial_trial_duration=duration_s * INITIAL_SHARE,
        final_trial_duration=duration_s,
        duration_sum=duration_s,
        preceding_targets=PRECEDING_TARGETS,
        fail_fast=False,
    )


def _measurer(mlr: Any, rig: Rig, size: int) -> Any:
    class Measurer(mlr.AbstractMeasurer):  # type: ignore[misc]  # a library without types, which may be missing
        """Trials of the rig."""

        def measure(self, intended_duration: float, intended_load: float) -> Any:
            """One trial."""
            trial = rig.at_fps(size, intended_load, intended_duration)
            return mlr.MeasurementResult(
                intended_duration=intended_duration,
                intended_load=intended_load,
                # What a paused sender has not sent says nothing about the switch.
                intended_count=trial.request.frames if trial.is_short else trial.offered,
                offered_count=trial.offered,
                forwarding_count=trial.forwarded,
                offered_duration=trial.sending_s,
            )

    return Measurer()


def _found(loss_ratio: float, result: Any) -> GoalFound:
    lower, upper, throughput = (
        None if load is None else float(load)
        for load in (
            result.relevant_lower_bound,
            result.relevant_upper_bound,
            result.conditional_throughput,
        )
    )
    return GoalFound(loss_ratio, lower, upper, throughput)
