"""Latencies: distributions, percentiles over time and in a table; and slowdowns of flows by
size."""

from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts import flow_slowdown, latency, transactions
from tailrace.report.charts.flow_slowdown import SlowdownPanel
from tailrace.report.limits import ARMS_DRAWN_MAX, PANELS_MAX
from tailrace.report.plan_facts import PlanFacts
from tailrace.report.sections.over_time import DrawnSeries, drawn_series
from tailrace.results import Run
from tailrace.results.metrics.subject_rows import SubjectRow, subject_rows
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import SizeClass
from tailrace.results.text.order import worst_first
from tailrace.results.text.run import CUT_OFF_WORDS


@dataclass(frozen=True)
class DrawnLatency:
    """The distribution of one workload or group."""

    workload: str
    at: int | None
    """Index among the workloads; None for a group."""
    what: str
    linear: Markup
    tail: Markup
    csv: str


@dataclass(frozen=True)
class Distributions:
    """The section about latencies."""

    panels: list[DrawnLatency]
    omitted: int
    """Workloads that have no panel."""
    arms_omitted: int
    has_solo: bool
    over_time: list[DrawnSeries]
    """Percentiles."""
    has_timeouts: bool
    has_cut_rows: bool
    """Whether only the first transactions of some workloads are known one by one."""
    rates: list[DrawnSeries]
    """Transactions per second."""
    trials_unread: int
    rows: list[SubjectRow]
    has_cut_off: bool
    """Whether transactions were running when a trial ended."""
    cut_off_words: str


@dataclass(frozen=True)
class SlowdownRow:
    """Flows of one size in one workload and arm."""

    name: str
    arm: str
    index: int
    """Of the arm."""
    at: int | None
    """Index of the workload; None for a group."""
    is_first: bool
    """Whether it is the first size."""
    sizes: str
    found: SizeClass


@dataclass(frozen=True)
class Slowdowns:
    """The section about slowdowns."""

    panels: list[SlowdownPanel]
    rows: list[SlowdownRow]


def distributions(run: Run, summary: Summary, facts: dict[str, PlanFacts]) -> Distributions:
    """Latency panels with a linear axis and with the tail drawn out, and the table of
    percentiles."""
    order = {subject.name: at for at, subject in enumerate(worst_first(summary))}
    panels = sorted(
        latency.latency_panels(run, facts), key=lambda panel: order.get(panel.workload, len(order))
    )
    number_of = {name: at for at, name in enumerate(summary.workloads)}
    over_time, unread = transactions.charts_over_time(run, facts)
    rows = subject_rows(summary, lambda own: own.latency_ms)
    return Distributions(
        panels=[
            DrawnLatency(
                workload=panel.workload,
                at=number_of.get(panel.workload),
                what=panel.what,
                linear=latency.latency_chart(panel, is_tail=False),
                tail=latency.latency_chart(panel, is_tail=True),
                csv=latency.latency_csv(panel),
            )
            for panel in panels
        ],
        omitted=max(0, len(summary.subjects) - PANELS_MAX),
        arms_omitted=max(0, len(run.arms) - ARMS_DRAWN_MAX),
        has_solo=any(curve.arm_index < 0 for panel in panels for curve in panel.curves),
        over_time=[drawn_series(one.percentiles) for one in over_time],
        has_timeouts=any(one.percentiles.lines[-1].style.startswith("bad") for one in over_time),
        has_cut_rows=any(one.is_cut for one in over_time),
        rates=[drawn_series(one.rate) for one in over_time if one.rate],
        trials_unread=unread,
        rows=rows,
        has_cut_off=any(row.own.latency_ms and row.own.latency_ms.cut_off.count for row in rows),
        cut_off_words=CUT_OFF_WORDS,
    )


def slowdowns(summary: Summary) -> Slowdowns:
    """Slowdown of flows against their size, and the same as a table."""
    rows = [
        SlowdownRow(
            row.name, row.arm, row.index, row.at, at == 0, flow_slowdown.class_text(found), found
        )
        for row in subject_rows(summary, lambda own: own.flow_slowdown)
        for at, found in enumerate(row.own.flow_slowdown.sizes if row.own.flow_slowdown else [])
    ]
    return Slowdowns(flow_slowdown.slowdown_panels(summary), rows)
