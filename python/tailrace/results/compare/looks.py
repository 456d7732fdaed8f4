"""Decides whether a run of `trials: auto` is decided, from the looks at its main comparisons.

A comparison is decided when it is significant over all looks and all main comparisons
(`tailrace.statistics.looks`), or when the interval of its ratio lies within the precision: then the
arms are alike. The interval is the repeated one of Jennison and Turnbull (1989, `Interim Analyses:
The Repeated Confidence Interval Approach`, JRSS B 51), whose error is the share of its look,
divided by the number of main comparisons. A run of one arm is decided when the intervals of its
main figures are within the precision.

The decision depends on the files of the trials alone, and only trials up to a complete look count:
those of both arms have ended, valid or not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil, log

from tailrace.results.compare.effects import (
    Comparison,
    compared_trials,
    comparisons,
    effects_of,
    test_of,
)
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.definitions import name_of, noun_of
from tailrace.results.metrics.figure import Figure, figure_of
from tailrace.results.metrics.subjects import Subject, chosen_metrics, subjects_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.looks import Standing, State
from tailrace.statistics import Change, TestResult, bounded_verdict, holm_adjusted
from tailrace.statistics.looks import (
    every_look,
    looks_until,
    sequential_p_value,
    share_of,
    trials_to_decide_looking,
)

SIGNIFICANCE = 0.05
"""The error of all looks and all main comparisons of a run together."""

NO_TEST = TestResult(1.0, 1.0, "sequential test", is_exact=True)


@dataclass(frozen=True)
class Looked:
    """A main comparison, and its state after each complete look."""

    main: Comparison
    trials: int
    """Trials of each arm at the last complete look; 0 without one."""
    after: Sequence[Comparison | None]
    """None where an arm had no figure yet."""
    tests: int
    """Number of main comparisons."""
    seed: int

    @cached_property
    def test(self) -> TestResult:
        """The test of all looks together."""
        each = [
            test_of(one, self.seed, ceil(self.tests / share_of(look))) if one else NO_TEST
            for look, one in enumerate(self.after)
        ]
        p_value = sequential_p_value([test.p_value for test in each])
        smallest = sequential_p_value([test.p_smallest for test in each])
        name = f"sequential {each[-1].name}" if each else NO_TEST.name
        return TestResult(p_value, smallest, name, all(test.is_exact for test in each))

    def changes(self) -> list[Change]:
        """The change after each look, with the repeated interval."""
        levels = [1 - SIGNIFICANCE * share_of(look) / self.tests for look in range(len(self.after))]
        return [one.change_at(level) for one, level in zip(self.after, levels, strict=True) if one]


def compare_looked(run: Run, baseline: str | None) -> tuple[list[ArmEffect], list[Standing]]:
    """`compare_arms`, with the tests of all looks together for main metrics, and the resulting
    standings."""
    auto = run.manifest.auto
    assert auto is not None, "its trials were looked at"
    found = list(comparisons(run, baseline))
    looked = _looked(run, found)
    return _effects(run, found, looked), judged(looked, auto.precision) or _of_figures(
        run, auto.precision
    )


def effects_looked(run: Run, found: Sequence[Comparison]) -> list[ArmEffect]:
    """Effects of comparisons in one family, with the tests of all looks together for main metrics
    where the run had any look."""
    return (
        _effects(run, found, _looked(run, found))
        if run.manifest.auto
        else effects_of(found, run.seed)
    )


def _effects(run: Run, found: Sequence[Comparison], looked: Sequence[Looked]) -> list[ArmEffect]:
    return effects_of(found, run.seed, {one.main.address: one.test for one in looked})


def standings(run: Run, precision: float) -> list[Standing]:
    """Of every main comparison of a run, or of its main figures where it has no comparison;
    `precision` is 0 to 1."""
    return judged(_looked(run, comparisons(run, run.baseline)), precision) or _of_figures(
        run, precision
    )


def judged(looked: Sequence[Looked], precision: float) -> list[Standing]:
    """Of comparisons that are one family."""
    adjusted = holm_adjusted([one.test.p_value for one in looked])
    return [
        _standing(one, p_adjusted, precision)
        for one, p_adjusted in zip(looked, adjusted, strict=True)
    ]


def _looked(run: Run, found: Iterable[Comparison]) -> list[Looked]:
    subjects = {subject.name: subject for subject in subjects_of(run)}
    mains = [comparison for comparison in found if comparison.is_main]
    made = []
    for main in mains:
        looks = complete_looks(run, main.names)
        after = [_after(run, main, subjects[main.workload], trials) for trials in looks]
        made.append(Looked(main, max(looks, default=0), after, len(mains), run.seed))
    return made


def _after(run: Run, main: Comparison, subject: Subject, trials: int) -> Comparison | None:
    """The comparison after this many trials."""
    first, second = main.names
    pair = _of_first_trials(run, first, trials), _of_first_trials(run, second, trials)
    if not all(pair):
        return None
    return compared_trials(
        pair, subject, main.metric, names=main.names, address=main.address, is_main=True
    )


def _of_first_trials(run: Run, arm: str, trials: int) -> list[Trial]:
    """Trials with outcome among the first trials."""
    return [trial for trial in run.with_outcome(arm) if trial.number <= trials]


def complete_looks(run: Run, arms: Sequence[str]) -> list[int]:
    """The looks of which these arms have all trials."""
    numbers = [
        {trial.number for trial in run.trials[arm] if trial.status != "failed"} for arm in arms
    ]
    most = min((max(own, default=0) for own in numbers), default=0)
    return [
        trials
        for trials in looks_until(most)
        if all(own.issuperset(range(1, trials + 1)) for own in numbers)
    ]


def _standing(looked: Looked, p_adjusted: float, precision: float) -> Standing:
    main, changes = looked.main, looked.changes()
    state: State = "undecided"
    if p_adjusted < SIGNIFICANCE and _is_comparable(main):
        state = "different"
    elif main.is_same or (
        main.bounds == (0, 0) and any(_is_alike(change, precision) for change in changes)
    ):
        state = "alike"
    is_open = bool(changes) and state == "undecided" and _is_comparable(main)
    last = looked.after[-1] if looked.after else None
    baseline, arm = main.names
    what = name_of(main.metric, main.noun)
    return Standing(
        arm=arm,
        baseline=baseline,
        workload=main.workload,
        metric=main.metric,
        what=what,
        state=state,
        p_value=looked.test.p_value,
        p_adjusted=p_adjusted,
        trials_needed=_needed(changes[-1], looked, precision) if is_open else None,
        interval_needs=last.interval_needs if is_open and last else None,
    )


def _is_comparable(main: Comparison) -> bool:
    """Whether a difference has a known direction although values are lower bounds."""
    change = main.change_at(1 - SIGNIFICANCE)
    return (
        bounded_verdict("lower" if change.second < change.first else "higher", main.bounds)
        != "not comparable"
    )


def _is_alike(change: Change, precision: float) -> bool:
    """Whether a ratio, or a difference in units of the first figure, is certainly within the
    precision."""
    if change.interval is None:
        return False
    low, high = change.interval.low, change.interval.high
    if change.is_ratio:
        return 1 / (1 + precision) <= low and high <= 1 + precision
    return max(-low, high) <= precision * abs(change.first)


def _needed(change: Change, looked: Looked, precision: float) -> int | None:
    """The look at which the interval of a ratio excludes one, or is within the precision, if the
    ratio stays; not before its test can decide."""
    if change.interval is None or not change.is_ratio:
        return None
    half, centre = (
        log(change.interval.high / change.interval.low) / 2,
        abs(log(change.second / change.first)),
    )
    estimate = looked.trials * (half / max(centre, log(1 + precision) - centre)) ** 2
    return _look_after(looked.trials, max(estimate, trials_to_decide_looking(looked.tests)))


def _look_after(trials: int, estimate: float) -> int:
    """The first look at more than these trials that is not before an estimate: there are no
    decisions between looks."""
    return next(look for look in every_look() if look > trials and look >= estimate)


def _of_figures(run: Run, precision: float) -> list[Standing]:
    chosen, subjects = chosen_metrics(run), {subject.name: subject for subject in subjects_of(run)}
    found = []
    for arm, (name, metrics) in product(run.arms, chosen.items()):
        found += [_of_figure(run, arm, subjects[name], metric, precision) for metric in metrics]
    return [standing for standing in found if standing]


def _of_figure(
    run: Run, arm: str, subject: Subject, metric: str, precision: float
) -> Standing | None:
    """A figure after the last complete look; None where the arm does not have it."""
    trials = max(complete_looks(run, [arm]), default=0)
    figure = figure_of(_of_first_trials(run, arm, trials), subject.members, metric)
    if figure.value is None:
        return None
    is_precise = not figure.is_bound and _is_precise(figure, precision)
    needed = None if is_precise or figure.is_bound else _needed_for(figure, trials, precision)
    state: State = "precise" if is_precise else "undecided"
    what = name_of(metric, noun_of(run.kinds_of(subject.members)))
    return Standing(
        arm=arm,
        baseline=None,
        workload=subject.name,
        metric=metric,
        what=what,
        state=state,
        p_value=None,
        p_adjusted=None,
        trials_needed=needed,
        interval_needs=None if is_precise else figure.trials_needed,
    )


def _is_precise(figure: Figure, precision: float) -> bool:
    value, interval = figure.value, figure.interval
    if len(set(figure.values)) == 1:
        return True
    if value is None or interval is None:
        return False
    return value / (1 + precision) <= interval.low and interval.high <= value * (1 + precision)


def _needed_for(figure: Figure, trials: int, precision: float) -> int | None:
    """The look at which the interval of a figure is within the precision."""
    interval = figure.interval
    if interval is None or not figure.value or interval.low <= 0:
        return None
    reach = max(log(interval.high / figure.value), log(figure.value / interval.low))
    return _look_after(trials, trials * (reach / log(1 + precision)) ** 2)
