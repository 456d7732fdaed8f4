"""One page with both engines and the published figures on one axis."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from tailrace.report.charts.engines import engines_chart
from tailrace.report.page import asset, environment

WHAT = {
    "slowdown": "Slowdown: time in the arm over the time alone",
    "completion_s": "Completion time, s",
    "latency_p50_ms": "Median latency, ms",
    "latency_p99_ms": "99th percentile of latency, ms",
    "goodput_gbps": "Goodput, Gbit/s",
}


def write_engines(compared: dict[str, Any], path: Path) -> Path:
    """Writes the page (whole or not at all) and returns its path."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(render_engines(compared), encoding="utf-8")
    fresh.replace(path)
    return path


def render_engines(compared: dict[str, Any]) -> str:
    """The page as text."""
    sections = []
    for metric, title in WHAT.items():
        rows = [row for row in compared["rows"] if row["metric"] == metric]
        if rows:
            sections.append({"title": title, "rows": rows, "chart": Markup(engines_chart(rows))})
    template = environment().get_template("engines.html.j2")
    return template.render(compared=compared, sections=sections, theme=asset("theme.css"))
