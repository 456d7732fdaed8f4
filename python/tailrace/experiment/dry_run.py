"""The trials that a run would execute, and an estimate of their time from running the beginning of each arm."""

import threading
import time
from dataclasses import dataclass
from typing import Any

from tailrace.errors import TailraceError
from tailrace.experiment.engine import EXACT, LIVE, SIMULATED, Engine
from tailrace.experiment.estimate import PROGRESS_MIN
from tailrace.experiment.reporter import to_go
from tailrace.experiment.run import ExperimentRun
from tailrace.experiment.schedule import TrialKey

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
        remaining_s = self.data["estimated_s"]
        lines.append(to_go(remaining_s) if remaining_s is not None else "time unknown: " + self.data["why_unknown"])
        return "\n".join(lines)


def describe(experiment: ExperimentRun, at_once: int) -> Listing:
    """Every trial that is not complete yet, and the estimated time when so many run at once."""
    keys = experiment.missing_keys()
    estimated_s, why = _estimated_s(experiment, keys, at_once)
    spec = experiment.loaded.scenario.experiment
    return Listing(
        {
            "trials": [str(key) for key in keys],
            "jobs": at_once,
            "out": str(experiment.directory.path),
            "plan_hashes": {arm: experiment.plans.hash(arm) for arm in experiment.scenarios},
            "calibrate": spec.calibrate is not None,
            "estimated_s": estimated_s,
            "why_unknown": why,
        }
    )


def _estimated_s(experiment: ExperimentRun, keys: list[TrialKey], at_once: int) -> tuple[float | None, str]:
    if not experiment.is_calibrated():
        return None, "calibration determines the amount of work first"
    if experiment.engine.name != SIMULATED:
        return None, WHY_UNKNOWN[experiment.engine.name]
    plans = experiment.plans
    try:
        walls = {
            arm: _probe_s(experiment.engine, plans.json(TrialKey(arm, 1)))
            for arm in dict.fromkeys(key.arm for key in keys)
        }
    except TailraceError as error:
        return None, str(error)
    if not all(wall is not None for wall in walls.values()):
        return None, "the trials are too long for a short probe"
    each = [wall for key in keys if (wall := walls[key.arm]) is not None]
    return max(sum(each) / at_once, max(each, default=0.0)), ""


def _probe_s(engine: Engine, plan_json: str) -> float | None:
    """Wall time of a whole trial, extrapolated from its beginning; None when too little of it has run."""
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
        outcome = trial.run()
    finally:
        timer.cancel()
    wall_s = time.monotonic() - started_s
    if not outcome.data.get("cancelled"):
        return wall_s
    return wall_s / share if share >= PROGRESS_MIN / 10 else None
