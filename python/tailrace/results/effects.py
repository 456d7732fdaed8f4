"""Arm against baseline, workload by workload."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from tailrace.results.effect_words import effect_words, method_words, same_words
from tailrace.results.metrics import BETTER_HIGHER, METRICS, bounds_of_trials, main_metric, metric_of_trials
from tailrace.results.run_directory import Run, Trial
from tailrace.results.sample_summary import interval_dict
from tailrace.statistics import Effect, adjusted, compare_samples


@dataclass(frozen=True)
class Comparison:
    """Two samples of one figure, and what of."""

    samples: tuple[list[float], list[float]]
    metric: str
    workload: str
    names: tuple[str, str]
    address: str
    is_main: bool
    """Whether it is what the workload is judged by."""
    is_shared: bool
    """Trial by trial both had the same luck."""
    bounds: tuple[int, int]
    """Trials of both whose figure is a lower bound, because transactions were cut off."""

    @property
    def is_same(self) -> bool:
        """Whether nothing at all changed. Where every figure is a lower bound, that is not known."""
        first, second = self.samples
        is_known = self.bounds != (len(first), len(second))
        return self.is_shared and first == second and is_known


def compare_arms(run: Run) -> list[dict[str, Any]]:
    """Every arm against its baseline, for every workload and metric that both have in valid trials."""
    chosen = {workload: main_metric(run, workload) for workload in run.workloads}
    found = [
        comparison
        for arm in run.arms
        if (baseline := run.baseline_of(arm)) not in (None, arm)
        for workload in run.workloads
        for metric in METRICS
        if (comparison := _comparison(run, (baseline, arm), workload, metric, is_main=metric == chosen[workload]))
    ]
    return effects_of(found, run.seed)


def effects_of(found: Sequence[Comparison], seed: int) -> list[dict[str, Any]]:
    """Effects with p values that are adjusted for the number of tests.

    What the workloads are judged by, in all arms, is one family: its tests are what a run is for. All comparisons
    together are the family of the others.
    """
    main_tests = sum(comparison.is_main for comparison in found)
    effects = [_effect(comparison, seed, main_tests if comparison.is_main else len(found)) for comparison in found]
    mains = iter(adjusted([effect for one, effect in zip(found, effects, strict=True) if one.is_main]))
    chosen = (next(mains) if one.is_main else each for one, each in zip(found, adjusted(effects), strict=True))
    return [effect_dict(comparison, effect) for comparison, effect in zip(found, chosen, strict=True)]


def _effect(comparison: Comparison, seed: int, tests: int) -> Effect:
    first, second = comparison.samples
    is_paired, address = comparison.is_shared, comparison.address
    return compare_samples(first, second, is_paired=is_paired, seed=seed, address=address, tests=tests)


def effect_dict(compared: Comparison, effect: Effect) -> dict[str, Any]:
    """An effect as it stands in `result.json`. An improvement is positive: less time, or more goodput."""
    metric, workload, names = compared.metric, compared.workload, compared.names
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
        "shift": asdict(effect.shift),
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
        "words": words(metric=metric, workload=workload, names=names),
        "bounds": list(compared.bounds),
        "is_main": compared.is_main,
        "is_same": compared.is_same,
    }


def share_seeds(first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """Whether trial by trial both had the same luck, so that they can be compared in pairs."""
    seeds = [[trial.outcome.get("seed") for trial in trials] for trials in (first, second)]
    return None not in seeds[0] and seeds[0] == seeds[1]


def compared_trials(
    trials: tuple[Sequence[Trial], Sequence[Trial]],
    workload: str,
    metric: str,
    *,
    names: tuple[str, str],
    address: str,
    is_main: bool,
) -> Comparison | None:
    """One figure of two lists of trials; None where one of them does not have it."""
    first, second = (metric_of_trials(own, workload, metric) for own in trials)
    if not first or not second:
        return None
    bounds = bounds_of_trials(trials[0], workload, metric), bounds_of_trials(trials[1], workload, metric)
    return Comparison(
        (first, second), metric, workload, names, address, is_main, is_shared=share_seeds(*trials), bounds=bounds
    )


def _comparison(run: Run, names: tuple[str, str], workload: str, metric: str, *, is_main: bool) -> Comparison | None:
    return compared_trials(
        (run.valid(names[0]), run.valid(names[1])),
        workload,
        metric,
        names=names,
        address=f"{names[0]}-{names[1]}/{workload}/{metric}",
        is_main=is_main,
    )


def _improvement(percent: float | None, metric: str) -> float | None:
    return percent if percent is None or metric in BETTER_HIGHER else -percent
