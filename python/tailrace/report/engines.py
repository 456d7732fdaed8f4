"""One page with every engine and the published figures on one axis."""

from pathlib import Path
from typing import Any

from tailrace.files import write_text
from tailrace.report.charts.engines import engines_chart
from tailrace.report.page import asset, environment
from tailrace.results.compare.engines import left_out_words

WHAT = {
    "slowdown": ("Slowdown", "Completion time in the arm divided by that of the solo run, both of the same engine."),
    "completion_s": ("Completion", "Time until the last user of a workload finished, in seconds."),
    "latency_p50_ms": ("Median latency", "From the intended start of a transaction to its end, in milliseconds."),
    "latency_p99_ms": (
        "Latency p99",
        "99th percentile, from the intended start of a transaction to its end, in milliseconds.",
    ),
    "goodput_gbps": ("Goodput", "Application bytes per second, in Gbit/s."),
}


def write_engines(compared: dict[str, Any], path: Path) -> Path:
    """Writes the page (whole or not at all) and returns its path."""
    write_text(path, render_engines(compared))
    return path


def render_engines(compared: dict[str, Any]) -> str:
    """The page as text."""
    sections: list[dict[str, Any]] = []
    for metric, (title, caption) in WHAT.items():
        rows = [row for row in compared["rows"] if row["metric"] == metric]
        if rows:
            chart = engines_chart(rows)
            sections.append({"key": metric, "title": title, "caption": caption, "rows": rows, "chart": chart})
    template = environment().get_template("engines.html.j2")
    title = _joined(compared["engines"])
    return template.render(
        compared=compared,
        title=title,
        left_out=left_out_words(compared),
        name=compared["runs"][compared["reference"]]["name"],
        sections=sections,
        has_bounds=any(any(row["bounds"].values()) for row in compared["rows"]),
        theme=asset("theme.css"),
    )


def _joined(names: list[str]) -> str:
    """`simulated, exact and live`."""
    return f"{', '.join(names[:-1])} and {names[-1]}"
