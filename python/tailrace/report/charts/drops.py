"""Lost frames by cause, all arms side by side."""

from markupsafe import Markup

from tailrace.report.drawing.hatch import hatch_pattern, hatched
from tailrace.report.drawing.scale import Linear, linear_from_zero
from tailrace.report.drawing.svg import percent, plot, tag, x_axis
from tailrace.results.format.numbers import count_text
from tailrace.results.ports.rates import end_words
from tailrace.results.summary.network import Lost, Rates
from tailrace.results.summary.summary import ArmSummary, Summary

BAR_PX = 15
BAR_GAP_PX = 3
GROUP_GAP_PX = 26
HATCH = "hatch-drops"


def drop_causes(summary: Summary) -> list[str]:
    """Causes that lost a frame in any arm, most frames first."""
    totals: dict[str, float] = {}
    for arm in summary.arms.values():
        for cause, lost in arm.drops.items():
            totals[cause] = totals.get(cause, 0.0) + lost.frames
    return sorted(totals, key=lambda cause: -totals[cause])


def drops_chart(summary: Summary) -> Markup:
    """Frames lost per trial (means), per second where trials end at different times.

    The cause stands above its bars, because the names are long. An arm of which nothing is known
    has no bar.
    """
    causes = drop_causes(summary)
    is_per_second = bool(end_words(summary.arms))
    unit = "frames per second" if is_per_second else "frames per trial"
    frames = {
        (cause, arm): _frames(own, cause, is_per_second=is_per_second)
        for cause in causes
        for arm, own in summary.arms.items()
    }
    x = linear_from_zero([count for count in frames.values() if count is not None], count=4)
    marks: list[Markup] = []
    top = 0
    for cause in causes:
        marks.append(
            tag(
                "text",
                cause.replace("_", " ").replace("-", " "),
                x=0,
                y=top + 14,
                class_="row-label",
            )
        )
        top += 20
        for index, (arm, own) in enumerate(summary.arms.items()):
            marks += _bar(arm, index, own, frames[cause, arm], f"{unit} lost by {cause}", x, top)
            top += BAR_PX + BAR_GAP_PX
        top += GROUP_GAP_PX - 20
    words = "; ".join(f"{arm} {cause}: {_count(count)}" for (cause, arm), count in frames.items())
    label = f"Frames lost by cause, {unit}. {words}."
    return plot(
        [hatch_pattern(HATCH), *x_axis(x, top), *marks], height=top, label=label, left=12, right=70
    )


def drops_unit(summary: Summary) -> str:
    """Title of the axis."""
    return "frames per second" if end_words(summary.arms) else "frames per trial"


def _frames(arm: ArmSummary, cause: str, *, is_per_second: bool) -> float | None:
    """None where no trial of the arm counts it."""
    rates: Rates = arm.rates
    drops: dict[str, Lost] = arm.drops
    end_s = rates.end_s
    if not arm.trials or (is_per_second and not end_s):
        return None
    frames = drops[cause].frames if cause in drops else 0.0
    return frames / end_s if is_per_second and end_s else frames


def _bar(
    arm: str, index: int, own: ArmSummary, count: float | None, what: str, x: Linear, top: int
) -> list[Markup]:
    if count is None:
        return [tag("text", f"{arm}: no valid trial", x=0, y=top + 12, class_="value quiet")]
    state = " unfinished" if own.unfinished_trials else ""
    tip = tag(
        "title", f"{arm}: {count_text(count)} {what}{', of unfinished trials' if state else ''}"
    )
    width = percent(x(count))
    stripes = [hatched(HATCH, width=width, top=top, height=BAR_PX)] if state else []
    return [
        tag(
            "rect",
            tip,
            x=0,
            y=top,
            width=width,
            height=BAR_PX,
            class_=f"bar arm-{index % 6}{state}",
        ),
        *stripes,
        tag("text", count_text(count), x="100%", dx=8, y=top + 12, class_="value"),
    ]


def _count(count: float | None) -> str:
    return "no valid trial" if count is None else count_text(count)
