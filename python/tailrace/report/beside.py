"""Our figures beside the published ones: as a list, and as the paper prints them, one row per workload."""

from typing import Any

from tailrace.report.charts.strip import deviation_strip
from tailrace.results.run_directory import SOLO
from tailrace.results.text import difference_text, figure_text, judged_interval_text, place

METRIC_NAMES = {
    "completion_s": "completion, s",
    "acceleration_percent": "acceleration, %",
    "goodput_gbps": "goodput, Gbit/s",
    "slowdown": "slowdown",
    "fairness_jain": "Jain index",
    "users_jain": "Jain index of users",
}


def beside_published(summary: dict[str, Any]) -> dict[str, Any]:
    """Rows of both tables; the second is empty where the figures do not fill a table."""
    rows = [_row(judged) for judged in summary["expectations"]]
    for row, previous in zip(rows[1:], rows, strict=False):
        row["is_first"] = (row["metric"], row["arm"]) != (previous["metric"], previous["arm"])
    has_published = any(row["published"] is not None for row in rows)
    return {
        "rows": rows,
        "grid": _grid(rows, summary["workloads"]),
        "has_published": has_published,
        "title": "Beside the published figures" if has_published else "Expectations",
        "short": "Beside the published" if has_published else "Expectations",
    }


def _row(judged: dict[str, Any]) -> dict[str, Any]:
    return judged | {
        "name": metric_name(judged["metric"]),
        "where": place(judged),
        "is_first": True,
        "interval_text": judged_interval_text(judged),
        "here": figure_text(judged, judged["value"]),
        "published_text": f"{judged['published']:g}" if judged["published"] is not None else "–",
        "difference_text": difference_text(judged),
        "strip": deviation_strip(judged),
    }


def metric_name(metric: str) -> str:
    """`latency_p99_ms` as `latency p99, ms`."""
    if metric in METRIC_NAMES:
        return METRIC_NAMES[metric]
    words, _, unit = metric.rpartition("_")
    is_unit = unit in ("ms", "s", "bytes", "percent")
    return f"{words.replace('_', ' ').replace('99 9', '99.9')}, {unit}" if is_unit else metric.replace("_", " ")


def _grid(rows: list[dict[str, Any]], workloads: list[str]) -> dict[str, Any] | None:
    """Columns are what is measured and in which arm; None unless every cell has exactly one figure."""
    columns: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        arm = "alone" if (row["arm"] or "").startswith(SOLO) else row["arm"] or ""
        columns.setdefault((row["metric"], arm), {})[row["workload"] or ""] = row
    names = [name for name in workloads if any(name in cells for cells in columns.values())]
    is_full = len(rows) == len(columns) * len(names) and all(len(cells) == len(names) for cells in columns.values())
    if not is_full or len(columns) < 2 or len(names) < 2:
        return None
    heads = [_head(metric, arm, list(cells.values())) for (metric, arm), cells in columns.items()]
    return {"heads": heads, "rows": [{"name": n, "cells": [cells[n] for cells in columns.values()]} for n in names]}


def _head(metric: str, arm: str, cells: list[dict[str, Any]]) -> dict[str, str]:
    def common(key: str) -> str:
        values = {cell[key] for cell in cells}
        return str(values.pop()) if len(values) == 1 else ""

    baseline = common("baseline")
    where = f"{arm} against {baseline}" if metric == "acceleration_percent" and baseline else arm
    return {"name": metric_name(metric), "where": where, "tolerance": common("tolerance"), "source": common("source")}
