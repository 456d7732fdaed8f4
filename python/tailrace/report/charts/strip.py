"""A figure within its tolerance, as an inline graphic."""

from typing import Any

from markupsafe import Markup

from tailrace.report.drawing.svg import percent, tag

# The tolerance takes the middle half of the strip; what lies further out stays at the edge.
BAND_SHARE = 0.5


def deviation_strip(judged: dict[str, Any]) -> Markup:
    """The band with the published value in its middle and ours as a dot; empty where there is no such band."""
    low, high, value = judged["low"], judged["high"], judged["value"]
    if low is None or high is None or value is None or high <= low:
        return Markup("")
    share = _place(judged, value)
    edges = percent((1 - BAND_SHARE) / 2)
    marks = [
        tag("line", x1=0, x2="100%", y1=7, y2=7, class_="grid"),
        tag("rect", x=edges, y=2, width=percent(BAND_SHARE), height=10, class_="band"),
        tag("line", x1="50%", x2="50%", y1=1, y2=13, class_="published", style="stroke-width:1.4"),
        *_whisker(judged),
        tag("circle", cx=percent(share), cy=7, r=3.6, style="fill:var(--ink)"),
    ]
    return tag("svg", *marks, class_="strip", aria_hidden="true")


def _place(judged: dict[str, Any], value: float) -> float:
    """Share of the strip."""
    share = (value - judged["low"]) / (judged["high"] - judged["low"]) * BAND_SHARE + (1 - BAND_SHARE) / 2
    return float(min(max(share, 0.02), 0.98))


def _whisker(judged: dict[str, Any]) -> list[Markup]:
    interval = judged["interval"]
    if not interval:
        return []
    ends = {f"x{i}": percent(_place(judged, interval[end])) for i, end in ((1, "low"), (2, "high"))}
    return [tag("line", **ends, y1=7, y2=7, style="stroke:var(--ink);stroke-width:1.4")]
