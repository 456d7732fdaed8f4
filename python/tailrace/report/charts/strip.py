"""A figure inside its tolerance, as small as a word."""

from typing import Any

from markupsafe import Markup

from tailrace.report.svg import percent, tag

# The tolerance takes the middle half of the strip; what lies further out stays at the edge.
BAND_SHARE = 0.5


def deviation_strip(judged: dict[str, Any]) -> Markup:
    """The band with the published value in its middle and ours as a dot; empty where there is no such band."""
    low, high, value = judged["low"], judged["high"], judged["value"]
    if low is None or high is None or value is None or high <= low:
        return Markup("")
    share = (value - low) / (high - low) * BAND_SHARE + (1 - BAND_SHARE) / 2
    edges = percent((1 - BAND_SHARE) / 2)
    marks = [
        tag("line", x1=0, x2="100%", y1=7, y2=7, class_="grid"),
        tag("rect", x=edges, y=2, width=percent(BAND_SHARE), height=10, class_="band"),
        tag("line", x1="50%", x2="50%", y1=1, y2=13, class_="published", style="stroke-width:1.4"),
        tag("circle", cx=percent(min(max(share, 0.02), 0.98)), cy=7, r=3.6, style="fill:var(--ink)"),
    ]
    return tag("svg", *marks, class_="strip", aria_hidden="true")
