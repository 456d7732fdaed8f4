"""Queue depth as a distribution: cumulative share of time.

The simulator counts time in buckets of depth. The curve is exact at their upper edges and straight
in between.
"""

from collections import Counter
from itertools import accumulate

from markupsafe import Markup

from tailrace.outcome.types import Port
from tailrace.report.charts.latency import thinned
from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.drawing.scale import Share, linear_from_zero
from tailrace.report.drawing.svg import line, lines, plot, x_axis, y_axis
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.results import Run, Trial
from tailrace.results.directory.tables import read_trial_table

HEIGHT_PX = 170
POINTS_MAX = 120

Points = list[tuple[float, float]]


def occupancy_curves(run: Run, port: str) -> dict[str, Points]:
    """By arm: (MB, cumulative share of time), over all valid trials."""
    curves = {}
    for arm in run.arms[:ARMS_DRAWN_MAX]:
        times: Counter[int] = Counter()
        for trial in run.with_outcome(arm):
            times.update(_time_at_depth(trial, port))
        total = sum(times.values())
        if total:
            depths = sorted(times)
            shares = accumulate(times[depth] / total for depth in depths)
            curves[arm] = thinned(
                [(depth / 1e6, min(s, 1.0)) for depth, s in zip(depths, shares, strict=True)],
                POINTS_MAX,
            )
    return curves


def occupancy_chart(curves: dict[str, Points], arms: list[str]) -> Markup:
    """Cumulative share of time against depth, one curve per arm."""
    x = linear_from_zero([points[-1][0] for points in curves.values()])
    y = Share()
    paths = [
        line([(0.0, 0.0), *points], x, y, class_=f"line {arm_class(arms.index(arm))}")
        for arm, points in curves.items()
    ]
    middles = ", ".join(f"{arm} {_median(points):.3g} MB" for arm, points in curves.items())
    label = f"Cumulative distribution of the queue depth over time. Medians: {middles}."
    return plot(
        [*x_axis(x, HEIGHT_PX), *y_axis(y, HEIGHT_PX), lines(paths)],
        height=HEIGHT_PX,
        label=label,
        left=46,
    )


def occupancy_csv(curves: dict[str, Points]) -> str:
    """The curves as text."""
    rows = ((arm, depth, share) for arm, points in curves.items() for depth, share in points)
    return csv_text(("arm", "depth_mb", "share_of_time"), rows)


def _time_at_depth(trial: Trial, port: str) -> Counter[int]:
    times: Counter[int] = Counter()
    if not trial.has_table("queue_depth"):
        return times
    table = read_trial_table(trial, "queue_depth")
    names = [f"{one.node} → {one.towards}" for one in trial.outcome.ports]
    deepest = {name: _depth_max(one) for name, one in zip(names, trial.outcome.ports, strict=True)}
    for index, depth, time_ps in zip(
        *(table.column(c) for c in ("port", "depth_bytes", "time_ps")), strict=True
    ):
        if names[index] == port:
            times[min(depth, deepest[port])] += time_ps
    return times


def _depth_max(port: Port) -> int:
    """The largest depth of all queues of the port together, which may be below the edge of the last
    bucket."""
    return sum(queue.depth_max_bytes or 0 for queue in port.queues)


def _median(points: Points) -> float:
    return next(at for at, share in points if share >= 0.5)
