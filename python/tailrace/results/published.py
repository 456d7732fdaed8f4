"""Published figures as acceptance bands, and whether a run lies inside them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from tailrace.results.metrics import goodput_gbps, metric_of_trial
from tailrace.results.ports import count_frames, queues_of
from tailrace.results.run_directory import Run, RunDirectoryError, Trial
from tailrace.statistics import jain_index, mean, median

# Metrics that grow with the number of transactions, so that a run at scale 1/20 is compared after multiplying by 20.
SCALED_METRICS = frozenset({"completion_s", "transactions", "retransmits", "timeouts", "drops_frames", "marked_frames"})
STATISTICS = ("mean", "median")
KEYS_OF_PLACE = frozenset({"arm", "baseline", "workload", "port", "queue"})
KEYS_OF_BAND = frozenset({"value", "at_least", "at_most", "tolerance", "tolerance_points"})
KEYS = KEYS_OF_PLACE | KEYS_OF_BAND | {"metric", "statistic", "source"}


@dataclass(frozen=True)
class Band:
    """A figure and how far a result may be from it. Bounds are in the unit of the metric, both inclusive."""

    metric: str
    arm: str | None
    baseline: str | None
    workload: str | None
    port: str | None
    queue: str | None
    value: float | None
    low: float | None
    high: float | None
    tolerance: str
    statistic: str
    source: str

    @classmethod
    def parse(cls, raw: dict[str, Any], place: str) -> "Band":
        """`place` names the file and the entry in errors."""
        if unknown := sorted(set(raw) - KEYS):
            raise RunDirectoryError(f"{place}: unknown key {unknown[0]} (hint: known are {', '.join(sorted(KEYS))})")
        if "metric" not in raw:
            raise RunDirectoryError(f"{place}: metric is missing (hint: for example completion_s)")
        if raw.get("statistic", "mean") not in STATISTICS:
            raise RunDirectoryError(f"{place}: statistic {raw['statistic']!r} (hint: {' or '.join(STATISTICS)})")
        value = _number(raw, "value", place)
        low, high, tolerance = _bounds(raw, value, place)
        return cls(
            metric=raw["metric"],
            arm=raw.get("arm"),
            baseline=raw.get("baseline"),
            workload=raw.get("workload"),
            port=raw.get("port"),
            queue=raw.get("queue"),
            value=value,
            low=low,
            high=high,
            tolerance=tolerance,
            statistic=raw.get("statistic", "mean"),
            source=raw.get("source", ""),
        )

    def holds(self, value: float) -> bool:
        """Whether a value lies inside."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


def read_bands(run: Run) -> list[Band]:
    """Bands of the run: those written in the scenario, then those of the published figures beside it."""
    inline = run.manifest.get("expectations") or []
    bands = [Band.parse(_without_none(raw), f"manifest.json: expectations.{i}") for i, raw in enumerate(inline)]
    path = run.path / "published.yaml"
    return bands + (read_published(path) if path.exists() else [])


def read_published(path: Path) -> list[Band]:
    """Bands of a `published.yaml`: a list, or a mapping with the list under `figures` beside a description."""
    try:
        content = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, YAMLError) as error:
        raise RunDirectoryError(f"{path}: cannot be read: {error}") from error
    listed = content.get("figures") if isinstance(content, dict) else content
    if not isinstance(listed, list):
        raise RunDirectoryError(f"{path}: holds no list of figures (hint: `figures:` with one entry per figure)")
    source = str(content.get("source", "")) if isinstance(content, dict) else ""
    return [Band.parse({"source": source} | raw, f"{path.name}: figures.{i}") for i, raw in enumerate(listed)]


def judge(run: Run, band: Band) -> dict[str, Any]:
    """The run's value beside the band. `passed` is null where the run has no valid trials to tell."""
    values = _values(run, band)
    centre = None
    if values:
        centre = median(values) if band.statistic == "median" else mean(values)
    factor = 1 / run.scale_of(band.workload) if band.metric in SCALED_METRICS else 1.0
    value = centre * factor if centre is not None else None
    return {
        "metric": band.metric,
        "arm": band.arm,
        "baseline": band.baseline,
        "workload": band.workload,
        "port": band.port,
        "queue": band.queue,
        "statistic": band.statistic,
        "value": value,
        "measured": centre,
        "multiplied_by": factor,
        "published": band.value,
        "low": band.low,
        "high": band.high,
        "tolerance": band.tolerance,
        "difference": value - band.value if value is not None and band.value is not None else None,
        "difference_percent": _percent(value, band.value),
        "passed": band.holds(value) if value is not None else None,
        "trials": len(values),
        "source": band.source,
    }


def _bounds(raw: dict[str, Any], value: float | None, place: str) -> tuple[float | None, float | None, str]:
    """Lower bound, upper bound, and both in words."""
    if value is None:
        low, high = _number(raw, "at_least", place), _number(raw, "at_most", place)
        words = [f"at least {low:g}"] if low is not None else []
        words += [f"at most {high:g}"] if high is not None else []
        if not words:
            raise RunDirectoryError(
                f"{place}: nothing to compare with (hint: value and tolerance, or at_least, at_most)"
            )
        return low, high, ", ".join(words)
    points = _number(raw, "tolerance_points", place)
    if points is not None:
        return value - points, value + points, f"±{points:g} points"
    margin = abs(value) * _percentage(raw.get("tolerance"), place) / 100
    return value - margin, value + margin, f"±{_percentage(raw['tolerance'], place):g} %"


def _number(raw: dict[str, Any], key: str, place: str) -> float | None:
    number = raw.get(key)
    if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
        raise RunDirectoryError(f"{place}: {key} {number!r} is no number (hint: `{key}: 5`, in the unit of the metric)")
    return number


def _percentage(text: object, place: str) -> float:
    hint = "(hint: `tolerance: 10%`, or `tolerance_points: 5`)"
    number, sign, rest = str(text).partition("%")
    if not sign or rest:
        raise RunDirectoryError(f"{place}: tolerance {str(text)!r} has no unit {hint}")
    try:
        return float(number)
    except ValueError:
        raise RunDirectoryError(f"{place}: tolerance {text!r} is no percentage {hint}") from None


def _values(run: Run, band: Band) -> list[float]:
    """Value of every valid trial; none where a trial lacks it, so that no average is made of the lucky ones."""
    if band.metric == "acceleration_percent":
        return _acceleration(run, band)
    if band.metric == "slowdown":
        alone = _arm_values(run, f"solo:{band.workload}", band, "completion_s")
        return [value / mean(alone) for value in _arm_values(run, band.arm, band, "completion_s")] if alone else []
    return _arm_values(run, band.arm, band, band.metric)


def _acceleration(run: Run, band: Band) -> list[float]:
    """Acceleration of the means, as one value: percentages of single trials would depend on how they are paired."""
    arms = (band.baseline or run.baseline, band.arm)
    first, second = (_arm_values(run, arm, band, "completion_s") for arm in arms)
    if not first or not second:
        return []
    centre = median if band.statistic == "median" else mean
    return [(1 - centre(second) / centre(first)) * 100]


def _arm_values(run: Run, arm: str | None, band: Band, metric: str) -> list[float]:
    trials = run.valid(arm or run.baseline or "")
    values = [_trial_value(trial, band, metric) for trial in trials]
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
        return float(outcome["tcp"][metric])
    if metric in ("completion_s", "goodput_gbps") or metric.startswith("latency_"):
        return metric_of_trial(trial, workload, metric)
    raise RunDirectoryError(
        f"an expectation names the metric {metric}, which is unknown (hint: completion_s, acceleration_percent, "
        "slowdown, goodput_gbps, latency_p99_ms, transactions, fairness_jain, drops_frames, queue_depth_max_bytes)"
    )


def _percent(value: float | None, published: float | None) -> float | None:
    return (value / published - 1) * 100 if value is not None and published else None


def _without_none(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if value is not None}
