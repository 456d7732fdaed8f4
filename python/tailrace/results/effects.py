"""Arm against baseline, workload by workload."""

from dataclasses import asdict
from typing import Any

from tailrace.results.run_directory import Run, Trial
from tailrace.results.sample_summary import interval_dict
from tailrace.statistics import Effect, Interval, compare_samples

PS_PER_S = 1_000_000_000_000
# Compared for every workload that has it; all of them are better when lower.
METRICS = ("completion_s", "latency_mean_ms", "latency_p50_ms", "latency_p99_ms", "latency_p99_9_ms")
NAMES = {
    "completion_s": "completion time",
    "latency_mean_ms": "mean latency",
    "latency_p50_ms": "median latency",
    "latency_p99_ms": "99th percentile of latency",
    "latency_p99_9_ms": "99.9th percentile of latency",
}


def compare_arms(run: Run) -> list[dict[str, Any]]:
    """Every arm against the baseline, for every workload and metric that both have in valid trials."""
    baseline = run.baseline
    if baseline is None:
        return []
    compared = []
    for arm in (arm for arm in run.arms if arm != baseline):
        for workload in run.workloads:
            for metric in METRICS:
                effect = _compare(run, baseline, arm, workload, metric)
                if effect is not None:
                    compared.append(effect)
    return compared


def metric_of_trial(trial: Trial, workload: str, metric: str) -> float | None:
    """One number of one workload in one trial; None where the trial does not have it."""
    outcome = trial.workload(workload)
    if outcome is None:
        return None
    if metric == "completion_s":
        completion_ps = outcome["completion_ps"]
        return completion_ps / PS_PER_S if completion_ps is not None else None
    latency = outcome.get("latency")
    if not latency or latency["count"] == 0:
        return None
    return float(latency[metric.removeprefix("latency_").replace("_ms", "_ps")]) / 1e9


def effect_dict(effect: Effect, *, metric: str, workload: str, names: tuple[str, str]) -> dict[str, Any]:
    """An effect as it stands in `result.json`. Acceleration is the change with its sign turned: positive is sooner."""
    interval = effect.change_interval
    return {
        "metric": metric,
        "workload": workload,
        "baseline": names[0],
        "arm": names[1],
        "baseline_mean": effect.baseline_mean,
        "arm_mean": effect.other_mean,
        "acceleration_percent": _turned(effect.change_percent),
        "acceleration_interval": _turned_interval(interval),
        "median_acceleration_percent": _turned(effect.median_change_percent),
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


def effect_words(effect: Effect, *, metric: str, workload: str, names: tuple[str, str]) -> str:
    """One sentence for people. The test that stands behind it is in `method_words`."""
    baseline, arm = names
    what = NAMES[metric]
    if effect.verdict == "too few trials":
        smallest = f"even the most extreme outcome would have p = {effect.test.p_smallest:.2g}"
        return f"{workload}: too few trials to tell a difference in {what} ({smallest})."
    interval = effect.change_interval
    bounds = f"{_signed(interval.low)} to {_signed(interval.high)} %, " if interval else ""
    evidence = f"({bounds}p = {effect.test.p_value:.2g})"
    if effect.verdict == "no difference seen":
        return f"{workload}: no difference in {what} seen between {arm} and {baseline} {evidence}."
    change = effect.change_percent
    size = f"{abs(change):.1f} %" if change is not None else f"{abs(effect.other_mean - effect.baseline_mean):.3g}"
    return f"{workload}: {what} is {size} {effect.verdict} with {arm} than with {baseline} {evidence}."


def method_words(effect: Effect) -> str:
    """What the sentence of an effect rests on."""
    first, second = effect.trials
    pairs = f"{first} pairs of trials that share a seed" if effect.is_paired else f"{second} against {first} trials"
    return f"{effect.test.name} of the means, {pairs}"


def _signed(percent: float) -> str:
    text = f"{percent:+.1f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text


def _compare(run: Run, baseline: str, arm: str, workload: str, metric: str) -> dict[str, Any] | None:
    first, second = (_values(run, name, workload, metric) for name in (baseline, arm))
    if not first or not second:
        return None
    shared = _share_seeds(run.valid(baseline), run.valid(arm))
    effect = compare_samples(
        first, second, is_paired=shared, seed=run.seed, address=f"{baseline}-{arm}/{workload}/{metric}"
    )
    return effect_dict(effect, metric=metric, workload=workload, names=(baseline, arm))


def _values(run: Run, arm: str, workload: str, metric: str) -> list[float]:
    """Values of all valid trials, or none at all where one of them has no value: the rest would be a biased choice."""
    values = [metric_of_trial(trial, workload, metric) for trial in run.valid(arm)]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _share_seeds(first: list[Trial], second: list[Trial]) -> bool:
    seeds = [[trial.outcome.get("seed") for trial in trials] for trials in (first, second)]
    return None not in seeds[0] and seeds[0] == seeds[1]


def _turned(percent: float | None) -> float | None:
    return -percent if percent is not None else None


def _turned_interval(interval: Interval | None) -> dict[str, Any] | None:
    return interval_dict(-interval.high, -interval.low, interval.level, interval.method) if interval else None
