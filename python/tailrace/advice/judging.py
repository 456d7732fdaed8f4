"""What candidates do to the goal and to everybody else."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tailrace.advice.trying import PRESENT
from tailrace.results import Run
from tailrace.results.compare.effects import Comparison, compared_trials
from tailrace.results.compare.looks import effects_looked
from tailrace.results.compare.tone import tone_of
from tailrace.results.metrics.decision import PRINTED, decide_all
from tailrace.results.metrics.figure import Figure, figure_of
from tailrace.results.metrics.subjects import Subject, subjects_of, usual_metrics
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.expectation import End
from tailrace.results.summary.figure import FigureSummary
from tailrace.scenario.goal import Goal

WORTH_TWO_PERCENT = 3.0
OF_GOAL = (
    "latency_p50_ms",
    "latency_p99_ms",
    "rate_per_s",
    "goodput_gbps",
    "completion_s",
    "failed_percent",
)
"""Other figures of the goal's workload that are looked at."""
ORDER: tuple[End, ...] = ("meets", "undecided", "misses")
"""Ends of a goal, the best first."""


@dataclass(frozen=True)
class Judged:
    """One arm against the present."""

    arm: str
    figure: FigureSummary
    """The goal's figure."""
    effect: ArmEffect
    """Of the goal's figure."""
    end: End
    """Whether the figure keeps the bound."""
    takes: str
    """What it would take to decide that; empty where it is decided."""
    others: list[ArmEffect]
    """Effects on other workloads and on other figures of the goal's."""

    @property
    def side_effects(self) -> list[ArmEffect]:
        """The significant ones."""
        return [effect for effect in self.others if tone_of(effect) in ("better", "worse")]

    @property
    def untold(self) -> int:
        """Others for which there are too few trials to tell."""
        return sum(effect.verdict == "too few trials" for effect in self.others)

    @property
    def helps(self) -> bool:
        """Whether the goal's figure is significantly better."""
        return tone_of(self.effect) == "better"

    @property
    def improvement_percent(self) -> float:
        """Of the mean; 0 where the present figure is 0."""
        return self.effect.improvement_percent or 0.0


def subject_of(run: Run, goal: Goal) -> Subject:
    """The goal's workload or group."""
    return next(subject for subject in subjects_of(run) if subject.name == goal.subject)


def figure_in(run: Run, arm: str, goal: Goal) -> Figure:
    """The goal's figure over the trials of an arm."""
    return figure_of(run.told(arm), subject_of(run, goal).members, goal.metric)


def decided(goal: Goal, figure: Figure) -> tuple[End, str]:
    """The end of the goal, and what it would take to decide it; judged by the interval that is
    printed."""
    return decide_all([(goal, figure, PRINTED)])


def improvement(run: Run, arm: str, goal: Goal) -> float | None:
    """Percent by which the goal's figure is better than at present; None where it is unknown.

    An arm whose trials did not all end has no figure: those that did would be a biased choice.
    """
    before, after = (figure_in(run, one, goal) for one in (PRESENT, arm))
    if not before.value or after.value is None or len(after.values) < len(before.values):
        return None
    change = 100 * (after.value / before.value - 1)
    return change if goal.is_higher_better else -change


def judged(
    run: Run, arms: Sequence[str], goal: Goal, combinations: Collection[str] = ()
) -> list[Judged]:
    """Arms that have the goal's figure, those that keep the bound and improve most first.

    Two changes at once are preferred to one only where they improve by `WORTH_TWO_PERCENT` more.
    """
    subject = subject_of(run, goal)
    of_goal = {
        arm: one for arm in arms if (one := _compared(run, arm, subject, goal.metric)) is not None
    }
    effects = dict(zip(of_goal, effects_looked(run, list(of_goal.values())), strict=True))
    sides = _side_effects(run, arms, goal)
    found = []
    for arm in of_goal:
        figure = figure_in(run, arm, goal)
        found.append(
            Judged(arm, figure.data(), effects[arm], *decided(goal, figure), sides.get(arm, []))
        )
    return ranked(found, combinations)


def ranked(found: Sequence[Judged], combinations: Collection[str] = ()) -> list[Judged]:
    """The best first: with a bound what meets it, then what is undecided; among these what improves
    most."""

    def rank(one: Judged) -> tuple[float, ...]:
        more = WORTH_TWO_PERCENT if one.arm in combinations else 0.0
        return (-one.helps, ORDER.index(one.end), more - one.improvement_percent)

    return sorted(found, key=rank)


def _side_effects(run: Run, arms: Sequence[str], goal: Goal) -> dict[str, list[ArmEffect]]:
    """By arm, what it does to main metrics of other workloads, and to other figures of the goal's:
    two families."""
    usual = usual_metrics(run)
    own = [(subject_of(run, goal), metric) for metric in OF_GOAL if metric != goal.metric]
    others = [
        (one, metric)
        for one in subjects_of(run)
        if one.name != goal.subject
        for metric in usual.get(one.name, ())
    ]
    found: dict[str, list[ArmEffect]] = {}
    for wanted in (others, own):
        compared = [
            (arm, one)
            for arm in arms
            for subject, metric in wanted
            if (one := _compared(run, arm, subject, metric)) is not None
        ]
        effects = effects_looked(run, [one for _, one in compared])
        for (arm, _), effect in zip(compared, effects, strict=True):
            found.setdefault(arm, []).append(effect)
    return found


def _compared(run: Run, arm: str, subject: Subject, metric: str) -> Comparison | None:
    address = f"advice/{arm}/{subject.name}/{metric}"
    trials = (run.told(PRESENT), run.told(arm))
    if not all(trials):
        return None
    return compared_trials(
        trials, subject, metric, names=(PRESENT, arm), address=address, is_main=True
    )
