"""Slowdown of flows by their size."""

from dataclasses import replace
from pathlib import Path

import pytest

import whole
from fake_trial import write_table
from parts import part
from summaries import summary_of
from tailrace.report.charts.flow_slowdown import class_text, slowdown_panels
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.flow_slowdown import summarise_flow_slowdown
from tailrace.results.summary.workload import SizeClass, WorkloadSummary


def trial(
    folder: Path, rows: list[tuple[int, int, int, int]], *, number: int = 1, has_sizes: bool = True
) -> Trial:
    """A trial whose rows are (workload, size, latency, ideal)."""
    made = whole.trial(number=number, workloads=[{"name": "orders"}, {"name": "web"}])
    found = replace(made, files=whole.files_in(folder, number))
    columns = {
        "workload": ("u32", [row[0] for row in rows]),
        "start_ps": ("u64", [0 for _ in rows]),
        "latency_ps": ("u64", [row[2] for row in rows]),
    }
    if has_sizes:
        columns |= {
            "size_bytes": ("u64", [row[1] for row in rows]),
            "ideal_ps": ("u64", [row[3] for row in rows]),
        }
    write_table(found.files.table_path("transactions"), columns)
    return found


def test_flows_of_all_trials_are_classed_by_their_size(tmp_path: Path) -> None:
    small = [(1, 9_000, 100 * slowdown, 100) for slowdown in range(1, 51)]
    more = [(1, 10_000, 100 * slowdown, 100) for slowdown in range(51, 101)]
    trials = [
        trial(tmp_path, [*small, (0, 0, 7, 0)]),
        trial(tmp_path, [*more, (1, 10_001, 300, 100)], number=2),
    ]
    summary = summarise_flow_slowdown(trials, ["web"])
    assert summary is not None
    assert summary.sizes == [
        SizeClass(from_bytes=5_000, to_bytes=10_000, count=100, mean=50.5, p50=50, p99=99),
        SizeClass(from_bytes=10_000, to_bytes=20_000, count=1, mean=3, p50=3, p99=None),
    ]
    assert (summary.count, summary.p50, summary.p99) == (101, 50, 99)


def test_only_flows_with_sizes_have_a_slowdown(tmp_path: Path) -> None:
    rows = [(0, 0, 5, 0), (1, 1_000, 5, 1)]
    assert summarise_flow_slowdown([trial(tmp_path, rows)], ["orders"]) is None
    assert summarise_flow_slowdown([trial(tmp_path, rows, has_sizes=False)], ["web"]) is None
    assert summarise_flow_slowdown([trial(tmp_path, rows)], ["elsewhere"]) is None


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((0, 100), "up to 100 B"),
        ((5_000, 10_000), "5 kB to 10 kB"),
        ((500_000_000, None), "above 500 MB"),
    ],
)
def test_a_class_has_a_name(bounds: tuple[int, int | None], words: str) -> None:
    assert class_text(part(SizeClass, from_bytes=bounds[0], to_bytes=bounds[1])) == words


def test_a_panel_has_a_median_and_a_tail_for_each_arm(tmp_path: Path) -> None:
    rows = [(1, size, slowdown * 10, 10) for size in (9_000, 900_000) for slowdown in range(1, 201)]
    slowdown = summarise_flow_slowdown([trial(tmp_path, rows)], ["web"])
    arm = {"web": part(WorkloadSummary, flow_slowdown=slowdown), "orders": part(WorkloadSummary)}
    (panel,) = slowdown_panels(summary_of({"fifo": arm, "dctcp": arm}, ["orders", "web"]))
    assert panel.workload == "web"
    assert panel.chart.count("<path") == 4
    assert "fifo,5e+05,1e+06,200,100" in panel.csv
