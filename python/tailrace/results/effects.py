"""Arm against baseline, workload by workload."""

from dataclasses import asdict
from typing import Any

from tailrace.results.effect_words import effect_words, method_words, same_words
from tailrace.results.metrics import BETTER_HIGHER, METRICS, main_metric, metric_of_trials
from tailrace.results.run_directory import Run, Trial
from tailrace.results.sample_summary import interval_dict
from tailrace.statistics import Effect, Interval, compare_samples


def compare_arms(run: Run) -> list[dict[str, Any]]:
    """Every arm against its baseline, for every workload and metric that both have in valid trials."""
    compared = []
    for arm in run.arms:
        baseline = run.baseline_of(arm)
        if baseline in (None, arm):
            continue
        for workload in run.workloads:
            chosen = main_metric(run, workload)
            for metric in METRICS:
                effect = _compare(run, baseline, arm, workload, metric)
                if effect is not None:
                    compared.append(effect | {"is_main": metric == chosen})
    return compared


def effect_dict(effect: Effect, *, metric: str, workload: str, names: tuple[str, str]) -> dict[str, Any]:
    """An effect as it stands in `result.json`. An improvement is positive: less time, or more goodput."""
    return {
        "metric": metric,
        "workload": workload,
        "baseline": names[0],
        "arm": names[1],
        "baseline_mean": effect.baseline_mean,
        "arm_mean": effect.other_mean,
        "improvement_percent": _improvement(effect.change_percent, metric),
        "improvement_interval": _improvement_interval(effect.change_interval, metric),
        "median_improvement_percent": _improvement(effect.median_change_percent, metric),
        "shift": asdict(effect.shift),
        "cliffs_delta": effect.cliffs_delta,
        "p_value": effect.test.p_value,
        "p_smallest": effect.test.p_smallest,
        "test": effect.test.name,
        "mann_whitney_p_value": effect.rank_test.p_value,
        "is_paired": effect.is_paired,
        "trials": list(effect.trials),
        "verdict": effect.verdict,
        "method": method_words(effect),
        "words": effect_words(effect, metric=metric, workload=workload, names=names),
    }


def share_seeds(first: list[Trial], second: list[Trial]) -> bool:
    """Whether trial by trial both had the same luck, so that they can be compared in pairs."""
    seeds = [[trial.outcome.get("seed") for trial in trials] for trials in (first, second)]
    return None not in seeds[0] and seeds[0] == seeds[1]


def _compare(run: Run, baseline: str, arm: str, workload: str, metric: str) -> dict[str, Any] | None:
    first, second = (metric_of_trials(run.valid(name), workload, metric) for name in (baseline, arm))
    if not first or not second:
        return None
    shared = share_seeds(run.valid(baseline), run.valid(arm))
    effect = compare_samples(
        first, second, is_paired=shared, seed=run.seed, address=f"{baseline}-{arm}/{workload}/{metric}"
    )
    found = effect_dict(effect, metric=metric, workload=workload, names=(baseline, arm))
    is_same = shared and first == second
    words = same_words(metric=metric, workload=workload, names=(baseline, arm)) if is_same else found["words"]
    return found | {"is_same": is_same, "words": words}


def _improvement(percent: float | None, metric: str) -> float | None:
    return percent if percent is None or metric in BETTER_HIGHER else -percent


def _improvement_interval(interval: Interval | None, metric: str) -> dict[str, Any] | None:
    if interval is None:
        return None
    ends = (interval.low, interval.high) if metric in BETTER_HIGHER else (-interval.high, -interval.low)
    return interval_dict(*ends, interval.level, interval.method)
