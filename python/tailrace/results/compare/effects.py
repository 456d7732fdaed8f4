"""Effects of arms relative to the baseline, for each workload."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tailrace.results.compare.effect_words import effect_words, method_words, same_words
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.definitions import (
    SHARES,
    compared_metrics,
    key_of_latency,
    metric_of_trials,
    name_of,
    noun_of,
)
from tailrace.results.metrics.figure import bounds_of
from tailrace.results.metrics.latency import PERCENTILES, latencies_of
from tailrace.results.metrics.subjects import Subject, chosen_metrics, subjects_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.scenario.goal import BETTER_HIGHER
from tailrace.statistics import (
    LEVEL,
    Change,
    Effect,
    Interval,
    Latencies,
    TestResult,
    TrialsNeeded,
    Verdict,
    adjusted,
    bounded_verdict,
    joint_scores,
    logs_or_values,
    mean_change,
    mean_latency_change,
    percentile_change,
    percentile_interval,
    with_test,
)
from tailrace.statistics.looks import trials_to_decide_looking

PAIRED_MIN = 3
"""Trials with common seeds from which these alone are compared, in pairs."""


@dataclass(frozen=True)
class Comparison:
    """Two samples of one metric of a subject."""

    samples: tuple[list[float], list[float]]
    """The figure of each trial."""
    latencies: tuple[Latencies, Latencies] | None
    """The pooled latencies of all transactions, where the metric is a latency."""
    metric: str
    workload: str
    names: tuple[str, str]
    address: str
    is_main: bool
    """Whether it is the main metric of the workload."""
    is_shared: bool
    """Whether the samples are paired by seed."""
    bounds: tuple[int, int]
    """Trials of both because of which the figure is a lower bound: transactions were cut off."""
    noun: str
    """Noun for completed work, such as `transactions`."""
    is_group: bool = False
    """Whether it is of several workloads together."""

    @property
    def is_same(self) -> bool:
        """Whether all values are equal. False where every figure is a lower bound, since that is
        then unknown."""
        first, second = self.samples
        is_known = self.bounds != (len(first), len(second))
        return self.is_shared and first == second and is_known

    @property
    def change(self) -> Change:
        """From the first to the second figure."""
        return self.change_at(LEVEL)

    def change_at(self, level: float) -> Change:
        """The change with an interval of this level."""
        is_paired = self.is_shared
        if self.latencies is None:
            return mean_change(
                *self.samples, is_paired=is_paired, is_share=self.metric in SHARES, level=level
            )
        if self._percent is None:
            return mean_latency_change(*self.latencies, is_paired=is_paired, level=level)
        return percentile_change(*self.latencies, self._percent, is_paired=is_paired, level=level)

    @property
    def scores(self) -> tuple[Sequence[float], Sequence[float]]:
        """Numbers of the trials whose sums say which figure is the larger.

        Of too few transactions for an interval, those beyond the common percentile say little: in a
        network without luck they may all be equal, although every trial of one arm is far above all
        of the other.
        """
        if (
            self.latencies is not None
            and self._percent is not None
            and self._has_intervals(self._percent)
        ):
            scores = joint_scores(*self.latencies, self._percent)
            if scores is not None:
                return scores
        return logs_or_values(*self.samples)

    def _has_intervals(self, percent: float) -> bool:
        return all(
            isinstance(percentile_interval(own, percent), Interval) for own in self.latencies or ()
        )

    @property
    def interval_needs(self) -> int | None:
        """The number of trials of each arm that intervals of both percentiles take; None where they
        have them."""
        if self.latencies is None or self._percent is None:
            return None
        found = [percentile_interval(own, self._percent) for own in self.latencies]
        return max((one.trials for one in found if isinstance(one, TrialsNeeded)), default=None)

    @property
    def _percent(self) -> float | None:
        return PERCENTILES.get(key_of_latency(self.metric) or "")


def compare_arms(run: Run, baseline: str | None) -> list[ArmEffect]:
    """Compares every arm with the baseline (in a sweep, at the same point), for every workload,
    group and metric that both have in their trials with outcome."""
    return effects_of(list(comparisons(run, baseline)), run.seed)


def comparisons(run: Run, baseline: str | None) -> Iterator[Comparison]:
    """The comparisons of `compare_arms`."""
    pairs = ((run.baseline_of(arm, baseline), arm) for arm in run.arms)
    return comparisons_of_pairs(
        run, [(first, arm) for first, arm in pairs if first not in (None, arm)]
    )


def comparisons_of_pairs(run: Run, pairs: Sequence[tuple[str, str]]) -> Iterator[Comparison]:
    """The second arm of every pair with the first one."""
    chosen = chosen_metrics(run)
    compared = [
        (one, metric)
        for one in subjects_of(run)
        for metric in compared_metrics(chosen.get(one.name, ()))
    ]
    for baseline, arm in pairs:
        trials = run.with_outcome(baseline), run.with_outcome(arm)
        for subject, metric in compared:
            comparison = compared_trials(
                trials,
                subject,
                metric,
                names=(baseline, arm),
                address=f"{baseline}-{arm}/{subject.name}/{metric}",
                is_main=metric in chosen.get(subject.name, ()),
            )
            if comparison is not None:
                yield comparison


def effects_of(
    found: Sequence[Comparison], seed: int, looked: Mapping[str, TestResult] | None = None
) -> list[ArmEffect]:
    """Effects of comparisons. Those on main metrics, of all workloads in all arms, are one family
    of tests; the others are described without a test.

    `looked` has the tests of main metrics with several looks, by comparison.
    """
    mains = [comparison for comparison in found if comparison.is_main]
    if looked is None:
        tested = [_tested(comparison, seed, len(mains)) for comparison in mains]
    else:
        needed = trials_to_decide_looking(len(mains))
        tested = [
            replace(_described(main), test=looked[main.address], looked_needed=needed)
            for main in mains
        ]
    effects = {
        id(comparison): effect for comparison, effect in zip(mains, adjusted(tested), strict=True)
    }
    return [
        arm_effect(comparison, effects.get(id(comparison)) or _described(comparison))
        for comparison in found
    ]


def test_of(comparison: Comparison, seed: int, tests: int) -> TestResult:
    """The test of a comparison in a family of `tests` comparisons."""
    found = _tested(comparison, seed, tests).test
    assert found is not None, "it is tested"
    return found


def _described(comparison: Comparison) -> Effect:
    first, second = comparison.samples
    return Effect(comparison.change, comparison.is_shared, (len(first), len(second)))


def _tested(comparison: Comparison, seed: int, tests: int) -> Effect:
    return with_test(
        _described(comparison),
        comparison.scores,
        seed=seed,
        address=comparison.address,
        tests=tests,
    )


def arm_effect(compared: Comparison, effect: Effect) -> ArmEffect:
    """An effect as it stands in the summary."""
    metric, workload, names = compared.metric, compared.workload, compared.names
    change, test, percent = effect.change, effect.test, effect.change_percent
    verdict = effect.verdict if compared.is_same else _bounded(effect, compared.bounds)
    interval = None if any(compared.bounds) and not compared.is_same else change.interval
    ratio = interval if change.is_ratio else None
    by_percent = ratio and ratio.scaled(100, -100)
    effect = replace(effect, verdict=verdict, change=replace(change, interval=interval))
    words = (
        same_words if compared.is_same else partial(effect_words, effect, bounds=compared.bounds)
    )
    is_higher_better = metric in BETTER_HIGHER
    return ArmEffect(
        metric=metric,
        workload=workload,
        baseline=names[0],
        arm=names[1],
        baseline_value=change.first,
        arm_value=change.second,
        ratio=change.ratio,
        ratio_interval=ratio,
        difference=effect.difference,
        difference_interval=None if change.is_ratio else interval,
        change_percent=percent,
        change_interval=by_percent,
        improvement_percent=percent if percent is None or is_higher_better else -percent,
        improvement_interval=by_percent
        if by_percent is None or is_higher_better
        else by_percent.scaled(-1),
        p_value=test.p_value if test else None,
        p_smallest=test.p_smallest if test else None,
        p_adjusted=effect.p_adjusted,
        tests=effect.tests,
        test=test.name if test else None,
        trials_needed=effect.trials_needed if verdict == "too few trials" else None,
        is_paired=effect.is_paired,
        trials=effect.trials,
        verdict=verdict,
        method=method_words(effect),
        words=words(
            metric=metric, what=name_of(metric, compared.noun), workload=workload, names=names
        ),
        bounds=compared.bounds,
        is_main=compared.is_main,
        is_group=compared.is_group,
        noun=compared.noun,
        is_same=compared.is_same,
    )


def _bounded(effect: Effect, bounds: tuple[int, int]) -> Verdict:
    """The verdict beside lower bounds; a difference that they could turn round is not described
    either."""
    way: Verdict = "higher" if effect.difference > 0 else "lower"
    is_turned = any(bounds) and bounded_verdict(way, bounds) == "not comparable"
    return "not comparable" if is_turned else bounded_verdict(effect.verdict, bounds)


def share_seeds(first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """Whether trial by trial both had the same random streams, so that they can be compared in
    pairs."""
    seeds = [[trial.outcome.seed for trial in trials] for trials in (first, second)]
    return seeds[0] == seeds[1]


def compared_trials(
    trials: tuple[Sequence[Trial], Sequence[Trial]],
    subject: Subject,
    metric: str,
    *,
    names: tuple[str, str],
    address: str,
    is_main: bool,
) -> Comparison | None:
    """One figure of two lists of trials; None where one of them does not have it."""
    paired = _with_common_seeds(*trials)
    trials = paired or trials
    first, second = (metric_of_trials(own, subject.members, metric) for own in trials)
    if not first or not second:
        return None
    kinds = (found.kind for name in subject.members if (found := trials[0][0].workloads.get(name)))
    latencies = None
    if metric.startswith("latency_"):
        own = [latencies_of(each, subject.members) for each in trials]
        latencies = (own[0], own[1]) if own[0] and own[1] else None
    return Comparison(
        samples=(first, second),
        latencies=latencies,
        metric=metric,
        workload=subject.name,
        names=names,
        address=address,
        is_main=is_main,
        is_shared=paired is not None,
        bounds=(
            bounds_of(trials[0], subject.members, metric),
            bounds_of(trials[1], subject.members, metric),
        ),
        noun=noun_of(kinds),
        is_group=subject.is_group,
    )


def _with_common_seeds(
    first: Sequence[Trial], second: Sequence[Trial]
) -> tuple[list[Trial], list[Trial]] | None:
    """The trials that had the same random streams in both, in pairs; None where fewer than
    `PAIRED_MIN` of more had."""
    before, after = _by_seed(first), _by_seed(second)
    common = [seed for seed in before if seed in after]
    if len(common) < PAIRED_MIN and not share_seeds(first, second):
        return None
    return [before[seed] for seed in common], [after[seed] for seed in common]


def _by_seed(trials: Sequence[Trial]) -> dict[int, Trial]:
    return {trial.outcome.seed: trial for trial in trials}
