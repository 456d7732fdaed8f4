"""The trials that a run would execute, and an estimate of their time from running the beginning of
each arm."""

import threading
import time
from dataclasses import dataclass
from typing import Any

from tailrace.errors import TailraceError
from tailrace.experiment.engine import EXACT, LIVE, SIMULATED, Engine
from tailrace.experiment.estimate import PROGRESS_MIN
from tailrace.experiment.looks import trials_most
from tailrace.experiment.native import Cancelled
from tailrace.experiment.reporter import to_go
from tailrace.experiment.run import ExperimentRun
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.significance import too_few_words

WHY_UNKNOWN = {
    LIVE: "the duration of a live trial depends on its programs",
    EXACT: "the duration of an exact trial depends on the packets that its kernels handle",
}
PROBE_S = 1.5
"""Wall time spent on each arm to estimate the length of its trials."""


@dataclass(frozen=True)
class Listing:
    """A dry run, for programs and for people."""

    data: dict[str, Any]

    @property
    def text(self) -> str:
        """One line for each trial, then the time."""
        lines = [f"{index} {trial}" for index, trial in enumerate(self.data["trials"], start=1)]
        lines.append(f"{len(lines)} trials, {self.data['jobs']} at a time, into {self.data['out']}")
        if self.data["calibrate"]:
            lines.append("preceded by calibration")
        if not self.data["trials"]:
            return f"all trials are complete, in {self.data['out']}"
        if self.data["too_few"]:
            lines.append(self.data["too_few"])
        remaining_s = self.data["estimated_s"]
        lines.append(
            to_go(remaining_s)
            if remaining_s is not None
            else "time unknown: " + self.data["why_unknown"]
        )
        if most := self.data["at_most"]:
            time = f", {to_go(most['estimated_s'])}" if most["estimated_s"] is not None else ""
            lines.append(f"at most {most['trials']} trials, if they decide late or never{time}")
        return "\n".join(lines)


def describe(experiment: ExperimentRun, at_once: int) -> Listing:
    """Every incomplete trial, and the estimated time with `at_once` concurrent ones.

    With `trials: auto` these are the trials until the next look, and `at_most` those until the last
    one.
    """
    is_calibrated = experiment.is_calibrated()
    if is_calibrated:
        experiment.advance_looks()
    spec = experiment.loaded.scenario.experiment
    keys = experiment.missing_keys()
    later = experiment.missing_keys(trials_most(spec)) if keys and spec.is_auto else []
    (estimated_s, most_s), why = _estimated_s(
        experiment, [keys, later], at_once, is_calibrated=is_calibrated
    )
    return Listing(
        {
            "trials": [str(key) for key in keys],
            "jobs": at_once,
            "out": str(experiment.directory.path),
            "plan_hashes": {arm: experiment.plans.hash(arm) for arm in experiment.scenarios},
            "too_few": too_few_words(experiment.loaded),
            "calibrate": spec.calibrate is not None,
            "estimated_s": estimated_s,
            "why_unknown": why,
            "at_most": {"trials": len(later), "estimated_s": most_s} if later else None,
        }
    )


def _estimated_s(
    experiment: ExperimentRun, lists: list[list[TrialKey]], at_once: int, *, is_calibrated: bool
) -> tuple[list[float | None], str]:
    """The time of each list of trials, or why it is unknown."""
    unknown: list[float | None] = [None] * len(lists)
    if not is_calibrated:
        return unknown, "calibration determines the amount of work first"
    if experiment.engine.name != SIMULATED:
        return unknown, WHY_UNKNOWN[experiment.engine.name]
    plans = experiment.plans
    try:
        walls = {
            arm: _probe_s(experiment.engine, plans.json(TrialKey(arm, 1)))
            for arm in dict.fromkeys(key.arm for keys in lists for key in keys)
        }
    except TailraceError as error:
        return unknown, str(error)
    if not all(wall is not None for wall in walls.values()):
        return unknown, "the trials are too long for a short probe"
    known = {arm: wall for arm, wall in walls.items() if wall is not None}
    return [_together_s([known[key.arm] for key in keys], at_once) for keys in lists], ""


def _together_s(each: list[float], at_once: int) -> float:
    return max(sum(each) / at_once, max(each, default=0.0))


def _probe_s(engine: Engine, plan_json: str) -> float | None:
    """Wall time of a whole trial, extrapolated from its beginning; None when too little of it has
    run."""
    trial = engine.trial(plan_json)
    started_s = time.monotonic()
    share = 0.0

    def stop() -> None:
        nonlocal share
        share = trial.progress()
        trial.cancel()

    timer = threading.Timer(PROBE_S, stop)
    timer.start()
    try:
        ended = trial.run()
    finally:
        timer.cancel()
    wall_s = time.monotonic() - started_s
    if not isinstance(ended, Cancelled):
        return wall_s
    return wall_s / share if share >= PROGRESS_MIN / 10 else None
