"""Where the time of transactions went: stacked bars by percentile band and arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.svg import label_room, percent, plot, row_label, tag
from tailrace.results.causes.bands import ENDS
from tailrace.results.causes.causes import in_order
from tailrace.results.causes.sentence import part_words
from tailrace.results.format.numbers import count_text, span_text
from tailrace.results.summary.causes import Band

BAR_PX = 16
BAR_GAP_PX = 4
TITLE_PX = 20
GROUP_GAP_PX = 10
VALUE_PX = 70
"""Room to the right of the bars."""
SEEN = 0.002
"""Share of the longest bar of its band below which a part is a hair that hides its neighbours; the
table has it."""


@dataclass(frozen=True)
class ArmBands:
    """The bands of one workload in one arm."""

    arm: str
    position: int
    bands: list[Band]


def causes_chart(workload: str, arms: Sequence[ArmBands], colours: Mapping[str, str]) -> Markup:
    """A group of bars for each band, an arm in each bar. The bars of a band have one scale:
    latencies of the median and of the tail often differ by orders of magnitude.
    """
    marks: list[Markup] = []
    top, words = 0, []
    for name, _ in ENDS:
        found = [(arm, band) for arm in arms for band in arm.bands if band.name == name]
        if not found:
            continue
        longest = max(band.latency_ps for _, band in found)
        marks.append(
            tag("text", band_words(name), x=0, y=top + 14, class_="tick", text_anchor="start")
        )
        top += TITLE_PX
        for arm, band in found:
            marks += _bar(arm, band, longest, top, colours)
            words.append(f"{name} {arm.arm} {span_text(band.latency_ps)}, {_largest(band)}")
            top += BAR_PX + BAR_GAP_PX
        top += GROUP_GAP_PX
    label = (
        f"Mean latency of {workload} by percentile band: {'; '.join(words)}. The table below "
        "has all parts."
    )
    left = label_room(arm.arm for arm in arms)
    return plot(
        marks, height=max(top - GROUP_GAP_PX, 1), label=label, left=left, right=VALUE_PX, bottom=8
    )


def band_words(name: str) -> str:
    """Which transactions a band has: `above p90, up to p99`. Of few transactions the bands between
    are left out."""
    names = [band for band, _ in ENDS]
    index = names.index(name)
    if index == 0:
        return f"up to {name}"
    return (
        "the slowest, up to max" if name == names[-1] else f"above {names[index - 1]}, up to {name}"
    )


def _bar(
    arm: ArmBands, band: Band, longest_ps: float, top: int, colours: Mapping[str, str]
) -> list[Markup]:
    marks = [row_label(arm.arm, top + BAR_PX - 3)]
    at = 0.0
    for part in in_order(band.parts):
        share = band.parts[part] / longest_ps if longest_ps else 0.0
        if share >= SEEN:
            text = (
                f"{part_words(part)} {span_text(band.parts[part])} "
                f"({_percent(band.parts[part], band.latency_ps)})"
            )
            tip = tag("title", f"{arm.arm}, {band_words(band.name)}: {text}")
            at_px = {"x": percent(at), "width": percent(share), "y": top, "height": BAR_PX}
            marks.append(
                tag("rect", tip, **at_px, class_=f"part of-arm-{arm.position} {colours[part]}")
            )
        at += share
    tip = tag("title", f"{count_text(band.count)} transactions")
    marks.append(
        tag(
            "text",
            tip,
            span_text(band.latency_ps),
            x="100%",
            dx=8,
            y=top + BAR_PX - 3,
            class_="value",
        )
    )
    return marks


def _largest(band: Band) -> str:
    if not band.parts:
        return "nothing"
    part, time = max(band.parts.items(), key=lambda item: item[1])
    return f"{_percent(time, band.latency_ps)} {part_words(part)}"


def _percent(time_ps: float, of_ps: float) -> str:
    return f"{100 * time_ps / of_ps:.0f} %" if of_ps else "0 %"
