"""What runs a trial. An experiment is the same for every engine: its arms, order, resume, calibration and directory."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tailrace.experiment.native import NativeTrial, Outcome, make_trial, run_trial, simulator_build
from tailrace.scenario.experiment import Experiment
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario

SIMULATED = "simulated"
LIVE = "live"


class EngineTrial(Protocol):
    """A trial that can be run once; `progress` and `cancel` are for other threads."""

    def run(self) -> Outcome: ...
    def progress(self) -> float: ...
    def cancel(self) -> None: ...


class Engine(Protocol):
    """Turns plans into outcomes of one shape."""

    name: str
    """`simulated` or `live`: it stands in the manifest."""
    jobs_max: int | None
    """Trials that may run at the same time without changing each other; None for any number."""
    calibration_error: float
    """Calibration is content with this relative error."""

    def build(self) -> str: ...
    def versions(self) -> dict[str, str]: ...
    def facts(self) -> dict[str, Any]: ...
    def terms(self, spec: Experiment) -> list[Any]: ...
    def refuse(self, loaded: Loaded, arms: Mapping[str, Scenario]) -> None: ...
    def open(self, folder: Path) -> None: ...
    def close(self) -> None: ...
    def trial(self, plan_json: str) -> EngineTrial: ...
    def reasons(self, outcome: Mapping[str, Any], scenario: Scenario) -> list[str]: ...


class SimulatedTrial:
    """One trial in the simulator."""

    def __init__(self, plan_json: str) -> None:
        self._native: NativeTrial = make_trial(plan_json)

    def run(self) -> Outcome:
        """Runs to the end; a broken invariant raises `RuntimeError`."""
        return run_trial(self._native)

    def progress(self) -> float:
        """Part that is done, 0 to 1."""
        return self._native.progress()

    def cancel(self) -> None:
        """Asks `run` to return soon."""
        self._native.cancel()


class Simulated:
    """The simulator: any number of trials at once, and nothing of the machine enters a result."""

    name = SIMULATED
    jobs_max: int | None = None
    # A fifth of the one percent within which calibrated workloads must come.
    calibration_error = 0.002

    def build(self) -> str:
        """Results of two builds are never mixed."""
        return simulator_build()

    def versions(self) -> dict[str, str]:
        """Nothing besides what every run records."""
        return {}

    def facts(self) -> dict[str, Any]:
        """What else the manifest says of the engine: nothing."""
        return {}

    def terms(self, spec: Experiment) -> list[Any]:
        """What else decides a result: nothing."""
        return []

    def refuse(self, loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
        """A checked scenario can be simulated."""

    def open(self, folder: Path) -> None:
        """Nothing is needed in the run directory."""

    def close(self) -> None:
        """Nothing was made."""

    def trial(self, plan_json: str) -> EngineTrial:
        """Parses the plan; raises `TailraceError` when the simulator refuses it."""
        return SimulatedTrial(plan_json)

    def reasons(self, outcome: Mapping[str, Any], scenario: Scenario) -> list[str]:
        """Why a trial does not count, besides what holds for every engine: the simulator has no noise of its own."""
        return []


def engine_of(manifest: Mapping[str, Any]) -> str:
    """Name of the engine that made a run."""
    return str(manifest.get("engine", SIMULATED))


def read_plan(plan_json: str) -> dict[str, Any]:
    """A plan as a value."""
    plan: dict[str, Any] = json.loads(plan_json)
    return plan
