"""MPI jobs: times by size, as the Intel MPI Benchmarks print them."""

from collections.abc import Sequence

from tailrace.outcome.types import MpiSize
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import number
from tailrace.results.kinds.contribution import Contribution, OwnTable, TablesOfWorkloads
from tailrace.results.metrics.latency import workloads_of
from tailrace.results.summary.kinds import MpiFigures, MpiSizeFigures
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.statistics import mean

PS_PER_US = 10**6
PAIR = "pingpong"
"""The pattern whose time is half of that there and back."""
CROSSINGS = {"ring": 2, "exchange": 4}
"""Messages of an iteration that the bandwidth of a pattern counts for each rank (IMB Sendrecv,
Exchange)."""
WITH_BANDWIDTH = (PAIR, *CROSSINGS)
"""Patterns whose bandwidth the benchmarks print."""
HEAD = (
    "#bytes",
    "#repetitions",
    "t_min[usec]",
    "t_max[usec]",
    "t_avg[usec]",
    "longest",
    "Mbytes/sec",
)
PAIR_HEAD = ("#bytes", "#repetitions", "t[usec]", "longest", "Mbytes/sec")
CAPTION = (
    "Mean time of an iteration in microseconds, as the Intel MPI Benchmarks print it: the fastest "
    "rank, the slowest, and their mean; of a pingpong half of the time there and back. Longest: "
    "one iteration of one rank."
)


def summarise_mpi(trials: Sequence[Trial], members: Sequence[str]) -> MpiFigures | None:
    """Means over trials, for each size; None for a workload that is no job of MPI."""
    found = [
        own.mpi_times for trial in trials for own in workloads_of(trial, members) if own.mpi_times
    ]
    if not found:
        return None
    first = found[0]
    sizes = zip(*(own.sizes for own in found), strict=True)
    rows = [row for by_size in sizes if (row := _row(first.pattern, by_size))]
    return MpiFigures(pattern=first.pattern, ranks=first.ranks, rows=rows)


def _row(pattern: str, by_size: Sequence[MpiSize]) -> MpiSizeFigures | None:
    """One size in all trials that came to it; None where none did."""
    done = [own for own in by_size if own.mean_of_ranks_ps]
    if not done:
        return None
    share = 0.5 if pattern == PAIR else 1.0
    times = [[ps * share / PS_PER_US for ps in own.mean_of_ranks_ps] for own in done]
    slowest = mean([max(of_ranks) for of_ranks in times])
    size = done[0].bytes
    return MpiSizeFigures(
        bytes=size,
        repetitions=mean([float(own.repetitions) for own in done]),
        t_min_us=mean([min(of_ranks) for of_ranks in times]),
        t_max_us=slowest,
        t_avg_us=mean([mean(of_ranks) for of_ranks in times]),
        longest_us=max(own.max_ps or 0 for own in done) * share / PS_PER_US,
        mb_per_s=_bandwidth(pattern, size, slowest),
        algorithm=done[0].algorithm,
    )


def _bandwidth(pattern: str, size: int, time_us: float) -> float | None:
    """Megabytes (a million bytes) per second; None for patterns without."""
    if pattern not in WITH_BANDWIDTH or not time_us:
        return None
    return CROSSINGS.get(pattern, 1) * size / time_us


def mpi_tables(summary: Summary) -> list[TablesOfWorkloads]:
    """A table for each job and arm; none where there is no job."""
    found = [
        OwnTable(name, arm, f"{job.pattern}, {job.ranks} ranks", mpi_head(job), mpi_rows(job))
        for name in summary.workloads
        for arm, of_arm in summary.arms.items()
        if (job := _job(of_arm.workloads.get(name))) and job.rows
    ]
    return [TablesOfWorkloads("MPI, by size", CAPTION, found)] if found else []


def _job(own: WorkloadSummary | None) -> MpiFigures | None:
    return own.mpi_figures if own else None


def mpi_head(found: MpiFigures) -> tuple[str, ...]:
    """The heads of the columns that this pattern has."""
    head = PAIR_HEAD if found.pattern == PAIR else HEAD
    return head if _has_bandwidth(found) else head[:-1]


def _has_bandwidth(found: MpiFigures) -> bool:
    return any(row.mb_per_s is not None for row in found.rows)


def mpi_rows(found: MpiFigures) -> list[list[str]]:
    """A row for each size."""
    has_bandwidth = _has_bandwidth(found)
    return [
        [
            str(row.bytes),
            _count(row.repetitions),
            *(number(time_us) for time_us in _times_us(found.pattern, row)),
            *([number(row.mb_per_s)] if has_bandwidth else []),
        ]
        for row in found.rows
    ]


def _times_us(pattern: str, row: MpiSizeFigures) -> tuple[float, ...]:
    if pattern == PAIR:
        return row.t_avg_us, row.longest_us
    return row.t_min_us, row.t_max_us, row.t_avg_us, row.longest_us


def _count(repetitions: float) -> str:
    """A mean over trials: whole where all trials had as many."""
    return f"{repetitions:.0f}" if repetitions == round(repetitions) else number(repetitions)


MPI = Contribution(
    figures={},
    tables=mpi_tables,
)
