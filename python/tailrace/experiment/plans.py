"""The plans of an experiment: one for each arm, of which trials differ in name and seed alone."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.experiment import Experiment
from tailrace.scenario.lower import canonical_json, lower, plan_hash, trial_seed
from tailrace.scenario.scenario import Scenario


class Plans:
    """Lowers each arm once; a trial's plan is the arm's with its own name and seed."""

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self.scenarios = dict(scenarios)
        self._raw = {arm: lower(scenario, arm, trial=1) for arm, scenario in self.scenarios.items()}
        self.hashes = {arm: plan_hash(raw) for arm, raw in self._raw.items()}

    def raw(self, key: TrialKey) -> dict[str, Any]:
        """The plan of one trial."""
        scenario = self.scenarios[key.arm]
        name = f"{scenario.name}/{key.arm}/trial-{key.number}"
        return {**self._raw[key.arm], "name": name, "seed": trial_seed(scenario.experiment.seed, key.number)}

    def json(self, key: TrialKey) -> str:
        """The plan of one trial as the simulator reads it."""
        return canonical_json(self.raw(key))


def identity(hashes: Mapping[str, str], spec: Experiment, build: str, terms: Sequence[Any] = ()) -> str:
    """What a run is: the plans of all arms, the seed, the engine. One directory holds runs of one identity.

    `terms` are what the engine besides looks at when it judges a trial.
    """
    calibrate = spec.calibrate.model_dump() if spec.calibrate else None
    decisive = [dict(hashes), spec.seed, calibrate, spec.invalid_if, build, *terms]
    return hashlib.sha256(canonical_json(decisive).encode()).hexdigest()


def alone(scenario: Scenario, workload: str) -> Scenario:
    """The scenario with one of its workloads only."""
    own = scenario.workloads[workload].model_copy(update={"enabled": True})
    return scenario.model_copy(update={"workloads": {workload: own}})
