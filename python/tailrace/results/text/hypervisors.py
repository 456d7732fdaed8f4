"""What the cores of hypervisors spent their time on, and frames that found one of their queues full."""

from typing import Any

from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import number

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
KINDS = ("user", "system", "softirq", "polling", "idle")
COUNTED = ("exits_per_s", "receive_overruns", "send_overruns", "backlog_overruns")
NOTE = (
    "Cores busy on average, by kind of work; programs: virtual machines, neighbours, and polling threads while they"
    " switch frames; polling: for nothing. Overruns: frames of a trial that found a queue full."
)


def hypervisors_text(summary: dict[str, Any]) -> str:
    """A table of the hypervisors of each arm, those with most overruns first; nothing without hypervisors."""
    rows = [
        [own["name"], arm, *_cells(own)]
        for arm, of_arm in summary["arms"].items()
        for own in sorted(of_arm["hypervisors"], key=lambda own: -own["overruns"])
    ]
    if not rows:
        return ""
    more = f"\n{len(rows) - ROWS_MAX} more rows are in result.json" if len(rows) > ROWS_MAX else ""
    return f"{align([list(HEAD), *rows[:ROWS_MAX]], left=2)}{more}\n{fill(NOTE, WIDTH)}"


def _cells(own: dict[str, float]) -> list[str]:
    switches = own["voluntary_per_s"] + own["involuntary_per_s"]
    return [
        *(number(own[f"{kind}_cores"]) for kind in KINDS),
        number(switches),
        *(number(own[key]) for key in COUNTED),
    ]
