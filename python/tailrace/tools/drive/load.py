"""The runs of a measurement: what is asked of the drive, how many requests at a time, and how
long."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tailrace.tools.drive.drive import Drive
from tailrace.tools.drive.specification import Specification, Value

MIB, KIB4 = 1 << 20, 4096
SEQUENTIAL_DEPTH, RANDOM_DEPTH = 8, 32
"""Of n0derunner's table, "How to identify SSD types and measure performance": sequential 1 MB with
8 requests under way, random 4 KB with 32."""
DEPTH_MAX = 4096
RAMP_S = 1.0
"""Before each run counts: the first requests fill the queue and wake the drive."""
PROBE_FACTOR = 4
"""A run with so many times the requests tells whether the number of them was the limit."""


@dataclass(frozen=True)
class Run:
    """One kind of requests."""

    operation: str
    """`read` or `write`."""
    access: str
    """`sequential` or `random`."""
    block_bytes: int
    depth: int
    """Requests under way in each job."""
    jobs: int = 1
    specified: Value | None = None
    asked_depth: int = 0
    """What was asked for, where the drive takes fewer."""

    @property
    def is_write(self) -> bool:
        """Whether it destroys data."""
        return self.operation == "write"

    @property
    def under_way(self) -> int:
        """Requests of all jobs."""
        return self.depth * self.jobs

    @property
    def title(self) -> str:
        """For people."""
        size = (
            f"{self.block_bytes // MIB} MiB"
            if self.block_bytes % MIB == 0
            else f"{self.block_bytes / 1024:g} KiB"
        )
        jobs = f", {self.jobs} jobs" if self.jobs > 1 else ""
        return f"{self.access} {self.operation}, {size}, depth {self.depth}{jobs}"

    def deeper(self, most: int) -> "Run | None":
        """The same with more requests under way; None where the drive takes no more."""
        depth = min(self.depth * PROBE_FACTOR, max(1, most // self.jobs), DEPTH_MAX)
        return replace(self, depth=depth) if depth > self.depth else None


STANDARD = (
    Run("read", "sequential", MIB, SEQUENTIAL_DEPTH),
    Run("write", "sequential", MIB, SEQUENTIAL_DEPTH),
    Run("read", "random", KIB4, RANDOM_DEPTH),
    Run("write", "random", KIB4, RANDOM_DEPTH),
)


def runs_of(
    drive: Drive,
    specification: Specification | None,
    *,
    is_writing: bool,
    depth: int | None = None,
    jobs: int = 1,
) -> list[Run]:
    """The runs in their order: those of the specification, or the standard ones; reads alone unless
    it writes.

    Reads come first, because writes change what is read.
    """
    wanted = _specified(specification.values) if specification else list(STANDARD)
    most = queue_of(drive)
    runs = [
        replace(run, depth=min(depth or run.depth, most), asked_depth=depth or run.depth, jobs=jobs)
        for run in sorted(wanted, key=lambda run: run.is_write)
        if is_writing or not run.is_write
    ]
    return list(dict.fromkeys(runs))


def queue_of(drive: Drive) -> int:
    """Requests that the drive and its queue take at the same time."""
    known = (drive.facts["drive_queue_depth"], drive.facts["queue_depth"])
    return min((int(number) for number in known if number), default=DEPTH_MAX)


def _specified(values: Sequence[Value]) -> Iterable[Run]:
    for value in values:
        usual = SEQUENTIAL_DEPTH if value.access == "sequential" else RANDOM_DEPTH
        block = value.block or (MIB if value.access == "sequential" else KIB4)
        yield Run(value.operation, value.access, block, value.depth or usual, specified=value)


def expected_s(runs: Sequence[Run], duration_s: float, repeats: int) -> float:
    """About how long they take, with a deeper run after each."""
    return len(runs) * (repeats + 1) * (duration_s + RAMP_S + 0.5)
