"""Results with the published figures: as a grid, and as a list with differences and sources."""

from typing import Any

from tailrace.report.charts.strip import deviation_strip
from tailrace.results.compare.kinds import count_text, has_kinds, null_text
from tailrace.results.directory.grid import grid_of, metric_name
from tailrace.results.format.numbers import plain_text
from tailrace.results.text.run import difference_text, figure_text, judged_interval_text, place


def beside_published(summary: dict[str, Any]) -> dict[str, Any]:
    """Rows of the list, and the grid where the figures fill one."""
    rows = [_row(judged) for judged in summary["expectations"]]
    for row, previous in zip(rows[1:], rows, strict=False):
        row["is_first"] = (row["metric"], row["arm"]) != (previous["metric"], previous["arm"])
    has_published = any(row["published"] is not None for row in rows)
    return {
        "rows": rows,
        "grid": grid_of(rows, summary["workloads"]),
        "has_published": has_published,
        "has_kinds": has_kinds(summary["expectations"]),
        "counted": ". ".join(text for text in (count_text(rows), null_text(rows)) if text) if rows else "",
        "title": "Comparison with published figures" if has_published else "Expectations",
        "short": "Published figures" if has_published else "Expectations",
    }


def _row(judged: dict[str, Any]) -> dict[str, Any]:
    return judged | {
        "name": metric_name(judged["metric"], judged["noun"]),
        "place": place(judged),
        "is_first": True,
        "interval_text": judged_interval_text(judged),
        "here": figure_text(judged, judged["value"]),
        "published_text": plain_text(judged["published"]),
        "difference_text": difference_text(judged),
        "strip": deviation_strip(judged),
    }
