"""Hatching of bars for unfinished work."""

from markupsafe import Markup

from tailrace.report.drawing.svg import tag

STEP_PX = 6


def hatch_pattern(name: str) -> Markup:
    """The pattern, once in a drawing; its name is unique in the page."""
    stripe = tag("line", x1=0, y1=0, x2=0, y2=STEP_PX, class_="hatch")
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return tag("defs", tag("pattern", stripe, id=name, width=STEP_PX, height=STEP_PX, **turned))


def hatched(name: str, *, width: str, top: float, height: float) -> Markup:
    """Stripes over a bar that begins at the left edge."""
    return tag(
        "rect", x=0, y=top, width=width, height=height, fill=f"url(#{name})", pointer_events="none"
    )
