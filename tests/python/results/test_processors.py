"""What processors of hosts did: figures of a trial, means over trials."""

from typing import Any

import pytest

import whole
from fake_processor import processor
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics import processors


def trial(**changes: Any) -> Trial:
    hosts = [
        {"name": "db", "processor": processor(**changes)},
        {"name": "client", "processor": None},
    ]
    done = [{"name": name, "transactions": 50} for name in ("orders", "others")]
    return whole.trial(hosts=hosts, workloads=done, end_ps=2 * 10**12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("cpu_s", 1.0),
        ("context_switches", 400.0),
        ("involuntary_switches", 100.0),
        ("cpu_us_per_transaction", 20_000.0),
        ("switches_per_transaction", 8.0),
    ],
)
def test_programs_of_a_workload(metric: str, expected: float) -> None:
    assert processors.workload_figure(trial(), "orders", metric) == expected
    assert processors.workload_figure(trial(), "others", metric) is None


def test_processors_as_a_whole() -> None:
    found = trial()
    assert processors.runnable_mean(found) == 1.5
    assert processors.busiest_core_percent(found, processors.busy_ps) == 50
    assert processors.busiest_core_percent(found, processors.softirq_ps) == 50
    assert processors.throttled_s(found) == 0.5
    assert processors.throttled_s(trial(groups=[])) is None


def test_means_over_trials() -> None:
    [row] = processors.summarise_processors([trial(), trial(migrations=30)])
    assert (row.name, row.cores, row.user_cores, row.idle_cores) == ("db", 2, 0.5, 1)
    assert (row.voluntary_per_s, row.migrations_per_s, row.throttled_s) == (150, 10, 0.5)
