"""The content of a page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.scenario.experiment import trial_seed
from tailrace.scenario.loading import Loaded
from tailrace.scenario.lowering.plan import Raw
from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.whatif.classes import QueueLocation
from tailrace.whatif.knobs import own_labels
from tailrace.whatif.lowered import Lowering, Size
from tailrace.whatif.moves import Moved
from tailrace.whatif.numbers import follow_data
from tailrace.whatif.together import Together

SHOWN = {
    "latency_p50_ms": "p50",
    "latency_p99_ms": "p99",
    "rate_per_s": "rate",
    "completion_s": "rate",
    "goodput_gbps": "goodput",
}
"""Metrics by which arms are compared, as the page names them (`METRICS` of its `core.js`)."""
SEEDS = 32
"""Trials whose seeds a page brings along."""


@dataclass
class Bundle:
    """The content of the page."""

    lowering: Lowering
    plans: dict[str, dict[str, Raw]]
    """By size and arm, without seed and name."""
    moved: list[Moved] = field(default_factory=list)
    locations: dict[str, list[QueueLocation]] = field(default_factory=dict)
    """By arm, where NX-OS configurations have names of queues."""
    together: Together = field(default_factory=Together)
    """Values that the scenario's checks refuse together."""
    left_out: list[str] = field(default_factory=list)
    """Sentences about knobs that were chosen and could not be kept."""

    @property
    def loaded(self) -> Loaded:
        """The scenario."""
        return self.lowering.loaded

    @property
    def sizes(self) -> Sequence[Size]:
        """The sizes of its runs."""
        return self.lowering.sizes

    def data(self) -> dict[str, Any]:
        """As it is written into the page."""
        scenario, arms = self.loaded.scenario, list(self.plans[self.sizes[0].name])
        pool = _Pool()
        labels = own_labels([one.knob for one in self.moved])
        steps = {
            size: {
                arm: {
                    one.path: [pool.at(steps) for steps in one.steps[size][arm]]
                    for one in self.moved
                }
                for arm in of_size
            }
            for size, of_size in self.plans.items()
        }
        follow = {
            size: {
                arm: {
                    one.path: pool.at(follow_data(one.number.follow[size][arm]))
                    for one in self.moved
                    if one.number is not None
                }
                for arm in of_size
            }
            for size, of_size in self.plans.items()
        }
        return {
            "name": scenario.name,
            "question": scenario.description,
            "arms": arms,
            "baseline": scenario.baseline_among(arms),
            "sizes": [
                {"name": size.name, "scale": size.scale}
                for size in self.sizes
                if size.scale is not None
            ],
            "plans": self.plans,
            "pool": pool.values,
            "steps": steps,
            "follow": follow,
            "knobs": [_knob_data(one, labels[one.path]) for one in self.moved],
            "together": self.together.data(),
            "places": self.locations,
            "used": {arm: _used(self.loaded.arms[arm]) for arm in arms},
            "maps": [
                {
                    "policy": name,
                    "queues": list(policy.queues),
                    "queueOf": [policy.queue_of(priority) for priority in range(PRIORITIES)],
                    "express": policy.dpp.express if policy.dpp else None,
                }
                for name, policy in scenario.policies.items()
            ],
            "main": {name: _main(workload.kind) for name, workload in scenario.workloads.items()},
            "seeds": [
                str(trial_seed(scenario.experiment.seed, trial)) for trial in range(1, SEEDS + 1)
            ],
            "file": self.loaded.document.file,
        }


class _Pool:
    """Values that occur several times are written once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._indices: dict[str, int] = {}

    def at(self, value: Any) -> int:
        key = json.dumps(value)
        if key not in self._indices:
            self._indices[key] = len(self.values)
            self.values.append(value)
        return self._indices[key]


def _used(scenario: Scenario) -> list[tuple[str, str, str]]:
    """Each policy with a switch that has it, and the neighbour of the port; empty for all of its
    ports."""
    found: dict[str, tuple[str, str, str]] = {}
    for name in scenario.graph.switches:
        switch = scenario.switch(name)
        for towards, policy in (("", switch.policy), *switch.ports.items()):
            found.setdefault(policy, (policy, name, towards))
    return list(found.values())


def _main(kind: str) -> list[str]:
    """The main metrics of a kind that the page shows, the first choice first; a completion is shown
    as a rate."""
    return list(
        dict.fromkeys(SHOWN[metric] for metric in facts_of(kind).main_metrics if metric in SHOWN)
    )


def _knob_data(one: Moved, label: tuple[str, str]) -> dict[str, Any]:
    return {
        "path": one.path,
        "label": label,
        "texts": one.knob.texts,
        "start": one.knob.start,
        "refused": one.refused,
        "drawn": one.knob.is_drawn,
        "group": one.knob.group,
        "always": one.is_always_set,
        "number": None if one.number is None else one.number.data(),
        "why": one.why_no_number,
        "unwritten": sorted(one.unwritten),
    }
