"""What is measured of a workload in one trial, and which of it matters most."""

from collections.abc import Sequence
from typing import Any

from tailrace.results.latency import latency_figure
from tailrace.results.numbers import PS_PER_S
from tailrace.results.run_directory import Run, Trial

# Compared between arms for every workload that has them.
METRICS = ("completion_s", "latency_mean_ms", "latency_p50_ms", "latency_p99_ms", "latency_p99_9_ms", "goodput_gbps")
BETTER_HIGHER = frozenset({"goodput_gbps"})
NAMES = {
    "completion_s": "completion time",
    "latency_mean_ms": "mean latency",
    "latency_p50_ms": "median latency",
    "latency_p99_ms": "99th percentile of latency",
    "latency_p99_9_ms": "99.9th percentile of latency",
    "goodput_gbps": "goodput",
}
# These arrive by themselves: the end of the last one says when it arrived, not how it fared.
OPEN_LOOP = frozenset({"flows", "datagrams"})
# What a workload is judged by, first choice first.
MAIN_METRICS = {
    "oltp": ("completion_s", "latency_p99_ms", "goodput_gbps"),
    "stream": ("completion_s", "goodput_gbps"),
    "flows": ("latency_p99_ms", "goodput_gbps"),
    "datagrams": ("latency_p99_ms", "goodput_gbps"),
}


def metric_of_trial(trial: Trial, workload: str, metric: str) -> float | None:
    """One number of one workload in one trial; None where the trial does not have it."""
    outcome = trial.workload(workload)
    if outcome is None:
        return None
    if metric == "goodput_gbps":
        return goodput_gbps(trial, outcome)
    if metric == "completion_s":
        completion_ps = outcome["completion_ps"]
        return completion_ps / PS_PER_S if completion_ps is not None else None
    figure = latency_figure(outcome, _latency_key(metric))
    return figure.ms if figure else None


def bounds_of_trials(trials: Sequence[Trial], workload: str, metric: str) -> int:
    """In how many trials the number is a lower bound, because transactions were cut off."""
    if not metric.startswith("latency_"):
        return 0
    outcomes = [outcome for trial in trials if (outcome := trial.workload(workload))]
    figures = [latency_figure(outcome, _latency_key(metric)) for outcome in outcomes]
    return sum(figure.is_bound for figure in figures if figure)


def _latency_key(metric: str) -> str:
    return metric.removeprefix("latency_").removesuffix("_ms")


def metric_of_trials(trials: Sequence[Trial], workload: str, metric: str) -> list[float]:
    """One number per trial, or none at all where a trial has none: the rest would be a biased choice."""
    values = [metric_of_trial(trial, workload, metric) for trial in trials]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def main_metric(run: Run, workload: str) -> str | None:
    """The first choice that all arms with the workload have in all their valid trials."""
    valid = [run.valid(arm) for arm in run.arms]
    trials = [found for found in valid if any(trial.workload(workload) for trial in found)]
    choices = MAIN_METRICS.get(run.kind_of(workload) or "", ())
    return next((m for m in choices if trials and all(metric_of_trials(t, workload, m) for t in trials)), None)


def goodput_gbps(trial: Trial, outcome: dict[str, Any]) -> float:
    """Application bytes over the time in which they were counted."""
    time_ps = counted_ps(trial, outcome)
    # Bytes per picosecond are Tbyte/s: 8000 Gbit/s.
    return float(outcome["goodput_bytes"] * 8_000 / time_ps) if time_ps else 0.0


def counted_ps(trial: Trial, outcome: dict[str, Any]) -> int:
    """How long a workload was counted: until its completion, or from the end of the warm-up to that of the trial."""
    return int(outcome["completion_ps"] or trial.outcome["end_ps"] - outcome.get("counted_from_ps", 0))
