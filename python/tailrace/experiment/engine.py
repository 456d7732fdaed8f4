"""The interface of the engines that run trials; order, resume, calibration and directory do not
depend on the engine.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from tailrace.experiment.cores import ONE, Cores
from tailrace.experiment.native import (
    Cancelled,
    NativeTrial,
    Ran,
    make_trial,
    run_or_cancel,
    simulator_build,
)
from tailrace.experiment.real_kernel import raise_found
from tailrace.outcome.types import Outcome
from tailrace.scenario.checks import live_only, neighbours
from tailrace.scenario.experiment import Experiment
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario

SIMULATED = "simulated"
LIVE = "live"
EXACT = "exact"


class EngineTrial(Protocol):
    """A trial that can be run once; `progress` and `cancel` are for other threads."""

    def run(self) -> Ran | Cancelled: ...
    def progress(self) -> float: ...
    def cancel(self) -> None: ...


class Engine(Protocol):
    """Turns plans into outcomes of one format."""

    name: str
    """`simulated`, `live` or `exact`, as written to the manifest."""
    jobs_max: int | None
    """Trials that may run at the same time without disturbing each other; None for any number."""
    has_one_core: bool
    """Whether a trial has one thread, whatever the machine has."""
    calibration_error: float
    """Relative error with which calibration ends."""

    def build(self) -> str: ...
    def versions(self) -> dict[str, str]: ...
    def facts(self) -> dict[str, Any]: ...
    def terms(self, spec: Experiment) -> list[Any]: ...
    def refuse(self, loaded: Loaded, arms: Mapping[str, Scenario]) -> None: ...
    def open(self, folder: Path) -> None: ...
    def close(self) -> None: ...
    def trial(self, plan_json: str, cores: Cores = ONE, /) -> EngineTrial: ...
    def reasons(self, outcome: Outcome, scenario: Scenario) -> list[str]: ...


class Warn:
    """Writes each warning about the trials of a run once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._shown: set[str] = set()

    def __call__(self, texts: Sequence[str]) -> None:
        for text in texts:
            if text not in self._shown:
                self._shown.add(text)
                self._say(f"warning: {text}")


class SimulatedTrial:
    """Makes a trial of a plan."""

    def __init__(self, plan_json: str, cores: Cores = ONE) -> None:
        of_cores = () if cores == ONE else (cores.count, cores.is_automatic)
        self._native: NativeTrial = make_trial(plan_json, *of_cores)
        self._may_have_several = cores.count > 1

    def run(self) -> Ran | Cancelled:
        """Runs to the end; a broken invariant raises `RuntimeError`."""
        ran = run_or_cancel(self._native)
        if isinstance(ran, Cancelled) or not self._may_have_several:
            return ran
        return replace(ran, cores=self._native.cores())

    def progress(self) -> float:
        """Share of the trial that is done, 0 to 1."""
        return self._native.progress()

    def cancel(self) -> None:
        """Requests `run` to return early."""
        self._native.cancel()


class Simulated:
    """The simulator: runs any number of trials at once; results do not depend on the machine."""

    name = SIMULATED
    jobs_max: int | None = None
    has_one_core = False
    # A fifth of the one percent that is the tolerance of calibrated workloads.
    calibration_error = 0.002

    def build(self) -> str:
        """Identifies the build; results of two builds are never mixed."""
        return simulator_build()

    def versions(self) -> dict[str, str]:
        """Empty: the manifest records the same for every run."""
        return {}

    def facts(self) -> dict[str, Any]:
        """Further entries of the engine in the manifest: none."""
        return {}

    def terms(self, spec: Experiment) -> list[Any]:
        """Further inputs that determine a result: none."""
        return []

    def refuse(self, loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
        """Raises `ScenarioError` for features of real programs only: neighbours, and clusters of
        databases."""
        raise_found(
            loaded,
            arms,
            lambda scenario: chain(
                neighbours.absent(scenario, SIMULATED), live_only.absent(scenario, SIMULATED)
            ),
        )

    def open(self, folder: Path) -> None:
        """Prepares nothing in the run directory."""

    def close(self) -> None:
        """Removes nothing: `prepare` made nothing."""

    def trial(self, plan_json: str, cores: Cores = ONE, /) -> EngineTrial:
        """Parses the plan; raises `TailraceError` when the simulator rejects it."""
        return SimulatedTrial(plan_json, cores)

    def reasons(self, outcome: Outcome, scenario: Scenario) -> list[str]:
        """Reasons of this engine to invalidate a trial: none, as the simulator does not depend on
        the machine."""
        return []


def outcome_of(trial: EngineTrial) -> Outcome:
    """Runs a trial that nothing cancels."""
    ended = trial.run()
    assert isinstance(ended, Ran), "nothing cancels it"
    return ended.outcome


def read_plan(plan_json: str) -> dict[str, Any]:
    """A plan as a Python value."""
    plan: dict[str, Any] = json.loads(plan_json)
    return plan
