"""Lost frames by cause, all arms side by side."""

from typing import Any

from markupsafe import Markup

from tailrace.report.scale import linear_from_zero
from tailrace.report.svg import percent, plot, tag, x_axis
from tailrace.results.numbers import count_text

BAR_PX = 15
BAR_GAP_PX = 3
GROUP_GAP_PX = 26


def drop_causes(summary: dict[str, Any]) -> list[str]:
    """Causes that lost a frame in any arm, most frames first."""
    totals: dict[str, float] = {}
    for arm in summary["arms"].values():
        for cause, lost in arm["drops"].items():
            totals[cause] = totals.get(cause, 0.0) + lost["frames"]
    return sorted(totals, key=lambda cause: -totals[cause])


def drops_chart(summary: dict[str, Any]) -> Markup:
    """Frames lost per trial (means). The cause stands above its bars, because the names are long."""
    causes = drop_causes(summary)
    frames = {
        (cause, arm): arm_summary["drops"].get(cause, {}).get("frames", 0.0)
        for cause in causes
        for arm, arm_summary in summary["arms"].items()
    }
    x = linear_from_zero(list(frames.values()), count=4)
    marks: list[Markup] = []
    top = 0
    for cause in causes:
        marks.append(tag("text", cause.replace("_", " ").replace("-", " "), x=0, y=top + 14, class_="row-label"))
        top += 20
        for index, arm in enumerate(summary["arms"]):
            count = frames[cause, arm]
            tip = tag("title", f"{arm}: {count_text(count)} frames per trial lost by {cause}")
            width = percent(x(count))
            marks.append(tag("rect", tip, x=0, y=top, width=width, height=BAR_PX, class_=f"bar arm-{index % 6}"))
            marks.append(tag("text", count_text(count), x="100%", dx=8, y=top + 12, class_="value"))
            top += BAR_PX + BAR_GAP_PX
        top += GROUP_GAP_PX - 20
    words = "; ".join(f"{arm} {cause}: {count_text(count)}" for (cause, arm), count in frames.items())
    label = f"Frames lost per trial by cause. {words}."
    return plot([*x_axis(x, top), *marks], height=top, label=label, left=12, right=70)
