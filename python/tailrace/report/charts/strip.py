"""A figure within its tolerance, as an inline graphic."""

from markupsafe import Markup

from tailrace.report.drawing.svg import percent, tag
from tailrace.results.summary.expectation import JudgedFigure

# The tolerance takes the middle half of the strip; values further out are drawn at the edge.
BAND_SHARE = 0.5


def deviation_strip(judged: JudgedFigure) -> Markup:
    """The band with the published value in its middle and ours as a dot; empty where there is no
    such band."""
    low, high, value, interval = judged.low, judged.high, judged.value, judged.interval
    if low is None or high is None or value is None or high <= low:
        return Markup("")

    def share_of(value: float) -> float:
        """Share of the strip."""
        share = (value - low) / (high - low) * BAND_SHARE + (1 - BAND_SHARE) / 2
        return min(max(share, 0.02), 0.98)

    edges = percent((1 - BAND_SHARE) / 2)
    ends = (
        {"x1": percent(share_of(interval.low)), "x2": percent(share_of(interval.high))}
        if interval
        else {}
    )
    marks = [
        tag("line", x1=0, x2="100%", y1=7, y2=7, class_="grid"),
        tag("rect", x=edges, y=2, width=percent(BAND_SHARE), height=10, class_="band"),
        tag("line", x1="50%", x2="50%", y1=1, y2=13, class_="published", style="stroke-width:1.4"),
        *(
            [tag("line", **ends, y1=7, y2=7, style="stroke:var(--ink);stroke-width:1.4")]
            if ends
            else []
        ),
        tag("circle", cx=percent(share_of(value)), cy=7, r=3.6, style="fill:var(--ink)"),
    ]
    return tag("svg", *marks, class_="strip", aria_hidden="true")
