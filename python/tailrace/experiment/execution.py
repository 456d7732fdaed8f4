"""Where trials run: the options of `--on`, the same for every command that runs trials
elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tailrace.option import Option

if TYPE_CHECKING:
    from tailrace.experiment.executor import Executor
    from tailrace.experiment.remote.credentials import Credentials
    from tailrace.experiment.remote.slurm import Jobs

LOCAL = "local"
"""Threads of this process."""
SLURM = "slurm"


@dataclass(frozen=True, kw_only=True)
class ExecutionOptions:
    """Where trials run, and on how many cores; None for the default of that place."""

    on: Annotated[
        str,
        Option(
            "--on",
            metavar="PLACE",
            help="Where trials run: local, dask://HOST:PORT, tls://HOST:PORT or slurm.",
        ),
    ] = LOCAL
    partition: Annotated[
        str | None,
        Option("--partition", metavar="NAME", help="With --on slurm: partition of the jobs."),
    ] = None
    time: Annotated[
        str | None,
        Option(
            "--time",
            metavar="TIME",
            help="With --on slurm: time limit of a job; default: 01:00:00.",
        ),
    ] = None
    cores: Annotated[
        str | None,
        Option(
            "--cores",
            metavar="N|auto",
            help="Cores of each trial; default: auto, which uses several where trials are fewer "
            "than cores and several are faster. With --on slurm: cores of a job; default: 1.",
        ),
    ] = None
    max_workers: Annotated[
        int | None,
        Option("--max-workers", min=1, help="With --on slurm: jobs at most; default: 4."),
    ] = None
    tls_ca: Annotated[
        Path | None,
        Option(
            "--tls-ca",
            metavar="FILE",
            help="With --on tls://: certificates of who signs those of the cluster.",
        ),
    ] = None
    tls_cert: Annotated[
        Path | None,
        Option("--tls-cert", metavar="FILE", help="With --on tls://: certificate of this command."),
    ] = None
    tls_key: Annotated[
        Path | None,
        Option(
            "--tls-key",
            metavar="FILE",
            help="With --on tls://: key of --tls-cert; default: in the same file.",
        ),
    ] = None

    @property
    def trial_cores(self) -> int | None:
        """Cores of each trial on this machine; None for as many as are free and faster."""
        from tailrace.experiment.cores import parse_cores

        return parse_cores(self.cores) if self.on == LOCAL else None

    @property
    def slurm_jobs(self) -> Jobs:
        """The jobs of `--on slurm`."""
        from tailrace.experiment.cores import parse_cores
        from tailrace.experiment.remote.slurm import Jobs

        cores = None if self.on == LOCAL else parse_cores(self.cores)
        return Jobs(self.partition, self.time, cores, self.max_workers)

    @property
    def credentials(self) -> Credentials:
        """The certificates of `--on tls://`."""
        from tailrace.experiment.remote.credentials import Credentials

        return Credentials(self.tls_ca, self.tls_cert, self.tls_key)

    def refuse_unsound(self, jobs: int | None = None) -> None:
        """Raises `RunRefusedError` when `on` names no place, or when an option, or the number of
        local `jobs`, belongs to another place."""
        from tailrace.experiment.remote.executors import refuse_executor

        refuse_executor(self.on, self.slurm_jobs, jobs, self.credentials)

    def opened(
        self, say: Callable[[str], None], jobs: int | None = None
    ) -> AbstractContextManager[Executor | None]:
        """The executor while the block runs; None for this process."""
        from tailrace.experiment.remote.executors import opened

        return opened(self.on, self.slurm_jobs, say, jobs, self.credentials)

    def at_once(self, here: int) -> int:
        """Trials that run at once where they are sent; `here` are those of this machine."""
        return self.slurm_jobs.slots if self.on == SLURM else here
