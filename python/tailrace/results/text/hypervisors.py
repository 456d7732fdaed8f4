"""The work of hypervisors' cores, and frames that found one of their queues full."""

from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import number
from tailrace.results.summary.hosts import HypervisorMeans
from tailrace.results.summary.summary import Summary

ROWS_MAX = 20
"""Hypervisors and arms that the text lists."""
HEAD = (
    "hypervisors",
    "arm",
    "programs",
    "system",
    "softirq",
    "polling",
    "idle",
    "switches/s",
    "exits/s",
    "overruns rx",
    "tx",
    "backlog",
)
NOTE = (
    "Cores busy on average, by kind of work; programs: virtual machines, neighbours, and "
    "polling threads while they"
    " switch frames; polling: for nothing. Overruns: frames of a trial that found a queue full."
)


def hypervisors_text(summary: Summary) -> str:
    """A table of the hypervisors of each arm, those with most overruns first; nothing without
    hypervisors."""
    rows = [
        [own.name, arm, *_cells(own)]
        for arm, of_arm in summary.arms.items()
        for own in _by_overruns(of_arm.hypervisors)
    ]
    if not rows:
        return ""
    more = f"\n{len(rows) - ROWS_MAX} more rows are in result.json" if len(rows) > ROWS_MAX else ""
    return f"{align([list(HEAD), *rows[:ROWS_MAX]], left=2)}{more}\n{fill(NOTE, WIDTH)}"


def _by_overruns(found: list[HypervisorMeans]) -> list[HypervisorMeans]:
    return sorted(found, key=lambda own: -own.overruns)


def _cells(own: HypervisorMeans) -> list[str]:
    switches = own.voluntary_per_s + own.involuntary_per_s
    cores = (own.user_cores, own.system_cores, own.softirq_cores, own.polling_cores, own.idle_cores)
    counted = (own.exits_per_s, own.receive_overruns, own.send_overruns, own.backlog_overruns)
    return [*map(number, (*cores, switches, *counted))]
