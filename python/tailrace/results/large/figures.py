"""The figures of one trial that a large sweep keeps."""

from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.definitions import bounds_of_trials, metric_of_members
from tailrace.results.sweep.curves import METRICS
from tailrace.scenario.workloads.kinds import facts_of

COMPLETION = "completion_s"
DIGITS = 10
"""Significant digits of a figure."""


def figures_of(trial: Trial) -> dict[str, dict[str, float]]:
    """Figures by workload and metric. An unfinished trial has the figures of its duration; a failed
    trial has none.

    A trial that is invalid for another reason than unfinished workloads has no figures.
    """
    if not trial.has_outcome:
        return {}
    found: dict[str, dict[str, float]] = {}
    for name in trial.workload_numbers:
        own = {
            metric: value
            for metric in METRICS
            if (value := _figure(trial, name, metric)) is not None
        }
        if own:
            found[name] = own
    return found


def bounds_of(trial: Trial, figures: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    """By workload the metrics whose figures are lower bounds."""
    found = {
        name: [metric for metric in own if bounds_of_trials([trial], [name], metric)]
        for name, own in figures.items()
    }
    return {name: metrics for name, metrics in found.items() if metrics}


def _figure(trial: Trial, name: str, metric: str) -> float | None:
    own = trial.workloads.get(name)
    if metric == COMPLETION and own is not None and facts_of(own.kind).is_open_loop:
        return None
    value = metric_of_members(trial, [name], metric)
    return None if value is None else float(f"{value:.{DIGITS}g}")
