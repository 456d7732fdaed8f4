"""Effects of arms relative to the baseline, for each workload."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from typing import Any

from tailrace.results.compare.effect_words import effect_words, method_words, same_words
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.definitions import (
    BETTER_HIGHER,
    METRICS,
    bounds_of_trials,
    metric_of_trials,
    name_of,
    noun_of,
)
from tailrace.results.metrics.sample_summary import interval_dict
from tailrace.results.metrics.subjects import Subject, chosen_metrics, subjects_of
from tailrace.statistics import Effect, adjusted, compare_samples, with_bounds


@dataclass(frozen=True)
class Comparison:
    """Two samples of one metric of a subject."""

    samples: tuple[list[float], list[float]]
    metric: str
    workload: str
    names: tuple[str, str]
    address: str
    is_main: bool
    """Whether it is the main metric of the workload."""
    is_shared: bool
    """Whether the samples are paired by seed."""
    bounds: tuple[int, int]
    """Trials of both whose figure is a lower bound, because transactions were cut off."""
    noun: str
    """What the workloads do, such as `transactions`."""
    is_group: bool = False
    """Whether it is of several workloads together."""

    @property
    def is_same(self) -> bool:
        """Whether all values are equal. False where every figure is a lower bound, since that is then unknown."""
        first, second = self.samples
        is_known = self.bounds != (len(first), len(second))
        return self.is_shared and first == second and is_known


def compare_arms(run: Run, baseline: str | None) -> list[dict[str, Any]]:
    """Every arm against the baseline (in a sweep, at the same point), for every workload, group and metric that both
    have in their told trials.
    """
    pairs = ((run.baseline_of(arm, baseline), arm) for arm in run.arms)
    return compare_pairs(run, [(first, arm) for first, arm in pairs if first not in (None, arm)])


def compare_pairs(run: Run, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """The second arm of every pair against the first one; all of them are adjusted together."""
    return effects_of(list(_comparisons(run, pairs)), run.seed)


def _comparisons(run: Run, pairs: Sequence[tuple[str, str]]) -> Iterator[Comparison]:
    chosen, subjects = chosen_metrics(run), subjects_of(run)
    for baseline, arm in pairs:
        trials = run.told(baseline), run.told(arm)
        for subject, metric in product(subjects, METRICS):
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


def effects_of(found: Sequence[Comparison], seed: int) -> list[dict[str, Any]]:
    """Effects with p values that are adjusted for the number of tests.

    The main metrics of all workloads in all arms are one family. Each other metric, over all workloads and arms, is a
    separate family: a column of a table.
    """
    families: dict[str, list[int]] = {}
    for index, comparison in enumerate(found):
        families.setdefault(family_of(comparison), []).append(index)
    effects: dict[int, Effect] = {}
    for members in families.values():
        tested = [_effect(found[index], seed, len(members)) for index in members]
        effects.update(zip(members, adjusted(tested), strict=True))
    return [effect_dict(comparison, effects[index]) for index, comparison in enumerate(found)]


def family_of(comparison: Comparison) -> str:
    """Tests that are adjusted together."""
    return "main" if comparison.is_main else comparison.metric


def _effect(comparison: Comparison, seed: int, tests: int) -> Effect:
    first, second = comparison.samples
    is_paired, address = comparison.is_shared, comparison.address
    return compare_samples(first, second, is_paired=is_paired, seed=seed, address=address, tests=tests)


def effect_dict(compared: Comparison, effect: Effect) -> dict[str, Any]:
    """An effect as it stands in `result.json`. An improvement is positive: less time, or more goodput."""
    metric, workload, names = compared.metric, compared.workload, compared.names
    effect = effect if compared.is_same else with_bounds(effect, compared.bounds)
    words = same_words if compared.is_same else partial(effect_words, effect, bounds=compared.bounds)
    return {
        "metric": metric,
        "workload": workload,
        "baseline": names[0],
        "arm": names[1],
        "baseline_mean": effect.baseline_mean,
        "arm_mean": effect.other_mean,
        "improvement_percent": _improvement(effect.change_percent, metric),
        "improvement_interval": interval_dict(effect.change_interval, 1.0 if metric in BETTER_HIGHER else -1.0),
        "median_improvement_percent": _improvement(effect.median_change_percent, metric),
        "shift": asdict(effect.shift) | {"bounds": list(compared.bounds)},
        "cliffs_delta": effect.cliffs_delta,
        "p_value": effect.test.p_value,
        "p_smallest": effect.test.p_smallest,
        "p_adjusted": effect.p_adjusted,
        "tests": effect.tests,
        "test": effect.test.name,
        "mann_whitney_p_value": effect.rank_test.p_value,
        "is_paired": effect.is_paired,
        "trials": list(effect.trials),
        "verdict": effect.verdict,
        "method": method_words(effect),
        "words": words(metric=metric, what=name_of(metric, compared.noun), workload=workload, names=names),
        "bounds": list(compared.bounds),
        "is_main": compared.is_main,
        "is_group": compared.is_group,
        "noun": compared.noun,
        "change_percent": effect.change_percent,
        "median_change_percent": effect.median_change_percent,
        "change_interval": interval_dict(effect.change_interval),
        "is_same": compared.is_same,
    }


def share_seeds(first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """Whether trial by trial both had the same random streams, so that they can be compared in pairs."""
    seeds = [[trial.outcome.get("seed") for trial in trials] for trials in (first, second)]
    return None not in seeds[0] and seeds[0] == seeds[1]


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
    first, second = (metric_of_trials(own, subject.members, metric) for own in trials)
    if not first or not second:
        return None
    kinds = (str(outcome["kind"]) for name in subject.members if (outcome := trials[0][0].workload(name)))
    of_first, of_second = (bounds_of_trials(own, subject.members, metric) for own in trials)
    return Comparison(
        samples=(first, second),
        metric=metric,
        workload=subject.name,
        names=names,
        address=address,
        is_main=is_main,
        is_shared=share_seeds(*trials),
        bounds=(of_first, of_second),
        noun=noun_of(kinds),
        is_group=subject.is_group,
    )


def _improvement(percent: float | None, metric: str) -> float | None:
    return percent if percent is None or metric in BETTER_HIGHER else -percent
