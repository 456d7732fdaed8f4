"""Percentiles of latency and completed transactions over time, from the transactions that trials
kept one by one."""

from bisect import bisect_left
from dataclasses import dataclass

from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.series import SeriesLine, TimeChart, Values, cell_middles, lines_of
from tailrace.report.limits import ARMS_DRAWN_MAX, PANELS_MAX
from tailrace.report.plan_facts import PlanFacts
from tailrace.results import Run, Trial
from tailrace.results.directory.tables import read_trial_table
from tailrace.results.format.numbers import PS_PER_MS, PS_PER_S
from tailrace.results.metrics.definitions import noun_of
from tailrace.results.metrics.flow_slowdown import value_at
from tailrace.scenario.workloads.kinds import facts_of

# Cells of a chart; fewer where many lines share the bytes of a page.
CELLS_MAX = 60
CELLS_MIN = 8
LINES_WITH_ALL_CELLS = 24
# Minimum number of transactions for a percentile: below it, a 99th percentile is the maximum.
COUNT_P50 = 5
COUNT_P99 = 100
# Read for one page: more cost seconds. Later trials are left out first.
ROWS_MAX = 1_000_000


@dataclass(frozen=True)
class Kept:
    """The recorded transactions of a workload in one trial: ends in ascending order with latencies,
    complete until `until_s`."""

    trial: int
    ends_s: list[float]
    latencies_ms: list[float]
    until_s: float
    is_whole: bool
    """Whether the trial completed no more than it kept."""


@dataclass(frozen=True)
class OverTime:
    """Charts of one workload: percentiles, and in a closed loop the rate."""

    workload: str
    percentiles: TimeChart
    rate: TimeChart | None
    is_cut: bool
    """Whether a trial completed more than it kept one by one."""


def charts_over_time(run: Run, facts: dict[str, PlanFacts]) -> tuple[list[OverTime], int]:
    """Charts of every workload with kept transactions, and the number of trials that were not
    read."""
    arms = run.arms[:ARMS_DRAWN_MAX]
    workloads = run.workloads[:PANELS_MAX]
    kept, unread = _read(run, arms, workloads)
    timeouts = {
        name: sorted({f.rto_min_ms[name] for f in facts.values() if name in f.rto_min_ms})
        for name in workloads
    }
    end_s = (
        max((trial.outcome.end_ps for arm in arms for trial in run.with_outcome(arm)), default=0)
        / PS_PER_S
        or 1.0
    )
    charts = []
    for index, workload in enumerate(workloads):
        of_arm = {arm: found for arm in arms if (found := kept.get((arm, workload)))}
        if of_arm:
            cells = _cells(
                [sum(len(one.ends_s) for one in found) for found in of_arm.values()], len(workloads)
            )
            one = _charts(run, workload, index, of_arm, end_s, cells)
            one.percentiles.lines.extend(_timeouts(one.percentiles, timeouts[workload]))
            charts.append(one)
    return charts, unread


def _charts(
    run: Run, workload: str, index: int, of_arm: dict[str, list[Kept]], end_s: float, cells: int
) -> OverTime:
    times = cell_middles(end_s, cells)
    figures: list[SeriesLine] = []
    rates: list[SeriesLine] = []
    for arm, found in of_arm.items():
        style = arm_class(run.arms.index(arm))
        p50, p99 = _percentiles(found, end_s, cells)
        figures += [
            SeriesLine(f"{arm} p50", style, p50),
            SeriesLine(f"{arm} p99", f"{style} upper", p99),
        ]
        rates += lines_of(arm, style, [(one.trial, _rate(one, end_s, cells)) for one in found])
    is_closed = _has_rate(run, workload)
    return OverTime(
        workload,
        TimeChart(
            f"percentiles-{index}",
            workload,
            "latency, ms",
            times,
            figures,
            is_log=True,
            workload=index,
        ),
        TimeChart(
            f"rate-{index}", workload, f"{_noun(run, workload)}/s", times, rates, workload=index
        )
        if is_closed
        else None,
        not all(one.is_whole for found in of_arm.values() for one in found),
    )


def _timeouts(chart: TimeChart, timeouts_ms: list[float]) -> list[SeriesLine]:
    """A level line at each minimum retransmission timeout that percentiles lie around."""
    values = [value for line in chart.lines for value in line.values if value is not None]
    near = [rto for rto in timeouts_ms if values and min(values) <= rto <= max(values)]
    return [
        SeriesLine(f"minimum RTO {rto:g} ms", "bad upper", [rto] * len(chart.times_s))
        for rto in near
    ]


def _cells(counts: list[int], workloads: int) -> int:
    """Cells in which the least of the arms has enough transactions for a 99th percentile."""
    most = CELLS_MAX if len(counts) * workloads <= LINES_WITH_ALL_CELLS else CELLS_MAX // 2
    return max(CELLS_MIN, min(most, min(counts) // (2 * COUNT_P99)))


def _noun(run: Run, workload: str) -> str:
    return noun_of([kind] if (kind := run.kind_of(workload)) else [])


def _has_rate(run: Run, workload: str) -> bool:
    kind = run.kind_of(workload)
    return kind is not None and facts_of(kind).has_metric("rate_per_s")


def _percentiles(found: list[Kept], end_s: float, cells: int) -> tuple[Values, Values]:
    """Median and 99th percentile of the transactions completed in every cell, all trials
    together."""
    p50: Values = []
    p99: Values = []
    for cell in range(cells):
        left, right = end_s * cell / cells, end_s * (cell + 1) / cells
        values = sorted(
            latency
            for one in found
            for latency in one.latencies_ms[
                bisect_left(one.ends_s, left) : bisect_left(one.ends_s, right)
            ]
        )
        p50.append(value_at(values, 0.5) if len(values) >= COUNT_P50 else None)
        p99.append(value_at(values, 0.99) if len(values) >= COUNT_P99 else None)
    return p50, p99


def _rate(kept: Kept, end_s: float, cells: int) -> Values:
    """Transactions completed per second; None where the trial had ended or kept no more."""
    width = end_s / cells
    values: Values = []
    for cell in range(cells):
        left, right = cell * width, min((cell + 1) * width, kept.until_s)
        count = bisect_left(kept.ends_s, right) - bisect_left(kept.ends_s, left)
        values.append(count / (right - left) if right - left > width / 2 else None)
    return values


def _read(
    run: Run, arms: list[str], workloads: list[str]
) -> tuple[dict[tuple[str, str], list[Kept]], int]:
    """By arm and workload the recorded transactions, and the number of trials that were not
    read."""
    found: dict[tuple[str, str], list[Kept]] = {}
    unread = 0
    for arm in arms:
        left = ROWS_MAX // len(arms)
        for trial in run.with_outcome(arm):
            if not trial.has_table("transactions"):
                continue
            if left <= 0:
                unread += 1
                continue
            for workload, one in _kept(trial, workloads).items():
                found.setdefault((arm, workload), []).append(one)
                left -= len(one.ends_s)
    return found, unread


def _kept(trial: Trial, workloads: list[str]) -> dict[str, Kept]:
    table = read_trial_table(trial, "transactions")
    names = {number: name for name, number in trial.workload_numbers.items() if name in workloads}
    rows: dict[str, list[tuple[float, float]]] = {}
    columns = (table.column(name) for name in ("workload", "start_ps", "latency_ps"))
    for number, start_ps, latency_ps in zip(*columns, strict=True):
        if number in names:
            row = ((start_ps + latency_ps) / PS_PER_S, latency_ps / PS_PER_MS)
            rows.setdefault(names[number], []).append(row)
    kept = {}
    for name, listed in rows.items():
        listed.sort()
        outcome = trial.workloads[name]
        is_whole = len(listed) >= outcome.transactions
        end_ps = outcome.completion_ps or trial.outcome.end_ps
        until_s = end_ps / PS_PER_S if is_whole else listed[-1][0]
        kept[name] = Kept(
            trial.number,
            [end for end, _ in listed],
            [latency for _, latency in listed],
            until_s,
            is_whole,
        )
    return kept
