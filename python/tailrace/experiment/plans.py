"""The plans of an experiment: one for each arm; the trials of an arm differ in name and seed
alone."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.stored import Planned
from tailrace.scenario.experiment import Experiment, trial_seed
from tailrace.scenario.lowering.plan import LoweredNetwork, canonical_json, lower, network_key
from tailrace.scenario.scenario import Scenario


class Plans:
    """Lowers each arm once, on first use; the plan of a trial is that of its arm with the trial's
    name and seed.

    Arms with the same network share that part of their plans, which is the largest.
    """

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self.scenarios = dict(scenarios)
        self._raw: dict[str, dict[str, Any]] = {}
        self._networks: dict[tuple[int, ...], LoweredNetwork] = {}
        self._texts: dict[int, tuple[Any, str]] = {}
        self._hashes: dict[str, str] = {}

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of every arm's plan."""
        return {arm: self.hash(arm) for arm in self.scenarios}

    def hash(self, arm: str) -> str:
        """The hash of an arm's plan: that of the plan's canonical JSON without name and seed."""
        if arm not in self._hashes:
            same = {
                key: value
                for key, value in self._lowered(arm).items()
                if key not in ("name", "seed")
            }
            self._hashes[arm] = hashlib.sha256(self._text(same).encode()).hexdigest()
        return self._hashes[arm]

    def raw(self, key: TrialKey) -> dict[str, Any]:
        """The plan of one trial."""
        scenario = self.scenarios[key.arm]
        name = f"{scenario.name}/{key.arm}/trial-{key.number}"
        return {
            **self._lowered(key.arm),
            "name": name,
            "seed": trial_seed(scenario.experiment.seed, key.number),
        }

    def planned(self, key: TrialKey) -> Planned:
        """The identity that the file of a trial must have."""
        scenario = self.scenarios[key.arm]
        workloads = [(name, workload.kind) for name, workload in scenario.running.items()]
        return Planned(
            key.arm, key.number, trial_seed(scenario.experiment.seed, key.number), workloads
        )

    def json(self, key: TrialKey) -> str:
        """The plan of one trial as JSON, the input of the simulator."""
        return self._text(self.raw(key))

    def _lowered(self, arm: str) -> dict[str, Any]:
        if arm not in self._raw:
            scenario = self.scenarios[arm]
            network = self._networks.setdefault(network_key(scenario), {})
            self._raw[arm] = lower(scenario, arm, trial=1, network=network)
        return self._raw[arm]

    def _text(self, plan: Mapping[str, Any]) -> str:
        """The canonical JSON of a plan; the texts of its parts are cached, because many plans share
        them."""
        parts = (f'"{key}":{self._part(plan[key])}' for key in sorted(plan))
        return f"{{{','.join(parts)}}}"

    def _part(self, value: Any) -> str:
        if not isinstance(value, dict | list):
            return canonical_json(value)
        # The cache also holds the value, so that its `id` is not reused.
        kept, text = self._texts.get(id(value), (None, ""))
        if kept is not value:
            text = canonical_json(value)
            self._texts[id(value)] = value, text
        return text


def identity(
    hashes: Mapping[str, str], spec: Experiment, build: str, terms: Sequence[Any] = ()
) -> str:
    """The identity of a run: a hash of the plans of all arms, the seed and the engine. A directory
    holds one identity.

    `terms` are further settings by which the engine judges a trial.
    """
    calibrate = spec.calibrate.model_dump() if spec.calibrate else None
    decisive = [dict(hashes), spec.seed, calibrate, spec.invalid_if, build, *terms]
    return hashlib.sha256(canonical_json(decisive).encode()).hexdigest()


def alone(scenario: Scenario, workload: str) -> Scenario:
    """The scenario with only one of its workloads."""
    own = scenario.workloads[workload].model_copy(update={"enabled": True})
    return scenario.model_copy(update={"workloads": {workload: own}})
