"""Queues of ports, run queues, throughput and drops."""

from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts import drops, occupancy, time
from tailrace.report.charts.run_queues import run_queue_charts
from tailrace.report.drawing.series import TimeChart
from tailrace.report.limits import ARMS_DRAWN_MAX, QUEUES_MAX
from tailrace.report.sections.over_time import DrawnSeries, drawn_series
from tailrace.report.sections.rows import ArmRow, arm_rows
from tailrace.results import Run
from tailrace.results.summary.network import Lost, QueueMeans
from tailrace.results.summary.summary import ArmSummary, Summary

QUIET_BYTES = 1_500
"""One frame of the usual Ethernet MTU."""
LANE_PX = 60
"""The lane of drops below the queue of a port."""


@dataclass(frozen=True)
class DrawnPort:
    """The queues of one port together."""

    depth: DrawnSeries
    drops: DrawnSeries | None
    occupancy: Markup | None
    """Share of time by depth."""
    occupancy_csv: str


@dataclass(frozen=True)
class QueueRow:
    """A queue of a port in one arm."""

    arm: str
    index: int
    port: str
    queue: QueueMeans
    is_first: bool
    """Whether it is the first row of its arm."""


@dataclass(frozen=True)
class EarlyLoss:
    """Frames that a switch dropped before a queue, for one cause."""

    switch: str
    cause: str
    lost: Lost


@dataclass(frozen=True)
class Queues:
    """The sections about queues, throughput and drops."""

    ports: list[DrawnPort]
    throughput: list[DrawnSeries]
    run_queues: list[DrawnSeries]
    arms_omitted: int
    drops: Markup | None
    """None where no frame was dropped."""
    drops_unit: str
    rates: list[ArmRow[ArmSummary]]
    """Arms with a trial."""
    rows: list[QueueRow]
    quiet: list[QueueRow]
    early: list[ArmRow[EarlyLoss]]
    omitted: int
    """Ports of an arm that are not shown, at most."""


def queues(run: Run, summary: Summary) -> Queues:
    """Occupancy over time and as a distribution, throughput, drops, and the table of queues."""
    throughput = time.throughput_charts(run)
    highest = time.highest_value(throughput)
    loud, quiet = _queue_rows(summary)
    return Queues(
        ports=[_port(run, chart) for chart in time.queue_charts(run)],
        throughput=[drawn_series(chart, highest) for chart in throughput],
        run_queues=[drawn_series(chart) for chart in run_queue_charts(run)],
        arms_omitted=max(0, len(run.arms) - ARMS_DRAWN_MAX),
        drops=drops.drops_chart(summary) if drops.drop_causes(summary) else None,
        drops_unit=drops.drops_unit(summary),
        rates=arm_rows(summary.arms, lambda own: [own] if own.trials else []),
        rows=loud,
        quiet=quiet,
        early=arm_rows(summary.arms, _early),
        omitted=max((arm.ports_omitted for arm in summary.arms.values()), default=0),
    )


def _port(run: Run, chart: TimeChart) -> DrawnPort:
    curves = occupancy.occupancy_curves(run, chart.title)
    lane = time.drop_lane(run, chart.title, chart.key)
    return DrawnPort(
        depth=drawn_series(chart),
        drops=drawn_series(lane, height_px=LANE_PX) if lane else None,
        occupancy=occupancy.occupancy_chart(curves, run.arms) if curves else None,
        occupancy_csv=occupancy.occupancy_csv(curves),
    )


def _queue_rows(summary: Summary) -> tuple[list[QueueRow], list[QueueRow]]:
    """Queues that carried or lost anything: per arm those where most happened, and the rest. Ports
    come sorted."""
    loud: list[QueueRow] = []
    quiet: list[QueueRow] = []
    for index, (arm, arm_summary) in enumerate(summary.arms.items()):
        shown = 0
        for port in arm_summary.ports:
            for queue in (queue for queue in port.queues if queue.tx_frames or queue.drops_frames):
                is_loud = shown < QUEUES_MAX and not _is_quiet(queue)
                rows = loud if is_loud else quiet
                is_first = not rows or rows[-1].arm != arm
                rows.append(QueueRow(arm, index, port.label, queue, is_first))
                shown += is_loud
    return loud, quiet


def _is_quiet(queue: QueueMeans) -> bool:
    """Nothing lost, nothing marked, and less than one full frame waiting on average."""
    return (
        not queue.drops_frames
        and not queue.marked_frames
        and (queue.depth_mean_bytes or 0) < QUIET_BYTES
    )


def _early(arm: ArmSummary) -> list[EarlyLoss]:
    return [
        EarlyLoss(entry.switch, cause, lost)
        for entry in arm.early_drops
        for cause, lost in entry.drops.items()
    ]
