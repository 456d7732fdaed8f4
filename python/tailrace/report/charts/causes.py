"""Where the time of transactions went: stacked bars by percentile band and arm."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.svg import label_room, percent, plot, row_label, tag
from tailrace.results.causes.bands import ENDS, Band
from tailrace.results.causes.causes import in_order
from tailrace.results.causes.sentence import part_words
from tailrace.results.format.numbers import span_text

BAR_PX, BAR_GAP_PX, GROUP_GAP_PX, HEAD_PX = 15, 3, 14, 18
DRAWN_SHARE = 0.002
"""Narrower parts are below a pixel."""
VALUE_PX = 76
COLOURS = 12
"""Colours of the theme, `--part-0` on; a part has the same in every chart."""
COLOUR_OF = {
    "wait_to_start": 0,
    "client_work": 1,
    "server_work": 2,
    "core_wait": 0,
    "device": 3,
    "sender_hold": 4,
    "interface_queue": 5,
    "switch_queue": 6,
    "paused": 5,
    "serialisation": 7,
    "propagation": 8,
    "fast_retransmission": 9,
    "reordering_timer": 9,
    "probe": 10,
    "timeout": 10,
    "delayed_ack": 11,
    "receive": 3,
    "unknown": 8,
}
TEXTURED = frozenset({"core_wait", "paused", "reordering_timer", "timeout", "receive", "unknown"})
"""Parts that share a colour with another one are lighter."""


@dataclass(frozen=True)
class Row:
    """One arm of one workload."""

    arm: str
    bands: Sequence[Band]


def part_class(part: str) -> str:
    """The class that gives a part its colour."""
    number = COLOUR_OF.get(part, sum(part.encode()) % COLOURS)
    return f"part part-{number}{' light' if part in TEXTURED else ''}"


def parts_of(rows: Sequence[Row]) -> list[str]:
    """The parts that are drawn in some bar, in the order of the critical path."""
    drawn = {
        part
        for row in rows
        for band in row.bands
        for part, time_ps in band.parts.items()
        if time_ps >= DRAWN_SHARE * max(1.0, band.latency_ps)
    }
    return in_order(sorted(drawn))


def causes_chart(workload: str, rows: Sequence[Row]) -> Markup:
    """Bars of the same band share a scale, so that one sees what an arm takes away."""
    names = [name for name, _ in ENDS if any(band.name == name for row in rows for band in row.bands)]
    marks: list[Markup] = []
    words: list[str] = []
    top = 0
    for name in names:
        own = [(row.arm, band) for row in rows for band in row.bands if band.name == name]
        longest = max(band.latency_ps for _, band in own)
        top += GROUP_GAP_PX if marks else 2
        marks.append(tag("text", _head(name, own[0][1]), x=0, y=top + 12, class_="band-head"))
        top += HEAD_PX
        for arm, band in own:
            marks += _bar(arm, band, longest, top)
            words.append(f"{name} with {arm} {span_text(band.latency_ps)}, most of it {_largest(band)}")
            top += BAR_PX + BAR_GAP_PX
    label = f"Mean latency of {workload} by percentile band: {'; '.join(words)}. The table below lists all parts."
    left = label_room(row.arm for row in rows)
    return plot(marks, height=top + 4, label=label, left=left, right=VALUE_PX, bottom=4)


def _head(name: str, band: Band) -> str:
    return "the slowest" if name == "max" and band.count == 1 else f"to {name}"


def _largest(band: Band) -> str:
    part = max(band.parts, key=lambda one: band.parts[one], default="")
    return part_words(part)


def _bar(arm: str, band: Band, longest_ps: float, top: int) -> list[Markup]:
    marks = [row_label(arm, top + BAR_PX / 2 + 4.5)]
    at = 0.0
    for part in in_order(sorted(band.parts)):
        time_ps = band.parts[part]
        width = time_ps / max(1.0, longest_ps)
        if width >= DRAWN_SHARE:
            share = 100 * time_ps / max(1.0, band.latency_ps)
            tip = tag("title", f"{arm}, {band.name}: {part_words(part)} {span_text(time_ps)}, {share:.0f} %")
            place = {"x": percent(at), "y": top, "width": percent(width), "height": BAR_PX}
            marks.append(tag("rect", tip, **place, class_=part_class(part)))
        at += width
    marks.append(tag("text", span_text(band.latency_ps), x="100%", dx=8, y=top + BAR_PX / 2 + 4.5, class_="value"))
    return marks
