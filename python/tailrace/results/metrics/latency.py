"""Latency of one workload: its percentiles with the waits that the end of a trial cut off among
them."""

from collections.abc import Callable, Sequence

from tailrace.outcome.types import Latency, Workload
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS
from tailrace.results.summary.kinds import LatencyFigures
from tailrace.results.summary.workload import CutOffWaits, LatencySummary
from tailrace.statistics import (
    LEVEL,
    Estimate,
    Histogram,
    Interval,
    Latencies,
    TrialsNeeded,
    mean_latency_interval,
    percentile_interval,
)

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}
FIGURES: dict[str, Callable[[Histogram], Estimate]] = {
    "mean": Histogram.mean_ms,
    **{
        key: (lambda percent: lambda found: found.percentile_ms(percent))(p)
        for key, p in PERCENTILES.items()
    },
    "max": Histogram.max_ms,
}
"""Name of a figure, and how it follows from the latencies."""


def latency_figure(workload: Workload, key: str) -> Estimate | None:
    """`mean`, `max` or a percentile of one workload in one trial; None where it recorded no
    latency. Without cut-off transactions it is the recorded value of the engine."""
    if _is_recorded(workload):
        return _recorded(workload, key)
    found = Histogram.from_workloads([workload])
    return FIGURES[key](found) if found else None


def latency_of_trial(trial: Trial, members: Sequence[str], key: str) -> Estimate | None:
    """`latency_figure` of several workloads of one trial together, of those that it has.

    The trial caches all estimates: tables, comparisons and curves use each of them repeatedly.
    """
    workloads = workloads_of(trial, members)
    if len(workloads) == 1 and _is_recorded(workloads[0]):
        return _recorded(workloads[0], key)
    cache_key = ("latency", *members)
    if cache_key not in trial.kept:
        found = _histogram(trial, members)
        trial.kept[cache_key] = {key: of(found) for key, of in FIGURES.items()} if found else {}
    kept: dict[str, Estimate] = trial.kept[cache_key]
    return kept.get(key)


def latencies_of(trials: Sequence[Trial], members: Sequence[str]) -> Latencies | None:
    """The latencies of workloads together in each trial that has any; None where no trial has.

    The first trial caches them: tables, comparisons and charts use them repeatedly.
    """
    found = [histogram for trial in trials if (histogram := _histogram(trial, members))]
    if not found:
        return None
    key = ("latencies", *members, *(trial.number for trial in trials))
    if key not in trials[0].kept:
        trials[0].kept[key] = Latencies(found)
    kept: Latencies = trials[0].kept[key]
    return kept


def _histogram(trial: Trial, members: Sequence[str]) -> Histogram | None:
    key = ("histogram", *members)
    if key not in trial.kept:
        trial.kept[key] = Histogram.from_workloads(workloads_of(trial, members))
    kept: Histogram | None = trial.kept[key]
    return kept


def latency_interval(
    latencies: Latencies, key: str, level: float = LEVEL
) -> Interval | TrialsNeeded | None:
    """The interval of a figure of all trials together, in milliseconds, or how many trials it
    takes; the longest value has none.
    """
    if key in PERCENTILES:
        return percentile_interval(latencies, PERCENTILES[key], level)
    return mean_latency_interval(latencies, level) if key == "mean" else None


def workloads_of(trial: Trial, members: Sequence[str]) -> list[Workload]:
    """Outcomes of those of these workloads that a trial has."""
    return [own for name in members if (own := trial.workloads.get(name))]


def _is_recorded(workload: Workload) -> bool:
    """Whether the engine's own figures are those of all values: nothing was cut off."""
    return not workload.cut_off.count and not (workload.latency and workload.latency.above)


def _recorded(workload: Workload, key: str) -> Estimate | None:
    latency = workload.latency
    return (
        Estimate(recorded_ps(latency, key) / PS_PER_MS, is_bound=False)
        if latency and latency.count
        else None
    )


def recorded_ps(latency: Latency, key: str) -> float:
    """`mean`, `max` or a percentile as the engine recorded it, in picoseconds."""
    found: float = getattr(latency, f"{key}_ps")
    return found


def latency_figures(recorded: Sequence[Latency | None]) -> LatencyFigures | None:
    """Figures of one trial of latencies without censored ones; None where nothing was recorded."""
    if len(recorded) == 1:
        [own] = recorded
        return (
            LatencyFigures(**{key: recorded_ps(own, key) / PS_PER_MS for key in FIGURES})
            if own
            else None
        )
    pooled = Histogram.from_outcomes(recorded)
    return LatencyFigures(**{key: of(pooled).ms for key, of in FIGURES.items()}) if pooled else None


def summarise_latency(trials: Sequence[Trial], members: Sequence[str]) -> LatencySummary | None:
    """Figures of all trials together, with their intervals or the number of trials that these
    take."""
    latencies = latencies_of(trials, members)
    if latencies is None:
        return None
    pooled = latencies.pooled
    figures = {key: of(pooled) for key, of in FIGURES.items()}
    intervals = {key: latency_interval(latencies, key) for key in FIGURES}
    own = {key: [latency_of_trial(trial, members, key) for trial in trials] for key in FIGURES}
    return LatencySummary(
        **{key: figure.ms for key, figure in figures.items()},
        count=pooled.count,
        min=pooled.min_ps / PS_PER_MS if pooled.count else None,
        bounds=[key for key, figure in figures.items() if figure.is_bound],
        cut_off=CutOffWaits(count=pooled.cut_off, longest=pooled.longest_cut_off_ps / PS_PER_MS),
        intervals={key: known_interval(found) for key, found in intervals.items()},
        trials_needed={
            key: found.trials for key, found in intervals.items() if isinstance(found, TrialsNeeded)
        },
        of_trials={key: [figure.ms for figure in found if figure] for key, found in own.items()},
    )


def known_interval(found: Interval | TrialsNeeded | None) -> Interval | None:
    """The interval, if there is one."""
    return found if isinstance(found, Interval) else None
