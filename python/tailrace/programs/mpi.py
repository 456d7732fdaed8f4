"""MPI jobs of real programs: the tasks of a workload's ranks, and the measurements."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tailrace.errors import KeyPath
from tailrace.outcome.types import MpiSize, MpiTimes, Workload
from tailrace.programs.draws import Draw
from tailrace.programs.errors import ProgramError
from tailrace.programs.latency import cut_off_outcome, latency_outcome
from tailrace.programs.measured import PS_PER_US, Measured, MeasuredInterval
from tailrace.programs.mpi_rank import NUMBER, SIZES, TIMES
from tailrace.programs.requests import tallies
from tailrace.programs.series import Moved, Row

Found = Iterator[tuple[KeyPath, str, str]]
"""Key, problem and hint."""
KIND = "mpi"
PINGPONG = "pingpong"
PINGPONG_RANKS = 2
PS_PER_NS = 1000
NS_PER_US = 1000
DRAWS_MAX = 4096
"""Computing times that a rank has, and begins with again."""


class Iteration(NamedTuple):
    """One iteration that counts, of one rank."""

    begun_ns: int
    """Wall clock."""
    took_ns: int


@dataclass(frozen=True)
class MpiWork:
    """The tasks of one workload's ranks."""

    raw: Mapping[str, Any]
    """The workload as it stands in the plan."""
    seed: int

    @property
    def name(self) -> str:
        """Name of the workload."""
        return str(self.raw["name"])

    @property
    def pattern(self) -> str:
        """The pattern of the ranks."""
        return str(self.raw["pattern"])

    @property
    def ranks(self) -> list[str]:
        """The host of each rank that takes part."""
        whole = [str(host) for host in self.raw["ranks"]]
        return whole[:PINGPONG_RANKS] if self.pattern == PINGPONG else whole

    @property
    def hosts(self) -> list[str]:
        """Hosts of ranks, in the order of their first."""
        return list(dict.fromkeys(self.ranks))

    @property
    def timed(self) -> int:
        """Ranks whose iterations count: only the first of a pingpong."""
        return 1 if self.pattern == PINGPONG else len(self.ranks)

    @property
    def sizes(self) -> list[int]:
        """Bytes, in order."""
        return [int(size) for size in self.raw["sizes_bytes"]]

    @property
    def iterations(self) -> list[int]:
        """Of each size, that count."""
        return [int(count) for count in self.raw["iterations"]]

    @property
    def vlan(self) -> int:
        """The VLAN of its connections; 0 for none."""
        return int(self.raw.get("vlan") or 0)

    @property
    def priority(self) -> int | None:
        """Of the frames of its programs."""
        return int(self.raw.get("priority") or 0) or None

    @property
    def dscp(self) -> int | None:
        """Code point of its connections."""
        return int(self.raw.get("dscp") or 0) or None

    @property
    def start_ns(self) -> int:
        """Time before the first call."""
        return int(self.raw.get("start_ps") or 0) // PS_PER_NS

    def job(self, ports: tuple[int, int], cores: Sequence[int] | None) -> dict[str, Any]:
        """The input of `mpi_rank.py`. `ports` are the first on which ranks listen, and their
        number."""
        return {
            "pattern": self.pattern,
            "sizes": self.sizes,
            "iterations": self.iterations,
            "warm_up": int(self.raw["warm_up_iterations"]),
            "compute_ns": self._compute_ns(),
            "ports": list(ports),
            "cores": None if cores is None else list(cores),
            "program": None,
        }

    def _compute_ns(self) -> list[list[int]] | None:
        """Computing times by rank; None where ranks do not compute."""
        raw = self.raw["compute"]
        if raw == {"constant": 0}:
            return None
        count = min(
            DRAWS_MAX, sum(self.iterations) + len(self.sizes) * int(self.raw["warm_up_iterations"])
        )
        draw = Draw(raw, self.seed % 2**62)
        return [
            [draw.value_ns(rank, number) for number in range(1, count + 1)]
            for rank in range(len(self.ranks))
        ]


@dataclass(frozen=True)
class RankLog:
    """The output of one rank."""

    iterations: Sequence[Sequence[Iteration]]
    """By size; the iterations that it reached."""
    sizes: Sequence[Mapping[str, int]]
    """Of each completed size: begin, end, received bytes so far, opened connections so far."""


def read(work: MpiWork, folder: Path) -> list[RankLog]:
    """The output of every rank; raises `ProgramError` where a file is missing."""
    return [_read_rank(work, folder, rank) for rank in range(len(work.ranks))]


def _read_rank(work: MpiWork, folder: Path, rank: int) -> RankLog:
    try:
        times = memoryview((folder / TIMES.format(rank)).read_bytes()).cast("q")
        lines = (folder / SIZES.format(rank)).read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, TypeError) as error:
        raise ProgramError(
            f"mpi-{work.name}: rank {rank} has not written its times: {error}"
        ) from None
    if len(times) != 2 * sum(work.iterations):
        raise ProgramError(
            f"mpi-{work.name}: the times of rank {rank} have {len(times) * NUMBER} bytes"
        )
    found, at = [], 0
    for count in work.iterations:
        pairs = (Iteration(times[2 * i], times[2 * i + 1]) for i in range(at, at + count))
        found.append([one for one in pairs if one.took_ns])
        at += count
    return RankLog(found, [json.loads(line) for line in lines if line.endswith("\n")])


def measured(
    work: MpiWork, logs: Sequence[RankLog], interval: MeasuredInterval, begun_ns: int
) -> Measured:
    """The measurements of an interval. The job is timed from its start, `begun_ns`, as a simulated
    trial is."""
    ended_ns = interval.ended_wall_us * NS_PER_US
    timed = [_until(rank, ended_ns) for rank in logs[: work.timed]]
    zero_ns = begun_ns - work.start_ns
    rows = sorted(
        (
            Row(rank, (one.begun_ns - zero_ns) * PS_PER_NS, one.took_ns * PS_PER_NS)
            for rank, by_size in enumerate(timed)
            for of_size in by_size
            for one in of_size
        ),
        key=lambda row: (row.start_ps, row.user),
    )
    ends_ps = [_end_ps(work, _until(rank, ended_ns), zero_ns) for rank in logs]
    whole_ps = [end for end in ends_ps if end is not None]
    moved = [part for rank in logs for part in _moved(rank, zero_ns)]
    opened = sum(int(rank.sizes[-1]["opened"]) for rank in logs if rank.sizes)
    outcome = Workload(
        name=work.name,
        kind=KIND,
        completion_ps=max(whole_ps) if len(whole_ps) == len(ends_ps) else None,
        counted_from_ps=0,
        transactions=len(rows),
        goodput_bytes=sum(part.size_bytes for part in moved),
        latency=latency_outcome(row.latency_ps for row in rows),
        cut_off=cut_off_outcome([]),
        user_completion_ps=ends_ps,
        request_counts=tallies(len(rows), len(rows), connections=opened),
        mpi_times=times(work, [_sizes_of(work, timed, index) for index in range(len(work.sizes))]),
    )
    begun_ps = (begun_ns // NS_PER_US - interval.begun_wall_us) * PS_PER_US
    offset_ps = (zero_ns - interval.begun_wall_us * NS_PER_US) * PS_PER_NS
    return Measured(outcome, rows, moved, begun_ps, offset_ps=offset_ps)


@dataclass(frozen=True)
class Timed:
    """The measurements of one size of message."""

    repetitions: int
    """That are complete."""
    ranks: int
    """That have measured."""
    mean_of_ranks_ps: Sequence[float]
    min_ps: int | None
    """The shortest; None where none is complete."""
    max_ps: int | None


def times(work: MpiWork, sizes: Sequence[Timed]) -> MpiTimes:
    """The `mpi_times` object of an outcome, from the measurements of each size."""
    asked = str(work.raw.get("algorithm") or "auto")
    return MpiTimes(
        pattern=work.pattern,
        ranks=len(work.ranks),
        sizes=[
            MpiSize(
                bytes=size,
                planned=planned,
                algorithm=asked,
                ranks=found.ranks,
                repetitions=found.repetitions,
                mean_of_ranks_ps=list(found.mean_of_ranks_ps),
                min_ps=found.min_ps,
                max_ps=found.max_ps,
            )
            for size, planned, found in zip(work.sizes, work.iterations, sizes, strict=True)
        ],
    )


def _sizes_of(work: MpiWork, timed: Sequence[Sequence[Sequence[Iteration]]], index: int) -> Timed:
    of_ranks = [[one.took_ns * PS_PER_NS for one in by_size[index]] for by_size in timed]
    done = [rank for rank in of_ranks if rank]
    return Timed(
        repetitions=max((len(rank) for rank in done), default=0),
        ranks=len(done),
        mean_of_ranks_ps=[sum(rank) / len(rank) for rank in done],
        min_ps=min((min(rank) for rank in done), default=None),
        max_ps=max((max(rank) for rank in done), default=None),
    )


def _until(rank: RankLog, ended_ns: int) -> list[list[Iteration]]:
    """Iterations that ended in the interval."""
    return [
        [one for one in of_size if one.begun_ns + one.took_ns <= ended_ns]
        for of_size in rank.iterations
    ]


def _end_ps(work: MpiWork, by_size: Sequence[Sequence[Iteration]], zero_ns: int) -> int | None:
    """When a rank ended its last iteration; None unless it did all of them."""
    if [len(of_size) for of_size in by_size] != work.iterations:
        return None
    last = by_size[-1][-1]
    return (last.begun_ns + last.took_ns - zero_ns) * PS_PER_NS


def _moved(rank: RankLog, zero_ns: int) -> Iterator[Moved]:
    """The received bytes of a rank, evenly over the time of each size."""
    before = 0
    for one in rank.sizes:
        begun, ended = ((one[key] - zero_ns) * PS_PER_NS for key in ("begun_ns", "ended_ns"))
        yield Moved(begun, ended, one["received"] - before)
        before = one["received"]
