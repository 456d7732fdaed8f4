"""Where `--on` sends trials: `local`, `dask://HOST:PORT` or `slurm`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tailrace.errors import RunRefusedError
from tailrace.experiment.executor import Executor, Local
from tailrace.experiment.remote.address import dask_address, refuse_absent
from tailrace.experiment.remote.envelope import Build, own_build
from tailrace.experiment.remote.link import Link, import_dask
from tailrace.experiment.remote.slurm import NAME as SLURM
from tailrace.experiment.remote.slurm import Jobs, slurm_workers
from tailrace.experiment.remote.workers import Workers


def refuse_place(on: str, jobs: Jobs, at_once: int | None = None) -> None:
    """Raises `RunRefusedError` when `--on` names no place, or when its options belong to another place.

    `at_once` is the value of `--jobs`, the number of threads of this process.
    """
    if at_once is not None and on != Local.name:
        raise RunRefusedError("--jobs requires --on local (hint: the workers decide how many trials run at once)")
    if on != SLURM and (given := jobs.given()):
        raise RunRefusedError(f"{given[0]} requires --on slurm (hint: of a Dask cluster, its workers decide it)")
    if on not in (Local.name, SLURM):
        dask_address(on)


@contextmanager
def opened(on: str, jobs: Jobs, say: Callable[[str], None], at_once: int | None = None) -> Iterator[Executor | None]:
    """The executor of `--on` while the block runs; None for `local`. Workers of another build are refused."""
    refuse_place(on, jobs, at_once)
    if on == Local.name:
        yield None
    elif on == SLURM:
        with slurm_workers(jobs, say) as workers:
            yield workers
    else:
        refuse_absent(on, say)
        import_dask(on)
        link = Link(dask_address(on), on)
        link.open()
        try:
            refuse_builds(on, link.builds())
            workers = Workers(on, link, say)
            yield workers
            workers.close()
        finally:
            link.close()


def refuse_builds(on: str, builds: dict[str, Build | str]) -> None:
    """Raises `RunRefusedError` when one of the workers has another build, or none."""
    for worker, build in builds.items():
        if build != own_build():
            raise RunRefusedError(
                f"--on {on}: the worker {worker} has {build}, and this command has {own_build()}"
                " (hint: install the same wheel everywhere and restart the workers)"
            )
