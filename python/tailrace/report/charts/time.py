"""Quantities over time: queue occupancy of the busiest ports, throughput of the workloads."""

from collections import defaultdict
from collections.abc import Iterable

from markupsafe import Markup

from tailrace.report.scale import Linear, linear_from_zero
from tailrace.report.series import Steps, TimeChart, cell_means, cell_middles, lines_of
from tailrace.report.svg import line, lines, plot, x_axis, y_axis
from tailrace.results import Run, Trial
from tailrace.results.tables import read_trial_table

HEIGHT_PX = 200
# Ports with a chart of their own: the ones that lost most frames, then the ones with the longest queues.
PORTS_MAX = 3
# More lines than this cannot be told apart.
WORKLOADS_MAX = 8
PS_PER_S = 1e12

Columns = dict[str, list[float]]


def queue_charts(run: Run) -> list[TimeChart]:
    """Occupancy over time of the ports that matter most, all arms in one chart."""
    series = {arm: [(trial, _by_index(trial, "port_series", "port")) for trial in run.valid(arm)] for arm in run.arms}
    charts: list[TimeChart] = []
    for name in _ports(trials for trials in series.values()):
        end_s = _end_s(run)
        found = []
        for index, (arm, trials) in enumerate(series.items()):
            means = [
                (trial.number, cell_means(_queue_steps(trial, columns[port]), end_s))
                for trial, columns in trials
                if (port := _port_index(trial, name)) in columns
            ]
            found += lines_of(arm, f"arm-{index % 6}", means) if means else []
        charts.append(
            TimeChart(f"queue-{len(charts)}", name, "queue, MB (mean of each cell)", cell_middles(end_s), found)
        )
    return charts


def throughput_charts(run: Run) -> list[TimeChart]:
    """Goodput of every workload over time, one chart per arm."""
    charts = []
    end_s = _end_s(run)
    for arm in run.arms:
        read = [(trial, _by_index(trial, "workload_series", "workload")) for trial in run.valid(arm)]
        found = []
        for index, workload in enumerate(run.workloads[:WORKLOADS_MAX]):
            means = [
                (trial.number, cell_means(_goodput_steps(trial, columns[at]), end_s))
                for trial, columns in read
                if (at := _workload_index(trial, workload)) in columns
            ]
            found += lines_of(workload, f"workload-{index}", means) if means else []
        if found:
            charts.append(TimeChart(f"goodput-{arm}", arm, "goodput, Gbit/s", cell_middles(end_s), found))
    return charts


def time_chart(chart: TimeChart, highest: float | None = None) -> Markup:
    """The chart as it prints and as it stands without scripts."""
    y = linear_from_zero([highest] if highest else _values(chart), count=4)
    x = Linear(0.0, chart.times_s[-1] + chart.times_s[0], 6)
    paths = []
    for one in chart.lines:
        points = list(zip(chart.times_s, one.values, strict=True))
        paths.append(line(points, x, y, class_=f"line {'thin ' if one.trial else ''}{one.style}"))
    label = f"{chart.y_title} over time, {chart.title}. The values stand below as a table."
    return plot([*x_axis(x, HEIGHT_PX), *y_axis(y, HEIGHT_PX), lines(paths)], height=HEIGHT_PX, label=label, left=44)


def highest_value(charts: Iterable[TimeChart]) -> float:
    """Largest value of several charts that share an axis."""
    return max((value for chart in charts for value in _values(chart)), default=1.0)


def _values(chart: TimeChart) -> list[float]:
    return [value for one in chart.lines for value in one.values if value is not None]


def _by_index(trial: Trial, table: str, key: str) -> dict[int, Columns]:
    """Rows of a series, split by port or workload. Empty where the trial did not record it."""
    if not trial.table_path(table).exists():
        return {}
    read = read_trial_table(trial, table)
    columns = {name: read.column(name) for name in read.column_names}
    rows: dict[int, list[int]] = defaultdict(list)
    for row, index in enumerate(columns[key]):
        rows[index].append(row)
    return {index: {name: [values[r] for r in at] for name, values in columns.items()} for index, at in rows.items()}


def _queue_steps(trial: Trial, columns: Columns) -> Steps:
    megabytes = [value / 1e6 for value in columns["queue_mean_bytes"]]
    return Steps([start / PS_PER_S for start in columns["start_ps"]], megabytes, trial.outcome["end_ps"] / PS_PER_S)


def _goodput_steps(trial: Trial, columns: Columns) -> Steps:
    starts_s = [start / PS_PER_S for start in columns["start_ps"]]
    end_s = trial.outcome["end_ps"] / PS_PER_S
    widths_s = [right - left for left, right in zip(starts_s, [*starts_s[1:], max(end_s, starts_s[-1])], strict=True)]
    rates = [size * 8e-9 / w if w > 0 else 0.0 for size, w in zip(columns["goodput_bytes"], widths_s, strict=True)]
    return Steps(starts_s, rates, end_s)


def _ports(arms: Iterable[list[tuple[Trial, dict[int, Columns]]]]) -> list[str]:
    """Names of recorded ports, those with most drops first."""
    weights: dict[str, tuple[int, float]] = {}
    for trial, columns in (pair for trials in arms for pair in trials):
        for index in columns:
            port = trial.outcome["ports"][index]
            name = f"{port['node']} → {port['towards']}"
            drops, depth = weights.get(name, (0, 0.0))
            lost = sum(cause["frames"] for queue in port["queues"] for cause in queue["drops"].values())
            weights[name] = (drops + lost, max(depth, *(queue["depth_mean_bytes"] for queue in port["queues"])))
    busiest = sorted(weights, key=lambda name: weights[name], reverse=True)
    return [name for name in busiest if weights[name] > (0, 0.0)][:PORTS_MAX]


def _port_index(trial: Trial, name: str) -> int:
    names = [f"{port['node']} → {port['towards']}" for port in trial.outcome["ports"]]
    return names.index(name) if name in names else -1


def _workload_index(trial: Trial, name: str) -> int:
    names = [workload["name"] for workload in trial.outcome["workloads"]]
    return names.index(name) if name in names else -1


def _end_s(run: Run) -> float:
    ends = (trial.outcome["end_ps"] for arm in run.arms for trial in run.valid(arm))
    return max(ends, default=0) / PS_PER_S or 1.0
