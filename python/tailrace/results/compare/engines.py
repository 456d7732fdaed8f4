"""Compares simulated and live runs of a scenario with each other and with published figures.

A workload is compared by its slowdown (its time in an arm over its time alone, each engine against its own solo run)
where both have solo runs, because that is the effect of the network; and by its times and percentiles.
"""

from collections.abc import Callable, Sequence
from math import inf
from operator import truediv
from pathlib import Path
from typing import Any

from tailrace.results.compare.arms import refuse_incomparable
from tailrace.results.compare.fidelity import TAP, engine_name, fabric_name
from tailrace.results.directory.published import Band, read_bands
from tailrace.results.directory.run_directory import SOLO, Run, RunDirectoryError
from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number, signed_text
from tailrace.results.metrics.definitions import metric_of_trials
from tailrace.results.metrics.sample_summary import interval_dict, summarise_sample
from tailrace.results.metrics.slowdown import slowdown_interval
from tailrace.statistics import LEVEL_TEXT, mean, mean_interval

METRICS = ("slowdown", "completion_s", "latency_p50_ms", "latency_p99_ms", "goodput_gbps")
SHOWN = frozenset({"slowdown", "completion_s"})
"""Metrics in the text; the JSON output has all of them."""
GOAL_PERCENT = 15.0
"""Disagreement of slowdowns that counts as agreement: a goal of this project, not from a publication. The
published gains of DPP are 28 to 32 %, and live trials of one scenario differ among themselves by a few percent."""

Samples = list[list[float]]


def are_two_engines(a: Path, b: Path) -> bool:
    """Whether one of two runs was simulated and the other was live."""
    return engine_name(Run.read(Path(a))) != engine_name(Run.read(Path(b)))


def compare_engines(a: Path, b: Path) -> dict[str, Any]:
    """Both runs by workload and arm, in either order of arguments."""
    runs = {engine_name(run): run for run in (Run.read(Path(a)), Run.read(Path(b)))}
    if set(runs) != {"simulated", "live"}:
        raise RunDirectoryError(f"{a} and {b}: expected one simulated and one live run (hint: `tailrace run --live`)")
    simulated, live = runs["simulated"], runs["live"]
    refuse_incomparable(simulated, live)
    bands = read_bands(simulated) or read_bands(live)
    rows = [
        row
        for workload in simulated.workloads
        for arm in [*simulated.arms, SOLO + workload]
        for metric in METRICS
        if (row := _row(simulated, live, bands, arm, workload, metric))
    ]
    return {
        "simulated": {"path": str(simulated.path), "name": simulated.name, "seed": simulated.seed},
        "live": {"path": str(live.path), "name": live.name, "seed": live.seed, "fabric": fabric_name(live)},
        "same_plan": _same_plans(simulated, live),
        "goal_percent": GOAL_PERCENT,
        "rows": rows,
    }


def _row(
    simulated: Run, live: Run, bands: Sequence[Band], arm: str, workload: str, metric: str
) -> dict[str, Any] | None:
    """One figure of both engines; None where one of them does not have it."""
    first, second = (_samples(run, arm, workload, metric) for run in (simulated, live))
    if not all(first) or not all(second):
        return None
    one: Callable[..., float] = truediv if metric == "slowdown" else float
    values = [one(*(mean(sample) for sample in samples)) for samples in (first, second)]
    if not values[1]:
        return None
    width = len(first)

    def disagreement(*means: float) -> float:
        return (one(*means[:width]) / one(*means[width:]) - 1) * 100

    interval = mean_interval([*first, *second], combine=disagreement, bounds=(-100.0, inf))
    return {
        "workload": workload,
        "arm": arm,
        "metric": metric,
        "simulated": values[0],
        "live": values[1],
        "simulated_interval": _interval(first),
        "live_interval": _interval(second),
        "published": published(bands, arm, workload, metric),
        "disagreement_percent": (values[0] / values[1] - 1) * 100,
        "disagreement_interval": interval_dict(interval),
        "trials": [len(first[0]), len(second[0])],
    }


def _samples(run: Run, arm: str, workload: str, metric: str) -> Samples:
    if metric != "slowdown":
        return [metric_of_trials(run.valid(arm), [workload], metric)]
    if arm.startswith(SOLO):
        return [[]]
    return [metric_of_trials(run.valid(place), [workload], "completion_s") for place in (arm, SOLO + workload)]


def _interval(samples: Samples) -> dict[str, Any] | None:
    """Of a slowdown, or of a mean."""
    return interval_dict(slowdown_interval(*samples)) if len(samples) > 1 else summarise_sample(samples[0])["interval"]


def published(bands: Sequence[Band], arm: str, workload: str, metric: str) -> float | None:
    """The published figure; a slowdown also follows from two published times."""
    values = {(band.metric, band.arm): band.value for band in bands if band.workload == workload}
    stated = values.get((metric, arm))
    if stated is not None or metric != "slowdown":
        return stated
    time_s, alone_s = values.get(("completion_s", arm)), values.get(("completion_s", SOLO + workload))
    return time_s / alone_s if time_s and alone_s else None


def _same_plans(simulated: Run, live: Run) -> dict[str, bool]:
    hashes = [run.manifest.get("plan_hashes") or {} for run in (simulated, live)]
    return {arm: hashes[0].get(arm) == hashes[1].get(arm) for arm in simulated.arms if arm in hashes[1]}


def format_engines(compared: dict[str, Any]) -> str:
    """The comparison as plain text."""
    rows = [["metric", "workload", "arm", "simulated", "live", "published", "simulated is", f"{LEVEL_TEXT} interval"]]
    for row in (row for row in compared["rows"] if row["metric"] in SHOWN):
        interval = row["disagreement_interval"]
        bounds = f"{signed_text(interval['low'], '')}to {signed_text(interval['high'], '%')}" if interval else "–"
        rows.append(
            [
                row["metric"],
                row["workload"],
                _arm(row["arm"]),
                number(row["simulated"]),
                number(row["live"]),
                number(row["published"], 3),
                signed_text(row["disagreement_percent"], "%"),
                bounds,
            ]
        )
    live = compared["live"]
    over = f" (fabric {live['fabric']}: policies have no effect on it)" if live["fabric"] != TAP else ""
    parts = [f"simulated: {compared['simulated']['path']}\nlive: {live['path']}{over}"]
    different = [arm for arm, is_same in compared["same_plan"].items() if not is_same]
    if different:
        parts.append(
            f"plans differ in {', '.join(different)}: host parameters without a live counterpart, "
            "or a different amount of work"
        )
    parts += [align(rows, left=3), _verdict(compared)]
    return "\n\n".join(parts) + "\n"


def _arm(arm: str) -> str:
    return "alone" if arm.startswith(SOLO) else arm


def _verdict(compared: dict[str, Any]) -> str:
    slowdowns = [row for row in compared["rows"] if row["metric"] == "slowdown"]
    if not slowdowns:
        return "Slowdowns cannot be compared: solo runs are missing in at least one run (hint: experiment.solo: true)."
    within = sum(abs(row["disagreement_percent"]) <= compared["goal_percent"] for row in slowdowns)
    return f"{within} of {len(slowdowns)} slowdowns agree within {compared['goal_percent']:g} %."
