"""Times of MPI jobs in the columns of the Intel MPI Benchmarks."""

from types import SimpleNamespace
from typing import Any

import pytest

from tailrace.results.metrics.mpi import summarise_mpi
from tailrace.results.text.mpi import mpi_heads, mpi_rows, mpi_text

US = 10**6


def trial(pattern: str, means_us: list[list[float]], sizes: list[int]) -> Any:
    """One trial of a job with these means of each rank, by size."""
    rows = [
        {
            "bytes": size,
            "planned": 100,
            "repetitions": 100,
            "ranks": len(of_ranks),
            "algorithm": "x",
            "mean_of_ranks_ps": [us * US for us in of_ranks],
            "min_ps": 1,
            "max_ps": 2 * max(of_ranks, default=0) * US,
        }
        for size, of_ranks in zip(sizes, means_us, strict=True)
    ]
    own = {"mpi_times": {"pattern": pattern, "ranks": 2, "sizes": rows}}
    return SimpleNamespace(workload=lambda name: own if name == "job" else {"mpi_times": None})


def test_a_ping_pong_takes_half_of_the_time_there_and_back() -> None:
    found = summarise_mpi([trial("pingpong", [[20.0], [2000.0]], [8, 1_000_000])], "job")
    assert found is not None
    assert [row["t_avg_us"] for row in found["rows"]] == [10.0, 1000.0]
    assert [row["mb_per_s"] for row in found["rows"]] == [0.8, 1000.0]
    assert found["rows"][0]["longest_us"] == 20.0
    assert mpi_heads(found) == ("#bytes", "#repetitions", "t[usec]", "longest", "Mbytes/sec")
    assert mpi_rows(found)[0] == ["8", "100", "10.00", "20.00", "0.8000"]


def test_repetitions_are_whole_unless_trials_differ() -> None:
    trials = [trial("bcast", [[10.0, 30.0]], [4]) for _ in range(2)]
    trials[0].workload("job")["mpi_times"]["sizes"][0]["repetitions"] = 12345
    trials[1].workload("job")["mpi_times"]["sizes"][0]["repetitions"] = 12345
    assert mpi_rows(summarise_mpi(trials, "job") or {})[0][1] == "12345"
    trials[1].workload("job")["mpi_times"]["sizes"][0]["repetitions"] = 12346
    assert mpi_rows(summarise_mpi(trials, "job") or {})[0][1] == "12 346"


@pytest.mark.parametrize(("pattern", "expected"), [("ring", 50.0), ("exchange", 100.0), ("allreduce", None)])
def test_ranks_have_a_fastest_a_slowest_and_a_mean(pattern: str, expected: float | None) -> None:
    found = summarise_mpi([trial(pattern, [[20.0, 40.0]], [1000])], "job")
    assert found is not None
    [row] = found["rows"]
    assert (row["t_min_us"], row["t_max_us"], row["t_avg_us"], row["mb_per_s"]) == (20.0, 40.0, 30.0, expected)


def test_figures_are_means_over_trials_and_sizes_without_iterations_are_omitted() -> None:
    trials = [trial("bcast", [[10.0, 30.0], []], [4, 8]), trial("bcast", [[20.0, 50.0], []], [4, 8])]
    found = summarise_mpi(trials, "job")
    assert found is not None
    [row] = found["rows"]
    assert (row["t_min_us"], row["t_max_us"], row["longest_us"]) == (15.0, 40.0, 100.0)
    summary = {"workloads": ["job"], "arms": {"base": {"workloads": {"job": {"mpi_figures": found}}}}}
    title, head, line = mpi_text(summary).splitlines()
    assert title == "job base: bcast, 2 ranks"
    assert "t_min[usec]" in head
    assert "Mbytes/sec" not in head
    assert line.split() == ["4", "100", "15.00", "40.00", "27.50", "100.0"]


def test_other_workloads_have_none() -> None:
    assert summarise_mpi([trial("bcast", [], [])], "backup") is None
    assert mpi_text({"workloads": ["job"], "arms": {"base": {"workloads": {"job": {"mpi_figures": None}}}}}) == ""
