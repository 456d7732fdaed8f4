"""Whether a run lies inside the bands, and how sure that is."""

from collections.abc import Callable, Sequence
from operator import truediv
from typing import Any

from tailrace.results.metrics import goodput_gbps, metric_of_trial
from tailrace.results.ports import count_frames, queues_of
from tailrace.results.published import Band
from tailrace.results.run_directory import SOLO, Run, RunDirectoryError, Trial
from tailrace.results.sample_summary import interval_dict
from tailrace.statistics import bootstrap_interval, jain_index, mean, median, named_stream

# Metrics that grow with the number of transactions, so that a run at scale 1/20 is compared after multiplying by 20.
SCALED_METRICS = frozenset({"completion_s", "transactions", "retransmits", "timeouts", "drops_frames", "marked_frames"})

Centre = Callable[[Sequence[float]], float]


def judge(run: Run, band: Band) -> dict[str, Any]:
    """The run's value beside the band. `passed` is null where the run has no valid trials to tell.

    The value is judged, not its interval; `is_clear` says whether the whole interval lies on the same side.
    """
    samples, combine = _samples(run, band)
    centre: Centre = median if band.statistic == "median" else mean
    factor = 1 / run.scale_of(band.workload) if band.metric in SCALED_METRICS else 1.0
    measured = combine(*(centre(sample) for sample in samples)) if all(samples) else None
    value = measured * factor if measured is not None else None
    interval = _interval(run, band, samples, centre, combine, factor) if measured is not None else None
    passed = band.holds(value) if value is not None else None
    return {
        "metric": band.metric,
        "arm": band.arm,
        "baseline": band.baseline,
        "workload": band.workload,
        "port": band.port,
        "queue": band.queue,
        "statistic": band.statistic,
        "value": value,
        "interval": interval,
        "measured": measured,
        "multiplied_by": factor,
        "published": band.value,
        "low": band.low,
        "high": band.high,
        "tolerance": band.tolerance,
        "difference": value - band.value if value is not None and band.value is not None else None,
        "difference_percent": _percent(value, band.value),
        "passed": passed,
        "is_clear": _is_clear(band, interval, is_inside=passed) if interval and passed is not None else None,
        "trials": min(len(sample) for sample in samples),
        "source": band.source,
    }


def _interval(
    run: Run, band: Band, samples: list[list[float]], centre: Centre, combine: Callable[..., float], factor: float
) -> dict[str, Any] | None:
    address = "/".join(
        str(part) for part in (band.metric, band.arm, band.baseline, band.workload, band.port, band.queue)
    )
    luck = named_stream(run.seed, f"statistics/expectations/{address}")
    found = bootstrap_interval(samples, luck, reduce=centre, combine=combine)
    return interval_dict(found.low * factor, found.high * factor, found.level, found.method) if found else None


def _is_clear(band: Band, interval: dict[str, Any], *, is_inside: bool) -> bool:
    """Whether no value of the interval would be judged otherwise."""
    low, high = interval["low"], interval["high"]
    if is_inside:
        return band.holds(low) and band.holds(high)
    return (band.low is not None and high < band.low) or (band.high is not None and low > band.high)


def _samples(run: Run, band: Band) -> tuple[list[list[float]], Callable[..., float]]:
    """The samples of trials whose centres make the metric, and how."""
    here = band.arm or run.baseline or ""
    if band.metric == "acceleration_percent":
        arms = (band.baseline or run.baseline or "", here)
        return [
            _values(run, arm, band, "completion_s") for arm in arms
        ], lambda first, second: (1 - second / first) * 100
    if band.metric == "slowdown":
        arms = (here, f"{SOLO}{band.workload}")
        return [_values(run, arm, band, "completion_s") for arm in arms], truediv
    return [_values(run, here, band, band.metric)], float


def _values(run: Run, arm: str, band: Band, metric: str) -> list[float]:
    """Value of every valid trial; none where a trial lacks it, so that no average is made of the lucky ones."""
    values = [_trial_value(trial, band, metric) for trial in run.valid(arm)]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _trial_value(trial: Trial, band: Band, metric: str) -> float | None:
    if metric in ("drops_frames", "marked_frames"):
        return count_frames(trial, metric.removesuffix("_frames"), band.port, band.queue)
    if metric in ("queue_depth_mean_bytes", "queue_depth_max_bytes"):
        depths = [queue[metric.removeprefix("queue_")] for queue in queues_of(trial, band.port, band.queue)]
        return max(depths, default=None)
    if metric == "fairness_jain":
        return jain_index([goodput_gbps(trial, w) for w in trial.outcome["workloads"]])
    if metric == "users_jain":
        times = (trial.workload(band.workload or "") or {}).get("user_completion_ps") or []
        return jain_index([1 / time for time in times]) if times and all(times) else None
    return _workload_value(trial, band.workload, metric)


def _workload_value(trial: Trial, workload: str | None, metric: str) -> float | None:
    if workload is None:
        only = trial.outcome["workloads"]
        workload = only[0]["name"] if len(only) == 1 else None
    outcome = trial.workload(workload) if workload else None
    if workload is None or outcome is None:
        return None
    if metric == "transactions":
        return float(outcome["transactions"])
    if metric in ("retransmits", "timeouts"):
        counted = outcome.get("tcp")  # a live workload that shares its sending host has none of its own
        return float(counted[metric]) if counted else None
    if metric in ("completion_s", "goodput_gbps") or metric.startswith("latency_"):
        return metric_of_trial(trial, workload, metric)
    raise RunDirectoryError(
        f"an expectation names the metric {metric}, which is unknown (hint: completion_s, acceleration_percent, "
        "slowdown, goodput_gbps, latency_p99_ms, transactions, fairness_jain, drops_frames, queue_depth_max_bytes)"
    )


def _percent(value: float | None, published: float | None) -> float | None:
    return (value / published - 1) * 100 if value is not None and published else None
