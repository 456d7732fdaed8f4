"""HPC Challenge in a live trial: the pingpong of its effective bandwidth."""

from collections.abc import Sequence
from typing import Any

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Refusals
from tailrace.live.mpi_pingpong import PingPongLoad
from tailrace.programs import hpcc, mpi_refusals
from tailrace.programs.open_mpi import MPIRUN, ORTED


class Hpcc(PingPongLoad):
    """It reports the minimum, mean and maximum time over pairs of ranks."""

    load_name = "hpcc"
    needs = (MPIRUN, ORTED, hpcc.HPCC)

    @classmethod
    def refusals(cls, workload: Any) -> Refusals:
        """It has the pingpong alone, of two sizes."""
        yield from super().refusals(workload)
        yield from mpi_refusals.pingpong_refusals(workload, "hpcc", known=hpcc.SIZES)

    def prepare(self, lab: Lab) -> None:
        """Writes its input."""
        super().prepare(lab)
        write_text(self.folder / hpcc.INPUT, hpcc.input_text(len(self.work.ranks)))

    @property
    def arguments(self) -> Sequence[Sequence[str]]:
        """One launch of all its tests."""
        return [[hpcc.HPCC.program]]

    def found(self) -> list[tuple[int, int, int, int]]:
        """Both sizes are measured once."""
        if not self.whole:
            return []
        figures = hpcc.figures(self.name, self.folder)
        least_mean_most = [hpcc.one_way_ps(figures, size) for size in self.work.sizes]
        return [(1, 2 * least, 2 * mean, 2 * most) for least, mean, most in least_mean_most]

    def report(self) -> str:
        """Its figures of the network, with those of rings that tables do not have."""
        return hpcc.summary(hpcc.figures(self.name, self.folder)) if self.whole else ""
