"""The plans and the configurations of a page's arms with values of the scenario set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.loading import Loaded, try_changes
from tailrace.scenario.lowering.plan import Raw
from tailrace.scenario.scenario import Scenario
from tailrace.whatif.configurations import Written, configurations
from tailrace.whatif.drawing import used_policies

UNREACHED = "no frame can enter queue"
"""The beginning of the checks' message about a queue without a class: the page checks maps of
classes as a whole."""


@dataclass(frozen=True)
class Size:
    """How much of the experiment a run of the page simulates."""

    name: str
    scale: float | None
    """Of the experiment; None stands for the configurations of the switches."""


@dataclass(frozen=True)
class Tried:
    """The results of the checks for values, and the scenario of each arm where they can be
    lowered."""

    problem: str | None
    """Why the scenario cannot have these values; None where it can."""
    arms: dict[str, Scenario]
    """The arms of the page; empty with a problem that leaves nothing to lower."""

    @property
    def hard_problem(self) -> str | None:
        """The problem, unless it is only that a queue is without a class."""
        return None if self.arms else self.problem or "it cannot be lowered"


def changed_policies(values: Mapping[str, Any]) -> set[str] | None:
    """The policies that values are in; None when one is elsewhere."""
    paths = [path.split(".") for path in values]
    return {path[1] for path in paths} if all(path[0] == "policies" for path in paths) else None


@dataclass
class Lowering:
    """Lowers the arms of a page."""

    loaded: Loaded
    chosen: Sequence[str]
    """Arms of the page."""
    sizes: Sequence[Size]
    written: Written = field(default_factory=dict)
    """Configurations by their inputs: a value of one policy does not change those of the others."""

    def __post_init__(self) -> None:
        self._used = {name: used_policies(scenario) for name, scenario in self.loaded.arms.items()}

    def touched(self, values: Mapping[str, Any]) -> list[str]:
        """Arms of the page whose plans values can change."""
        names = changed_policies(values)
        return [arm for arm in self.chosen if names is None or names & self._used[arm]]

    def tried(self, values: Mapping[str, Any]) -> Tried:
        """The scenario with values at dotted paths, as `--set` sets them. When only policies are
        changed, arms that do not use them have the problems of the scenario without arms.
        """
        names = changed_policies(values)
        base, scenario, problems = try_changes(self.loaded.document, values)
        words = [problem.what for problem in problems]
        arms: dict[str, Scenario] = {}
        for name in self.loaded.scenario.arm_names:
            changes = self.loaded.scenario.arms.get(name, {})
            found = scenario
            if names is not None and not names & self._used[name]:
                found = self.loaded.arms[name]
            elif changes:
                _, found, problems = try_changes(base, changes)
                words += [problem.what for problem in problems]
            if found is not None and name in self.chosen:
                arms[name] = found
        hard = [one for one in words if not one.startswith(UNREACHED)]
        is_whole = not hard and len(arms) == len(self.chosen)
        problem = (hard or words)[0] if words else None
        return Tried(problem, {name: arms[name] for name in self.chosen} if is_whole else {})

    def plans(self, arms: Mapping[str, Scenario], size: Size) -> dict[str, Raw]:
        """The plans of the arms at a size; without a scale, the configurations of their
        switches."""
        if size.scale is None:
            return {arm: configurations(scenario, self.written) for arm, scenario in arms.items()}
        plans = Plans({arm: scaled(scenario, size.scale) for arm, scenario in arms.items()})
        return {arm: {**plans.raw(TrialKey(arm, 1)), "seed": 0, "name": ""} for arm in arms}

    def all_plans(self, arms: Mapping[str, Scenario]) -> dict[str, dict[str, Raw]]:
        """By size and arm."""
        return {size.name: self.plans(arms, size) for size in self.sizes}
