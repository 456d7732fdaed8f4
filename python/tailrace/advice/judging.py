"""Effects of candidates on the goal and on other workloads."""

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
"""Other figures of the goal's workload that are tested."""
ORDER: tuple[End, ...] = ("meets", "undecided", "misses")
"""Ends of a goal, in descending order of preference."""


@dataclass(frozen=True)
class Judged:
    """One arm compared with the present."""

    arm: str
    figure: FigureSummary
    """The goal's figure."""
    effect: ArmEffect
    """Of the goal's figure."""
    end: End
    """Whether the figure keeps the bound."""
    takes: str
    """The trials that would decide it; empty where it is decided."""
    others: list[ArmEffect]
    """Effects on other workloads, and on other figures of the goal's workloads."""

    @property
    def side_effects(self) -> list[ArmEffect]:
        """The significant effects."""
        return [effect for effect in self.others if tone_of(effect) in ("better", "worse")]

    @property
    def undetermined(self) -> int:
        """Number of other effects with too few trials for a verdict."""
        return sum(effect.verdict == "too few trials" for effect in self.others)

    @property
    def helps(self) -> bool:
        """Whether the arm improves the goal's figure significantly."""
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
    return figure_of(run.with_outcome(arm), subject_of(run, goal).members, goal.metric)


def decided(goal: Goal, figure: Figure) -> tuple[End, str]:
    """The end of the goal, and the trials that would decide it; judged by the printed interval."""
    return decide_all([(goal, figure, PRINTED)])


def improvement(run: Run, arm: str, goal: Goal) -> float | None:
    """Improvement of the goal's figure over the present in percent; None where it is unknown. An
    arm with unfinished trials has no figure: its finished trials would be a biased sample."""
    before, after = (figure_in(run, one, goal) for one in (PRESENT, arm))
    if not before.value or after.value is None or len(after.values) < len(before.values):
        return None
    change = 100 * (after.value / before.value - 1)
    return change if goal.is_higher_better else -change


def judged(
    run: Run, arms: Sequence[str], goal: Goal, combinations: Collection[str] = ()
) -> list[Judged]:
    """Arms that have the goal's figure; first those that keep the bound and improve it most.

    Two changes at once precede one change only where they improve the figure by `WORTH_TWO_PERCENT`
    more.
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
    """The judged arms from the best: with a bound, first arms that meet it, then undecided ones;
    among these in order of improvement."""

    def rank(one: Judged) -> tuple[float, ...]:
        more = WORTH_TWO_PERCENT if one.arm in combinations else 0.0
        return (-one.helps, ORDER.index(one.end), more - one.improvement_percent)

    return sorted(found, key=rank)


def _side_effects(run: Run, arms: Sequence[str], goal: Goal) -> dict[str, list[ArmEffect]]:
    """By arm, its effects on main metrics of other workloads, and on other figures of the goal's:
    two families of tests."""
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
    trials = (run.with_outcome(PRESENT), run.with_outcome(arm))
    if not all(trials):
        return None
    return compared_trials(
        trials, subject, metric, names=(PRESENT, arm), address=address, is_main=True
    )
