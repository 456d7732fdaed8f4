"""Decides whether a setting meets the goals: trials run until a look at them decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.points import Points
from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.decision import Errors, decide_all, errors_of, is_broken
from tailrace.results.metrics.figure import Figure, figure_of
from tailrace.results.summary.expectation import End
from tailrace.results.summary.figure import FigureSummary
from tailrace.scenario.goal import Goal
from tailrace.scenario.loading import try_changes
from tailrace.scenario.sweep import Point, text_of
from tailrace.search.rule import Rule
from tailrace.search.variable import Variable

UNKNOWN_AFTER = 3
"""Settings without the figure of a goal after which the goal is refused."""
NOTHING = 1e9
"""Excess of a setting in which nothing is delivered."""
BROKEN_AFTER = 2
"""Trials after which a goal of zero is tested for the first time."""


@dataclass(frozen=True)
class Tried:
    """One simulated setting."""

    positions: tuple[int, ...]
    """Of every variable, the position among its values."""
    values: dict[str, Any]
    """By path."""
    label: str
    figures: list[FigureSummary]
    """Of every goal."""
    trials: int
    end: End
    takes: str = ""
    """The trials that would decide it."""
    why_not: str = ""
    """Reason for which the setting is impossible and was not simulated."""

    @property
    def is_met(self) -> bool:
        """Whether every goal is met."""
        return self.end == "meets"

    @property
    def is_missed(self) -> bool:
        """Whether a goal is missed, or the setting is impossible; undecided settings neither meet
        nor miss it."""
        return self.end == "misses"

    @property
    def verdict(self) -> str:
        """In words."""
        return "impossible" if self.why_not else self.end

    @property
    def assignment(self) -> str:
        """As options of the command line."""
        return " ".join(
            f"--set {path}={_quoted(text_of(value))}" for path, value in self.values.items()
        )


@dataclass
class Decider:
    """Runs trials of settings, each setting only as often as its decision needs."""

    points: Points
    arm: str
    goals: Sequence[Goal]
    groups: Mapping[str, Sequence[str]]
    variables: Sequence[Variable]
    rule: Rule
    tried: dict[tuple[int, ...], Tried] = field(default_factory=dict)
    """In the order of their first trials."""
    without: int = 0
    """Settings at the beginning that do not have the figure of a goal."""

    def try_at(self, positions: tuple[int, ...], rule: Rule | None = None) -> Tried:
        """Runs trials until a look at them decides."""
        rule = rule or self.rule
        found = self._impossible(positions)
        if found is None:
            found = self._early(positions, rule) or self._looked(positions, rule)
        self.tried[positions] = found
        self.points.reporter.say(f"{self.name(found)}: {self._outcome_text(found)}")
        return found

    def run_ahead(self, all_positions: Sequence[tuple[int, ...]]) -> None:
        """Runs the trials of a clear case at all of these settings as one list."""
        possible = [positions for positions in all_positions if self._impossible(positions) is None]
        values = [self.values(positions) for positions in possible]
        self.points.run_ahead([(own, self.label(own)) for own in values], self.rule.looks[0])

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
        """The record of a setting that makes the scenario invalid; None for a valid one."""
        values = self.values(positions)
        _, _, problems = try_changes(self.points.document, values)
        if not problems:
            return None
        figures = [figure_of([], self._members(goal), goal.metric).data() for goal in self.goals]
        return Tried(
            positions, values, self.label(values), figures, 0, "misses", why_not=problems[0].what
        )

    def _outcome_text(self, found: Tried) -> str:
        if found.why_not:
            return f"impossible: {found.why_not}"
        needs = f" (takes {found.takes})" if found.takes else ""
        return f"{found.end} after {found.trials} trials{needs}"

    def _early(self, positions: tuple[int, ...], rule: Rule) -> Tried | None:
        """A setting that misses a goal of zero: the first trial with a violation decides it."""
        if not any(goal.bound == 0 for goal in self.goals) or rule.looks[0] <= BROKEN_AFTER:
            return None
        figures = self._figures(positions, BROKEN_AFTER)
        is_certain = any(
            is_broken(goal, figure) for goal, figure in zip(self.goals, figures, strict=True)
        )
        return self._decided(positions, figures, rule) if is_certain else None

    def _looked(self, positions: tuple[int, ...], rule: Rule) -> Tried:
        for look in rule.looks:
            found = self._decided(positions, self._figures(positions, look), rule)
            if found.end != "undecided":
                break
        return found

    def _decided(self, positions: tuple[int, ...], figures: Sequence[Figure], rule: Rule) -> Tried:
        if positions not in self.tried:
            self._refuse_unknown(figures)
        errors = [self._errors(goal, rule) for goal in self.goals]
        end, needed = decide_all(list(zip(self.goals, figures, errors, strict=True)))
        values, data = self.values(positions), [figure.data() for figure in figures]
        return Tried(positions, values, self.label(values), data, figures[0].trials, end, needed)

    def _errors(self, goal: Goal, rule: Rule) -> Errors:
        """Error probabilities of one look at one goal."""
        return errors_of(
            goal, rule.error_of_look / sum(one.bound is not None for one in self.goals)
        )

    def _figures(self, positions: tuple[int, ...], trials: int) -> list[Figure]:
        """The figure of every goal after this many trials. An earlier search may have run more
        trials; they are not used."""
        values = self.values(positions)
        run = self.points.run(values, trials, self.label(values))
        refuse_failed(run, self.arm)
        counted = sorted(run.trials[self.arm], key=lambda trial: trial.number)[:trials]
        return [figure_of(counted, self._members(goal), goal.metric) for goal in self.goals]

    def _members(self, goal: Goal) -> Sequence[str]:
        return self.groups.get(goal.subject, [goal.subject])

    def _refuse_unknown(self, figures: Sequence[Figure]) -> None:
        """Raises `RunRefusedError` where none of the first settings has the figure of a goal. A
        single setting may lack it because nothing is delivered; it misses the goal."""
        lacking = [
            goal for goal, figure in zip(self.goals, figures, strict=True) if not figure.values
        ]
        self.without = UNKNOWN_AFTER if not lacking else self.without
        if lacking and self.without < UNKNOWN_AFTER:
            self.without += 1
            if self.without == UNKNOWN_AFTER:
                raise RunRefusedError(
                    f"--goal '{lacking[0]}': trials have no such figure of this workload "
                    "(hint: choose another metric, or a longer experiment.duration)"
                )


def refuse_failed(run: Run, arm: str) -> None:
    """Raises `RunRefusedError` where a trial has failed: its setting can be neither accepted nor
    rejected."""
    failed = [trial for trial in run.trials[arm] if trial.status == "failed"]
    if failed:
        raise RunRefusedError(f"{run.path}: trial {failed[0].number} failed: {failed[0].reason}")


def excess(goals: Sequence[Goal], tried: Tried) -> float:
    """Largest distance of the figures of a setting beyond their bounds, relative to the bounds;
    negative where all are within them."""
    return max(
        _relative(goal.bound or 0.0, figure.value, is_higher_better=goal.is_higher_better)
        for goal, figure in zip(goals, tried.figures, strict=False)
    )


def _relative(bound: float, value: float | None, *, is_higher_better: bool) -> float:
    if value is None:
        return NOTHING
    over = (bound - value) if is_higher_better else (value - bound)
    return over / bound if bound else over


def _quoted(text: str) -> str:
    return text if text.replace(".", "").isalnum() else f"'{text}'"
