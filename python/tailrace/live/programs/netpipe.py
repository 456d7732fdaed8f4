"""NetPIPE in a live trial: a pingpong, one launch for each size."""

from collections.abc import Sequence
from typing import Any

from tailrace.live.load import Refusals
from tailrace.live.mpi_pingpong import PingPongLoad
from tailrace.programs import mpi_refusals, netpipe
from tailrace.programs.open_mpi import MPIRUN, ORTED


class NetPipe(PingPongLoad):
    """It reports the best time of its trials of a size, and no single iterations."""

    load_name = "netpipe"
    needs = (MPIRUN, ORTED, netpipe.NETPIPE)

    @classmethod
    def refusals(cls, workload: Any) -> Refusals:
        """It has the pingpong alone, of messages with bytes."""
        yield from super().refusals(workload)
        yield from mpi_refusals.pingpong_refusals(workload, "NetPIPE", least=netpipe.LEAST_BYTES)

    @property
    def arguments(self) -> Sequence[Sequence[str]]:
        """A launch for each size."""
        each = zip(self.work.sizes, self.work.iterations, strict=True)
        return [
            netpipe.argv(size, count, self.folder / f"netpipe-{size}.out") for size, count in each
        ]

    def found(self) -> list[tuple[int, int, int, int]]:
        """It reports the best time only: minimum, mean and maximum are equal."""
        rows = []
        for size, count in list(zip(self.work.sizes, self.work.iterations, strict=True))[
            : len(self.whole)
        ]:
            both_ways = 2 * netpipe.one_way_ps(self.name, self.folder / f"netpipe-{size}.out", size)
            rows.append((count, both_ways, both_ways, both_ways))
        return rows
