"""The limits of a workload in one arm: a bar of shares that sum to 100 %."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.svg import percent, tag

HEIGHT_PX = 12
SEEN_PERCENT = 0.3
"""Smaller shares are a hair that hides its neighbours; they leave their room."""


@dataclass(frozen=True)
class Share:
    """A part of the bar."""

    words: str
    colour: str
    """Of the theme."""
    percent: float


def limit_bar(whose: str, shares: Sequence[Share]) -> Markup:
    """The shares beside each other; the whole width of the bar is 100 %."""
    marks, at = [], 0.0
    for share in shares:
        if share.percent >= SEEN_PERCENT:
            tip = tag("title", f"{whose}: {share.percent:.0f} % {share.words}")
            box = {
                "x": percent(at / 100),
                "width": percent(share.percent / 100),
                "y": 0,
                "height": HEIGHT_PX,
            }
            marks.append(tag("rect", tip, **box, class_=f"share {share.colour}"))
        at += share.percent
    text = ", ".join(
        f"{share.percent:.0f} % {share.words}" for share in shares if share.percent >= 1
    )
    return tag(
        "svg", *marks, width="100%", height=HEIGHT_PX, role="img", aria_label=f"{whose}: {text}"
    )
