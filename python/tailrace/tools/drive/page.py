"""The result of a measurement as one offline page: measured beside specified, with the evidence of
each verdict."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tailrace.files import write_json, write_text
from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.svg import percent, plot, tag
from tailrace.report.page import asset, environment
from tailrace.tools.drive.result import figure, row_of

ROW_PX, BAR_PX = 34, 16
SHARE_SHOWN = 1.25
"""Right edge, as a share of the specification."""


def write(data: Mapping[str, Any], folder: Path) -> None:
    """Writes result.json and report.html."""
    write_json(folder / "result.json", data)
    write_page(data, folder / "report.html")


def write_page(data: Mapping[str, Any], path: Path) -> None:
    """Writes it, whole or not at all."""
    write_text(path, render(data))


def render(data: Mapping[str, Any]) -> str:
    """The page as text."""
    runs = data["runs"]
    beside = [one for one in runs if one["share"] is not None]
    context = {
        "data": data,
        "rows": [row_of(one) for one in runs],
        "chart": shares(beside) if beside else None,
        "evidence": [_evidence(one) for one in runs if one["verdict"]],
        "theme": asset("theme.css"),
    }
    return environment().get_template("disk.html.j2").render(context)


def shares(runs: Sequence[Mapping[str, Any]]) -> Markup:
    """A bar for each run: its share of the specification, with the interval of the mean, and a line
    at 100 %."""
    height = ROW_PX * len(runs)
    marks: list[Markup] = []
    for index, one in enumerate(runs):
        top = index * ROW_PX + (ROW_PX - BAR_PX)
        share = min(one["share"], SHARE_SHOWN) / SHARE_SHOWN
        tip = tag(
            "title",
            f"{one['title']}: {figure(one['mean'], one['unit'])}, {one['share'] * 100:.1f} %",
        )
        marks.append(
            tag(
                "rect",
                tip,
                x=0,
                y=top,
                width=percent(share),
                height=BAR_PX,
                class_=f"area {arm_class(0)}",
            )
        )
        marks.append(tag("text", one["title"], x=4, y=top - 4, class_="label"))
        if one["interval"]:
            ends = [
                min(end / one["specified"], SHARE_SHOWN) / SHARE_SHOWN for end in one["interval"]
            ]
            middle = top + BAR_PX / 2
            marks.append(
                tag(
                    "line",
                    x1=percent(ends[0]),
                    x2=percent(ends[1]),
                    y1=middle,
                    y2=middle,
                    class_=f"line {arm_class(1)}",
                )
            )
    full = percent(1 / SHARE_SHOWN)
    marks.append(tag("line", x1=full, x2=full, y1=0, y2=height, class_="axis"))
    for at in (0, 0.25, 0.5, 0.75, 1.0):
        marks.append(
            tag("text", f"{at:.0%}", x=percent(at / SHARE_SHOWN), y=height + 16, class_="tick")
        )
    label = (
        "Measured as a share of the specification, a bar for each run; the line stands at 100 %."
    )
    return plot(marks, height=height, label=label, left=8, right=18)


def _evidence(one: Mapping[str, Any]) -> dict[str, Any]:
    median, verdict = one["median_repeat"], one["verdict"]
    counted, busy = median["issued"], median["busy"]
    return {
        "title": one["title"],
        "limit": verdict["limit"],
        "why": verdict["why"],
        "excluded": verdict["excluded"],
        "facts": [
            (
                "latency, mean and 99th percentile",
                f"{median['latency_us']:.0f} and {median['p99_us']:.0f} µs",
            ),
            (
                "issued to the drive",
                f"{counted['requests_per_s']:.0f}/s of {counted['mean_bytes'] / 1024:.1f} KiB",
            ),
            (
                "await, aqu-sz, busy",
                f"{counted['await_ms']:.2f} ms, {counted['queue']:.2f}, "
                f"{counted['busy_share']:.0%}",
            ),
            (
                "core of the busiest job",
                f"{busy['job_share']:.0%}, waiting {busy['job_waiting_share']:.0%}",
            ),
            ("all cores", f"{busy['machine_share']:.0%} busy"),
        ],
    }
