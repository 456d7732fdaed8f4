"""Quantities over time: queue occupancy of the busiest ports, throughput of the workloads."""

from collections.abc import Iterable
from itertools import pairwise

from markupsafe import Markup

from tailrace.outcome.types import Port
from tailrace.report.drawing.arms import arm_class, workload_class
from tailrace.report.drawing.scale import AxisScale, Linear, linear_from_zero, log_around
from tailrace.report.drawing.series import (
    CELLS,
    BinnedSeries,
    SeriesLine,
    TimeChart,
    Values,
    cell_means,
    cell_middles,
    lines_of,
    means,
)
from tailrace.report.drawing.svg import line, lines, plot, x_axis, y_axis
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.results import Run, Trial
from tailrace.results.directory.tables import read_trial_table
from tailrace.results.format.numbers import PS_PER_S, span_text
from tailrace.results.ports.outcome import queue_drops

HEIGHT_PX = 200
# Ports with a chart of their own: the ones that lost most frames, then the ones with the longest
# queues.
PORTS_MAX = 3
# More lines than this are not distinguishable.
WORKLOADS_MAX = 8
# Maximum number of lines on all charts together with which the first trial is drawn beside the
# median.
LINES_WITH_TRIALS_MAX = 16
# Beyond, all charts together would take too many bytes: lines of throughput have half of the cells.
LINES_WITH_ALL_CELLS = 24
# A queue that never holds a frame on average has no chart.
QUIET_BYTES = 1.0

# (start in picoseconds, value) of every bin.
Rows = list[tuple[int, float]]


def queue_charts(run: Run) -> list[TimeChart]:
    """Occupancy over time of the ports that matter most, all arms in one chart."""
    charts: list[TimeChart] = []
    end_s = end_of(run)
    names = _ports(run)
    found: dict[str, list[SeriesLine]] = {name: [] for name in names}
    for index, arm in enumerate(run.arms[:ARMS_DRAWN_MAX]):
        of_name: dict[str, list[tuple[int, Values]]] = {name: [] for name in names}
        for trial in run.with_outcome(arm):
            for name, rows in split(
                trial, "port_series", ("port", "queue_mean_bytes"), names
            ).items():
                of_name[name].append((trial.number, cell_means(_queue_steps(trial, rows), end_s)))
        for name, trials in of_name.items():
            found[name] += lines_of(arm, arm_class(index), trials) if trials else []
    for name in (name for name in names if found[name]):
        title = "queue, MB (mean of each cell)"
        charts.append(
            TimeChart(f"queue-{len(charts)}", name, title, cell_middles(end_s), found[name])
        )
    return charts


def drop_lane(run: Run, port: str, key: str) -> TimeChart | None:
    """Frames that a port dropped in every cell, mean over trials, on the time axis of its queue;
    None without any."""
    end_s = end_of(run)
    found: list[SeriesLine] = []
    for index, arm in enumerate(run.arms[:ARMS_DRAWN_MAX]):
        trials = [
            _drops_in_cells(trial, rows, end_s)
            for trial in run.with_outcome(arm)
            for rows in split(trial, "port_series", ("port", "drop_frames"), [port]).values()
        ]
        if trials:
            found.append(SeriesLine(arm, arm_class(index), means(trials)))
    if not any(value for one in found for value in one.values):
        return None
    title = f"drops, frames in {span_text(end_s / CELLS * PS_PER_S)} (mean over trials)"
    return TimeChart(f"{key}-drops", port, title, cell_middles(end_s), found)


def _drops_in_cells(trial: Trial, rows: Rows, end_s: float) -> Values:
    """Frames that were dropped in every cell of a chart."""
    rates = _per_s(trial, rows)
    return [None if rate is None else rate * end_s / CELLS for rate in cell_means(rates, end_s)]


def throughput_charts(run: Run) -> list[TimeChart]:
    """Goodput of every workload over time, one chart per arm."""
    charts = []
    end_s = end_of(run)
    names = run.workloads[:WORKLOADS_MAX]
    is_crowded = len(names) * len(run.arms) > LINES_WITH_ALL_CELLS
    cells = CELLS // 2 if is_crowded else CELLS
    has_trials = len(names) * len(run.arms) <= LINES_WITH_TRIALS_MAX
    for position, arm in enumerate(run.arms[:ARMS_DRAWN_MAX]):
        of_name: dict[str, list[tuple[int, Values]]] = {name: [] for name in names}
        for trial in run.with_outcome(arm):
            for name, rows in split(
                trial, "workload_series", ("workload", "goodput_bytes"), names
            ).items():
                of_name[name].append(
                    (trial.number, cell_means(_goodput_steps(trial, rows), end_s, cells))
                )
        found: list[SeriesLine] = []
        for index, (name, trials) in enumerate(of_name.items()):
            drawn = lines_of(name, workload_class(index), trials) if trials else []
            found += drawn if has_trials else drawn[-1:]
        if found:
            charts.append(
                TimeChart(
                    f"goodput-{position}",
                    arm,
                    "goodput, Gbit/s",
                    cell_middles(end_s, cells),
                    found,
                    arm=position,
                )
            )
    return charts


def time_chart(chart: TimeChart, highest: float | None = None, height: int = HEIGHT_PX) -> Markup:
    """The chart as it prints and as it stands without scripts."""
    y = _y_scale(chart, highest, height)
    x = Linear(0.0, chart.times_s[-1] + chart.times_s[0], 6)
    paths = []
    for one in chart.lines:
        points = list(zip(chart.times_s, one.values, strict=True))
        paths.append(line(points, x, y, class_=f"line {'thin ' if one.trial else ''}{one.style}"))
    label = f"{chart.y_title} over time, {chart.title}. The table below lists the values."
    return plot(
        [*x_axis(x, height), *y_axis(y, height), lines(paths)], height=height, label=label, left=58
    )


def _y_scale(chart: TimeChart, highest: float | None, height: int) -> AxisScale:
    values = _values(chart)
    if chart.is_log and values and min(values) > 0:
        return log_around(min(values), max(values))
    return linear_from_zero([highest] if highest else values, count=4 if height >= HEIGHT_PX else 2)


def highest_value(charts: Iterable[TimeChart]) -> float:
    """Largest value of several charts that share an axis."""
    return max((value for chart in charts for value in _values(chart)), default=1.0)


def _values(chart: TimeChart) -> list[float]:
    return [value for one in chart.lines for value in one.values if value is not None]


def split(trial: Trial, table: str, columns: tuple[str, str], chosen: list[str]) -> dict[str, Rows]:
    """Starts and values of the chosen ports, workloads or hosts. `columns` are that of the index
    and of the values."""
    if not trial.has_table(table):
        return {}
    read = read_trial_table(trial, table)
    by_index = {
        index: name for index, name in enumerate(_names(trial, columns[0])) if name in chosen
    }
    rows: dict[str, Rows] = {}
    for index, start, value in zip(
        *(read.column(c) for c in (columns[0], "start_ps", columns[1])), strict=True
    ):
        if index in by_index:
            rows.setdefault(by_index[index], []).append((start, value))
    return rows


def _names(trial: Trial, column: str) -> list[str]:
    """Names of the indices in a column of a table."""
    if column == "port":
        return [_port_name(port) for port in trial.outcome.ports]
    if column == "host":
        return list(trial.hosts)
    return [own.name for own in trial.outcome.workloads]


def _queue_steps(trial: Trial, rows: Rows) -> BinnedSeries:
    starts_s = [start / PS_PER_S for start, _ in rows]
    return BinnedSeries(
        starts_s, [depth / 1e6 for _, depth in rows], trial.outcome.end_ps / PS_PER_S
    )


def _goodput_steps(trial: Trial, rows: Rows) -> BinnedSeries:
    return _per_s(trial, rows, 8e-9)


def _per_s(trial: Trial, rows: Rows, unit: float = 1.0) -> BinnedSeries:
    """Counts in bins, as a rate."""
    starts_s = [start / PS_PER_S for start, _ in rows]
    end_s = trial.outcome.end_ps / PS_PER_S
    widths_s = [right - left for left, right in pairwise([*starts_s, max(end_s, starts_s[-1])])]
    rates = [
        count * unit / width if width > 0 else 0.0
        for (_, count), width in zip(rows, widths_s, strict=True)
    ]
    return BinnedSeries(starts_s, rates, end_s)


def _ports(run: Run) -> list[str]:
    """Recorded ports that lost most frames, then those with the longest queues; none that did
    neither."""
    trials = [trial for arm in run.arms for trial in run.with_outcome(arm)]
    recorded = {
        name for arm in run.arms for trial in run.with_outcome(arm)[:1] for name in _recorded(trial)
    }
    weights: dict[str, tuple[int, float]] = {}
    for port in (
        port for trial in trials for port in trial.outcome.ports if _port_name(port) in recorded
    ):
        drops, depth = weights.get(_port_name(port), (0, 0.0))
        mean_depth = sum(queue.depth_mean_bytes or 0.0 for queue in port.queues)
        weights[_port_name(port)] = (drops + queue_drops(port), max(depth, mean_depth))
    busiest = sorted(weights, key=lambda name: weights[name], reverse=True)
    return [name for name in busiest if weights[name] > (0, QUIET_BYTES)][:PORTS_MAX]


def _recorded(trial: Trial) -> set[str]:
    """Names of the ports whose queue was recorded over time."""
    if not trial.has_table("port_series"):
        return set()
    names = _names(trial, "port")
    return {names[index] for index in set(read_trial_table(trial, "port_series").column("port"))}


def _port_name(port: Port) -> str:
    return f"{port.node} → {port.towards}"


def end_of(run: Run) -> float:
    """End of the longest trial, in seconds."""
    ends = (trial.outcome.end_ps for arm in run.arms for trial in run.with_outcome(arm))
    return max(ends, default=0) / PS_PER_S or 1.0
