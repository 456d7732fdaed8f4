"""The reproduction of an SSD against its specification: a run, arithmetic, and the page."""

import re
from pathlib import Path

import pytest

import tailrace
from tailrace.results.summary.summary import Summary

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "ssd-specification"
READS_PER_S, WRITES_PER_S, SHEET_GHZ, GHZ = 98_000, 90_000, 3.0, 2.4
PIECE_US = 512 * 1024 / 540
"""Of 512 KiB on a link of 540 MB/s."""
SERVER_US, COST_US = 102.04, 12.755
CYCLE_US = COST_US + SERVER_US + 2 * PIECE_US
"""One request of 1 MiB at a time: the thread, a server, and two pieces one behind the other on the
link."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return tailrace.run(HERE / "scenario.yaml", out=tmp_path_factory.mktemp("runs") / "ssd").summary


@pytest.mark.parametrize(
    ("arm", "metric", "expected"),
    [
        ("read-4k", "read_iops", READS_PER_S * GHZ / SHEET_GHZ),
        ("write-4k", "write_iops", WRITES_PER_S * GHZ / SHEET_GHZ),
        ("read-4k-free", "read_iops", READS_PER_S),
        ("write-4k-free", "write_iops", WRITES_PER_S),
        ("write-4k-one-cost", "write_iops", 80_000),
        ("split", "device_requests_per_s", 2e6 / CYCLE_US),
        ("split", "device_await_ms", (SERVER_US + 1.5 * PIECE_US) / 1e3),
        ("split", "device_queue_mean", (2 * SERVER_US + 3 * PIECE_US) / CYCLE_US),
        ("split-1024", "device_requests_per_s", 2e6 / CYCLE_US),
        ("whole", "device_requests_per_s", 1e6 / CYCLE_US),
    ],
)
def test_a_run_gives_what_arithmetic_gives(
    summary: Summary, arm: str, metric: str, expected: float
) -> None:
    figures = summary.arms[arm].workloads["fio"].storage_figures
    assert getattr(figures, metric) == pytest.approx(expected, rel=0.003)


def test_only_one_cost_for_both_misses_an_independent_figure(summary: Summary) -> None:
    judged = summary.expectations
    assert [one.arm for one in judged if not one.passed] == ["write-4k-one-cost"]
    assert sum(one.kind == "independent" for one in judged) == 9


def test_no_single_cost_is_within_eight_percent_of_both() -> None:
    bounds = {(80_000 * 0.92, 80_000 * 1.08), (67_000 * 0.92, 67_000 * 1.08)}
    assert max(low for low, _ in bounds) > min(high for _, high in bounds), (
        "one thread has one rate"
    )


def test_the_page_has_the_figures_of_the_run(summary: Summary) -> None:
    page = (HERE / "README.md").read_text(encoding="utf-8")
    told = [float(text.replace(" ", "")) for text in re.findall(r"([\d][\d .]*\d) [✓✗]", page)]
    here = [one.value for one in summary.expectations]
    assert len(told) >= 12
    for value in told:
        assert any(value == pytest.approx(found, rel=0.001) for found in here), value
