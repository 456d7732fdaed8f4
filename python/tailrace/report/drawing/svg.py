"""Inline SVG that fills the available width, while text and strokes keep their size.

Positions along x are percentages, along y pixels. Lines live in a nested `<svg>` that is stretched
without regard to its aspect, with strokes that do not scale. A plot is therefore as readable at 360
pixels as at 1400.
"""

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from tailrace.report.drawing.scale import AxisScale

# Side of the nested coordinate system of lines. Whole numbers keep paths short: 1/2000 of a plot is
# below a pixel.
GRAIN = 2_000
LABEL_GAP_PX = 8
# Characters of a row label: on a phone a third of the width.
LABEL_MAX = 13


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """An element. `class_` becomes `class`, `stroke_width` becomes `stroke-width`; None leaves an
    attribute out."""
    kept = {
        key.rstrip("_").replace("_", "-"): value
        for key, value in attributes.items()
        if value is not None
    }
    head = "".join(f' {key}="{escape(_text(value))}"' for key, value in kept.items())
    inner = Markup("").join(escape(child) for child in children)
    return Markup(f"<{name}{head}>{inner}</{name}>" if children else f"<{name}{head}/>")


def percent(share: float) -> str:
    """A share as a length."""
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + "%"


def row_label(name: str, y: float) -> Markup:
    """A name to the left of its row; long ones are cut, whole in the tip and in the tables."""
    shown = name if len(name) <= LABEL_MAX else f"{name[: LABEL_MAX - 1]}…"
    return tag("text", tag("title", name), shown, x=-10, y=y, class_="row-label", text_anchor="end")


def label_room(names: Iterable[str]) -> int:
    """Pixels to the left of a plot with row labels."""
    return 18 + 8 * min(max((len(name) for name in names), default=2), LABEL_MAX)


def plot(
    marks: Iterable[Markup],
    *,
    height: int,
    label: str,
    left: int = 44,
    right: int = 12,
    top: int = 6,
    bottom: int = 24,
) -> Markup:
    """The drawing area with room for labels around it, in pixels. `label` is the text for screen
    readers."""
    drawing = tag(
        "svg", *marks, width="100%", height=height, role="img", aria_label=label, overflow="visible"
    )
    return tag(
        "div", drawing, class_="plot", style=f"padding:{top}px {right}px {bottom}px {left}px"
    )


def x_axis(scale: AxisScale, height: int, *, has_grid: bool = True) -> list[Markup]:
    """Grid lines and labels below the plot."""
    marks = []
    for value, text in scale.ticks():
        at = percent(scale(value))
        if has_grid:
            marks.append(
                tag("line", x1=at, x2=at, y1=0, y2=height, class_="grid" if text else "grid minor")
            )
        if text:
            marks.append(
                tag("text", text, x=at, y=height + 17, class_="tick", text_anchor="middle")
            )
    return [*marks, tag("line", x1=0, x2="100%", y1=height, y2=height, class_="axis")]


def y_axis(scale: AxisScale, height: int) -> list[Markup]:
    """Grid lines and labels to the left."""
    marks = []
    for value, text in scale.ticks():
        y = round(height * (1 - scale(value)), 1)
        marks.append(
            tag("line", x1=0, x2="100%", y1=y, y2=y, class_="grid" if text else "grid minor")
        )
        if text:
            marks.append(
                tag("text", text, x=-LABEL_GAP_PX, y=y + 4, class_="tick", text_anchor="end")
            )
    return marks


def lines(paths: Iterable[Markup]) -> Markup:
    """The stretched layer in which `line` and `steps` live."""
    box = f"0 0 {GRAIN} {GRAIN}"
    return tag(
        "svg",
        *paths,
        viewBox=box,
        preserveAspectRatio="none",
        width="100%",
        height="100%",
        class_="lines",
    )


def line(
    points: Sequence[tuple[float, float | None]], x: AxisScale, y: AxisScale, **attributes: object
) -> Markup:
    """A line through points; a missing value interrupts it."""
    path: list[str] = []
    is_down = False
    for at, value in points:
        if value is None:
            is_down = False
            continue
        path.append(
            f"{'L' if is_down else 'M'}{round(x(at) * GRAIN)} {round((1 - y(value)) * GRAIN)}"
        )
        is_down = True
    return _path("".join(path), attributes)


def steps(
    points: Sequence[tuple[float, float]], x: AxisScale, y: AxisScale, **attributes: object
) -> Markup:
    """A cumulative distribution: rises at each point and is level in between."""
    path: list[str] = []
    for at, value in points:
        left, up = round(x(at) * GRAIN), round((1 - y(value)) * GRAIN)
        path.append(f"H{left}V{up}" if path else f"M{left} {GRAIN}V{up}")
    return _path("".join([*path, f"H{GRAIN}"]) if path else "", attributes)


def _path(data: str, attributes: dict[str, object]) -> Markup:
    return tag("path", d=data, fill="none", vector_effect="non-scaling-stroke", **attributes)


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
