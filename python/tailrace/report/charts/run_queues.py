"""Run-queue depth over time: tasks that run or wait on the processor of a host."""

from tailrace.report.charts import time
from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.series import (
    BinnedSeries,
    SeriesLine,
    TimeChart,
    Values,
    cell_means,
    cell_middles,
    lines_of,
)
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.results import Run
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.metrics.processors import processors_of

HOSTS_MAX = 3
"""Hosts with a chart of their own: those with the deepest queues."""


def run_queue_charts(run: Run) -> list[TimeChart]:
    """One chart for each of the hosts with the deepest queues, all arms in it."""
    end_s = time.end_of(run)
    charts = []
    for number, name in enumerate(_deepest(run)):
        found: list[SeriesLine] = []
        for index, arm in enumerate(run.arms[:ARMS_DRAWN_MAX]):
            trials: list[tuple[int, Values]] = []
            for trial in run.with_outcome(arm):
                for rows in time.split(
                    trial, "run_queues", ("host", "runnable_mean"), [name]
                ).values():
                    starts_s = [start / PS_PER_S for start, _ in rows]
                    steps = BinnedSeries(
                        starts_s, [depth for _, depth in rows], trial.outcome.end_ps / PS_PER_S
                    )
                    trials.append((trial.number, cell_means(steps, end_s)))
            found += lines_of(arm, arm_class(index), trials) if trials else []
        if found:
            title = "tasks that run or wait (mean of each cell)"
            charts.append(TimeChart(f"run-queue-{number}", name, title, cell_middles(end_s), found))
    return charts


def _deepest(run: Run) -> list[str]:
    depths: dict[str, int] = {}
    for trial in (trial for arm in run.arms for trial in run.with_outcome(arm)):
        for host, own in processors_of(trial):
            depths[host.name] = max(depths.get(host.name, 0), int(own.runnable_area_ps))
    return sorted((name for name in depths if depths[name]), key=lambda name: -depths[name])[
        :HOSTS_MAX
    ]
