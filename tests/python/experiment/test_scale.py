"""A scaled experiment has fewer of everything that is counted, and the same rates."""

from lab import load
from tailrace.experiment.scale import scaled, workload_scales
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.oltp import Oltp
from tailrace.scenario.workloads.stream import Stream

COUNTED = {
    "workloads__orders__transactions": 507,
    "workloads__orders__warmup_transactions": 30,
    "workloads__backup__size": "1GB",
    "workloads__backup__start": "1s",
    "experiment__calibrate": {"to": "2s"},
}


def test_counts_sizes_and_times_shrink_and_rates_stay() -> None:
    full = load(**COUNTED).scenario
    small = scaled(full, 0.05)
    orders, backup = small.workloads["orders"], small.workloads["backup"]
    assert isinstance(orders, Oltp)
    assert isinstance(backup, Stream)
    assert (orders.transactions, orders.warmup_transactions, backup.size) == (25, 1, 50_000_000)
    assert backup.start == 50 * 10**9
    assert small.experiment.duration == 250 * 10**9
    assert small.experiment.calibrate is not None
    assert small.experiment.calibrate.to == 10**11
    assert orders.gap == full.workloads["orders"].gap  # type: ignore[attr-defined]  # it is an OLTP workload
    assert lower(small, "dpp", 1)["links"] == lower(full, "dpp", 1)["links"]


def test_the_scale_of_each_workload_is_told_exactly() -> None:
    counted = {**COUNTED, "experiment__calibrate": {"to": "2s", "method": "gap"}}
    full = load(**counted).scenario
    assert workload_scales(full, scaled(full, 0.05), 0.05) == {"orders": 25 / 507, "backup": 0.05}


def test_what_calibration_chooses_goes_by_the_clock() -> None:
    full = load(**COUNTED).scenario
    assert workload_scales(full, scaled(full, 0.05), 0.05)["orders"] == 0.05
    endless = load(workloads__orders__transactions=...).scenario
    assert workload_scales(endless, scaled(endless, 0.05), 0.05)["orders"] == 0.05


def test_a_count_never_becomes_nothing_and_what_has_no_end_keeps_none() -> None:
    small = scaled(load(workloads__orders__transactions=3).scenario, 0.001)
    assert small.workloads["orders"].transactions == 1  # type: ignore[attr-defined]  # it is an OLTP workload
    assert small.workloads["backup"].size is None  # type: ignore[attr-defined]  # it is a stream


def test_full_scale_changes_nothing() -> None:
    full = load().scenario
    assert scaled(full, 1.0) is full
