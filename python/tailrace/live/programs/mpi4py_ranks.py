"""mpi4py in a live trial: ranks that run every pattern of the kind mpi, with the loop of the
simulator."""

import time
from pathlib import Path

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Task
from tailrace.live.mpi import MpiLoad, wait_for_files
from tailrace.programs import mpi, mpi4py
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.mpi_rank import GO, READY
from tailrace.programs.open_mpi import MPIRUN, ORTED

READY_LIMIT_S = 60.0
"""Eight ranks on two cores start within 2 s."""
BEGIN_AFTER_NS = 50_000_000
"""From the begin of the trial to the first call: every rank has seen the file by then."""


class Mpi4py(MpiLoad):
    """The ranks are processes of Python; they are started before the trial, and begin together."""

    load_name = "mpi4py"
    needs = (MPIRUN, ORTED, mpi4py.MPI4PY)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._begun_ns = 0

    def prepare(self, lab: Lab) -> None:
        """Starts the ranks, which then wait. They open connections to each other when they send."""
        super().prepare(lab)
        self.start(lab)
        wait_for_files(self, lab, self._files(READY), READY_LIMIT_S)

    def _files(self, name: str) -> list[Path]:
        return [self.folder / name.format(rank) for rank in range(len(self.work.ranks))]

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All ranks begin at one moment."""
        self.start_daemons(lab)
        if not self._begun_ns:
            self._begun_ns = time.time_ns() + BEGIN_AFTER_NS + self.work.start_ns
            write_text(self.folder / GO, str(self._begun_ns))

    @property
    def is_done(self) -> bool:
        """The starter ends with the last rank."""
        return self.starters[0].ended is not None

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the times of all ranks."""
        return mpi.measured(self.work, mpi.read(self.work, self.folder), interval, self._begun_ns)
