"""Where the time went: what a kept explanation says, by workload."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.report.charts.causes import Row, causes_chart, part_class, parts_of
from tailrace.report.limits import ARMS_DRAWN_MAX, PANELS_MAX
from tailrace.results import Run
from tailrace.results.causes.bands import Band
from tailrace.results.causes.kept import bands_of, kept
from tailrace.results.causes.sentence import part_words
from tailrace.results.format.numbers import span_text

PORTS_MAX, CULPRITS_MAX = 3, 4
LEAST_SHARE = 0.01
"""Of a band's latency: queues that took less are not told."""


def explained_section(run: Run) -> dict[str, Any] | None:
    """The section; None where the run keeps no explanation."""
    found = kept(run)
    if found is None or not found["explained"]:
        return None
    entries: list[dict[str, Any]] = found["explained"]
    names = [name for name in run.workloads if any(entry["workload"] == name for entry in entries)]
    return {
        "trial": found["trial"],
        "workloads": [_workload(run, name, _of(name, entries)) for name in names[:PANELS_MAX]],
        "omitted": max(0, len(names) - PANELS_MAX),
    }


def _workload(run: Run, name: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    drawn = entries[:ARMS_DRAWN_MAX]
    rows = [Row(entry["arm"], bands_of(dict(entry))) for entry in drawn]
    parts = parts_of(rows)
    return {
        "name": name,
        "about": f"of-workload-{run.workloads.index(name)}",
        "chart": causes_chart(name, rows),
        "key": [{"class": part_class(part), "words": part_words(part)} for part in parts],
        "parts": [part_words(part) for part in parts],
        "rows": [_table_row(row.arm, band, parts) for row in rows for band in row.bands],
        "culprits": [words for row in rows if (words := _culprits(row))],
        "slowest": [_slowest(run, entry) for entry in drawn],
        "arms_omitted": len(entries) - len(drawn),
    }


def _of(name: str, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["workload"] == name]


def _slowest(run: Run, entry: Mapping[str, Any]) -> dict[str, Any]:
    sentences = [one["sentence"] for one in entry["slowest"]]
    return {"arm": entry["arm"], "index": run.arms.index(entry["arm"]), "sentences": sentences}


def _table_row(arm: str, band: Band, parts: Sequence[str]) -> dict[str, Any]:
    return {
        "arm": arm,
        "band": band.name,
        "count": band.count,
        "latency": span_text(band.latency_ps),
        "cells": [span_text(band.parts[part]) if band.parts.get(part) else "–" for part in parts],
    }


def _culprits(row: Row) -> str | None:
    """Whose frames stood before those of the slowest band, and where."""
    band = row.bands[-1]
    waited_ps, total_ps = sum(band.queues.values()), sum(band.behind.values())
    if waited_ps < LEAST_SHARE * band.latency_ps or not total_ps:
        return None
    ports = sorted(band.queues.items(), key=lambda one: -one[1])[:PORTS_MAX]
    behind = sorted(band.behind.items(), key=lambda one: -one[1])[:CULPRITS_MAX]
    at = ", ".join(f"{span_text(time_ps)} at {port}" for port, time_ps in ports)
    who = ", ".join(f"{100 * time_ps / total_ps:.0f} % behind {name}" for name, time_ps in behind)
    return f"With {row.arm}, the slowest waited in queues of switches for {at}: {who}."
