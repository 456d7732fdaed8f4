"""Times of MPI jobs in the columns of the Intel MPI Benchmarks."""

import pytest

import whole
from parts import part
from summaries import summary_of
from tailrace.results.directory.run_directory import Trial
from tailrace.results.kinds.mpi import mpi_head, mpi_rows, summarise_mpi
from tailrace.results.kinds.registry import kinds_text
from tailrace.results.summary.kinds import MpiFigures
from tailrace.results.summary.workload import WorkloadSummary

US = 10**6


def trial(
    pattern: str, means_us: list[list[float]], sizes: list[int], repetitions: int = 100
) -> Trial:
    """One trial of a job with these means of each rank, by size."""
    rows = [
        {
            "bytes": size,
            "planned": 100,
            "repetitions": repetitions,
            "ranks": len(of_ranks),
            "algorithm": "x",
            "mean_of_ranks_ps": [us * US for us in of_ranks],
            "min_ps": 1,
            "max_ps": int(2 * max(of_ranks, default=0) * US),
        }
        for size, of_ranks in zip(sizes, means_us, strict=True)
    ]
    own = {
        "name": "job",
        "kind": "mpi",
        "mpi_times": {"pattern": pattern, "ranks": 2, "sizes": rows},
    }
    return whole.trial(workloads=[own, {"name": "backup", "kind": "stream"}])


def text(found: MpiFigures | None) -> str:
    return kinds_text(
        summary_of({"base": {"job": part(WorkloadSummary, mpi_figures=found)}}, ["job"])
    )


def test_a_ping_pong_takes_half_of_the_time_there_and_back() -> None:
    found = summarise_mpi([trial("pingpong", [[20.0], [2000.0]], [8, 1_000_000])], ["job"])
    assert found is not None
    assert [row.t_avg_us for row in found.rows] == [10.0, 1000.0]
    assert [row.mb_per_s for row in found.rows] == [0.8, 1000.0]
    assert found.rows[0].longest_us == 20.0
    assert mpi_head(found) == ("#bytes", "#repetitions", "t[usec]", "longest", "Mbytes/sec")
    assert mpi_rows(found)[0] == ["8", "100", "10.00", "20.00", "0.8000"]


def test_repetitions_are_whole_unless_trials_differ() -> None:
    for counts, told in (((12345, 12345), "12345"), ((12345, 12346), "12 346")):
        found = summarise_mpi(
            [trial("bcast", [[10.0, 30.0]], [4], count) for count in counts], ["job"]
        )
        assert found is not None
        assert mpi_rows(found)[0][1] == told


@pytest.mark.parametrize(
    ("pattern", "expected"), [("ring", 50.0), ("exchange", 100.0), ("allreduce", None)]
)
def test_ranks_have_a_fastest_a_slowest_and_a_mean(pattern: str, expected: float | None) -> None:
    found = summarise_mpi([trial(pattern, [[20.0, 40.0]], [1000])], ["job"])
    assert found is not None
    [row] = found.rows
    assert (row.t_min_us, row.t_max_us, row.t_avg_us, row.mb_per_s) == (20.0, 40.0, 30.0, expected)


def test_figures_are_means_over_trials_and_sizes_without_iterations_are_omitted() -> None:
    trials = [
        trial("bcast", [[10.0, 30.0], []], [4, 8]),
        trial("bcast", [[20.0, 50.0], []], [4, 8]),
    ]
    found = summarise_mpi(trials, ["job"])
    assert found is not None
    [row] = found.rows
    assert (row.t_min_us, row.t_max_us, row.longest_us) == (15.0, 40.0, 100.0)
    title, head, line = text(found).splitlines()
    assert title == "job base: bcast, 2 ranks"
    assert "t_min[usec]" in head
    assert "Mbytes/sec" not in head
    assert line.split() == ["4", "100", "15.00", "40.00", "27.50", "100.0"]


def test_other_workloads_have_none() -> None:
    assert summarise_mpi([trial("bcast", [], [])], ["backup"]) is None
    assert text(None) == ""
