"""Base class of pingpong programs with their own loop: they begin with the trial and report a time
for each size."""

import time
from abc import abstractmethod
from collections.abc import Sequence

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.load import Task
from tailrace.live.mpi import MpiLoad
from tailrace.outcome.types import Workload
from tailrace.programs.latency import cut_off_outcome
from tailrace.programs.measured import PS_PER_US, Measured, MeasuredInterval
from tailrace.programs.mpi import KIND, PS_PER_NS, Timed, times
from tailrace.programs.requests import tallies

NS_PER_S = 10**9


class PingPongLoad(MpiLoad):
    """Launches of a program, one after the other."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._begun_ns = 0
        self._ended_ns = 0

    @property
    def launches(self) -> int:
        """One after the other."""
        return len(self.arguments)

    @property
    @abstractmethod
    def arguments(self) -> Sequence[Sequence[str]]:
        """The words of each launch."""

    @abstractmethod
    def found(self) -> list[tuple[int, int, int, int]]:
        """Of each size that was measured: repetitions, and the least, mean and largest time there
        and back, in picoseconds.
        """

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts the next launch when the one before has ended."""
        self.start_daemons(lab)
        if elapsed_s < self.work.start_ns / NS_PER_S or self.is_done:
            return
        if self.starters and self.starters[-1].ended is None:
            return
        if len(self.starters) == len(self.arguments):
            self._ended_ns = time.time_ns()
            return
        self._begun_ns = self._begun_ns or time.time_ns()
        self.start(lab, self.arguments[len(self.starters)])

    @property
    def is_done(self) -> bool:
        """After the end of the last launch."""
        return self._ended_ns > 0

    @property
    def whole(self) -> list[Program]:
        """Launches that have ended well."""
        return [each for each in self.starters if each.ended is not None and each.ended.is_good]

    def measured(self, interval: MeasuredInterval) -> Measured:
        """The figures of its results. These programs report no single iterations, so there are no
        percentiles."""
        zero_ns = interval.begun_wall_us * 1000
        end_ps = (self._ended_ns - zero_ns) * PS_PER_NS if self.is_done else None
        found = self.found()
        sizes = [self._size(each) for each in found] + [self._size(None)] * (
            len(self.work.sizes) - len(found)
        )
        done = sum(each[0] for each in found)
        outcome = Workload(
            name=self.name,
            kind=KIND,
            completion_ps=end_ps,
            counted_from_ps=0,
            transactions=done,
            goodput_bytes=sum(
                2 * size * each[0] for size, each in zip(self.work.sizes, found, strict=False)
            ),
            latency=None,
            cut_off=cut_off_outcome([]),
            user_completion_ps=[end_ps] * len(self.work.ranks),
            mpi_times=times(self.work, sizes),
            request_counts=tallies(
                done, done, connections=len(self.whole) if len(self.work.hosts) > 1 else 0
            ),
        )
        begun_ps = (self._begun_ns - zero_ns) // 1000 * PS_PER_US if self._begun_ns else None
        return Measured(outcome, begun_ps=begun_ps)

    @staticmethod
    def _size(found: tuple[int, int, int, int] | None) -> Timed:
        repetitions, least, mean, most = found or (0, None, None, None)
        return Timed(
            repetitions, 1 if found else 0, [] if mean is None else [float(mean)], least, most
        )
