"""Whether a setting meets the goals: trials until a sequential test decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.points import Points
from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.goal import Goal, Read
from tailrace.results.metrics.sample_summary import summarise_figure
from tailrace.scenario.loading import try_changes
from tailrace.scenario.sweep import Point, text_of
from tailrace.search.variable import Variable
from tailrace.statistics.sequential import SequentialTest

UNKNOWN_AFTER = 3
"""Settings without the figure of a goal after which the goal is refused."""


@dataclass(frozen=True)
class Tried:
    """One setting that was simulated."""

    positions: tuple[int, ...]
    """Of every variable, the position among its values."""
    values: dict[str, Any]
    """By path."""
    label: str
    figures: list[dict[str, Any]]
    """Of every goal: values of trials, mean, interval; `bounds` counts the values that are lower bounds."""
    met: int
    """Trials in which every goal is met."""
    trials: int
    decision: bool | None
    """Whether the goals are met; None where the trials did not decide."""
    why_not: str = ""
    """Why the setting is impossible, so that nothing was simulated."""

    @property
    def is_met(self) -> bool:
        """Undecided settings do not count as meeting the goal."""
        return self.decision is True

    @property
    def verdict(self) -> str:
        """In words."""
        if self.why_not:
            return "impossible"
        return {True: "met", False: "missed", None: "undecided"}[self.decision]

    @property
    def assignment(self) -> str:
        """As options of the command line."""
        return " ".join(f"--set {path}={_quoted(text_of(value))}" for path, value in self.values.items())


@dataclass
class Decider:
    """Runs trials of settings, each setting only as often as its case needs."""

    points: Points
    arm: str
    goals: Sequence[Goal]
    groups: Mapping[str, Sequence[str]]
    variables: Sequence[Variable]
    test: SequentialTest
    trials_max: int
    tried: dict[tuple[int, ...], Tried] = field(default_factory=dict)
    """In the order of their first trials."""
    without: int = 0
    """Settings at the beginning that do not have the figure of a goal."""

    def try_at(self, positions: tuple[int, ...], *, least: int = 0, test: SequentialTest | None = None) -> Tried:
        """Runs trials until the test decides, and at least so many."""
        test = test or self.test
        trials = max(test.lead, least)
        if (why_not := self._impossible(positions)) is not None:
            self.tried[positions] = found = why_not
            self.points.reporter.say(f"{self.name(found)}: impossible: {found.why_not}")
            return found
        while True:
            found = self._after(positions, trials, test)
            if found.decision is not None or trials >= self.trials_max:
                break
            trials = min(trials + max(1, test.lead - abs(2 * found.met - found.trials)), self.trials_max)
        self.tried[positions] = found
        self.points.reporter.say(f"{self.name(found)}: {found.verdict} in {found.met} of {found.trials} trials")
        return found

    def run_ahead(self, all_positions: Sequence[tuple[int, ...]]) -> None:
        """Runs the trials of a clear case at all of these settings as one list."""
        possible = [positions for positions in all_positions if self._impossible(positions) is None]
        values = [self.values(positions) for positions in possible]
        self.points.run_ahead([(own, self.label(own)) for own in values], self.test.lead)

    def name(self, tried: Tried) -> str:
        """The setting in short words."""
        return ", ".join(f"{one.name}={text_of(tried.values[one.path])}" for one in self.variables)

    def values(self, positions: tuple[int, ...]) -> dict[str, Any]:
        """The setting at these positions."""
        return {one.path: one.values[at] for one, at in zip(self.variables, positions, strict=True)}

    def label(self, values: Mapping[str, Any]) -> str:
        """Name of the setting's directory."""
        return Point(values, {one.path: one.name for one in self.variables}).label

    def _impossible(self, positions: tuple[int, ...]) -> Tried | None:
        """A setting that makes no sound scenario; None where it does."""
        values = self.values(positions)
        _, _, problems = try_changes(self.points.document, values)
        if not problems:
            return None
        figures = [summarise_figure([], 0) for _ in self.goals]
        return Tried(positions, values, self.label(values), figures, 0, 0, False, problems[0].what)

    def _after(self, positions: tuple[int, ...], trials: int, test: SequentialTest) -> Tried:
        values = self.values(positions)
        label = self.label(values)
        run = self.points.run(values, trials, label)
        refuse_failed(run, self.arm)
        numbered = sorted(run.trials[self.arm], key=lambda trial: trial.number)
        counted = numbered[:trials]  # an earlier call may have run more: the same trials give the same decision
        rows = [[goal.read(trial, self._members(goal)) for goal in self.goals] for trial in counted]
        if positions not in self.tried:
            self._refuse_unknown(rows)
        met = sum(all(found.is_met for found in row) for row in rows)
        figures = [_figure(column) for column in zip(*rows, strict=True)]
        return Tried(positions, values, label, figures, met, len(rows), test.decide(met, len(rows) - met))

    def _members(self, goal: Goal) -> Sequence[str]:
        return self.groups.get(goal.subject, [goal.subject])

    def _refuse_unknown(self, rows: Sequence[Sequence[Read]]) -> None:
        """Raises `RunRefusedError` where the first settings of all do not have the figure of a goal.

        One setting may lack it because nothing arrives there: that misses the goal.
        """
        lacking = [goal for number, goal in enumerate(self.goals) if all(row[number].value is None for row in rows)]
        self.without = UNKNOWN_AFTER if not lacking else self.without
        if lacking and self.without < UNKNOWN_AFTER:
            self.without += 1
            if self.without == UNKNOWN_AFTER:
                raise RunRefusedError(
                    f"--goal '{lacking[0]}': trials have no such figure of this workload "
                    "(hint: choose another metric, or a longer experiment.duration)"
                )


def refuse_failed(run: Run, arm: str) -> None:
    """Raises `RunRefusedError` where a trial has failed: its setting is neither good nor bad."""
    failed = [trial for trial in run.trials[arm] if trial.status == "failed"]
    if failed:
        raise RunRefusedError(f"{run.path}: trial {failed[0].number} failed: {failed[0].reason}")


def _figure(found: Sequence[Read]) -> dict[str, Any]:
    """Of one goal, over the trials that have its figure."""
    values = [one.value for one in found if one.value is not None]
    return summarise_figure(values, sum(one.is_lower_bound for one in found))


def _quoted(text: str) -> str:
    return text if text.replace(".", "").isalnum() else f"'{text}'"
