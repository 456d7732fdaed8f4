"""The README's figure: completion times per workload and arm, every trial a point, the published
value a line.

A plain SVG file without styles from elsewhere, so that it looks the same in a repository browser
and in print.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

PATH = Path(__file__).resolve().parent.parent / "docs" / "figures" / "cisco-dpp.svg"
COLOURS = ("#64748b", "#0f766e", "#b45309", "#6d28d9")
"""Readable for people with colour blindness, in arm order; a fifth arm would need a table
instead."""
WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 56, 44
GROUP_SHARE = 0.74
"""Part of a workload's room that its bars take."""
TICK_STEPS = (10, 20, 50, 100, 200, 500)
TICKS_MAX = 8

Json = dict[str, Any]


def render(summary: Json) -> str:
    """The figure as a file."""
    completions: dict[str, dict[str, list[float]]] = summary["completion_full_scale_s"]
    published = published_values(summary)
    values = [value for arm in completions.values() for times in arm.values() for value in times]
    top = max([*values, *published.values()]) * 1.08
    arms = list(completions)
    parts = [*frame(summary, arms, top)]
    for i, workload in enumerate(summary["workloads"]):
        parts += group(workload, i, len(summary["workloads"]), completions, published, top)
    body = "\n".join(parts)
    words = escape(describe(summary, completions))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{words}" '
        'font-family="system-ui, sans-serif" '
        f'font-size="13">\n<title>{words}</title>\n{body}\n</svg>\n'
    )


def published_values(summary: Json) -> dict[tuple[str, str], float]:
    """(arm, workload) → published completion time in seconds."""
    return {
        (judged["arm"], judged["workload"]): judged["published"]
        for judged in summary["expectations"]
        if judged["metric"] == "completion_s" and judged["published"] is not None
    }


def describe(summary: Json, completions: dict[str, dict[str, list[float]]]) -> str:
    """The figure in words."""
    arms = [
        f"{arm}: "
        + ", ".join(f"{name} {fmean(times):.0f} s" for name, times in by_workload.items() if times)
        for arm, by_workload in completions.items()
    ]
    return f"Completion times of {summary['name']}; " + "; ".join(arms)


def frame(summary: Json, arms: list[str], top: float) -> Iterator[str]:
    """Background, axis, legend."""
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    for value in ticks(top):
        y = height_of(value, top)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>'
        yield text(LEFT - 8, y + 4, f"{value:g}", anchor="end")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield f'<g transform="rotate(-90 16 {middle:.1f})">{text(16, middle, "completion time, s")}</g>'
    x = float(LEFT)
    for arm, colour in zip(arms, COLOURS, strict=False):
        yield f'<rect x="{x:.1f}" y="18" width="14" height="14" fill="{colour}"/>'
        yield text(x + 20, 30, arm, anchor="start")
        x += 44 + 8 * len(arm)
    yield f'<circle cx="{x + 7:.1f}" cy="25" r="2.6" fill="#111827" fill-opacity="0.75"/>'
    yield text(x + 18, 30, f"one of {summary['trials']} trials", anchor="start")
    x += 132
    yield published_mark(x, x + 18, 25)
    yield text(x + 24, 30, "published", anchor="start")


def ticks(top: float) -> list[int]:
    """Round values on the axis."""
    step = next((step for step in TICK_STEPS if top / step <= TICKS_MAX), TICK_STEPS[-1])
    return list(range(0, int(top) + 1, step))


def group(
    workload: str,
    index: int,
    groups: int,
    completions: dict[str, dict[str, list[float]]],
    published: dict[tuple[str, str], float],
    top: float,
) -> Iterator[str]:
    """The bars of one workload."""
    room = (WIDTH - LEFT - RIGHT) / groups
    bar = room * GROUP_SHARE / len(completions)
    start = LEFT + room * index + room * (1 - GROUP_SHARE) / 2
    yield text(LEFT + room * (index + 0.5), HEIGHT - BOTTOM + 22, workload)
    for i, (arm, by_workload) in enumerate(completions.items()):
        times = by_workload.get(workload, [])
        if not times:
            continue
        x = start + bar * i
        y = height_of(fmean(times), top)
        colour = COLOURS[i % len(COLOURS)]
        base = HEIGHT - BOTTOM
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar - 3:.1f}" height="{base - y:.1f}" '
            f'fill="{colour}"/>'
        )
        for n, time_s in enumerate(times):
            shift = bar * (0.2 + 0.6 * (n + 0.5) / len(times))
            dot = f'cx="{x + shift:.1f}" cy="{height_of(time_s, top):.1f}"'
            yield f'<circle {dot} r="2.6" fill="#111827" fill-opacity="0.75"/>'
        if (arm, workload) in published:
            yield published_mark(x - 1, x + bar - 2, height_of(published[arm, workload], top))
        yield text(x + (bar - 3) / 2, base - 8, f"{fmean(times):.0f}", colour="#ffffff")


def published_mark(left: float, right: float, y: float) -> str:
    """A line at the height of a published value."""
    return (
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dc2626" '
        'stroke-width="2.5"/>'
    )


def height_of(value: float, top: float) -> float:
    """The y coordinate of a time."""
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top


def text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = "#111827") -> str:
    """A label."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(words)}</text>'
    )
