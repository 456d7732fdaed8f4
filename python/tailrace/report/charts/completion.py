"""Completion time of every workload in every arm, with all trials."""

from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.hatch import hatch_pattern, hatched
from tailrace.report.drawing.scale import Linear, linear_from_zero
from tailrace.report.drawing.svg import label_room, percent, plot, row_label, tag, x_axis
from tailrace.results.format.numbers import digits_text
from tailrace.results.metrics.unfinished import unfinished_words
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.scenario.workloads.kinds import facts_of

BAR_PX = 15
BAR_GAP_PX = 3
GROUP_GAP_PX = 16
HATCH = "hatch-completion"


@dataclass(frozen=True)
class Bar:
    """One arm of one workload; times in seconds at the scale that the chart shows."""

    workload: str
    arm: str
    arm_index: int
    times_s: list[float]
    interval_s: tuple[float, float] | None
    published_s: float | None
    alone_s: float | None
    late: str = ""
    """The unfinished work, where the bar is a lower bound: the duration of the trial."""

    @property
    def slowdown(self) -> float | None:
        """How many times longer than alone."""
        return self.mean_s / self.alone_s if self.alone_s and not self.late else None

    @property
    def mean_s(self) -> float:
        """Length of the bar."""
        return sum(self.times_s) / len(self.times_s)


def completion_bars(summary: Summary) -> list[Bar]:
    """Bars in the order of the scenario, at full scale. Workloads without an end of their own have
    none."""
    published = {
        (judged.arm, judged.workload): judged.published
        for judged in summary.expectations
        if judged.metric == "completion_s"
    }
    bars = []
    for workload in summary.workloads:
        for index, (arm, arm_summary) in enumerate(summary.arms.items()):
            found: WorkloadSummary | None = arm_summary.workloads.get(workload)
            if not found or facts_of(found.kind).is_open_loop:
                continue
            interval, slowdown, scale, late = (
                found.completion_s.interval,
                found.slowdown,
                found.scale,
                found.unfinished,
            )
            times_s = [late.mean_bound_s / scale] if late else found.completion_full_scale_s
            if not times_s:
                continue
            bars.append(
                Bar(
                    workload=workload,
                    arm=arm,
                    arm_index=index,
                    times_s=times_s,
                    interval_s=(interval.low / scale, interval.high / scale) if interval else None,
                    published_s=published.get((arm, workload)),
                    alone_s=slowdown.solo_completion_s / scale if slowdown else None,
                    late=unfinished_words(late) if late else "",
                )
            )
    return bars


def completion_chart(bars: list[Bar]) -> Markup:
    """Horizontal bars: mean, interval, every trial a point, the published value a tick, the solo
    run a dotted line."""
    x = linear_from_zero(
        [value for bar in bars for value in (*bar.times_s, bar.published_s or 0.0)], count=6
    )
    marks: list[Markup] = []
    top = 0
    previous = ""
    for bar in bars:
        if bar.workload != previous:
            top += GROUP_GAP_PX if previous else 4
            arms = sum(other.workload == bar.workload for other in bars)
            middle = top + (arms * (BAR_PX + BAR_GAP_PX) - BAR_GAP_PX) / 2
            marks.append(row_label(bar.workload, middle + 5))
        marks += _bar(bar, x, top)
        top += BAR_PX + BAR_GAP_PX
        previous = bar.workload
    height = top + 6
    words = "; ".join(f"{bar.workload} with {bar.arm} {_time(bar)}" for bar in bars)
    right = 112 if any(bar.alone_s for bar in bars) else 62
    left = label_room(bar.workload for bar in bars)
    label = f"Bars of mean completion times: {words}. The table below lists the values."
    return plot(
        [hatch_pattern(HATCH), *x_axis(x, height), *marks],
        height=height,
        label=label,
        left=left,
        right=right,
    )


def _bar(bar: Bar, x: Linear, top: int) -> list[Markup]:
    middle = top + BAR_PX / 2
    colour = f"arm-{bar.arm_index % 6}"
    what = bar.late or f"mean {digits_text(bar.mean_s, 4)} s of {len(bar.times_s)} trials"
    tip = tag("title", f"{bar.workload}, {bar.arm}: {what}")
    width, state = percent(x(bar.mean_s)), " unfinished" if bar.late else ""
    marks = [
        tag("rect", tip, x=0, y=top, width=width, height=BAR_PX, class_=f"bar {colour}{state}")
    ]
    if bar.late:
        marks.append(hatched(HATCH, width=width, top=top, height=BAR_PX))
    if bar.alone_s is not None:
        at = percent(x(bar.alone_s))
        marks.append(tag("line", x1=at, x2=at, y1=top - 1, y2=top + BAR_PX + 1, class_="alone"))
    if bar.interval_s:
        low, high = (percent(x(value)) for value in bar.interval_s)
        marks.append(tag("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker"))
    for number, time_s in enumerate([] if bar.late else bar.times_s, start=1):
        tip = tag("title", f"{bar.workload}, {bar.arm}: {digits_text(time_s, 4)} s")
        # Trials are spread over the height of the bar, in order, so that equal times do not hide
        # each other.
        y = top + 3 + (BAR_PX - 6) * (number - 0.5) / len(bar.times_s)
        marks.append(
            tag("circle", tip, cx=percent(x(time_s)), cy=y, r=2.1, class_=f"trial {colour}")
        )
    if bar.published_s is not None:
        at = percent(x(bar.published_s))
        tip = tag("title", f"{bar.workload}, {bar.arm}: published {digits_text(bar.published_s)} s")
        marks.append(
            tag("line", tip, x1=at, x2=at, y1=top - 1, y2=top + BAR_PX + 1, class_="published")
        )
    marks.append(tag("text", _time(bar), x="100%", dx=8, y=middle + 4.5, class_="value"))
    if bar.slowdown is not None:
        text = f"{bar.slowdown:.2f} ×"
        marks.append(
            tag(
                "text",
                text,
                x="100%",
                dx=104,
                y=middle + 4.5,
                text_anchor="end",
                class_="value quiet",
            )
        )
    return marks


def _time(bar: Bar) -> str:
    return f"{'> ' if bar.late else ''}{digits_text(bar.mean_s)} s"
