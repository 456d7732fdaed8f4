"""One page with every engine and the published figures on one axis."""

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from tailrace.files import write_text
from tailrace.report.charts.engines import engines_chart
from tailrace.report.page import asset, environment
from tailrace.results.compare.engines import left_out_words
from tailrace.results.summary.engines import ComparedEngines, EngineFigures

WHAT = {
    "slowdown": (
        "Slowdown",
        "Completion time in the arm divided by that of the solo run, both of the same engine.",
    ),
    "completion_s": ("Completion", "Time until the last user of a workload finished, in seconds."),
    "latency_p50_ms": (
        "Median latency",
        "From the intended start of a transaction to its end, in milliseconds.",
    ),
    "latency_p99_ms": (
        "Latency p99",
        "99th percentile, from the intended start of a transaction to its end, in milliseconds.",
    ),
    "goodput_gbps": ("Goodput", "Application bytes per second, in Gbit/s."),
}


@dataclass(frozen=True)
class MetricSection:
    """One metric of all workloads and arms."""

    key: str
    title: str
    caption: str
    rows: list[EngineFigures]
    chart: Markup


def write_engines(compared: ComparedEngines, path: Path) -> Path:
    """Writes the page (whole or not at all) and returns its path."""
    write_text(path, render_engines(compared))
    return path


def render_engines(compared: ComparedEngines) -> str:
    """The page as text."""
    sections = [
        MetricSection(metric, title, caption, rows, engines_chart(rows))
        for metric, (title, caption) in WHAT.items()
        if (rows := [row for row in compared.rows if row.metric == metric])
    ]
    template = environment().get_template("engines.html.j2")
    title = _joined(compared.engines)
    return template.render(
        compared=compared,
        title=title,
        left_out=left_out_words(compared),
        name=compared.runs[compared.reference].name,
        sections=sections,
        has_bounds=any(any(row.bounds.values()) for row in compared.rows),
        theme=asset("theme.css"),
    )


def _joined(names: list[str]) -> str:
    """`simulated, exact and live`."""
    return f"{', '.join(names[:-1])} and {names[-1]}"
