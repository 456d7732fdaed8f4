"""The options that choose where trials run; every command that runs trials elsewhere has the same
ones."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.console import note
from tailrace.experiment.remote.address import refuse_absent

On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="PLACE",
        help="Where trials run: local, dask://HOST:PORT, tls://HOST:PORT or slurm.",
    ),
]
Partition = Annotated[
    str | None,
    typer.Option("--partition", metavar="NAME", help="With --on slurm: partition of the jobs."),
]
JobTime = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="TIME", help="With --on slurm: time limit of a job; default: 01:00:00."
    ),
]
TrialCores = Annotated[
    str | None,
    typer.Option(
        "--cores",
        metavar="N|auto",
        help="Cores of each trial; default: auto, which uses several where trials are fewer "
        "than cores and several are"
        " faster. With --on slurm: cores of a job; default: 1.",
    ),
]
MaxWorkers = Annotated[
    int | None,
    typer.Option("--max-workers", min=1, help="With --on slurm: jobs at most; default: 4."),
]
TlsCa = Annotated[
    Path | None,
    typer.Option(
        "--tls-ca",
        metavar="FILE",
        help="With --on tls://: certificates of who signs those of the cluster.",
    ),
]
TlsCert = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert", metavar="FILE", help="With --on tls://: certificate of this command."
    ),
]
TlsKey = Annotated[
    Path | None,
    typer.Option(
        "--tls-key",
        metavar="FILE",
        help="With --on tls://: key of --tls-cert; default: in the same file.",
    ),
]


def cores_of(cores: str | None, on: str) -> tuple[int | None, int | None]:
    """The value of `--cores` as cores of a job elsewhere, and as cores of a trial here; None for
    the default."""
    from tailrace.experiment.cores import parse_cores
    from tailrace.experiment.executor import Local

    wanted = parse_cores(cores)
    return (None, wanted) if on == Local.name else (wanted, None)


def reach(on: str) -> None:
    """Raises `RunRefusedError` when the scheduler of `--on` is absent, before anything large is
    imported."""
    refuse_absent(on, note)
