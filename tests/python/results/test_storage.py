"""Figures of requests of storage: what a run of a device of constant times must give."""

from typing import Any

import pytest

import tailrace
import whole
from lab import sound
from tailrace import report
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.kinds.storage import storage_figure, summarise_storage
from tailrace.results.summarise import summarise
from tailrace.results.summary.kinds import StorageFigures
from tailrace.results.text.run import format_table
from tailrace.scenario.vocabulary import STORAGE_METRICS, STORAGE_PARTS

DEVICE: dict[str, Any] = {
    "servers": 4,
    "read_latency": "100us",
    "write_latency": "200us",
    "read_rate": "8GB/s",
    "write_rate": "8GB/s",
    "link": "duplex",
}
DISK: dict[str, Any] = {
    "kind": "storage",
    "initiators": ["client", "db"],
    "device": "own",
    "depth": 4,
    "block": "512B",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = sound(
        workloads__backup=...,
        devices={"own": DEVICE},
        workloads__disk=DISK,
        workloads__orders=...,
        arms=...,
    )
    scenario["workloads"]["writer"] = DISK | {
        "initiators": ["bulk"],
        "read": 0,
        "depth": 8,
        "flush_every": 400,
    }
    scenario["experiment"] = {"duration": "60ms", "warm_up": "10ms", "trials": 1}
    return Run.read(tailrace.run(scenario, out=tmp_path_factory.mktemp("storage") / "run").path)


def trials(run: Run) -> list[Trial]:
    return run.trials["base"]


def figure(run: Run, workload: str, metric: str) -> float | None:
    [trial] = trials(run)
    return storage_figure(trial, workload, metric)


@pytest.mark.parametrize(
    ("workload", "metric", "expected"),
    [
        ("disk", "read_iops", 2 * 4 / 100e-6),
        ("disk", "read_mbytes_per_s", 2 * 4 / 100e-6 * 512 / 1e6),
        ("disk", "read_latency_mean_ms", 0.1),
        ("disk", "read_latency_max_ms", 0.1),
        ("disk", "write_iops", 0),
        ("disk", "waits_device_percent", 100),
        ("disk", "waits_queue_percent", 0),
        ("disk", "device_requests_per_s", 2 * 4 / 100e-6),
        ("disk", "device_await_ms", 0.1),
        ("disk", "device_queue_mean", 4),
        ("disk", "device_busy_percent", 100),
        ("writer", "write_iops", 4 / 200e-6),
        ("writer", "write_latency_p50_ms", 0.4),
        ("writer", "waits_queue_percent", 50),
        ("writer", "device_queue_mean", 8),
    ],
)
def test_figures_are_those_of_the_device(
    run: Run, workload: str, metric: str, expected: float
) -> None:
    assert figure(run, workload, metric) == pytest.approx(expected, rel=0.03, abs=1)


@pytest.mark.parametrize(("busy_s", "expected"), [(3.0, 100), (0.0, 0)])
def test_a_device_is_busy_for_all_of_the_time_at_most(busy_s: float, expected: float) -> None:
    """A piece that was under way when the measured time began brings all of its time."""
    requests = {"devices": {"busy_s": busy_s, "count": 1, "pieces": 1, "pieces_wait_s": 3.0}}
    own = {"name": "disk", "kind": "storage", "storage_requests": requests}
    assert (
        storage_figure(whole.trial(end_ps=10**12, workloads=[own]), "disk", "device_busy_percent")
        == expected
    )


def test_parts_are_all_of_the_time_and_what_did_not_happen_has_no_latency(run: Run) -> None:
    for workload in ("disk", "writer"):
        parts = [figure(run, workload, f"waits_{part}_percent") for part in STORAGE_PARTS]
        assert sum(part for part in parts if part is not None) == pytest.approx(100)
    assert figure(run, "disk", "write_latency_p99_ms") is None
    assert figure(run, "disk", "flush_latency_mean_ms") is None
    assert figure(run, "writer", "flush_latency_mean_ms") == pytest.approx(0.2, abs=0.21)


def test_requests_of_a_group_are_those_of_its_members(run: Run) -> None:
    both = summarise_storage(trials(run), ["disk", "writer"])
    assert both is not None
    for metric in ("read_iops", "read_latency_p99_ms"):
        assert getattr(both, metric) == pytest.approx(figure(run, "disk", metric))
    for metric in ("write_mbytes_per_s", "write_latency_p50_ms", "flush_latency_mean_ms"):
        assert getattr(both, metric) == pytest.approx(figure(run, "writer", metric))
    parts = [getattr(both, f"waits_{part}_percent") for part in STORAGE_PARTS]
    assert sum(part for part in parts if part is not None) == pytest.approx(100)
    assert 0 < (both.waits_queue_percent or 0) < 50, "between that of the one and of the other"
    assert both.device_requests_per_s is None, "members may share a device"
    assert summarise_storage(trials(run), ["nothing"]) is None


def test_rates_of_a_group_are_over_the_longest_of_its_times() -> None:
    """One of two is done with its 100 reads after a second, the other goes on until the end of the
    trial."""
    requests = {"read": {"count": 100, "bytes": 4_000_000}}
    early = {
        "name": "early",
        "kind": "storage",
        "completion_ps": 10**12,
        "storage_requests": requests,
    }
    late = {"name": "late", "kind": "storage", "storage_requests": requests}
    both = summarise_storage(
        [whole.trial(end_ps=4 * 10**12, workloads=[early, late])], ["early", "late"]
    )
    assert both
    assert (both.read_iops, both.read_mbytes_per_s) == pytest.approx((200 / 4, 2.0))


def test_other_workloads_have_none_and_the_summary_has_all(run: Run) -> None:
    assert summarise_storage(trials(run), ["nothing"]) is None
    assert StorageFigures.__struct_fields__ == tuple(STORAGE_METRICS)
    assert isinstance(summarise_storage(trials(run), ["disk"]), StorageFigures)


def test_the_tables_show_them(run: Run) -> None:
    shown = format_table(summarise(run.path))
    rows = [line.split() for line in shown.splitlines() if line.startswith(("disk ", "writer "))]
    by_length = [row for row in rows if row[1] == "base" and "100.0" in row]
    assert "requests of storage" in shown
    assert "time of requests of storage" in shown
    assert by_length, "the busy device, and the share of its time"


def test_the_report_shows_them(run: Run) -> None:
    text = report.write(run.path).read_text(encoding="utf-8")
    assert "<summary>Requests of storage</summary>" in text
    assert "<summary>Time of requests of storage</summary>" in text
